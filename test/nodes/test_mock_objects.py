# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator's object, its truth, its description and its faults, over ROS."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from stack_harness import node_command, node_environment
from std_msgs.msg import String

from drex_interfaces.msg import GroundTruth, MockScene, RobotCommand, RobotState
from drex_interfaces.srv import InjectFault, MockReset
from drex_ros.nodes.conversions import LATCHED, NEWEST, QUEUED, seconds
from drex_ros.objects import load_object
from drex_ros.robot.joints import JOINT_NAMES, N_JOINTS


@pytest.fixture
def mock(start):
    def start_mock(**params):
        return start(node_command('mock_hardware', params=params), env=node_environment())

    return start_mock


def inject(ros, fault, **fields):
    request = InjectFault.Request(fault=fault, **fields)
    response = ros.call(InjectFault, 'mock/inject_fault', request)
    assert response.success, response.message


def test_object_and_truth(ros, mock):
    mock(object='box', seed=5)
    truths = ros.collect(GroundTruth, 'mock/ground_truth', 10)
    ros.spin_until(lambda: len(truths) > 20)
    truth, box = truths[-1], load_object('box')
    assert (truth.object, truth.header.frame_id) == ('box', 'world')
    assert truth.object_mass == box.mass
    assert (truth.object_friction, truth.finger_friction) == (box.friction, box.finger_friction)
    assert truth.object_pose.position.z == pytest.approx(box.rest_height, abs=1e-3)
    assert abs(truth.object_twist.linear.z) < 1e-3
    weight = sum(contact.force.z for contact in truth.contacts)
    assert weight == pytest.approx(9.81 * box.mass, rel=0.01)
    assert {contact.body1 for contact in truth.contacts} == {'table'}
    assert not any(finger.in_contact for finger in truth.fingertips)
    assert [finger.finger for finger in truth.fingertips] == [0, 1, 2, 3]


def test_reset_with_an_object(ros, mock):
    mock()
    truths = ros.collect(GroundTruth, 'mock/ground_truth', 10)
    ros.spin_until(lambda: truths)
    assert truths[-1].object == ''
    request = MockReset.Request(
        object='can', use_object_pose=True, object_mass=0.9, object_friction=0.3, seed=8
    )
    request.object_pose.position.x, request.object_pose.position.z = 0.45, 0.3
    request.object_pose.orientation.w = 1.0
    response = ros.call(MockReset, 'mock/reset', request)
    assert response.success, response.message
    ros.spin_until(lambda: truths[-1].object == 'can')
    first = next(truth for truth in truths if truth.object == 'can')
    assert (first.object_mass, first.object_friction) == (0.9, 0.3)
    assert 0.2 < first.object_pose.position.z <= 0.3  # it falls
    request.object = 'unicorn'
    refused = ros.call(MockReset, 'mock/reset', request)
    assert not refused.success
    assert 'unicorn' in refused.message
    assert 'mug' in refused.message  # which there are
    ros.spin(0.1)
    assert truths[-1].object == 'can'


def test_description_is_latched(ros, mock):
    mock()
    states = ros.collect(RobotState, 'robot/state', NEWEST)
    ros.spin_until(lambda: states)  # it was published before
    texts = ros.collect(String, 'robot_description', LATCHED)
    ros.spin_until(lambda: texts)
    robot = ET.fromstring(texts[0].data)
    moving = {j.get('name') for j in robot.findall('joint') if j.get('type') != 'fixed'}
    assert moving == set(JOINT_NAMES)
    assert robot.find(".//link[@name='camera_color_optical_frame']") is not None
    assert robot.find('.//visual//mesh').get('filename').startswith('file://')


def test_camera_frames_come_at_their_rate(ros, mock):
    mock(object='ball')
    frames = ros.collect(MockScene, 'mock/scene', QUEUED)
    ros.spin_until(lambda: len(frames) >= 31)
    numbers = [frame.frame for frame in frames]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    times = np.array([seconds(frame.header.stamp) for frame in frames])
    assert (times[30] - times[0]) == pytest.approx(1.0, abs=0.0021)  # whole cycles
    np.testing.assert_allclose(times / 0.002, np.rint(times / 0.002), atol=1e-6)
    assert frames[0].object == 'ball'
    assert not frames[0].camera_blank
    assert frames[0].camera_delay == 0.02
    inject(ros, InjectFault.Request.FAULT_BLANK_CAMERA)
    inject(ros, InjectFault.Request.FAULT_DELAY_CAMERA, magnitude=0.2)
    ros.spin_until(lambda: frames[-1].camera_blank and frames[-1].camera_delay == 0.02 + 0.2)
    inject(ros, InjectFault.Request.FAULT_NONE)
    ros.spin_until(lambda: not frames[-1].camera_blank and frames[-1].camera_delay == 0.02)


def test_the_clock_ticks_when_a_picture_is_due(ros, mock):
    """Between its own ticks too, which come every 0.1 s here."""
    mock(clock_rate=10.0, camera_delay=0.024)
    frames = ros.collect(MockScene, 'mock/scene', QUEUED)
    ticks = ros.collect(Clock, '/clock', 100)
    ros.spin_until(lambda: len(frames) > 20 and len(ticks) > 20)
    times = np.array([seconds(tick.clock) for tick in ticks])
    due = [seconds(frame.header.stamp) + frame.camera_delay for frame in frames]
    told = [
        np.abs(times - moment).min() < 1e-6
        for moment in due
        if times[0] < moment < times[-1]
    ]  # fmt: skip
    assert len(told) > 10
    assert np.mean(told) > 0.8  # only the newest time counts, so one may get lost


class Answerer:
    """Keeps the robot where it is, by torque commands."""

    def __init__(self, ros):
        self.states = []
        self.recover = False
        self._publisher = ros.node.create_publisher(RobotCommand, 'robot/command', NEWEST)
        ros.node.create_subscription(RobotState, 'robot/state', self._answer, NEWEST)

    def _answer(self, state):
        self.states.append(state)
        command = RobotCommand(header=state.header, sequence=state.sequence)
        command.mode = RobotCommand.MODE_RECOVER if self.recover else RobotCommand.MODE_EFFORT
        command.effort = state.effort_commanded
        self._publisher.publish(command)

    @property
    def last(self):
        return self.states[-1]


def wait_for_mode(ros, robot, mode):
    ros.spin_until(lambda: robot.states and robot.last.mode == mode, what=f'mode {mode}')


@pytest.fixture
def robot(ros, mock):
    mock(real_time_factor=0.0)
    answerer = Answerer(ros)
    wait_for_mode(ros, answerer, RobotState.MODE_EFFORT)
    return answerer


def test_reflex_and_recovery(ros, robot):
    inject(ros, InjectFault.Request.FAULT_REFLEX)
    wait_for_mode(ros, robot, RobotState.MODE_REFLEX)
    assert robot.last.reason == 'reflex: injected fault'
    refused = robot.last.commands_refused
    ros.spin_until(lambda: robot.last.commands_refused > refused + 5)
    robot.recover = True
    wait_for_mode(ros, robot, RobotState.MODE_HOLD)
    robot.recover = False
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)


def test_lost_commands_hold_then_stop(ros, robot):
    inject(ros, InjectFault.Request.FAULT_DROP_COMMANDS, magnitude=1.0)
    wait_for_mode(ros, robot, RobotState.MODE_HOLD)
    assert robot.last.reason == 'no command for 0.02 s'
    wait_for_mode(ros, robot, RobotState.MODE_STOPPED)
    inject(ros, InjectFault.Request.FAULT_NONE)
    robot.recover = True
    wait_for_mode(ros, robot, RobotState.MODE_HOLD)


def test_late_commands_are_refused(ros, robot):
    inject(ros, InjectFault.Request.FAULT_DELAY_COMMANDS, magnitude=0.03, duration=0.2)
    wait_for_mode(ros, robot, RobotState.MODE_HOLD)
    ros.spin_until(lambda: '15 cycles ago' in robot.last.reason)
    wait_for_mode(ros, robot, RobotState.MODE_EFFORT)  # it is over by itself


def test_lost_and_late_states(ros, robot):
    inject(ros, InjectFault.Request.FAULT_DROP_STATES, magnitude=0.5)
    count, sequence = len(robot.states), robot.last.sequence
    ros.spin_until(lambda: robot.last.sequence > sequence + 400)
    share = len({state.sequence for state in robot.states[count:]}) / 400
    assert 0.3 < share < 0.7
    inject(ros, InjectFault.Request.FAULT_NONE)
    frames = ros.collect(MockScene, 'mock/scene', QUEUED)
    inject(ros, InjectFault.Request.FAULT_DELAY_STATES, magnitude=0.2)
    ros.spin_until(lambda: len(frames) > 20)
    lag = seconds(frames[-1].header.stamp) - seconds(robot.last.header.stamp)
    assert 0.15 < lag < 0.3


def test_broken_sensors(ros, robot):
    joint = JOINT_NAMES.index('joint_5.0')
    before = robot.last.position[joint]
    inject(ros, InjectFault.Request.FAULT_BIAS_JOINT, joint='joint_5.0', magnitude=0.25)
    ros.spin_until(lambda: abs(robot.last.position[joint] - before - 0.25) < 0.05)
    inject(ros, InjectFault.Request.FAULT_NONE)
    inject(ros, InjectFault.Request.FAULT_FREEZE_JOINT, joint='panda_joint1')
    ros.spin(0.05)
    count = len(robot.states)
    ros.spin_until(lambda: len(robot.states) > count + 50)
    assert len({state.effort[0] for state in robot.states[count:]}) == 1
    assert len({state.effort[1] for state in robot.states[count:]}) > 20
    response = ros.call(
        InjectFault, 'mock/inject_fault', InjectFault.Request(fault=5, joint='elbow')
    )
    assert not response.success
    assert "no joint 'elbow'; the joints are" in response.message
    assert np.shape(robot.last.position) == (N_JOINTS,)
