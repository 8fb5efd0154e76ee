# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller holds and stops when it must, and goes on without a jump."""

import dataclasses

import numpy as np
from closed_loop import CLOSE, GOAL, SETTINGS, both, palm, run

from drex_ros.control.controller import Controller, ControllerState
from drex_ros.control.interventions import Rule
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import ArmTarget, Pose, Target, TargetMode
from drex_ros.hardware.faults import FaultKind
from drex_ros.robot.joints import ARM, HOME
from drex_ros.robot.state import CommandMode, RobotMode


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


def test_a_target_expires_into_a_hold_and_then_a_stop(robot, controller):
    run(robot, controller, 10)
    assert controller.accept(both(GOAL, source='stream', timeout=0.1)) == ''
    run(robot, controller, 50)
    assert controller.state is ControllerState.TRACKING
    run(robot, controller, 3)  # 6 ms after the deadline
    assert controller.state is ControllerState.HOLDING
    assert controller.reason == "the target of 'stream' has expired: holding"
    held = controller.target_position
    run(robot, controller, 200)
    np.testing.assert_allclose(robot.read().position[ARM], held[ARM], atol=0.03)
    assert controller.state is ControllerState.HOLDING
    run(robot, controller, 60)
    assert controller.state is ControllerState.STOPPED
    assert robot.read().mode is RobotMode.HOLD
    assert controller.interventions.records[Rule.STALE_TARGET].count == 2


def test_torques_do_not_outlive_their_sender(robot, controller):
    run(robot, controller, 10)
    torque = np.zeros(7)
    torque[0] = 3.0
    effort = ArmTarget(TargetMode.JOINT_EFFORT, effort=torque)
    assert controller.accept(Target(arm=effort, timeout=60.0)) == ''
    run(robot, controller, 40)
    assert robot.read().velocity[0] > 0.05
    run(robot, controller, 200)
    assert 'expired' in controller.reason
    assert abs(robot.read().velocity[0]) < 0.02


def test_the_robot_is_held_before_the_table(robot, controller):
    run(robot, controller, 10)
    down = controller.terms.palm_position.copy()
    down[2] = 0.02
    turn = np.array(controller.terms.palm_rotation)
    assert turn.shape == (3, 3)
    below = Pose(np.array((0.0, 0.0, 0.0)), np.array((0.0, 0.0, 0.0, 1.0)))
    offset = turn.T @ (down - controller.terms.palm_position)
    below.position[:] = offset
    assert controller.accept(palm(pose=below, frame='palm_link')) == ''
    for _ in range(40):
        run(robot, controller, 50)
        assert not robot.simulation.truth.contacts()
    assert controller.interventions.records[Rule.TABLE].count > 0
    assert 'the table' in controller.interventions.records[Rule.TABLE].reason


def test_the_palm_stays_in_its_box(robot, dynamics):
    bounds = {'lower': np.array((0.0, -0.1, 0.3)), 'upper': np.array((0.5, 0.1, 0.9))}
    controller = Controller(dynamics, ControllerSettings(**bounds))
    run(robot, controller, 10)
    turned = HOME.copy()
    turned[0] = 1.5
    controller.accept(both(turned))
    for _ in range(30):
        run(robot, controller, 25)
        assert abs(controller.terms.palm_position[1]) < 0.115
    assert controller.interventions.records[Rule.WORKSPACE].count > 0


def test_states_that_come_too_late_stop_it(robot, controller):
    run(robot, controller, 10)
    robot.step()
    assert controller.update(robot.read(), age=0.6).mode is CommandMode.HOLD
    assert controller.state is ControllerState.STOPPED
    assert controller.reason == 'the robot state is 0.60 s old'
    controller.recover()
    run(robot, controller, 20)
    assert controller.state is ControllerState.HOLDING


def test_a_state_that_is_no_number_stops_it(robot, controller):
    run(robot, controller, 10)
    state = robot.read()
    broken = state.position.copy()
    broken[3] = np.nan
    command = controller.update(dataclasses.replace(state, position=broken, sequence=99))
    assert command.mode is CommandMode.HOLD
    assert controller.state is ControllerState.STOPPED
    assert controller.interventions.records[Rule.NOT_FINITE].count == 1
