# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a target can be followed at all, and in words why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from drex_ros.control.targets import (
    FRAMES,
    ArmTarget,
    FingerForce,
    HandTarget,
    Payload,
    Pose,
    Target,
    TargetMode,
)
from drex_ros.robot.description import BASE_LINK, PALM_LINK
from drex_ros.robot.joints import (
    ARM,
    ARM_JOINTS,
    FINGERS,
    HAND,
    HAND_JOINTS,
    LIMITS,
    Array,
    constant,
)

MAX_STIFFNESS = constant((1000, 1000, 1000, 1000, 500, 300, 200) + 16 * (10.0,))
"""Highest joint stiffness [N m/rad] that is steady at 500 Hz control. Shape (23,)."""
MAX_CARTESIAN_STIFFNESS = constant((3000, 3000, 3000, 150, 150, 150))
"""The same for the palm [N/m, N m/rad]. Shape (6,)."""
MAX_CARTESIAN_DAMPING = constant((400, 400, 400, 30, 30, 30))
"""[N s/m, N m s/rad] Shape (6,)."""
MAX_WRENCH = constant((50, 50, 50, 10, 10, 10))
"""Largest feed-forward at the palm [N, N m]. Shape (6,)."""
DAMPING_RATIO_RANGE = (0.3, 2.0)
MAX_PAYLOAD = 3.0
"""[kg], that of the Panda; what the hand itself weighs is not in it."""
GRIP_FRAME = 'grip'
FORCE_FRAMES = ('', PALM_LINK, BASE_LINK, GRIP_FRAME)
MAX_TIMEOUT = 3600.0
"""[s]"""

_REACH = 1.05  # [m] of the palm from the shoulder: arm 0.855 m and hand, rounded up
_SHOULDER = constant((0.0, 0.0, 0.333))
_FINGER_NAMES = tuple(FINGERS)
_UNIT = 1e-2  # how far the length of a quaternion may be from 1
_AXES = ('x', 'y', 'z', 'about x', 'about y', 'about z')
_ARM_FIELDS = {
    TargetMode.JOINT_IMPEDANCE: ('position', 'stiffness', 'damping_ratio'),
    TargetMode.CARTESIAN_IMPEDANCE: (
        *('position', 'stiffness', 'damping_ratio', 'pose'),
        *('cartesian_stiffness', 'cartesian_damping', 'wrench'),
    ),
    TargetMode.JOINT_EFFORT: ('effort',),
}
_HAND_FIELDS = {
    TargetMode.JOINT_IMPEDANCE: ('position', 'stiffness', 'damping_ratio'),
    TargetMode.JOINT_EFFORT: ('effort',),
    TargetMode.HYBRID_FORCE: ('position', 'stiffness', 'damping_ratio', 'fingertips'),
}


@dataclass(frozen=True)
class Bounds:
    """What targets must keep to, beside the limits of the joints."""

    lower: Array
    """Corner of the box that the palm stays in [m]. Shape (3,)."""
    upper: Array
    """The corner opposite [m]. Shape (3,)."""
    finger_force: float
    """Highest limit of the fingertips' force [N]."""


def target_refusal(target: Target, bounds: Bounds) -> str:
    """Why the target cannot be followed, in words; empty when it can."""
    return (
        _timeout_refusal(target.timeout)
        or _arm_refusal(target.arm, bounds)
        or _hand_refusal(target.hand, bounds)
        or _payload_refusal(target.payload)
        or _limit_refusal(target.finger_force_limit, bounds)
    )


def pose_refusal(name: str, pose: Pose) -> str:
    """Why this is no pose; empty when it is one."""
    if not np.isfinite(pose.position).all():
        return f'{name} has the position {pose.position.tolist()}, must be finite'
    length = _length(pose.quaternion)
    if not abs(length - 1.0) <= _UNIT:
        return f'{name} has a quaternion of length {length:.4g}, must be 1'
    return ''


def place_refusal(name: str, position: Array, bounds: Bounds) -> str:
    """Why the palm cannot be at a place in the base frame [m]; empty when it can."""
    for i in range(3):
        if not bounds.lower[i] <= position[i] <= bounds.upper[i]:
            return (
                f'{name} has {_AXES[i]} = {position[i]:.4g} m, the workspace is '
                f'{bounds.lower[i]:g} .. {bounds.upper[i]:g}'
            )
    distance = _length(position - _SHOULDER)
    if distance > _REACH:
        return (
            f'{name} is out of reach: {distance:.3f} m from the shoulder, '
            f'the palm comes to {_REACH:g} m'
        )
    return ''


def range_refusal(
    field: str, value: Array, low: Array, high: Array, names: Sequence[str], unit: str
) -> str:
    """Why values are not those of these joints or axes; empty when they are."""
    if value.shape != (len(names),):
        return f'{field} has {value.size} values, must have {len(names)}'
    allowed = (value >= low) & (value <= high)  # false for NaN too
    if allowed.all():
        return ''
    i = int(np.argmin(allowed))
    return f'{field} of {names[i]} is {value[i]:.4g} {unit}, must be in {low[i]:g} .. {high[i]:g}'


def _timeout_refusal(timeout: float) -> str:
    if 0.0 <= timeout <= MAX_TIMEOUT:
        return ''
    return f'timeout is {timeout:g} s, must be in 0 .. {MAX_TIMEOUT:g}'


def _arm_refusal(arm: ArmTarget, bounds: Bounds) -> str:
    reason = _mode_refusal('arm', arm, _ARM_FIELDS)
    if reason or arm.mode == TargetMode.KEEP:
        return reason
    reason = _joints_refusal('arm', arm, ARM, ARM_JOINTS)
    if reason or arm.mode != TargetMode.CARTESIAN_IMPEDANCE:
        return reason
    if arm.frame not in FRAMES:
        return f'frame_id is {arm.frame!r}, must be one of: {", ".join(FRAMES[1:])}'
    zero = np.zeros(6)
    for name, value, low, high, unit in (
        ('stiffness', arm.cartesian_stiffness, zero, MAX_CARTESIAN_STIFFNESS, 'N/m or N m/rad'),
        ('damping', arm.cartesian_damping, zero, MAX_CARTESIAN_DAMPING, 'N s/m or N m s/rad'),
        ('wrench', arm.wrench, -MAX_WRENCH, MAX_WRENCH, 'N or N m'),
    ):
        field = 'arm_wrench' if name == 'wrench' else f'arm_cartesian_{name}'
        if value is not None and (reason := range_refusal(field, value, low, high, _AXES, unit)):
            return reason
    if arm.pose is not None:
        reason = pose_refusal('arm_pose', arm.pose)
        if not reason and arm.frame != PALM_LINK:
            reason = place_refusal('arm_pose', arm.pose.position, bounds)
    return reason


def _hand_refusal(hand: HandTarget, bounds: Bounds) -> str:
    reason = _mode_refusal('hand', hand, _HAND_FIELDS)
    if reason or hand.mode == TargetMode.KEEP:
        return reason
    reason = _joints_refusal('hand', hand, HAND, HAND_JOINTS)
    if not reason and hand.mode == TargetMode.HYBRID_FORCE:
        fingers = [force.finger for force in hand.fingertips]
        if len(set(fingers)) < len(fingers):
            return f'fingertips name the fingers {fingers}, each only once'
        for force in hand.fingertips:
            reason = reason or _force_refusal(force, bounds)
    return reason


def _mode_refusal(
    part: str, target: ArmTarget | HandTarget, modes: dict[TargetMode, tuple[str, ...]]
) -> str:
    every = dict.fromkeys(name for names in modes.values() for name in names)
    given = [name for name in every if _is_given(getattr(target, name))]
    if target.mode == TargetMode.KEEP:
        if not given:
            return ''
        return f'{_names(part, given)} given with {part}_mode KEEP: say which mode'
    if target.mode not in modes:
        known = ', '.join(mode.name for mode in modes)
        return f'{part}_mode is {_mode_name(target.mode)}, must be one of: KEEP, {known}'
    mode = TargetMode(target.mode)
    wrong = [name for name in given if name not in modes[mode]]
    if wrong:
        return f'{_names(part, wrong)} given, which {part}_mode {mode.name} does not use'
    if mode is TargetMode.JOINT_EFFORT and 'effort' not in given:
        return f'{part}_mode JOINT_EFFORT without {part}_effort'
    return ''


def _joints_refusal(
    part: str, target: ArmTarget | HandTarget, joints: slice, names: tuple[str, ...]
) -> str:
    effort = LIMITS.effort[joints]
    for key, low, high, unit in (
        ('position', LIMITS.lower[joints], LIMITS.upper[joints], 'rad'),
        ('stiffness', np.zeros(len(names)), MAX_STIFFNESS[joints], 'N m/rad'),
        ('effort', -effort, effort, 'N m'),
    ):
        value = getattr(target, key)
        if value is not None and (
            reason := range_refusal(f'{part}_{key}', value, low, high, names, unit)
        ):
            return reason
    ratio, (lowest, highest) = target.damping_ratio, DAMPING_RATIO_RANGE
    if ratio is not None and not lowest <= ratio <= highest:
        return f'{part}_damping_ratio is {ratio:g}, must be in {lowest:g} .. {highest:g}'
    return ''


def _force_refusal(force: FingerForce, bounds: Bounds) -> str:
    if not 0 <= force.finger < len(_FINGER_NAMES):
        names = ', '.join(f'{i} {name}' for i, name in enumerate(_FINGER_NAMES))
        return f'fingertips name finger {force.finger}, must be one of: {names}'
    name = _FINGER_NAMES[force.finger]
    if force.frame not in FORCE_FRAMES:
        known = ', '.join(FORCE_FRAMES[1:])
        return f'frame of the force of {name} is {force.frame!r}, must be one of: {known}'
    if not any(force.axes):
        return f'the force of {name} has no axis that is force-controlled'
    size = _length(force.force)
    if not math.isfinite(size):
        return f'the force of {name} is {force.force.tolist()} N, must be finite'
    if any(value != 0.0 and not used for value, used in zip(force.force, force.axes, strict=True)):
        return f'the force of {name} has a part along an axis that is not force-controlled'
    if force.frame == GRIP_FRAME and force.force[0] < 0.0:
        return f'the force of {name} is {force.force[0]:.3g} N, in frame grip it must press'
    if size > bounds.finger_force:
        return f'the force of {name} is {size:.3g} N, its limit is {bounds.finger_force:.3g} N'
    return ''


def _payload_refusal(payload: Payload | None) -> str:
    if payload is None:
        return ''
    if not 0.0 <= payload.mass <= MAX_PAYLOAD:
        return f'mass of the payload is {payload.mass:.4g} kg, must be in 0 .. {MAX_PAYLOAD:g}'
    distance = _length(payload.position)
    if not distance <= 0.5:
        return f'the payload is {distance:.3g} m from the palm, must be within 0.5 m'
    return ''


def _limit_refusal(limit: float | None, bounds: Bounds) -> str:
    if limit is None or 0.0 < limit <= bounds.finger_force:
        return ''
    return (
        f'finger_force_limit is {limit:.4g} N, must be above 0 and at most '
        f'{bounds.finger_force:.3g} N'
    )


def _length(vector: Array) -> float:
    with np.errstate(over='ignore'):
        return float(np.linalg.norm(vector))


def _is_given(value: object) -> bool:
    return value is not None and not (isinstance(value, tuple) and not value)


def _names(part: str, fields: list[str]) -> str:
    return ', '.join(name if name == 'fingertips' else f'{part}_{name}' for name in fields)


def _mode_name(mode: int) -> str:
    try:
        return TargetMode(mode).name
    except ValueError:
        return str(mode)
