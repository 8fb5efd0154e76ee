# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of another tracker, as FoundationPose, from a topic into backend `external`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped

from drex_ros.nodes.conversions import QUEUED, seconds
from drex_ros.perception.external_poses import ExternalPoses
from drex_ros.robot.description import BASE_LINK

if TYPE_CHECKING:
    from drex_ros.nodes.base import ManagedNode


class ExternalTopic:
    """The topic of another tracker, read by a node's own loop."""

    def __init__(self, node: ManagedNode) -> None:
        """Subscribe as the node's parameters say; call it in `configure`."""
        params = node.params
        self._topic = params.external_topic
        self._of_camera = params.external_frame == 'camera'
        self._world_frames = (params.world_frame, BASE_LINK)
        self._with_covariance = params.external_type == 'PoseWithCovarianceStamped'
        kind = PoseWithCovarianceStamped if self._with_covariance else PoseStamped
        self._messages = node.polled_subscription(kind, self._topic, QUEUED)
        self.problem = ''
        """Why the last pose was not used, in words; empty: it was, or none came."""

    def take(self, poses: ExternalPoses, camera_frame: str) -> None:
        """Hand on what has come; does not wait.

        Args:
            poses: where to.
            camera_frame: the frame of the pictures.
        """
        allowed = (camera_frame,) if self._of_camera else self._world_frames
        while (message := self._messages.take()) is not None:
            given = message.header.frame_id
            if given not in allowed:
                self.problem = (
                    f'{self._topic}: poses are in frame {given!r}, must be in {allowed[0]!r}; '
                    'see parameter external_frame'
                )
                continue
            pose = message.pose.pose if self._with_covariance else message.pose
            place, turn = pose.position, pose.orientation
            poses.take(
                seconds(message.header.stamp),
                (place.x, place.y, place.z),
                (turn.x, turn.y, turn.z, turn.w),
                message.pose.covariance if self._with_covariance else None,
            )
            self.problem = f'{self._topic}: {poses.refusal}' if poses.refusal else ''
