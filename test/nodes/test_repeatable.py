# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Same seed, same commands: the same states bit by bit, over ROS and in two processes."""

import numpy as np
from stack_harness import node_command, node_environment

from drex_interfaces.msg import RobotCommand, RobotState
from drex_interfaces.srv import MockReset
from drex_ros.nodes.conversions import NEWEST
from drex_ros.robot.joints import N_JOINTS

CYCLES = 400


class Swinger:
    """Answers each state with a torque that depends on the state and on its number alone."""

    def __init__(self, ros):
        self.first = None
        self.states = {}
        self._publisher = ros.node.create_publisher(RobotCommand, 'robot/command', NEWEST)
        ros.node.create_subscription(RobotState, 'robot/state', self._answer, NEWEST)

    def _answer(self, state):
        if state.mode == RobotState.MODE_IDLE:  # the first after a reset
            self.first, self.states = state.sequence, {}
        if self.first is None:
            return
        number = state.sequence - self.first
        self.states[number] = np.concatenate((state.position, state.velocity, state.effort))
        command = RobotCommand(header=state.header, sequence=state.sequence)
        command.mode = RobotCommand.MODE_EFFORT
        swing = 0.1 * np.sin(0.05 * number + np.arange(N_JOINTS))
        command.effort = 0.98 * state.effort_commanded + swing
        self._publisher.publish(command)


def record(ros, swinger, seed):
    """States of the cycles after a reset, shape (CYCLES, 69)."""
    request = MockReset.Request(object='ball', seed=seed)
    assert ros.call(MockReset, 'mock/reset', request).success
    ros.spin_until(lambda: len(swinger.states) > CYCLES, what='the states')
    return np.array([swinger.states[number] for number in range(CYCLES)])


def test_same_seed_same_bits(ros, start):
    command = node_command('mock_hardware', params={'real_time_factor': 0.0})
    swinger = Swinger(ros)
    process = start(command, env=node_environment())
    runs = [record(ros, swinger, seed) for seed in (5, 5, 6)]
    process.terminate()
    start(command, env=node_environment())
    runs.append(record(ros, swinger, 5))
    assert np.ptp(runs[0][:, :N_JOINTS], axis=0).max() > 0.01  # it moved
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[3])
    noise = slice(2 * N_JOINTS, 2 * N_JOINTS + 7)
    assert (runs[0][:, noise] != runs[2][:, noise]).all()
