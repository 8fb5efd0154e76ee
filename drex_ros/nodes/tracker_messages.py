# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Between the messages of the tracker and the plain types of perception/."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import (
    Point,
    Pose,
    PoseWithCovariance,
    PoseWithCovarianceStamped,
    Quaternion,
    Twist,
    TwistWithCovariance,
    Vector3,
)

from drex_interfaces.msg import ObjectTrack
from drex_ros.nodes.conversions import seconds
from drex_ros.perception.estimate import ObjectEstimate, ObjectState, TrackStatus
from drex_ros.robot.joints import Array

_UNKNOWN = -1.0  # first number of a covariance that is not known, as ROS has it


def track_message(name: str, estimate: ObjectEstimate, stamp: Any, frame: str) -> ObjectTrack:
    """An estimate as a message.

    Without a state the position and the velocities are NaN, so that nobody takes them for a
    place, and the covariances begin with -1.

    Args:
        name: of the object.
        estimate: of one frame.
        stamp: of that frame.
        frame: in which the estimate is.
    """
    message = ObjectTrack(
        object=name,
        status=int(estimate.status),
        reason=estimate.reason,
        smoothed=estimate.smoothed,
    )
    message.header.stamp, message.header.frame_id = stamp, frame
    state = estimate.state
    if state is None:
        nothing = Vector3(x=math.nan, y=math.nan, z=math.nan)
        message.pose.pose.position = Point(x=math.nan, y=math.nan, z=math.nan)
        message.twist.twist = Twist(linear=nothing, angular=nothing)
        message.pose.covariance[0] = message.twist.covariance[0] = _UNKNOWN
        return message
    message.pose = PoseWithCovariance(pose=_pose(state), covariance=_block(state, 0))
    linear, angular = (_vector(each) for each in (state.twist[:3], state.twist[3:]))
    message.twist = TwistWithCovariance(
        twist=Twist(linear=linear, angular=angular), covariance=_block(state, 6)
    )
    return message


def pose_message(track: ObjectTrack) -> PoseWithCovarianceStamped:
    """The pose of a track alone; shares its parts."""
    return PoseWithCovarianceStamped(header=track.header, pose=track.pose)


def estimate(message: ObjectTrack) -> ObjectEstimate:
    """The estimate of a message.

    What pose and velocity have in common is not in a message: those parts of the covariance are
    zero.
    """
    place, turn = message.pose.pose.position, message.pose.pose.orientation
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    state = None
    if math.isfinite(place.x):
        covariance = np.zeros((12, 12))
        covariance[:6, :6] = np.reshape(message.pose.covariance, (6, 6))
        covariance[6:, 6:] = np.reshape(message.twist.covariance, (6, 6))
        state = ObjectState(
            position=np.array((place.x, place.y, place.z)),
            quaternion=np.array((turn.x, turn.y, turn.z, turn.w)),
            twist=np.array((linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)),
            covariance=covariance,
        )
    return ObjectEstimate(
        time=seconds(message.header.stamp),
        status=TrackStatus(message.status),
        reason=message.reason,
        state=state,
        smoothed=message.smoothed,
    )


def _pose(state: ObjectState) -> Pose:
    px, py, pz = state.position.tolist()
    x, y, z, w = state.quaternion.tolist()
    return Pose(position=Point(x=px, y=py, z=pz), orientation=Quaternion(x=x, y=y, z=z, w=w))


def _block(state: ObjectState, first: int) -> Array:
    """Of position and rotation, or of their velocities, row by row. Shape (36,)."""
    part: Array = state.covariance[first : first + 6, first : first + 6].ravel()
    return part


def _vector(values: Array) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
