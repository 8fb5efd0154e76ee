# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The set-point goes to its goal without a jump in position or speed."""

import numpy as np
import pytest

from drex_ros.control.set_point import MotionLimits, SetPoint, advance, approach

VELOCITY = np.array([1.0, 0.5, 3.0])
ACCELERATION = np.array([4.0, 2.0, 50.0])
LIMITS = MotionLimits(VELOCITY, ACCELERATION)


def follow(start, goals, period=0.002):
    points = [start]
    for goal in goals:
        points.append(advance(points[-1], goal, LIMITS, period))
    return np.array([p.position for p in points]), np.array([p.velocity for p in points])


def check_smooth(position, velocity, period):
    assert (np.abs(velocity) <= VELOCITY * (1 + 1e-9)).all()
    assert (np.abs(np.diff(velocity, axis=0)) <= ACCELERATION * period * (1 + 1e-9)).all()
    np.testing.assert_allclose(np.diff(position, axis=0), velocity[1:] * period, atol=1e-12)


@pytest.mark.parametrize('period', [0.001, 0.002, 0.0037])
@pytest.mark.parametrize('size', [1.0, 0.1, 1e-3, 1e-6])
def test_arrives_without_overshoot(size, period):
    goal = size * np.array([1.0, -1.0, 0.7])
    position, velocity = follow(SetPoint.at_rest(np.zeros(3)), [goal] * 4000, period)
    check_smooth(position, velocity, period)
    np.testing.assert_allclose(position[-1], goal, atol=1e-12)
    np.testing.assert_allclose(velocity[-1], 0.0, atol=1e-9)
    assert (np.abs(position) <= np.abs(goal) * (1 + 1e-9)).all()


def test_takes_about_the_time_that_the_limits_allow():
    position, _ = follow(SetPoint.at_rest(np.zeros(3)), [np.ones(3)] * 4000)
    arrived = (np.abs(position - 1.0) < 1e-6).argmax(axis=0) * 0.002
    np.testing.assert_allclose(arrived, 1.0 / VELOCITY + VELOCITY / ACCELERATION, rtol=0.02)


def test_stays_smooth_when_the_goal_jumps_about():
    random = np.random.default_rng(0)
    goals = np.repeat(random.uniform(-1, 1, (40, 3)), random.integers(1, 200, 40), axis=0)
    position, velocity = follow(SetPoint.at_rest(np.zeros(3)), goals)
    check_smooth(position, velocity, 0.002)


def test_approach():
    value, goal = np.array([0.0, 5.0, -1.0]), np.array([10.0, 5.5, -9.0])
    np.testing.assert_array_equal(approach(value, goal, np.ones(3)), [1.0, 5.5, -2.0])
