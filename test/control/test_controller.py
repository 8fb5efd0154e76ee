# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller drives the simulated robot: no jump, no surprise."""

import numpy as np
import pytest
from closed_loop import CLOSE, GOAL, RATE, arm, both, hand, palm, run

from drex_ros.control.controller import ControllerState
from drex_ros.control.targets import ArmTarget, HandTarget, Payload, Pose, Target, TargetMode
from drex_ros.control.trajectory import Motion, joint_trajectory, pace
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS
from drex_ros.robot.state import RobotMode


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
