# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated robot, controller and monitor as three real processes."""

import itertools
import time

import numpy as np
import pytest
from stack_harness import NODES, node_command, node_environment

from drex_interfaces.msg import ControllerTarget, RobotState, SystemStatus
from drex_ros.nodes.conversions import LATCHED, NEWEST, seconds
from drex_ros.robot.joints import ARM, FINGERS, HAND, HOME

MONITOR = {'silent_after': 2.0}


class Stack:
    """The three nodes in one namespace, and what they say."""

    def __init__(self, start, ros, namespace='', **mock_params):
        self.ros = ros
        self.namespace = namespace
        self.processes = {}
        self._start = start
        self._params = {'mock_hardware': mock_params, 'system_monitor': MONITOR}
        self.states = []
        self.statuses = ros.collect(SystemStatus, f'{namespace}/system/status', LATCHED)
        ros.node.create_subscription(
            RobotState, f'{namespace}/robot/state', self.states.append, NEWEST
        )
        self._targets = ros.node.create_publisher(
            ControllerTarget, f'{namespace}/controller/target', 10
        )
        for name in NODES:
            self.start(name)

    def start(self, name):
        # Time is one topic for all namespaces unless it is told otherwise.
        remaps = {'/clock': f'{self.namespace}/clock'} if self.namespace else {}
        command = node_command(
            name, namespace=self.namespace, params=self._params.get(name), remaps=remaps
        )
        self.processes[name] = self._start(command, env=node_environment())

    @property
    def state(self):
        return self.states[-1]

    def wait_for_mode(self, mode):
        self.ros.spin_until(lambda: self.states and self.state.mode == mode, what=f'mode {mode}')

    def wait_for_level(self, level):
        """Wait until the monitor's last word is of this level; returns its sentence."""
        self.ros.spin_until(
            lambda: self.statuses and self.statuses[-1].level == level, what=f'level {level}'
        )
        return self.statuses[-1].message

    def wait_for_start(self):
        self.wait_for_mode(RobotState.MODE_EFFORT)
        self.wait_for_level(SystemStatus.LEVEL_OK)
        self.ros.spin_until(self._targets.get_subscription_count, what='controller/target')

    def aim_at(self, posture):
        """Send a target."""
        mode = ControllerTarget.MODE_JOINT_IMPEDANCE
        target = ControllerTarget(source='test', arm_mode=mode, hand_mode=mode)
        target.arm_position = posture[ARM].tolist()
        target.hand_position = posture[HAND].tolist()
        self._targets.publish(target)

    def move_to(self, posture):
        """Send a target, and wait until the robot is there."""
        self.aim_at(posture)
        self.ros.spin_until(
            lambda: np.abs(self.state.position - posture).max() < 0.02, what='the posture'
        )

    def speed(self, cycles):
        """Control cycles per wall second, and simulated over wall time."""
        first, start = self.state, time.perf_counter()
        self.ros.spin_until(lambda: self.state.sequence >= first.sequence + cycles)
        wall = time.perf_counter() - start
        simulated = seconds(self.state.header.stamp) - seconds(first.header.stamp)
        return (self.state.sequence - first.sequence) / wall, simulated / wall


def largest_step(states):
    """Largest move of any joint from one state to the next [rad], by the cycles between them."""
    steps = [
        np.abs(after.position - before.position).max() / (after.sequence - before.sequence)
        for before, after in itertools.pairwise(states)
        if after.sequence > before.sequence
    ]
    return max(steps)


def bent():
    posture = HOME.copy()
    posture[6] += 0.5
    posture[FINGERS['index']] += (0.0, 0.6, 0.4, 0.4)
    return posture


@pytest.fixture
def stack(start, ros):
    def start_stack(namespace='', **mock_params):
        return Stack(start, ros, namespace, **mock_params)

    return start_stack


def test_follows_a_target_survives_its_controller_and_misses_its_robot(stack, ros):
    lab = stack(real_time_factor=0.0, lockstep_patience=20.0)
    lab.wait_for_start()
    missed = lab.state.commands_missed
    rate, factor = lab.speed(1000)
    print(f'lockstep: {rate:.0f} exchanges/s, {factor:.2f} times real time')
    lab.move_to(bent())
    assert lab.state.mode == RobotState.MODE_EFFORT
    assert (lab.state.commands_refused, lab.state.commands_missed) == (0, missed)

    ros.spin(0.3)
    assert ros.set_parameter('/mock_hardware', 'lockstep_patience', 0.3).successful
    posture, count = lab.state.position.copy(), len(lab.states)
    lab.processes['hybrid_impedance_controller'].kill()
    lab.wait_for_mode(RobotState.MODE_HOLD)
    sequence = lab.state.sequence
    ros.spin_until(lambda: lab.state.sequence > sequence + 100, what='time to go on')
    assert lab.state.reason == 'nobody answers robot/state'
    message = lab.wait_for_level(SystemStatus.LEVEL_FAILED)
    assert message.startswith('hybrid_impedance_controller: silent for')
    np.testing.assert_allclose(lab.state.position, posture, atol=0.02)

    lab.start('hybrid_impedance_controller')
    lab.wait_for_mode(RobotState.MODE_EFFORT)
    sequence = lab.state.sequence
    ros.spin_until(lambda: lab.state.sequence > sequence + 200, what='the new controller')
    np.testing.assert_allclose(lab.state.position, posture, atol=0.02)
    assert largest_step(lab.states[count:]) < 0.001  # [rad]: nothing jumped on the way
    lab.wait_for_level(SystemStatus.LEVEL_OK)

    lab.processes['mock_hardware'].kill()
    message = lab.wait_for_level(SystemStatus.LEVEL_FAILED)
    assert message.startswith('mock_hardware: silent for')
    lab.start('mock_hardware')
    lab.states.clear()
    lab.wait_for_mode(RobotState.MODE_EFFORT)
    np.testing.assert_allclose(lab.state.position, HOME, atol=0.02)
    lab.wait_for_level(SystemStatus.LEVEL_OK)


def test_controller_killed_in_motion(stack, ros):
    """The arm brakes, holds, then stops; nothing falls; the next controller takes over."""
    lab = stack(lockstep_patience=0.2)
    lab.wait_for_start()
    goal = HOME.copy()
    goal[[0, 3]] += (1.2, 0.8)
    lab.aim_at(goal)
    ros.spin_until(lambda: lab.state.velocity[[0, 3]].min() > 0.2, what='the arm to move')
    moving, count = lab.state, len(lab.states)
    lab.processes['hybrid_impedance_controller'].kill()
    lab.wait_for_mode(RobotState.MODE_STOPPED)
    assert lab.state.reason == 'no command for 0.5 s'
    after = lab.states[count:]
    modes = [mode for mode, _ in itertools.groupby(state.mode for state in after)]
    assert modes in ([2, 1, 3], [1, 3])  # effort, hold, stopped: in this order, none twice
    assert np.abs(lab.state.velocity).max() < 0.01
    # It stopped close by: braking takes a tenth of a second, and no joint gave way.
    assert np.abs(lab.state.position - moving.position).max() < 0.15
    assert np.abs(lab.state.position - HOME)[[1, 2, 4, 5, 6]].max() < 0.03

    found, count = lab.state.position.copy(), len(lab.states)
    refused = lab.state.commands_refused
    lab.start('hybrid_impedance_controller')
    lab.wait_for_mode(RobotState.MODE_EFFORT)
    sequence = lab.state.sequence
    ros.spin_until(lambda: lab.state.sequence > sequence + 250, what='the new controller')
    np.testing.assert_allclose(lab.state.position, found, atol=0.01)
    assert largest_step(lab.states[count:]) < 0.001
    assert lab.state.commands_refused == refused


def test_two_namespaces_do_not_mix(stack, ros):
    lab = stack('/lab', real_time_factor=0.5)
    field = stack('/field', real_time_factor=0.5, start_spread=0.01, seed=3)
    lab.wait_for_start()
    field.wait_for_start()
    before = field.state.position.copy()
    lab.move_to(bent())
    # It settles by a milliradian or two; the other one moved by half a radian.
    np.testing.assert_allclose(field.state.position, before, atol=0.01)
    for one in (lab, field):
        names = {node.name for node in one.statuses[-1].nodes}
        assert names == {f'{one.namespace}/{name}' for name in NODES}
    shared = {'/diagnostics', '/rosout', '/parameter_events'}
    topics = {name for name, _ in ros.node.get_topic_names_and_types()} - shared
    assert {name for name in topics if not name.startswith(('/lab/', '/field/'))} == set()
    assert {'/lab/clock', '/field/clock'} <= topics
    lab.processes['mock_hardware'].kill()
    assert lab.wait_for_level(SystemStatus.LEVEL_FAILED).startswith('mock_hardware: silent for')
    assert field.statuses[-1].level == SystemStatus.LEVEL_OK
