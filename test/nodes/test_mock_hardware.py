# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot as a node; the test plays the controller."""

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from stack_harness import node_command, node_environment
from std_srvs.srv import SetBool

from drex_interfaces.msg import RobotCommand, RobotState
from drex_interfaces.srv import MockReset, MockStep
from drex_ros.nodes.conversions import NEWEST, seconds
from drex_ros.robot.joints import HOME, JOINT_NAMES


@pytest.fixture
def mock(start):
    def start_mock(**params):
        return start(node_command('mock_hardware', params=params), env=node_environment())

    return start_mock


class Answerer:
    """Answers each robot/state with a torque, until told not to."""

    def __init__(self, ros):
        self.states = []
        self.effort = None
        self.ahead = 0
        self._publisher = ros.node.create_publisher(RobotCommand, 'robot/command', NEWEST)
        ros.node.create_subscription(RobotState, 'robot/state', self._answer, NEWEST)

    def _answer(self, state):
        self.states.append(state)
        if self.effort is not None:
            command = RobotCommand(header=state.header, sequence=state.sequence + self.ahead)
            command.mode = RobotCommand.MODE_EFFORT
            command.effort[:] = self.effort
            self._publisher.publish(command)

    @property
    def last(self):
        return self.states[-1]


@pytest.fixture
def robot(ros):
    return Answerer(ros)


def wait_for_mode(ros, robot, mode):
    ros.spin_until(lambda: robot.states and robot.last.mode == mode, what=f'mode {mode}')


def test_alone_it_idles_at_home_and_makes_time(ros, robot, mock):
    mock()
    joints, clock = ros.collect(JointState, 'joint_states'), ros.collect(Clock, '/clock', 1)
    ros.spin_until(lambda: len(robot.states) > 50 and len(joints) > 3 and len(clock) > 3)
    for before, after in zip(robot.states, robot.states[1:], strict=False):
        assert after.sequence > before.sequence
        assert seconds(after.header.stamp) == pytest.approx(after.sequence * 0.002)
    assert robot.last.mode == RobotState.MODE_IDLE
    assert robot.last.commands_missed == 0
    np.testing.assert_allclose(robot.last.position, HOME, atol=1e-4)
    assert tuple(joints[-1].name) == JOINT_NAMES
    np.testing.assert_allclose(joints[-1].position, HOME, atol=1e-4)
    times = [seconds(message.clock) for message in clock]
    assert times == sorted(times)


def test_lockstep_answers_every_state_then_holds_and_comes_back(ros, robot, mock):
    process = mock(lockstep_patience=0.2, real_time_factor=0.0)
    robot.effort = 0.0
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)
    first = len(robot.states)
    ros.spin_until(lambda: len(robot.states) > first + 200)
    # A state may come twice: it is repeated when the answer takes long.
    sequences = sorted({state.sequence for state in robot.states[first:]})
    assert sequences == list(range(sequences[0], sequences[0] + len(sequences)))
    assert robot.last.commands_missed == 0
    robot.effort = None
    wait_for_mode(ros, robot, RobotState.MODE_HOLD)
    assert robot.last.reason == 'nobody answers robot/state'
    count = len(robot.states)
    ros.spin_until(lambda: len(robot.states) > count + 20, what='states without any answer')
    assert robot.last.commands_missed > 10
    process.wait_for_line('going on alone')
    robot.effort = 0.0
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)


def test_gets_in_step_also_when_it_cannot_keep_its_pace(ros, robot, mock):
    """Alone and always late it waits for nobody, but it hears who comes."""
    mock(real_time_factor=100.0)
    ros.spin_until(lambda: len(robot.states) > 100)
    robot.effort = 0.0
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)
    missed, count = robot.last.commands_missed, len(robot.states)
    ros.spin_until(lambda: len(robot.states) > count + 300)
    assert robot.last.commands_missed == missed


def test_refuses_nan_and_says_why(ros, robot, mock):
    mock()
    robot.effort = np.nan
    ros.spin_until(lambda: robot.states and robot.last.commands_refused > 3)
    assert robot.last.mode == RobotState.MODE_HOLD
    assert robot.last.reason == (
        'command refused: effort of panda_joint1 is nan, must be a number'
    )
    np.testing.assert_allclose(robot.last.position, HOME, atol=1e-3)


def test_a_controller_that_numbers_wrongly_is_refused_and_told(ros, robot, mock):
    mock(real_time_factor=0.0)
    robot.effort, robot.ahead = 0.0, 1000
    ros.spin_until(lambda: robot.states and robot.last.commands_refused > 3)
    assert robot.last.mode == RobotState.MODE_HOLD
    assert robot.last.reason.startswith('command refused: it answers state ')
    assert ', which is not yet: now ' in robot.last.reason
    robot.ahead = 0
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)


def test_free_running_holds_after_the_deadline(ros, robot, mock):
    mock(mode='free_running', real_time_factor=0.2, command_deadline=0.1)
    robot.effort = 0.0
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)
    robot.effort = None
    wait_for_mode(ros, robot, RobotState.MODE_HOLD)
    assert robot.last.reason == 'no command for 0.1 s'
    last = next(s for s in reversed(robot.states) if s.mode == RobotState.MODE_EFFORT)
    assert robot.last.sequence > last.sequence


def pause(ros, paused):
    response = ros.call(SetBool, 'mock/pause', SetBool.Request(data=paused))
    assert response.success
    ros.spin(0.1)


def test_pause_and_step(ros, robot, mock):
    mock(lockstep_patience=0.05)
    ros.spin_until(lambda: robot.states)
    refused = ros.call(MockStep, 'mock/step', MockStep.Request(cycles=1))
    assert (refused.success, refused.message[:10]) == (False, 'not paused')
    pause(ros, True)
    count, sequence = len(robot.states), robot.last.sequence
    ros.spin(0.2)
    assert len(robot.states) == count
    done = ros.call(MockStep, 'mock/step', MockStep.Request(cycles=5))
    assert done.success, done.message
    assert seconds(done.header.stamp) == pytest.approx((sequence + 5) * 0.002)
    ros.spin_until(lambda: robot.last.sequence == sequence + 5)
    refused = ros.call(MockStep, 'mock/step', MockStep.Request(cycles=0))
    assert (refused.success, refused.message) == (False, 'cycles is 0, must be in 1 .. 1000')
    pause(ros, False)
    ros.spin_until(lambda: robot.last.sequence > sequence + 20)


def test_reset(ros, robot, mock):
    mock()
    ros.spin_until(lambda: robot.states)
    sequence = robot.last.sequence
    done = ros.call(MockReset, 'mock/reset', MockReset.Request(joint_position=HOME + 0.05))
    assert done.success, done.message
    ros.spin_until(lambda: abs(robot.last.position[0] - HOME[0] - 0.05) < 1e-3)
    assert robot.last.sequence > sequence
    for request, message in (
        (MockReset.Request(joint_position=[0.0] * 3), 'posture has 3 values, must have 23'),
        (
            MockReset.Request(object_mass=0.2),
            'a mass or friction of the object is given, but no object',
        ),
        (
            MockReset.Request(use_object_pose=True),
            'a pose of the object is given, but no object',
        ),
        (
            MockReset.Request(object='box', object_mass=-1.0),
            'object_mass is -1, must be 0 or in 0.001 .. 20',
        ),
    ):
        refused = ros.call(MockReset, 'mock/reset', request)
        assert (refused.success, refused.message) == (False, message)


@pytest.mark.parametrize(
    ('params', 'text'),
    [
        ({'physics_rate': 1200.0}, r'physics_rate is 1200 Hz, must be a multiple of control_rate'),
        ({'use_sim_time': 'true'}, 'use_sim_time must be false: this node makes the time'),
        (
            {'mode': 'free_running', 'real_time_factor': 0.0},
            'real_time_factor 0 is for mode lockstep only',
        ),
        ({'mode': 'fast'}, "parameter 'mode'.*'fast'.*lockstep, free_running"),
        ({'seed': -1}, "parameter 'seed'.*-1"),
    ],
)
def test_wrong_parameters_end_it_with_one_line(mock, params, text):
    process = mock(**params)
    assert process.wait() == 2
    process.wait_for_line(text)
    assert len(process.stderr) == 1, process.output
