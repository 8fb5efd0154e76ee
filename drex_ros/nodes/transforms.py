# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses on /tf, where ROS's transform messages are installed: PyPI has none."""

from __future__ import annotations

import importlib
from typing import Any

from geometry_msgs.msg import Transform, TransformStamped, Vector3
from rclpy.node import Node
from rclpy.qos import QoSProfile

from drex_interfaces.msg import ObjectTrack

# Absolute, deep and reliable, as tf2's own broadcaster has it.
_TOPIC = '/tf'
_QOS = QoSProfile(depth=100)


class Transforms:
    """Publishes where an object's frame is."""

    def __init__(self, node: Node, message_type: Any, child: str) -> None:
        """Publish the frame `child` with this type of message, as `transforms` finds it."""
        self._type = message_type
        self._child = child
        self._publisher = node.create_publisher(message_type, _TOPIC, _QOS)

    def publish(self, track: ObjectTrack) -> None:
        """Publish the pose of a track."""
        pose = track.pose.pose
        place = Vector3(x=pose.position.x, y=pose.position.y, z=pose.position.z)
        transform = TransformStamped(
            header=track.header,
            child_frame_id=self._child,
            transform=Transform(translation=place, rotation=pose.orientation),
        )
        self._publisher.publish(self._type(transforms=[transform]))


def transforms(node: Node, child: str) -> Transforms | None:
    """What publishes the frame `child`; None, with a line in the log, without tf2_msgs."""
    try:
        messages = importlib.import_module('tf2_msgs.msg')
    except ImportError:
        node.get_logger().info('tf2_msgs is not installed: nothing is published on /tf')
        return None
    return Transforms(node, messages.TFMessage, child)
