# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motions are smooth, within their limits, as fast as these allow, and can take over any time."""

import numpy as np
import pytest

from drex_ros.control.trajectory import (
    ArmPath,
    Motion,
    TrajectoryError,
    joint_trajectory,
    pace,
    path_trajectory,
    retime,
    stop,
)
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_HAND, N_JOINTS

ZERO = np.zeros(N_JOINTS)
AT_HOME = Motion(HOME, ZERO, ZERO)
STEP = 0.001


def postures(count, seed):
    return np.random.default_rng(seed).uniform(LIMITS.lower, LIMITS.upper, (count, N_JOINTS))


def sampled(trajectory):
    times = np.arange(0.0, trajectory.duration + STEP, STEP)
    motions = [trajectory.at(time) for time in times]
    return tuple(np.array(values) for values in zip(*motions, strict=True))


def check_smooth(trajectory, limits, start):
    position, velocity, acceleration = sampled(trajectory)
    np.testing.assert_allclose(position[0], start.position, atol=1e-12)
    np.testing.assert_allclose(velocity[0], start.velocity, atol=1e-12)
    np.testing.assert_allclose(position[-1], trajectory.goal, atol=1e-12)
    assert not velocity[-1].any()
    assert not acceleration[-1].any()
    bound = 1.0 + 1e-6
    assert (np.abs(velocity) <= limits.velocity * bound).all()
    assert (np.abs(acceleration) <= limits.acceleration * bound).all()
    # A little more jerk where a sample straddles two pieces of a path.
    assert (np.abs(np.diff(acceleration, axis=0)) <= 1.02 * limits.jerk * STEP + 1e-9).all()
    # Each is the derivative of the one before.
    jerk = limits.jerk * STEP**2
    middle = 0.5 * (velocity[1:] + velocity[:-1])
    assert (np.abs(np.diff(position, axis=0) / STEP - middle) <= jerk).all()
    middle = 0.5 * (acceleration[1:] + acceleration[:-1])
    assert (np.abs(np.diff(velocity, axis=0) / STEP - middle) <= limits.jerk * STEP).all()


@pytest.mark.parametrize('speed', [0.2, 1.0])
def test_from_rest_it_keeps_to_the_straight_line_in_joint_space(speed):
    for goal in postures(5, 0):
        trajectory = joint_trajectory(AT_HOME, goal, pace(speed))
        check_smooth(trajectory, pace(speed), AT_HOME)
        position, _, _ = sampled(trajectory)
        way = goal - HOME
        share = (position - HOME) @ way / (way @ way)
        np.testing.assert_allclose(position, HOME + share[:, None] * way, atol=1e-6)


def test_is_as_fast_as_the_limits_allow():
    """One joint, far: full speed, plus the time to reach it and to stop, jerk included."""
    limits = pace(0.4)
    goal = HOME.copy()
    goal[0] += 2.0
    expected = 2.0 / limits.velocity[0]
    expected += limits.velocity[0] / limits.acceleration[0]
    expected += limits.acceleration[0] / limits.jerk[0]
    assert joint_trajectory(AT_HOME, goal, limits).duration == pytest.approx(expected, rel=1e-6)


def test_another_goal_takes_over_without_a_jump():
    random, limits = np.random.default_rng(1), pace(0.5)
    now = AT_HOME
    for goal in postures(15, 2):
        trajectory = joint_trajectory(now, goal, limits)
        check_smooth(trajectory, limits, now)
        now = trajectory.at(random.uniform(0.1, 0.9) * trajectory.duration)


def test_a_start_beyond_the_pace_is_braked_at_once():
    limits, fast = pace(0.3), Motion(HOME, 0.6 * LIMITS.velocity, ZERO)
    trajectory = joint_trajectory(fast, HOME, limits)
    position, velocity, acceleration = sampled(trajectory)
    np.testing.assert_allclose(position[-1], HOME, atol=1e-12)
    assert (np.abs(acceleration) <= limits.acceleration * (1 + 1e-6)).all()
    assert (np.diff(np.abs(velocity[:50]), axis=0) <= 1e-12).all()


def test_stops_from_any_motion():
    for goal in postures(5, 3):
        moving = joint_trajectory(AT_HOME, goal, pace(0.6))
        for share in (0.1, 0.5, 0.8):
            now = moving.at(share * moving.duration)
            halt = stop(now)
            check_smooth(halt, pace(1.0), now)
            full = (np.abs(now.velocity) / pace(1.0).acceleration).max()
            assert full <= halt.duration <= full + 0.35
    assert stop(AT_HOME).duration == 0.0


def test_the_arm_has_the_torque_for_it():
    """Also at full speed neither torque nor its rate comes near to the limits of the arm."""
    dynamics = Dynamics()
    ends = postures(8, 4)
    for start, goal in zip(ends[::2], ends[1::2], strict=True):
        trajectory = joint_trajectory(Motion(start, ZERO, ZERO), goal, pace(1.0))
        position, velocity, acceleration = sampled(trajectory)
        torque = np.array(
            [
                (dynamics.mass_matrix(q) @ a + dynamics.coriolis(q, v))[ARM]
                for q, v, a in zip(position, velocity, acceleration, strict=True)
            ]
        )
        assert (np.abs(torque) < LIMITS.effort[ARM]).all()
        assert (np.abs(np.diff(torque, axis=0)) < LIMITS.effort_rate[ARM] * STEP).all()


def arc(turn=1.0):
    """A curved path of the arm from home."""
    swing = np.array((0.6, 0.4, -0.6, 0.4, 0.2, 0.8, 0.4)) * turn
    nodes = [
        HOME[ARM] + (1 - np.cos(2 * s)) * swing + s * swing[::-1] for s in np.linspace(0, 1, 41)
    ]
    return ArmPath(np.array(nodes), length=0.3, angle=0.2)


@pytest.mark.parametrize('speed', [0.1, 0.5, 1.0])
@pytest.mark.parametrize('turn', [0.05, 1.0])
def test_along_a_path_no_joint_passes_its_limits(turn, speed):
    path, limits = arc(turn), pace(speed)
    trajectory = path_trajectory(AT_HOME, path, HOME[HAND] + 0.1, limits)
    check_smooth(trajectory, limits, AT_HOME)
    position, velocity, acceleration = sampled(trajectory)
    distance = np.abs(position[:, None, ARM] - path.nodes).max(axis=2).min(axis=1)
    assert distance.max() < np.abs(np.diff(path.nodes, axis=0)).max()
    # As fast as it can be: one of the limits is nearly used.
    used = max(
        (np.abs(velocity) / limits.velocity).max(),
        (np.abs(acceleration) / limits.acceleration).max(),
        (np.abs(np.diff(acceleration, axis=0)) / STEP / limits.jerk).max(),
    )
    palm = trajectory.duration * speed * 1.7 / path.length
    assert used > 0.7 or palm < 2.5


def test_a_path_passes_through_its_postures():
    path = arc()
    trajectory = path_trajectory(AT_HOME, path, HOME[HAND], pace(0.2))
    position, _, _ = sampled(trajectory)
    step = np.abs(np.diff(position[:, ARM], axis=0)).max()
    for node in path.nodes:
        assert np.abs(position[:, ARM] - node).max(axis=1).min() < step


def test_on_a_path_from_a_motion_it_comes_to_rest_first():
    limits = pace(0.3)
    moving = joint_trajectory(AT_HOME, HOME + 0.1, limits)
    now = moving.at(0.5 * moving.duration)
    trajectory = path_trajectory(now, arc(), HOME[HAND], limits)
    check_smooth(trajectory, limits, now)
    np.testing.assert_allclose(trajectory.goal[ARM], arc().nodes[-1])


def test_retime_goes_the_same_way_from_where_it_is():
    limits = pace(0.3)
    goal = HOME + 0.1
    moving = joint_trajectory(AT_HOME, HOME - 0.1, limits)
    now = moving.at(0.4 * moving.duration)
    for plan in (
        joint_trajectory(AT_HOME, goal, limits),
        path_trajectory(AT_HOME, arc(), goal[HAND], limits),
    ):
        late = retime(plan, now)
        check_smooth(late, limits, now)
        np.testing.assert_array_equal(late.goal, plan.goal)
        same = retime(plan, AT_HOME)
        assert same.duration == plan.duration
        np.testing.assert_array_equal(same.at(0.2).position, plan.at(0.2).position)


def test_before_and_after_it_stands():
    trajectory = joint_trajectory(AT_HOME, HOME + 0.1, pace(0.3))
    np.testing.assert_allclose(trajectory.at(-1.0).position, HOME, atol=1e-12)
    late = trajectory.at(trajectory.duration + 5.0)
    np.testing.assert_array_equal(late.position, trajectory.goal)
    assert not late.velocity.any()


@pytest.mark.parametrize('speed', [0.0, -0.1, 1.01, np.nan, np.inf])
def test_refuses_a_pace_beyond_the_limits(speed):
    with pytest.raises(TrajectoryError, match='must be over 0 and at most 1'):
        pace(speed)


def test_refuses_what_is_no_number():
    with pytest.raises(TrajectoryError, match='no motion found'):
        joint_trajectory(AT_HOME, np.full(N_JOINTS, np.nan), pace(0.3))


def test_the_hand_alone_leaves_the_arm_where_it_is():
    goal = np.concatenate((HOME[ARM], HOME[HAND] + 0.2))
    position, _, _ = sampled(joint_trajectory(AT_HOME, goal, pace(0.3)))
    assert position.shape[1] - N_HAND == len(HOME[ARM])
    assert (position[:, ARM] == HOME[ARM]).all()
