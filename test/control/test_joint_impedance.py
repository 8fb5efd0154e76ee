# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The impedance law is a damped spring, within the limits."""

import numpy as np
import pytest

from drex_ros.control.joint_impedance import Impedance, joint_impedance, limit_effort
from drex_ros.control.set_point import SetPoint
from drex_ros.robot.joints import ARM, HAND, LIMITS, N_JOINTS
from drex_ros.robot.state import RobotMode, RobotState

ZERO = np.zeros(N_JOINTS)
ONES = np.ones(N_JOINTS)


def state(position=ZERO, velocity=ZERO):
    return RobotState(0.0, 0, RobotMode.EFFORT, '', position, velocity, ZERO, ZERO)


def torque(robot, set_point, *, stiffness=2.0, ratio=1.0, inertia=0.5, feed_forward=ZERO):
    impedance = Impedance(stiffness * ONES, ratio * ONES)
    return joint_impedance(robot, set_point, impedance, inertia * ONES, feed_forward)


def test_spring_damper_and_feed_forward():
    rest = SetPoint.at_rest(ZERO)
    np.testing.assert_allclose(torque(state(position=0.3 * ONES), rest), -0.6)
    # 2 zeta sqrt(K I) = 2 * 0.5 * sqrt(2 * 0.5) = 1
    np.testing.assert_allclose(torque(state(velocity=0.3 * ONES), rest, ratio=0.5), -0.3)
    moving = SetPoint(ZERO, 0.3 * ONES)
    np.testing.assert_allclose(torque(state(velocity=0.3 * ONES), moving), 0.0)
    np.testing.assert_allclose(torque(state(), rest, feed_forward=0.1 * ONES), 0.1)


@pytest.mark.parametrize('inertia', [1e-3, 0.1, 2.0])
def test_ratio_one_does_not_overshoot(inertia):
    position, velocity, period = 0.5, 0.0, 1e-3 * np.sqrt(inertia / 2.0)
    lowest = position
    for _ in range(8000):
        robot = state(position * ONES, velocity * ONES)
        accelerate = torque(robot, SetPoint.at_rest(ZERO), inertia=inertia)[0] / inertia
        velocity += accelerate * period
        position += velocity * period
        lowest = min(lowest, position)
    assert abs(position) < 0.005
    assert lowest > -1e-4


def test_limits_of_size_and_change():
    free = limit_effort(0.5 * ONES, 0.4 * ONES, LIMITS, 0.002)
    assert not free.limited
    np.testing.assert_array_equal(free.effort, 0.5)
    cut = limit_effort(1000.0 * ONES, ZERO, LIMITS, 0.002)
    assert cut.limited
    np.testing.assert_allclose(cut.effort[ARM], 2.0)  # 1000 N m/s for 2 ms
    np.testing.assert_array_equal(cut.effort[HAND], LIMITS.effort[HAND])
    cut = limit_effort(-1000.0 * ONES, -LIMITS.effort, LIMITS, 0.002)
    np.testing.assert_array_equal(cut.effort, -LIMITS.effort)
