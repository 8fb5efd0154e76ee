# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller drives the simulated robot: no jump, no surprise."""

import numpy as np
import pytest

from drex_ros.control.controller import Controller, ControllerSettings, ControllerState
from drex_ros.control.joint_impedance import Impedance
from drex_ros.control.set_point import MotionLimits
from drex_ros.control.targets import PartTarget, Target
from drex_ros.hardware.faults import FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, JOINT_FRICTION, LIMITS, constant
from drex_ros.robot.state import CommandMode, RobotMode

STIFFNESS = constant((400, 400, 400, 400, 150, 100, 40) + 16 * (3.0,))
VELOCITY = 0.3 * LIMITS.velocity
SETTINGS = ControllerSettings(
    Impedance(STIFFNESS, np.ones(23)), MotionLimits(VELOCITY, VELOCITY / 0.2)
)
GOAL = HOME.copy()
GOAL[6] += 0.5
GOAL[7:11] += (0.1, 0.5, 0.3, 0.3)
# A spring does not move a joint whose friction is more than its pull.
CLOSE = JOINT_FRICTION / STIFFNESS + 1e-3


def arm(**values):
    return PartTarget(mode=1, **values)


def both(goal, **options):
    return Target(arm=arm(position=goal[ARM]), hand=arm(position=goal[HAND]), **options)


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture
def controller(dynamics):
    return Controller(dynamics, SETTINGS)


@pytest.fixture
def robot():
    with MujocoBackend() as backend:
        yield backend


def run(robot, controller, cycles):
    """Close the loop; the efforts commanded, shape (cycles, 23)."""
    efforts = []
    for _ in range(cycles):
        command = controller.update(robot.read())
        assert robot.write(command), robot.read().reason
        robot.step()
        efforts.append(command.effort)
    return np.array(efforts)


def test_holds_the_posture_that_it_finds(robot, controller):
    assert controller.state is ControllerState.INACTIVE
    robot.reset(HOME + 0.1)
    run(robot, controller, 500)
    assert controller.state is ControllerState.HOLDING
    assert robot.read().mode is RobotMode.EFFORT
    np.testing.assert_allclose(robot.read().position, HOME + 0.1, atol=1e-3)


def test_moves_to_a_target_smoothly(robot, controller):
    run(robot, controller, 50)
    assert controller.accept(both(GOAL, source='test')) == ''
    assert (controller.state, controller.source) == (ControllerState.TRACKING, 'test')
    efforts = run(robot, controller, 1000)
    state = robot.read()
    assert (np.abs(state.position - GOAL) < CLOSE)[ARM].all()
    np.testing.assert_allclose(state.position[HAND], GOAL[HAND], atol=0.01)
    assert np.abs(np.diff(efforts, axis=0)[:, ARM]).max() <= 2.0 + 1e-9  # 1000 N m/s
    assert controller.limits_applied == 0


def test_partial_updates_leave_the_rest(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    controller.accept(Target(hand=arm(position=HOME[HAND])))
    run(robot, controller, 1000)
    assert (np.abs(robot.read().position - GOAL) < CLOSE)[ARM].all()
    np.testing.assert_allclose(robot.read().position[HAND], HOME[HAND], atol=0.01)


def test_stiffness_changes_without_a_jump_of_torque(robot, controller):
    goal = HOME[HAND].copy()
    goal[1] = LIMITS.upper[8]  # far away, so that the spring is under load
    run(robot, controller, 10)
    controller.accept(Target(hand=arm(position=goal, stiffness=np.full(16, 0.1))))
    run(robot, controller, 100)
    controller.accept(Target(hand=arm(stiffness=np.full(16, 3.0))))
    efforts = run(robot, controller, 300)
    assert np.abs(np.diff(efforts, axis=0)[:, HAND]).max() < 0.05


def test_a_state_seen_twice_gets_the_same_answer(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    state = robot.read()
    first = controller.update(state)
    np.testing.assert_array_equal(controller.update(state).effort, first.effort)
    assert controller.state is ControllerState.TRACKING


def test_no_target_before_the_first_state(controller):
    assert 'no robot state yet' in controller.accept(Target())
    assert controller.targets_refused == 1


def test_refused_target_changes_nothing(robot, controller):
    run(robot, controller, 10)
    bad = GOAL.copy()
    bad[22] = np.nan
    reason = controller.accept(both(bad, source='me'))
    assert reason.startswith("target of 'me' refused: hand_position of joint_15.0 is nan")
    assert controller.reason == reason
    assert (controller.targets_accepted, controller.targets_refused) == (0, 1)
    run(robot, controller, 200)
    np.testing.assert_allclose(robot.read().position, HOME, atol=1e-3)


def test_stamps_must_be_near_the_time_of_the_robot(robot, controller):
    run(robot, controller, 500)  # 1 s
    assert controller.accept(both(GOAL, time=0.9)) == ''
    for time in (0.4, 1.6, 1.8e9, float('nan')):
        assert 'its stamp is' in controller.accept(both(GOAL, time=time))


def test_a_second_source_waits_until_the_first_is_silent(robot, controller):
    run(robot, controller, 10)
    assert controller.accept(both(GOAL, source='push')) == ''
    run(robot, controller, 200)
    assert "'push' commands" in controller.accept(both(HOME, source='grasp'))
    run(robot, controller, 51)
    assert controller.accept(both(HOME, source='grasp')) == ''
    assert controller.source == 'grasp'


def test_a_reflex_stays_until_recover(robot, controller):
    run(robot, controller, 10)
    robot.inject(FaultKind.REFLEX, '', 0.0, 0.0)
    for _ in range(5):
        assert not robot.write(controller.update(robot.read()))
        robot.step()
    assert controller.reason == 'the robot is stopped: reflex: injected fault'
    refused = controller.accept(both(GOAL))
    assert 'the robot is stopped (reflex: injected fault): call controller/recover' in refused
    found = robot.read().position
    controller.recover()
    run(robot, controller, 300)
    assert (robot.read().mode, controller.reason) == (RobotMode.EFFORT, '')
    np.testing.assert_allclose(robot.read().position, found, atol=5e-3)  # re-armed, not moved


def test_a_new_controller_takes_over_a_robot_that_stopped_by_silence(robot, dynamics):
    run(robot, Controller(dynamics, SETTINGS), 10)
    for _ in range(300):
        robot.step()
    assert robot.read().mode is RobotMode.STOPPED
    found, successor = robot.read().position, Controller(dynamics, SETTINGS)
    efforts = run(robot, successor, 300)
    assert (robot.read().mode, successor.state) == (RobotMode.EFFORT, ControllerState.HOLDING)
    assert np.abs(np.diff(efforts[1:], axis=0)[:, ARM]).max() < 1.0
    np.testing.assert_allclose(robot.read().position, found, atol=5e-3)


def test_a_new_controller_leaves_a_reflex_alone(robot, dynamics):
    robot.inject(FaultKind.REFLEX, '', 0.0, 0.0)
    successor = Controller(dynamics, SETTINGS)
    for _ in range(5):
        assert successor.update(robot.read()).mode is CommandMode.HOLD
        robot.step()
    assert robot.read().mode is RobotMode.REFLEX


def test_stop_lets_the_hardware_hold_until_recover(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    run(robot, controller, 100)
    controller.stop('test')
    run(robot, controller, 200)
    state = robot.read()
    assert (state.mode, state.reason) == (RobotMode.HOLD, 'hold commanded')
    assert 'stopped' in controller.accept(both(GOAL))
    controller.recover()
    run(robot, controller, 500)
    assert controller.state is ControllerState.HOLDING
    assert robot.read().mode is RobotMode.EFFORT
    np.testing.assert_allclose(robot.read().position, state.position, atol=5e-3)


def test_stopped_robot_is_not_commanded_and_the_goal_is_dropped(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    run(robot, controller, 100)
    robot.stop('emergency')
    command = controller.update(robot.read())
    assert command.mode is CommandMode.HOLD
    assert controller.reason == 'the robot is stopped: emergency'
    assert 'emergency' in controller.accept(both(GOAL))
    found = robot.read().position
    robot.step()
    robot.recover()
    run(robot, controller, 500)
    np.testing.assert_allclose(robot.read().position, found, atol=0.05)


def test_goes_on_to_its_goal_after_the_hardware_held(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    run(robot, controller, 50)
    for _ in range(200):
        robot.step()
    assert robot.read().mode is RobotMode.HOLD
    before = robot.read().effort_commanded
    efforts = run(robot, controller, 1000)
    assert np.abs(efforts[0] - before)[ARM].max() <= 1.0 + 1e-9  # 1000 N m/s for 1 ms
    assert (np.abs(robot.read().position - GOAL) < CLOSE)[ARM].all()


def test_a_robot_that_jumps_is_held_where_it_is(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    run(robot, controller, 500)
    robot.reset()
    run(robot, controller, 300)
    assert controller.state is ControllerState.HOLDING
    assert 'jump' in controller.reason
    np.testing.assert_allclose(robot.read().position, HOME, atol=2e-3)


def test_a_robot_that_starts_anew_is_held_where_it_is(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    run(robot, controller, 20)
    robot.connect()
    run(robot, controller, 300)
    assert controller.state is ControllerState.HOLDING
    assert 'went back' in controller.reason
    np.testing.assert_allclose(robot.read().position, HOME, atol=2e-3)
