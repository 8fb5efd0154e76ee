# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is added to a finger's torques for its friction: it swings, fades, and then is nothing."""

import numpy as np
import pytest

from drex_ros.control.finger_friction import (
    FALL_IN_GRIP,
    SETTLE,
    compensate_friction,
    friction_memory,
)
from drex_ros.robot.joints import HAND, JOINT_FRICTION, LIMITS, N_HAND

PERIOD = 0.002
FRICTION = np.array(JOINT_FRICTION[HAND])
MOST = np.array(LIMITS.effort[HAND])
FINGER = 1
JOINTS = slice(4, 8)


CYCLES = round((SETTLE + 0.05) / PERIOD) + 4  # a swing, and the wait before it


def added(memory, wanted, *, speed=0.0, velocity=None, presses=True, most=MOST, cycles=1):
    """Torques that are added, one row a cycle."""
    velocity = np.zeros(N_HAND) if velocity is None else velocity
    rows = []
    for _ in range(cycles):
        out = np.zeros(N_HAND)
        compensate_friction(
            *(memory, FINGER, wanted, velocity, speed, FRICTION, most, presses),
            *(FALL_IN_GRIP, PERIOD, out),
        )
        rows.append(out)
    return np.array(rows)


@pytest.fixture
def wanted():
    torques = np.zeros(N_HAND)
    torques[JOINTS] = (0.01, 0.1, 0.08, 0.02)
    return torques


def test_a_change_makes_every_joint_swing_about_nothing(wanted):
    rows = added(friction_memory(), wanted, cycles=CYCLES)
    mine = rows[:, JOINTS] / FRICTION[JOINTS]
    assert (mine.max(axis=0) > 2.0).all()  # more than friction, both ways
    assert (mine.min(axis=0) < -2.0).all()
    assert (np.abs(mine.mean(axis=0)) < 0.2).all()
    others = np.delete(rows, np.arange(4, 8), axis=1)
    assert not others.any()


def test_a_constant_force_is_left_alone(wanted):
    memory = friction_memory()
    added(memory, wanted, cycles=CYCLES)
    assert not added(memory, wanted, cycles=200).any()
    wanted = wanted + 1e-4  # of the noise of an encoder
    assert not added(memory, wanted, cycles=200).any()


def test_a_falling_force_swings_less_than_it_presses(wanted):
    memory = friction_memory()
    rising = added(memory, wanted, cycles=CYCLES)
    falling = added(memory, 0.1 * wanted, cycles=CYCLES)
    assert np.abs(rising).max() <= 0.5 * wanted.max() + 1e-12
    # What friction still presses with is taken off, and a swing about that.
    assert np.abs(falling).max() <= 0.05 * wanted.max() + 0.6 * FRICTION.max()
    assert falling[-1][JOINTS].sum() < 0.0


def test_a_stream_of_forces_does_not_shake(wanted):
    memory = friction_memory()
    for share in np.linspace(0.2, 1.0, 20):  # 25 Hz
        assert not added(memory, share * wanted, cycles=20).any()


def test_motion_is_helped_on_its_way(wanted):
    memory = friction_memory()
    velocity = np.zeros(N_HAND)
    velocity[JOINTS] = (0.5, -0.5, 0.0, 0.2)
    rows = added(memory, wanted, speed=0.05, velocity=velocity, cycles=200)
    mean = rows[40:, JOINTS].mean(axis=0) / FRICTION[JOINTS]
    np.testing.assert_allclose(mean, (1.0, -1.0, 0.0, 1.0), atol=0.2)


def test_a_finger_that_does_not_press_gets_nothing(wanted):
    memory = friction_memory()
    added(memory, wanted)
    assert not added(memory, wanted, speed=0.1, presses=False, cycles=5).any()


def test_the_swing_keeps_within_the_limit(wanted):
    most = np.full(N_HAND, 0.03)
    rows = added(friction_memory(), wanted, most=most, cycles=50)
    assert np.abs(rows).max() == pytest.approx(0.03)
