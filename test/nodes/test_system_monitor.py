# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor as a node; the test plays the nodes that it watches."""

import math

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from stack_harness import node_command, node_environment

from drex_interfaces.msg import SystemStatus
from drex_ros.nodes.conversions import LATCHED

EXPECTED = {'expected_nodes': '[robot, controller]', 'silent_after': 1.0}
OK, WARN = DiagnosticStatus.OK, DiagnosticStatus.WARN


@pytest.fixture
def monitor(start):
    def start_monitor(**options):
        return start(node_command('system_monitor', **options), env=node_environment())

    return start_monitor


def word(node, *, state='active', level=OK, about='part', message=''):
    """What one node says of itself."""
    own = DiagnosticStatus(
        name=node, hardware_id=node, message=state, values=[KeyValue(key='state', value=state)]
    )
    own.level = OK
    part = DiagnosticStatus(name=f'{node}: {about}', hardware_id=node, message=message)
    part.level = level
    return DiagnosticArray(status=[own, part])


class Nodes:
    """Repeats the words of several nodes until the monitor says what it should."""

    def __init__(self, ros, topic):
        self._ros = ros
        self._publisher = ros.publisher(DiagnosticArray, '/diagnostics')
        self.statuses = ros.collect(SystemStatus, topic, LATCHED)

    def until(self, level, *words):
        """Wait for a status of this level, and return it."""
        self.statuses.clear()

        def found():
            for array in words:
                self._publisher.publish(array)
            return next((s for s in self.statuses if s.level == level), None)

        return self._ros.spin_until(found, what=f'level {level}')


def test_starting_ok_degraded_failed(ros, monitor):
    process = monitor(params=EXPECTED)
    nodes = Nodes(ros, 'system/status')
    status = nodes.until(SystemStatus.LEVEL_STARTING)
    assert status.message == 'robot: not heard yet (and 1 more: controller)'
    assert [n.name for n in status.nodes[:2]] == ['/robot', '/controller']
    assert status.nodes[0].age == math.inf
    well = [word('/robot'), word('/controller')]
    status = nodes.until(SystemStatus.LEVEL_OK, *well)
    assert status.message == 'all 2 nodes are well'
    assert [(n.level, n.state) for n in status.nodes[:2]] == [(0, 'active'), (0, 'active')]
    slow = word('/robot', level=WARN, about='state', message='3 Hz, expected 500 Hz')
    status = nodes.until(SystemStatus.LEVEL_DEGRADED, slow, well[1])
    assert status.message == 'robot: state: 3 Hz, expected 500 Hz'
    status = nodes.until(SystemStatus.LEVEL_FAILED, well[0])
    assert status.message.startswith('controller: silent for 1.')
    assert status.nodes[1].age > 1.0
    process.wait_for_line('failed: controller: silent for')
    status = nodes.until(SystemStatus.LEVEL_STARTING, word('/robot', state='inactive'), well[1])
    assert status.message == 'robot: is inactive, not active'
    nodes.until(SystemStatus.LEVEL_OK, *well)


def test_late_listeners_get_the_last_word(ros, monitor):
    monitor(params=EXPECTED)
    nodes = Nodes(ros, 'system/status')
    nodes.until(SystemStatus.LEVEL_OK, word('/robot'), word('/controller'))
    late = ros.collect(SystemStatus, 'system/status', LATCHED)
    ros.spin_until(lambda: late, what='the latched status')


def test_minds_its_own_namespace_only(ros, monitor):
    monitor(params=EXPECTED, namespace='/lab')
    nodes = Nodes(ros, '/lab/system/status')
    words = [word('/lab/robot'), word('/lab/controller')]
    strangers = [word('/robot', state='inactive'), word('/lab/deep/node'), word('/labor/robot')]
    status = nodes.until(SystemStatus.LEVEL_OK, *words, *strangers)
    names = {n.name for n in status.nodes} - {'/lab/system_monitor'}
    assert names == {'/lab/robot', '/lab/controller'}
