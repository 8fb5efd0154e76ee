# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller as a node; the test plays the robot, with the real simulator in it."""

import math
import time

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, Vector3, Wrench
from stack_harness import node_command, node_environment
from std_srvs.srv import Trigger

from drex_interfaces.msg import (
    ControllerStatus,
    ControllerTarget,
    FingertipTarget,
    Payload,
    RobotCommand,
    RobotState,
)
from drex_ros.control.controller import Controller
from drex_ros.control.settings import ControllerSettings
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.nodes.controller_messages import controller_target
from drex_ros.nodes.conversions import NEWEST, fill_state, robot_command, seconds
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME

NODE = 'hybrid_impedance_controller'


class Robot:
    """A simulated robot that publishes its state again when it was answered."""

    def __init__(self, ros, backend):
        self.backend = backend
        self.commands = []
        self.ros = ros
        self._shown = None
        self._publisher = ros.node.create_publisher(RobotState, 'robot/state', NEWEST)
        ros.node.create_subscription(RobotCommand, 'robot/command', self._follow, NEWEST)
        self._targets = ros.publisher(ControllerTarget, 'controller/target')
        self.statuses = ros.collect(ControllerStatus, 'controller/status')

    def show(self):
        message = RobotState()
        fill_state(message, self.backend.read())
        self._publisher.publish(message)

    def _follow(self, command):
        state = self.backend.read()
        if command.sequence == state.sequence:
            self.commands.append(command)
            assert self.backend.write(robot_command(command)), self.backend.read().reason
            self.backend.step()

    def run(self, cycles):
        """Exchange states and commands."""
        last = self.backend.read().sequence + cycles
        while (sequence := self.backend.read().sequence) < last:
            self.ros.spin_until(lambda now=sequence: self._answered(now), what='a command')

    def _answered(self, sequence):
        """Show the state, now and then again as a message can get lost, until it is answered."""
        if self.backend.read().sequence > sequence:
            return True
        if (sequence, time.monotonic() // 0.2) != self._shown:
            self._shown = (sequence, time.monotonic() // 0.2)
            self.show()
        return False

    def send(self, **fields):
        self._targets.publish(ControllerTarget(source='test', **fields))

    def status(self, predicate, what):
        def found():
            return next((s for s in self.statuses if predicate(s)), None)

        return self.ros.spin_until(found, what=what)


@pytest.fixture
def controller(start):
    return start(node_command(NODE), env=node_environment())


@pytest.fixture
def robot(ros, controller):
    with MujocoBackend() as backend:
        robot = Robot(ros, backend)
        ros.spin_until(robot._publisher.get_subscription_count, what='the controller')
        ros.spin_until(lambda: ros.node.count_publishers('/robot/command'), what='its commands')
        yield robot


def test_answers_holds_and_follows_a_target(ros, robot):
    robot.status(lambda s: s.reason == 'no robot/state yet', 'the first status')
    robot.run(30)
    assert [c.sequence for c in robot.commands] == list(range(30))
    assert seconds(robot.commands[-1].header.stamp) == pytest.approx(29 * 0.002)
    assert all(c.mode == RobotCommand.MODE_EFFORT for c in robot.commands)
    np.testing.assert_allclose(robot.backend.read().position, HOME, atol=1e-3)
    status = robot.status(lambda s: s.state == ControllerStatus.STATE_HOLDING, 'holding')
    assert math.isnan(status.payload_mass)
    arm, hand = HOME[ARM].copy(), HOME[HAND].copy()
    arm[6] += 0.1
    hand[1] += 0.2
    mode = ControllerTarget.MODE_JOINT_IMPEDANCE
    robot.send(arm_mode=mode, hand_mode=mode, arm_position=arm, hand_position=hand)
    status = robot.status(lambda s: s.state == ControllerStatus.STATE_TRACKING, 'tracking')
    assert (status.source, status.targets_accepted, status.reason) == ('test', 1, '')
    robot.run(400)
    np.testing.assert_allclose(robot.backend.read().position[ARM], arm, atol=5e-3)
    np.testing.assert_allclose(robot.backend.read().position[HAND], hand, atol=0.02)


def test_refuses_what_it_cannot_do_and_says_why(ros, robot, controller):
    robot.run(5)
    targets = [
        (
            {'arm_mode': ControllerTarget.MODE_HYBRID_FORCE},
            'arm_mode is HYBRID_FORCE, must be one of',
        ),
        (
            {'hand_mode': 1, 'hand_position': [math.nan] * 16},
            'hand_position of joint_0.0 is nan rad',
        ),
        ({'arm_mode': 1, 'arm_position': [0.0]}, 'arm_position has 1 values, must have 7'),
        (
            {'arm_mode': 1, 'arm_effort': [1.0] * 7},
            'arm_effort given, which arm_mode JOINT_IMPEDANCE does not use',
        ),
        (
            {'arm_mode': 2, 'arm_pose': [Pose(position=Point(x=2.0))]},
            'arm_pose has x = 2 m, the workspace is -0.2 .. 0.9',
        ),
    ]
    for number, (fields, reason) in enumerate(targets, start=1):
        robot.send(**fields)
        status = robot.status(lambda s, n=number: s.targets_refused == n, f'refusal of {reason}')
        assert reason in status.reason
        assert status.state == ControllerStatus.STATE_HOLDING
        counts = {each.rule: each.count for each in status.interventions}
        assert counts['bad_target'] == number
    controller.wait_for_line("target of 'test' refused")


def script():
    """Targets by the cycle after which they come: every mode, and back."""
    grip = [
        FingertipTarget(
            finger=finger,
            frame_id='grip',
            force=Vector3(x=1.5),
            force_axes=[True, False, False],
        )
        for finger in (0, 3)
    ]
    wrench = Wrench(force=Vector3(y=2.0))
    arm, hand = HOME[ARM].copy(), HOME[HAND].copy()
    arm[3] += 0.1
    hand[1:4] += 0.3
    return {
        20: {'arm_mode': 1, 'arm_position': arm, 'hand_mode': 1, 'hand_position': hand},
        60: {'arm_mode': 2, 'arm_cartesian_stiffness': [300.0] * 3 + [20.0] * 3},
        90: {'hand_mode': 4, 'fingertips': grip, 'hand_stiffness': [1.0] * 16},
        120: {'arm_mode': 2, 'arm_wrench': [wrench], 'payload': [Payload(mass=0.3)]},
        150: {'arm_mode': 3, 'arm_effort': [0.5] * 7, 'hand_mode': 1},
        210: {'hand_mode': 3, 'hand_effort': [0.02] * 16},
    }


def test_the_node_and_a_loop_without_ros_give_the_same_torques(ros, robot):
    targets, states = script(), []
    for number, cycle in enumerate([*targets, 260], start=0):
        while robot.backend.read().sequence < cycle:
            states.append(robot.backend.read())
            robot.run(1)
        if cycle in targets:
            robot.send(**targets[cycle])
            accepted = number + 1
            robot.status(lambda s, n=accepted: s.targets_accepted == n, f'target at {cycle}')
    controller = Controller(Dynamics(), ControllerSettings())
    with MujocoBackend() as alone:
        for command in robot.commands:
            state = alone.read()
            if state.sequence in targets:
                message = ControllerTarget(source='test', **targets[state.sequence])
                assert controller.accept(controller_target(message)) == ''
            own = controller.update(state)
            # Stamps are whole nanoseconds, so the two clocks differ by less than one.
            np.testing.assert_allclose(own.effort, command.effort, rtol=1e-9, atol=1e-9)
            assert alone.write(own)
            alone.step()
    assert len(robot.commands) == 260


def test_says_that_the_state_is_stale(ros, robot):
    robot.run(5)
    status = robot.status(lambda s: 'no robot/state for' in s.reason, 'the silence')
    assert status.state == ControllerStatus.STATE_INACTIVE
    assert status.state_age > 0.5
    robot.statuses.clear()
    robot.run(5)
    robot.status(lambda s: s.state == ControllerStatus.STATE_HOLDING, 'holding again')


def test_stop_and_recover(ros, robot):
    robot.run(5)
    assert ros.call(Trigger, 'controller/stop').success
    robot.run(5)
    assert robot.commands[-1].mode == RobotCommand.MODE_HOLD
    robot.status(lambda s: s.state == ControllerStatus.STATE_STOPPED, 'the stop')
    robot.send(arm_mode=1, arm_position=HOME[ARM])
    status = robot.status(lambda s: s.targets_refused == 1, 'the refusal')
    assert 'call controller/recover first' in status.reason
    assert ros.call(Trigger, 'controller/recover').success
    robot.run(5)
    assert robot.commands[-1].mode == RobotCommand.MODE_EFFORT


def test_wrong_stiffness_ends_it_with_one_line(start):
    params = {'arm_stiffness': '[400.0, 400.0, 400.0, 400.0, 400.0, 400.0, 400.0]'}
    process = start(node_command(NODE, params=params), env=node_environment())
    assert process.wait() == 2
    process.wait_for_line(r'arm_stiffness of panda_joint6 is 400 N m/rad, must be in 0 \.\. 300')
    assert len(process.stderr) == 1, process.output
