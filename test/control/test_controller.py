# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller drives the simulated robot: no jump, no surprise."""

import dataclasses

import numpy as np
import pytest

from drex_ros.control.controller import Controller, ControllerState
from drex_ros.control.interventions import Rule
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import ArmTarget, HandTarget, Payload, Pose, Target, TargetMode
from drex_ros.control.trajectory import Motion, joint_trajectory, pace
from drex_ros.hardware.faults import FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS
from drex_ros.robot.state import CommandMode, RobotMode

SETTINGS = ControllerSettings()
GOAL = HOME.copy()
GOAL[6] += 0.5
GOAL[7:11] += (0.1, 0.5, 0.3, 0.3)
CLOSE = 2e-3  # [rad] of the arm: its friction is made up for
RATE = 2.0 + 1e-9  # [N m] in a cycle: 1000 N m/s


def arm(**values):
    return ArmTarget(**{'mode': TargetMode.JOINT_IMPEDANCE, **values})


def palm(**values):
    return Target(arm=ArmTarget(TargetMode.CARTESIAN_IMPEDANCE, **values))


def hand(**values):
    return HandTarget(**{'mode': TargetMode.JOINT_IMPEDANCE, **values})


def both(goal, **options):
    position = goal.copy()
    return Target(arm=arm(position=position[ARM]), hand=hand(position=position[HAND]), **options)


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
    assert np.abs(np.diff(efforts, axis=0)[:, ARM]).max() <= RATE
    assert np.abs(np.diff(efforts, axis=0)[:, HAND]).max() < 0.05
    assert controller.limits_applied == 0


def test_partial_updates_leave_the_rest(robot, controller):
    run(robot, controller, 10)
    controller.accept(both(GOAL))
    controller.accept(Target(hand=hand(position=HOME[HAND])))
    run(robot, controller, 1000)
    assert (np.abs(robot.read().position - GOAL) < CLOSE)[ARM].all()
    np.testing.assert_allclose(robot.read().position[HAND], HOME[HAND], atol=0.01)


def test_stiffness_changes_without_a_jump_of_torque(robot, controller):
    goal = HOME[HAND].copy()
    goal[1] = LIMITS.upper[8]  # far away, so that the spring is under load
    run(robot, controller, 10)
    controller.accept(Target(hand=hand(position=goal, stiffness=np.full(16, 0.1))))
    run(robot, controller, 100)
    controller.accept(Target(hand=hand(stiffness=np.full(16, 3.0))))
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


def test_the_palm_goes_to_a_pose_and_stays_compliant(robot, controller):
    run(robot, controller, 10)
    start = controller.terms.palm_position.copy()
    turn = np.array((0.0, 0.0, 0.0, 1.0))
    moved = Pose(np.array((0.05, -0.04, 0.06)), -turn)  # the sign of a quaternion means nothing
    assert controller.accept(palm(pose=moved, frame='palm_link')) == ''
    wanted = start + controller.terms.palm_rotation @ moved.position
    efforts = run(robot, controller, 1000)
    np.testing.assert_allclose(controller.terms.palm_position, wanted, atol=1e-3)
    assert np.abs(np.diff(efforts, axis=0)[:, ARM]).max() <= RATE
    force = np.array((0.0, 5.0, 0.0))
    robot.simulation.data.body('palm_link').xfrc_applied[:3] = force
    run(robot, controller, 1500)
    deflection = controller.terms.palm_position - wanted
    np.testing.assert_allclose(deflection, force / 400.0, atol=1.5e-3)


def test_modes_follow_each_other_without_a_step_of_torque(robot, controller):
    run(robot, controller, 10)
    random = np.random.default_rng(3)
    targets = (
        lambda: palm(),
        lambda: Target(arm=arm()),
        lambda: Target(arm=ArmTarget(TargetMode.JOINT_EFFORT, effort=random.uniform(-2, 2, 7))),
        lambda: Target(hand=hand()),
        lambda: Target(hand=HandTarget(TargetMode.HYBRID_FORCE)),
        lambda: Target(
            hand=HandTarget(TargetMode.JOINT_EFFORT, effort=random.uniform(-0.1, 0.1, 16))
        ),
    )
    efforts = []
    for number in random.integers(0, len(targets), 60):
        assert controller.accept(targets[number]()) == ''
        efforts.append(run(robot, controller, int(random.integers(2, 45))))
    steps = np.abs(np.diff(np.concatenate(efforts), axis=0))
    assert steps[:, ARM].max() <= RATE
    assert steps[:, HAND].max() <= 0.1
    assert robot.read().mode is RobotMode.EFFORT


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


def test_a_payload_is_held_up_gradually(robot, controller):
    run(robot, controller, 100)
    before = robot.read().effort_commanded.copy()
    payload = Payload(1.0, np.array((0.1, 0.0, 0.0)))
    assert controller.accept(Target(payload=payload)) == ''
    efforts = run(robot, controller, 300)
    jacobian = controller.terms.palm_jacobian
    lever = controller.terms.palm_rotation @ payload.position
    up = jacobian[2] + jacobian[3] * lever[1] - jacobian[4] * lever[0]
    # Nothing is there to weigh it down, so the springs hold against it.
    assert np.abs(np.diff(efforts, axis=0)[:, ARM]).max() <= RATE
    rise = 9.81 * up
    spring = 400.0 * (robot.read().position[1] - controller.arm.joints.position[1])
    assert spring == pytest.approx(rise[1], abs=1.0)
    assert abs(before[1]) < 1.0


def test_a_move_leads_all_joints_and_ends(robot, controller):
    run(robot, controller, 10)
    zero = np.zeros(23)
    start = Motion(controller.target_position, zero, zero)
    assert controller.start_move(joint_trajectory(start, GOAL, pace(0.5)), 'test') == ''
    move = controller.move
    assert controller.state is ControllerState.MOVING
    refused = controller.accept(both(HOME, source='other'))
    assert "'test' commands" in refused
    run(robot, controller, round(500 * move.trajectory.duration) + 100)
    assert (move.over, move.failure, move.progress) == (True, '', 1.0)
    assert controller.state is ControllerState.HOLDING
    np.testing.assert_allclose(robot.read().position[ARM], GOAL[ARM], atol=CLOSE)
    assert controller.accept(both(HOME, source='other')) == ''


def test_a_move_that_is_cancelled_or_stopped_says_so(robot, controller):
    run(robot, controller, 10)
    zero = np.zeros(23)

    def go():
        start = Motion(controller.target_position, zero, zero)
        assert controller.start_move(joint_trajectory(start, GOAL, pace(0.3)), 'test') == ''
        run(robot, controller, 100)
        return controller.move

    move = go()
    controller.cancel_move('cancelled')
    assert (move.over, move.failure) == (True, 'cancelled')
    run(robot, controller, 200)
    assert np.abs(robot.read().velocity[ARM]).max() < 0.02
    move = go()
    controller.stop('enough')
    assert (move.over, move.failure) == (True, 'enough')


def test_goals_in_collision_are_refused(robot, controller):
    run(robot, controller, 10)
    low = HOME.copy()
    low[:7] = (0.0, 1.2, 0.0, -1.2, 0.0, 1.5, 0.78)  # the hand is in the table
    refused = controller.accept(both(low))
    assert 'the goal is in collision' in refused
    assert 'inside the table' in refused


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
