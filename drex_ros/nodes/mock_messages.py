# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the simulator tells about itself, as messages: truth for tests and for the camera."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Twist, Vector3

from drex_interfaces import msg
from drex_ros.hardware.faults import FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.hardware.scene import ObjectPose
from drex_ros.hardware.truth import ContactTruth, ObjectTruth
from drex_ros.nodes.conversions import stamp
from drex_ros.robot.description import WORLD_LINK
from drex_ros.robot.joints import FINGERS, Array


def ground_truth(robot: MujocoBackend) -> msg.GroundTruth:
    """Everything that the simulator knows about the object and what touches what."""
    simulation = robot.simulation
    message = msg.GroundTruth()
    message.header.stamp = stamp(robot.time)
    message.header.frame_id = WORLD_LINK
    thing, moving = simulation.thing, simulation.truth.object()
    if thing is not None and moving is not None:
        message.object = thing.name
        message.object_mass = thing.mass
        message.object_friction = simulation.friction
        message.finger_friction = thing.finger_friction
        message.object_pose, message.object_twist = _pose(moving), _twist(moving)
    contacts = simulation.truth.contacts()
    message.contacts = [_contact(contact) for contact in contacts]
    fingers = simulation.truth.fingers(contacts)
    message.fingertips = [
        msg.FingertipForce(
            finger=number,
            force=_vector(fingers[name].force),
            in_contact=fingers[name].in_contact,
            slipping=fingers[name].slipping,
        )
        for number, name in enumerate(FINGERS)
    ]
    return message


def scene_frame(
    robot: MujocoBackend, frame: int, object_name: str, camera_delay: float
) -> msg.MockScene:
    """What the camera is to draw; the object is named as it was asked for."""
    simulation = robot.simulation
    message = msg.MockScene(
        frame=frame, seed=robot.seed, episode=robot.episode, hand=robot.settings.hand
    )
    message.header.stamp = stamp(robot.time)
    message.header.frame_id = WORLD_LINK
    message.joint_position = simulation.position.copy()
    message.joint_velocity = simulation.velocity.copy()
    thing, moving = simulation.thing, simulation.truth.object()
    if thing is not None and moving is not None:
        message.object = object_name
        message.object_pose, message.object_twist = _pose(moving), _twist(moving)
    message.camera_blank = robot.faults.get(FaultKind.BLANK_CAMERA) is not None
    message.camera_delay = camera_delay
    return message


def object_pose(pose: Pose) -> ObjectPose:
    """The pose of a message."""
    p, q = pose.position, pose.orientation
    return ObjectPose(np.array((p.x, p.y, p.z)), np.array((q.x, q.y, q.z, q.w)))


def _pose(moving: ObjectTruth) -> Pose:
    x, y, z, w = moving.quaternion.tolist()
    return Pose(position=_point(moving.position), orientation=Quaternion(x=x, y=y, z=z, w=w))


def _twist(moving: ObjectTruth) -> Twist:
    return Twist(linear=_vector(moving.velocity), angular=_vector(moving.angular_velocity))


def _contact(contact: ContactTruth) -> msg.Contact:
    return msg.Contact(
        body1=contact.body1,
        body2=contact.body2,
        position=_point(contact.position),
        normal=_vector(contact.normal),
        force=_vector(contact.force),
    )


def _point(values: Array) -> Point:
    x, y, z = values.tolist()
    return Point(x=x, y=y, z=z)


def _vector(values: Array) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
