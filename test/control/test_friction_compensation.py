# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Friction is compensated, moving and standing, and nothing moves by itself."""

import numpy as np
import pytest
from arm_law import PERIOD, POSTURES, ArmTrial, deflection

from drex_ros.control.friction_compensation import FrictionModel, MeanVelocity, friction_torque
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HOME, JOINT_FRICTION, LIMITS, N_ARM, N_JOINTS

MASS = Dynamics().terms(HOME, np.zeros(N_JOINTS)).mass.copy()
STILL = np.zeros(N_ARM)
FRICTION = JOINT_FRICTION[ARM]
CYCLES = round(FrictionModel.arm().period / PERIOD)


def at_times(model, desired=STILL, velocity=STILL, cycles=CYCLES, start=7.002):
    """Torques in the cycles of one period. Shape (cycles, 7)."""
    times = start + PERIOD * np.arange(cycles)
    return np.array([friction_torque(model, MASS, desired, velocity, time) for time in times])


@pytest.mark.parametrize('posture', list(POSTURES))
@pytest.mark.parametrize('axis', range(3))
def test_push_deflects_the_palm_by_force_over_stiffness(posture, axis):
    assert deflection(ArmTrial(POSTURES[posture]), axis) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize('stiffness', [200.0, 1000.0])
@pytest.mark.parametrize('axis', range(3))
def test_deflection_is_right_for_soft_and_stiff_springs(stiffness, axis):
    trial = ArmTrial(stiffness=stiffness)
    assert deflection(trial, axis, -5.0, 2.5) == pytest.approx(1.0, abs=0.05)


def test_without_compensation_the_palm_sticks():
    trial = ArmTrial(compensation=FrictionModel.arm(share=0.0))
    assert deflection(trial, 0) < 0.7


@pytest.mark.parametrize('posture', ['home', 'down'])
@pytest.mark.parametrize('friction', [0.85, 1.0, 1.3])
def test_palm_rests_when_nothing_pushes(posture, friction):
    trial = ArmTrial(POSTURES[posture], friction_scale=friction)
    trial.run(0.5)
    rest = trial.run(1.5)
    assert np.abs(rest[:, :3]).max() < 5e-4
    last = np.abs(rest[-100:] - rest[-100:].mean(axis=0)).max(axis=0)
    assert last[:3].max() < 5e-5
    assert last[3:].max() < 2e-4


@pytest.mark.parametrize('posture', list(POSTURES))
def test_dither_is_nothing_on_the_average_and_within_the_rate_limit(posture):
    mass = Dynamics().terms(POSTURES[posture], np.zeros(N_JOINTS)).mass
    times = PERIOD * np.arange(12345, 12345 + 2 * CYCLES)
    model = FrictionModel.arm()
    torque = np.array([friction_torque(model, mass, STILL, STILL, time) for time in times])
    np.testing.assert_allclose(torque[:CYCLES].mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(torque[:CYCLES], torque[CYCLES:], atol=1e-9)
    assert (np.abs(torque).max(axis=0) > FRICTION).all()
    change = np.abs(np.diff(torque, axis=0)).max(axis=0)
    assert (change < 0.6 * LIMITS.effort_rate[ARM] * PERIOD).all()


def test_moving_joints_get_their_friction_and_no_dither():
    model = FrictionModel.arm()
    ways = np.array((1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0))
    expected = FRICTION * ways + model.viscous * 0.5 * ways
    # Told to move, whatever is measured.
    told = at_times(model, desired=0.5 * ways)
    np.testing.assert_allclose(told, np.tile(expected, (CYCLES, 1)), atol=1e-6)
    # Pushed: on the average.
    pushed = at_times(model, velocity=0.5 * ways).mean(axis=0)
    np.testing.assert_allclose(pushed, expected, atol=1e-6)


def test_it_can_be_switched_off():
    model = FrictionModel.arm(share=0.0)
    np.testing.assert_array_equal(at_times(model, desired=STILL + 1.0, velocity=STILL + 1.0), 0.0)
    quiet = FrictionModel.arm(dither=0.0)
    np.testing.assert_array_equal(at_times(quiet), 0.0)


@pytest.mark.parametrize('period', [0.001, 0.002])
def test_mean_velocity_sees_motion_and_no_dither(period):
    mean = MeanVelocity(2, 0.016)
    for cycle in range(200):
        time = 3.0 + cycle * period
        shaken = 1e-5 * np.sin(2.0 * np.pi * time / 0.016)
        velocity = mean.update(np.array((0.3 * time + shaken, shaken, 5.0)), time)
    np.testing.assert_allclose(velocity, (0.3, 0.0), atol=1e-9)


def test_mean_velocity_begins_anew_after_a_gap():
    mean = MeanVelocity(1, 0.016)
    np.testing.assert_array_equal(mean.update(np.array((1.0,)), 0.0), 0.0)
    np.testing.assert_allclose(mean.update(np.array((1.1,)), 0.002), 50.0)
    np.testing.assert_array_equal(mean.update(np.array((9.0,)), 1.0), 0.0)
    np.testing.assert_array_equal(mean.update(np.array((2.0,)), 0.5), 0.0)
    mean.reset()
    np.testing.assert_array_equal(mean.update(np.array((4.0,)), 0.502), 0.0)
