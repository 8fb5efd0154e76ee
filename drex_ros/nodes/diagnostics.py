# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node's health on /diagnostics: one status for the node, one for each monitored callback."""

import time
from collections.abc import Callable, Iterable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.clock import ROSClock
from rclpy.node import Node

from drex_ros.health import Level
from drex_ros.nodes.entities import flush
from drex_ros.nodes.monitor import CallbackMonitor, CallbackStatistics, Status

# Absolute by ROS convention: one place for the diagnostics of all robots and namespaces.
TOPIC = '/diagnostics'


class DiagnosticsPublisher:
    """Publishes a node's statuses.

    Each status is named `/ns/node` (the node itself) or `/ns/node: callback`; `hardware_id` is
    always `/ns/node`.

    Args:
        node: the node to report on.
        collect: called for each report with the time scale of the node's clock (1.0 on wall
            time; 0.0 when simulated time stands still); returns the statuses to publish.
    """

    def __init__(self, node: Node, collect: Callable[[float], Iterable[Status]]) -> None:
        self._node = node
        self._collect = collect
        self._publisher = node.create_publisher(DiagnosticArray, TOPIC, 10)
        self._node_name = node.get_fully_qualified_name()
        self._last: tuple[float, float] | None = None

    def publish(self) -> None:
        """Publish one DiagnosticArray, stamped by the node's clock."""
        array = DiagnosticArray()
        array.header.stamp = self._node.get_clock().now().to_msg()
        array.status = [self._to_ros(status) for status in self._collect(self.time_scale())]
        self._publisher.publish(array)

    def flush(self) -> None:
        """Wait a moment until the last report has arrived."""
        flush([self._publisher])

    def time_scale(self) -> float:
        """How fast the node's clock ran against the wall clock since the last call."""
        clock = self._node.get_clock()
        if not (isinstance(clock, ROSClock) and clock.ros_time_is_active):
            self._last = None
            return 1.0
        wall, ros = time.monotonic(), clock.now().nanoseconds * 1e-9
        last, self._last = self._last, (wall, ros)
        if last is None or wall <= last[0]:
            return 1.0
        return max((ros - last[1]) / (wall - last[0]), 0.0)

    def _to_ros(self, status: Status) -> DiagnosticStatus:
        suffix = f': {status.name}' if status.name else ''
        return DiagnosticStatus(
            level=bytes([status.level]),
            name=self._node_name + suffix,
            message=status.message,
            hardware_id=self._node_name,
            values=[KeyValue(key=key, value=str(value)) for key, value in status.values.items()],
        )


__all__ = [
    'TOPIC',
    'CallbackMonitor',
    'CallbackStatistics',
    'DiagnosticsPublisher',
    'Level',
    'Status',
]
