# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Targets of the controller as a script gives them: by keyword, only what shall change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy.typing as npt
from geometry_msgs.msg import Wrench

from drex_interfaces.msg import ControllerStatus, ControllerTarget, FingertipTarget, Payload
from drex_ros.client.checks import finger_number, number, numbers, pose_message, positive, vector
from drex_ros.client.connection import DrexError
from drex_ros.nodes.conversions import stamp
from drex_ros.robot.description import PALM_LINK
from drex_ros.robot.joints import N_ARM, N_HAND

_N_AXES = 6  # x y z, about x y z


@dataclass(frozen=True)
class TipForce:
    """What one fingertip shall press with."""

    force: npt.ArrayLike
    """Of the fingertip on the object [N], 3 numbers."""
    frame: str = PALM_LINK
    """Frame of force and axes: palm_link, panda_link0 or grip (see FingertipTarget.msg)."""
    axes: tuple[bool, bool, bool] | None = None
    """Force-controlled axes; None: those along which the force is not 0."""


class TargetFields(TypedDict, total=False):
    """What a target may say; Drex.set_target tells what each means."""

    arm: npt.ArrayLike
    arm_stiffness: npt.ArrayLike
    arm_damping_ratio: float
    arm_effort: npt.ArrayLike
    position: npt.ArrayLike
    quaternion: npt.ArrayLike
    rotation: npt.ArrayLike
    frame: str
    cartesian_stiffness: npt.ArrayLike
    cartesian_damping: npt.ArrayLike
    wrench: npt.ArrayLike
    payload: tuple[float, npt.ArrayLike]
    hand: npt.ArrayLike
    hand_stiffness: npt.ArrayLike
    hand_damping_ratio: float
    hand_effort: npt.ArrayLike
    fingertips: Mapping[str, float | TipForce]
    finger_force_limit: float
    lifetime: float
    time: float


_POSE = ('position', 'quaternion', 'rotation')
_CARTESIAN = (*_POSE, 'cartesian_stiffness', 'cartesian_damping', 'wrench')
_ARM_JOINTS = ('arm', 'arm_stiffness', 'arm_damping_ratio')
_HAND_JOINTS = ('hand', 'hand_stiffness', 'hand_damping_ratio')
_ARRAYS = {
    'arm': ('arm_position', N_ARM),
    'arm_stiffness': ('arm_stiffness', N_ARM),
    'arm_effort': ('arm_effort', N_ARM),
    'cartesian_stiffness': ('arm_cartesian_stiffness', _N_AXES),
    'cartesian_damping': ('arm_cartesian_damping', _N_AXES),
    'hand': ('hand_position', N_HAND),
    'hand_stiffness': ('hand_stiffness', N_HAND),
    'hand_effort': ('hand_effort', N_HAND),
}


def target_message(
    source: str, fields: TargetFields, status: ControllerStatus | None
) -> ControllerTarget:
    """The message of a target. Raises DrexError for what no controller would take.

    Args:
        source: who asks.
        fields: what shall change.
        status: of the controller, for what is not given and stays as it is.
    """
    given = _given(fields)
    message = ControllerTarget(source=source)
    for name, (field, size) in _ARRAYS.items():
        if name in given:
            setattr(message, field, numbers(name, given[name], size))
    for name in ('arm_damping_ratio', 'hand_damping_ratio', 'finger_force_limit', 'lifetime'):
        if name in given:
            field = 'timeout' if name == 'lifetime' else name
            setattr(message, field, positive(name, given[name]))
    if 'time' in given:
        message.header.stamp = stamp(number('time', given['time'], least=0.0, most=2.0**31 - 1))
    if 'payload' in given:
        message.payload = [_payload(given['payload'])]
    _fill_arm(message, given, status)
    _fill_hand(message, given)
    return message


def _given(fields: TargetFields) -> dict[str, Any]:
    known = TargetFields.__annotations__
    unknown = [name for name in fields if name not in known]
    if unknown:
        raise DrexError(f'no field {unknown[0]!r} of a target; there are: {", ".join(known)}')
    return {name: value for name, value in fields.items() if value is not None}


def _fill_arm(
    message: ControllerTarget, given: dict[str, Any], status: ControllerStatus | None
) -> None:
    cartesian = [name for name in _CARTESIAN if name in given]
    joints = [name for name in _ARM_JOINTS if name in given]
    if 'frame' in given and not cartesian:
        raise DrexError('frame is given, but nothing that is in a frame')
    if 'arm_effort' in given:
        if cartesian or joints:
            other = (cartesian + joints)[0]
            raise DrexError(f'arm_effort and {other} are both given: torques go without springs')
        message.arm_mode = ControllerTarget.MODE_JOINT_EFFORT
    elif cartesian:
        message.arm_mode = ControllerTarget.MODE_CARTESIAN_IMPEDANCE
        message.header.frame_id = given.get('frame', '')
        pose = pose_message(
            given.get('position'),
            given.get('quaternion'),
            given.get('rotation'),
            message.header.frame_id,
            status.target_pose if status is not None else None,
        )
        message.arm_pose = [pose] if any(name in given for name in _POSE) else []
    elif joints:
        # Stiffness and damping alone are for the law that the arm is under.
        palm = ControllerTarget.MODE_CARTESIAN_IMPEDANCE
        stays = 'arm' not in given and status is not None and status.arm_mode == palm
        message.arm_mode = palm if stays else ControllerTarget.MODE_JOINT_IMPEDANCE
    if 'wrench' in given:
        values = numbers('wrench', given['wrench'], _N_AXES)
        message.arm_wrench = [Wrench(force=vector(values[:3]), torque=vector(values[3:]))]


def _fill_hand(message: ControllerTarget, given: dict[str, Any]) -> None:
    joints = [name for name in _HAND_JOINTS if name in given]
    if 'hand_effort' in given:
        if joints or 'fingertips' in given:
            other = joints[0] if joints else 'fingertips'
            raise DrexError(f'hand_effort and {other} are both given: torques go without springs')
        message.hand_mode = ControllerTarget.MODE_JOINT_EFFORT
    elif 'fingertips' in given:
        if not isinstance(given['fingertips'], Mapping):
            raise DrexError(
                f'fingertips is {given["fingertips"]!r}, must be forces by name of the finger'
            )
        message.hand_mode = ControllerTarget.MODE_HYBRID_FORCE
        message.fingertips = [
            _fingertip(name, value) for name, value in given['fingertips'].items()
        ]
    elif joints:
        message.hand_mode = ControllerTarget.MODE_JOINT_IMPEDANCE


def _fingertip(name: str, value: float | TipForce) -> FingertipTarget:
    finger = finger_number(name)
    if not isinstance(value, TipForce):
        force = number(f'force of {name}', value, least=0.0)
        value = TipForce((force, 0.0, 0.0), FingertipTarget.FRAME_GRIP, (True, False, False))
    forces = numbers(f'force of {name}', value.force, 3)
    axes = value.axes if value.axes is not None else tuple(force != 0.0 for force in forces)
    if len(axes) != 3:
        raise DrexError(f'axes of {name} has {len(axes)} values, must have 3')
    if not any(axes):
        raise DrexError(f'the force of {name} is 0: say by axes where it is force-controlled')
    return FingertipTarget(
        finger=finger,
        frame_id=value.frame,
        force=vector(forces),
        force_axes=[bool(axis) for axis in axes],
    )


def _payload(value: tuple[float, npt.ArrayLike]) -> Payload:
    try:
        mass, place = value
    except (TypeError, ValueError):
        raise DrexError(f'payload is {value!r}, must be (mass [kg], place [m])') from None
    return Payload(
        mass=number('mass of the payload', mass, least=0.0),
        position=vector(numbers('place of the payload', place, 3)),
    )
