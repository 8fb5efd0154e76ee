# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The guard speaks before anything touches, and lets the robot leave."""

import numpy as np
import pytest

from drex_ros.control.guard import Guard
from drex_ros.control.interventions import Rule
from drex_ros.control.proximity import Proximity
from drex_ros.control.target_checks import Bounds
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, N_JOINTS

BOUNDS = Bounds(np.array((-0.2, -0.3, 0.0)), np.array((0.9, 0.3, 1.0)), 5.0)
LOW = HOME.copy()
LOW[:7] = (0.0, 0.9, 0.0, -1.4, 0.0, 2.3, 0.78)  # the fingers end above the table, 1 to 2 cm


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture(scope='module')
def guard(dynamics):
    return Guard(Proximity(dynamics), BOUNDS)


def check(guard, dynamics, position, velocity):
    position, velocity = np.array(position), np.array(velocity)
    return guard.check(position, velocity, dynamics.terms(position, velocity))


def lowered(dynamics):
    """A posture whose lowest fingertip is about 15 mm above the table."""
    position = LOW.copy()
    for _ in range(200):
        height = dynamics.fingertip_positions(position)[:, 2].min() - 0.012
        if abs(height - 0.015) < 1e-4:
            return position
        position[1] += 0.3 * (height - 0.015)
    raise AssertionError(f'height {height}')


def test_nothing_is_said_at_home(guard, dynamics):
    assert check(guard, dynamics, HOME, np.zeros(N_JOINTS)) is None


def test_it_speaks_on_the_way_down_and_not_on_the_way_up(guard, dynamics):
    position, velocity = lowered(dynamics), np.zeros(N_JOINTS)
    assert check(guard, dynamics, position, velocity) is None
    velocity[1] = 0.5  # leans forward: down
    verdict = check(guard, dynamics, position, velocity)
    assert verdict.rule is Rule.TABLE
    assert not verdict.stop
    assert 'the table' in verdict.reason
    velocity[1] = -0.5
    assert check(guard, dynamics, position, velocity) is None


def test_the_box_has_walls_but_no_traps(guard, dynamics):
    velocity = np.zeros(N_JOINTS)
    position = HOME.copy()
    position[0] = 1.2
    for speed, rule in ((2.0, Rule.WORKSPACE), (-2.0, None)):
        velocity[0] = speed
        verdict = check(guard, dynamics, position, velocity)
        assert (verdict and verdict.rule) is rule


def test_a_goal_in_the_table_is_refused_unless_it_is_worse_now(guard, dynamics):
    deep, deeper = lowered(dynamics), lowered(dynamics)
    deep[1] += 0.1
    deeper[1] += 0.2
    assert 'inside the table' in guard.goal_refusal(deep, HOME)
    assert guard.goal_refusal(deep, deeper) == ''
    assert guard.goal_refusal(HOME, deeper) == ''
