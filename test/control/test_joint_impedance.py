# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The impedance law is a damped spring."""

import numpy as np
import pytest

from drex_ros.control.joint_impedance import joint_impedance
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HOME, N_ARM, N_JOINTS

ZERO = np.zeros(N_ARM)
ONES = np.ones(N_ARM)


@pytest.fixture(scope='module')
def terms():
    return Dynamics().terms(HOME.copy(), np.zeros(N_JOINTS))


def torque(terms, *, position=ZERO, velocity=ZERO, wanted=ZERO, speed=ZERO, acceleration=ZERO,
           stiffness=2.0, ratio=1.0):  # fmt: skip
    return joint_impedance(
        terms, position, velocity, wanted, speed, acceleration, stiffness * ONES, ratio
    )


def test_spring_damper_and_inertia(terms):
    inertia = terms.mass[ARM, ARM].diagonal()
    np.testing.assert_allclose(torque(terms, position=0.3 * ONES), -0.6)
    damping = 2.0 * 0.5 * np.sqrt(2.0 * inertia)
    np.testing.assert_allclose(torque(terms, velocity=0.3 * ONES, ratio=0.5), -0.3 * damping)
    np.testing.assert_allclose(torque(terms, velocity=0.3 * ONES, speed=0.3 * ONES), 0.0)
    expected = terms.mass[ARM, ARM] @ ONES
    np.testing.assert_allclose(torque(terms, acceleration=ONES), expected)


def test_a_joint_without_stiffness_is_still_damped(terms):
    assert (torque(terms, velocity=ONES, stiffness=0.0) < -0.1).all()
    np.testing.assert_array_equal(torque(terms, position=ONES, stiffness=0.0), 0.0)


@pytest.mark.parametrize('joint', range(N_ARM))
def test_ratio_one_does_not_overshoot(terms, joint):
    position, velocity, period = ZERO.copy(), ZERO.copy(), 1e-3
    position[joint] = 0.5
    inertia, lowest = terms.mass[joint, joint], 0.5
    for _ in range(20000):
        velocity[joint] += torque(terms, position=position, velocity=velocity)[joint] * (
            period / inertia
        )
        position[joint] += velocity[joint] * period
        lowest = min(lowest, position[joint])
    assert abs(position[joint]) < 0.005
    assert lowest > -1e-4
