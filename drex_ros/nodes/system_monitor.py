# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Watches the health of the stack: the last word of every node, and one sentence for all.

It listens to /diagnostics, which is one topic for all namespaces, and minds the nodes of its own
namespace only. Ages are wall time, so a simulator that stands still is noticed too.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.clock import Clock
from rclpy.clock_type import ClockType

from drex_interfaces.msg import NodeHealth, SystemStatus
from drex_ros.health import (
    HealthRules,
    Level,
    SystemHealth,
    SystemLevel,
    Word,
    assess,
    worst_word,
)
from drex_ros.nodes.base import ManagedNode, Parameter, Status, run
from drex_ros.nodes.conversions import LATCHED

_LOOK_PERIOD = 0.2  # [s] between two judgements
_REPEAT_PERIOD = 1.0  # [s] between two messages without a change


class SystemMonitor(ManagedNode):
    """Publishes system/status."""

    NAME = 'system_monitor'
    PARAMETERS = (
        Parameter(
            'expected_nodes',
            ['mock_hardware', 'hybrid_impedance_controller'],
            'nodes that must be there, named relative to the namespace of this one',
            read_only=True,
        ),
        Parameter(
            'silent_after',
            5.0,
            'a node has failed after this long without a word on /diagnostics',
            unit='s',
            range=(0.2, 60.0),
            read_only=True,
        ),
        Parameter(
            'start_timeout',
            15.0,
            'a node that was never heard has failed after this long',
            unit='s',
            range=(1.0, 600.0),
            read_only=True,
        ),
    )

    def configure(self) -> None:
        """Listen to /diagnostics."""
        self._prefix = self.get_namespace().rstrip('/') + '/'
        self._rules = HealthRules(self.params.silent_after, self.params.start_timeout)
        self._words: dict[str, Word] = {}
        self._health: SystemHealth | None = None
        self._status_publisher = self.create_lifecycle_publisher(
            SystemStatus, 'system/status', LATCHED
        )
        self.monitored_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 100)
        self.monitored_timer(
            _LOOK_PERIOD,
            self._look,
            name='system/status',
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def activate(self) -> None:
        """Begin with nothing heard."""
        self._words.clear()
        self._health = None
        self._started = time.monotonic()
        self._published = 0.0

    def _on_diagnostics(self, array: DiagnosticArray) -> None:
        now = time.monotonic()
        by_node: dict[str, list[DiagnosticStatus]] = defaultdict(list)
        for status in array.status:
            name = self._local_name(status.hardware_id)
            if name:
                by_node[name].append(status)
        for name, statuses in by_node.items():
            self._words[name] = _word(now, statuses)

    def _local_name(self, full_name: str) -> str:
        """A node's name relative to our namespace; empty when it is none of ours."""
        if not full_name.startswith(self._prefix):
            return ''
        name = full_name[len(self._prefix) :]
        return name if '/' not in name or name in self.params.expected_nodes else ''

    def _look(self) -> None:
        now = time.monotonic()
        health = assess(self.params.expected_nodes, self._words, now, self._started, self._rules)
        changed = self._health is None or _facts(health) != _facts(self._health)
        if changed:
            self._tell(health)
        self._health = health
        if changed or now - self._published >= _REPEAT_PERIOD:
            self._published = now
            self._publish(health)

    def _tell(self, health: SystemHealth) -> None:
        last = self._health
        if last is not None and last.level is health.level:
            return
        text = f'{health.level.name.lower()}: {health.message}'
        if health.level in (SystemLevel.OK, SystemLevel.STARTING):
            self.get_logger().info(text)
        else:
            self.get_logger().warning(text)

    def _publish(self, health: SystemHealth) -> None:
        message = SystemStatus(level=int(health.level), message=health.message)
        message.header.stamp = self.get_clock().now().to_msg()
        message.nodes = [
            NodeHealth(
                name=self._prefix + node.name,
                level=int(node.level),
                state=node.state,
                message=node.message,
                age=node.age,
            )
            for node in health.nodes
        ]
        self._status_publisher.publish(message)

    def diagnose(self) -> list[Status]:
        """The sentence of system/status; the monitor itself is well."""
        text = '' if self._health is None else self._health.message
        return [Status('', Level.OK, 'watching', {'system': text})]


def _word(now: float, statuses: list[DiagnosticStatus]) -> Word:
    """The last word of one node from its statuses; the node's own has no ': ' in its name."""
    state, judged = '', []
    for status in statuses:
        about = status.name.removeprefix(status.hardware_id).removeprefix(': ')
        if not about:
            state = next((pair.value for pair in status.values if pair.key == 'state'), state)
        text = f'{about}: {status.message}' if about else status.message
        judged.append((Level(status.level[0]), text))
    return worst_word(now, state, judged)


def _facts(health: SystemHealth) -> tuple[object, ...]:
    """What counts as a change: ages and numbers in words do not."""
    return (health.level, *((node.name, node.level, node.state) for node in health.nodes))


def main() -> None:
    """Run the node."""
    sys.exit(run(SystemMonitor))


if __name__ == '__main__':
    main()
