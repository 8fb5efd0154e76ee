# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Between the messages of the controller and the plain types of control/."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Quaternion, Vector3, Wrench
from geometry_msgs.msg import Pose as PoseMessage  # type: ignore[import-untyped]

from drex_interfaces import msg
from drex_ros.control.controller import Controller
from drex_ros.control.estimation.estimator import Estimates
from drex_ros.control.interventions import Interventions
from drex_ros.control.targets import ArmTarget, FingerForce, HandTarget, Payload, Pose, Target
from drex_ros.nodes.conversions import seconds, stamp
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_from_matrix


def controller_target(message: msg.ControllerTarget) -> Target:
    """The target of a message."""
    time = seconds(message.header.stamp)
    payload = message.payload[0] if message.payload else None
    return Target(
        source=message.source,
        time=None if time == 0.0 else time,
        timeout=message.timeout,
        arm=ArmTarget(
            mode=message.arm_mode,
            position=_optional(message.arm_position),
            stiffness=_optional(message.arm_stiffness),
            effort=_optional(message.arm_effort),
            frame=message.header.frame_id,
            pose=pose(message.arm_pose[0]) if message.arm_pose else None,
            cartesian_stiffness=_optional(message.arm_cartesian_stiffness),
            cartesian_damping=_optional(message.arm_cartesian_damping),
            wrench=_wrench(message.arm_wrench[0]) if message.arm_wrench else None,
            damping_ratio=message.arm_damping_ratio or None,
        ),
        hand=HandTarget(
            mode=message.hand_mode,
            position=_optional(message.hand_position),
            stiffness=_optional(message.hand_stiffness),
            effort=_optional(message.hand_effort),
            fingertips=tuple(_finger_force(tip) for tip in message.fingertips),
            damping_ratio=message.hand_damping_ratio or None,
        ),
        payload=None if payload is None else Payload(payload.mass, _vector(payload.position)),
        finger_force_limit=message.finger_force_limit or None,
    )


def pose(message: PoseMessage) -> Pose:
    """The pose of a message."""
    place, turn = message.position, message.orientation
    return Pose(np.array((place.x, place.y, place.z)), np.array((turn.x, turn.y, turn.z, turn.w)))


def pose_message(position: Array, rotation: Array) -> PoseMessage:
    """A position [m] and rotation matrix as a message."""
    place, turn = position.tolist(), quaternion_from_matrix(rotation).tolist()
    return PoseMessage(
        position=Point(x=place[0], y=place[1], z=place[2]),
        orientation=Quaternion(x=turn[0], y=turn[1], z=turn[2], w=turn[3]),
    )


def fill_status(message: msg.ControllerStatus, controller: Controller) -> None:
    """Write what the controller does into a message."""
    message.state = int(controller.state)
    message.reason = controller.reason
    message.source = controller.source
    message.arm_mode = int(controller.arm.mode)
    message.hand_mode = int(controller.hand.mode)
    message.targets_accepted = controller.targets_accepted
    message.targets_refused = controller.targets_refused
    message.limits_applied = controller.limits_applied
    message.interventions = _interventions(controller.interventions)
    message.target_position = controller.target_position
    message.finger_force_limit = controller.finger_force_limit
    if controller.terms is not None:
        message.target_pose = pose_message(*controller.target_pose())
        terms = controller.terms
        message.palm_pose = pose_message(terms.palm_position, terms.palm_rotation)
    _fill_estimates(message, controller.estimates)


def _fill_estimates(message: msg.ControllerStatus, estimates: Estimates | None) -> None:
    if estimates is None or math.isnan(float(estimates.external_torque[0])):
        message.external_torque[:] = math.nan
        message.external_torque_sigma[:] = math.nan
        message.wrench_sigma[:] = math.nan
        message.payload_mass = message.payload_mass_sigma = math.nan
        message.tared = estimates is not None and bool(estimates.tared)
        return
    message.external_torque = estimates.external_torque.copy()
    message.external_torque_sigma = estimates.external_torque_sigma.copy()
    force, torque = estimates.wrench[:3], estimates.wrench[3:]
    message.wrench = Wrench(force=_vector_message(force), torque=_vector_message(torque))
    message.wrench_sigma = estimates.wrench_sigma.copy()
    message.wrench_valid = True
    message.fingertips = [
        msg.FingertipForce(
            finger=finger,
            force=_vector_message(estimates.tip_force[finger]),
            sigma=float(estimates.tip_sigma[finger]),
            in_contact=bool(estimates.in_contact[finger]),
            slipping=bool(estimates.slipping[finger]),
        )
        for finger in range(len(estimates.tip_force))
    ]
    message.payload_mass = float(estimates.payload_mass)
    message.payload_mass_sigma = float(estimates.payload_sigma)
    message.tared = bool(estimates.tared)


def _interventions(interventions: Interventions) -> list[msg.Intervention]:
    return [
        msg.Intervention(
            rule=str(rule), count=record.count, stamp=stamp(record.time), reason=record.reason
        )
        for rule, record in interventions.records.items()
    ]


def _finger_force(tip: msg.FingertipTarget) -> FingerForce:
    x, y, z = (bool(axis) for axis in tip.force_axes)
    return FingerForce(tip.finger, tip.frame_id, _vector(tip.force), (x, y, z))


def _wrench(message: Wrench) -> Array:
    return np.concatenate((_vector(message.force), _vector(message.torque)))


def _vector(message: Vector3) -> Array:
    return np.array((message.x, message.y, message.z))


def _vector_message(values: Array) -> Vector3:
    return Vector3(x=float(values[0]), y=float(values[1]), z=float(values[2]))


def _optional(values: Any) -> Array | None:
    return np.array(values, dtype=np.float64) if len(values) > 0 else None
