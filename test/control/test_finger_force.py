# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""In the simulated robot, with friction, noise and delay, fingers press as they are told."""

import numpy as np
import pytest
from finger_force import GRIP, Presser, error, felt_tolerance, tolerance

from drex_ros.hardware.mujoco_backend import MujocoBackend


@pytest.fixture(scope='module')
def robot():
    with MujocoBackend() as backend:
        yield backend


@pytest.mark.parametrize('finger', [0, 2, 3])
def test_the_true_force_is_right_after_rising_and_after_falling(robot, finger):
    presser = Presser(robot, (finger,))
    presser.close()
    for level in (1.0, 3.0, 5.0, 2.0):
        true, asked = presser.settle(level), presser.asked()
        assert np.linalg.norm(asked) == pytest.approx(level, rel=1e-6)
        assert abs(error(asked, true)) <= tolerance(asked), level
        felt, real = np.linalg.norm(presser.felt), np.linalg.norm(true)
        assert abs(felt - real) <= felt_tolerance(real), level
    assert presser.greatest_share <= 0.85


def test_a_grip_does_not_shove_the_object(robot):
    presser = Presser(robot, GRIP)
    presser.close()
    for level in (2.0, 5.0, 2.0):
        true, asked = presser.settle(level), presser.asked()
        index, middle, thumb = np.abs(error(asked, true))
        assert thumb <= tolerance(asked)[2], level
        # Two fingers on one side share the thumb's force as friction lets them.
        assert max(index, middle) <= 0.3, level
        assert np.linalg.norm(true.sum(axis=0)[:2]) <= 0.1 * level + 0.2
    assert presser.greatest_share <= 0.85


@pytest.mark.parametrize(('force', 'most'), [(0.8, 0.15), (5.0, 0.3)])
def test_a_finger_that_touches_nothing_closes_slowly(robot, force, most):
    """A strong one is faster: more damping would be unsteady."""
    presser = Presser(robot, (1,))
    robot.reset(robot.simulation.position.copy())  # the can is gone
    fastest = 0.0
    for _ in range(150):
        presser.force = min(presser.force + 0.05, force)
        presser.cycle()
        fastest = max(fastest, presser.speed())
    assert 0.02 < fastest < most
