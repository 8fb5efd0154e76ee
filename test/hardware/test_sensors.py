# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Steps, noise and bias of the joint sensors, and broken ones."""

import numpy as np
import pytest

from drex_ros.hardware.sensors import JointSensors, SensorSettings
from drex_ros.robot.joints import ARM, HAND, HOME, N_JOINTS

PERIOD = 0.002
ZERO = np.zeros(N_JOINTS)


def sensors(settings=None, seed=0, position=HOME):
    made = JointSensors(settings or SensorSettings(), PERIOD)
    made.reset(position, np.random.default_rng(seed))
    return made


def test_exact_sensors_are_exact():
    random = np.random.default_rng(1)
    made = sensors(SensorSettings.exact())
    position, velocity, effort = random.uniform(-1, 1, (3, N_JOINTS))
    reading = made.read(position, velocity, effort)
    np.testing.assert_array_equal(reading.position, position)
    np.testing.assert_array_equal(reading.velocity, velocity)
    np.testing.assert_array_equal(reading.effort, effort)


def test_positions_come_in_steps():
    settings = SensorSettings()
    position = np.random.default_rng(1).uniform(-1, 1, N_JOINTS)
    read = sensors().read(position, ZERO, ZERO).position
    for joints, step in ((ARM, settings.arm_resolution), (HAND, settings.hand_resolution)):
        assert np.abs(read[joints] - position[joints]).max() <= 0.5 * step * 1.001
        steps = read[joints] / step
        np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)


def test_velocity_is_the_filtered_difference():
    """A steady turn is read right after the filter has settled, late by its time constant."""
    made = sensors(position=ZERO)
    speed, values = 0.5, []
    for cycle in range(1, 60):
        values.append(made.read(np.full(N_JOINTS, speed * cycle * PERIOD), ZERO, ZERO).velocity[0])
    assert values[0] < 0.8 * speed
    assert values[-1] == pytest.approx(speed, rel=0.01)


def test_noise_and_bias_have_the_stated_size_and_the_seed_decides():
    settings = SensorSettings(arm_effort_noise=0.05, arm_effort_bias=0.2)

    def efforts(seed):
        made = sensors(settings, seed)
        return np.array([made.read(HOME, ZERO, ZERO).effort for _ in range(2000)])

    read = efforts(3)
    np.testing.assert_allclose(read[:, ARM].std(axis=0), 0.05, rtol=0.1)
    np.testing.assert_array_equal(read[:, HAND], 0.0)
    biases = np.array([sensors(settings, seed)._bias[ARM] for seed in range(300)])
    assert biases.std() == pytest.approx(0.2, rel=0.1)
    np.testing.assert_array_equal(read, efforts(3))
    assert (read[:, ARM] != efforts(4)[:, ARM]).all()


def test_a_frozen_sensor_keeps_its_values_and_comes_back():
    made = sensors(SensorSettings.exact())
    first = made.read(HOME, ZERO, ZERO)
    for shift in (0.1, 0.2):
        reading = made.read(HOME + shift, ZERO + shift, ZERO + shift, frozen=(3,))
        assert reading.position[3] == first.position[3]
        assert (reading.velocity[3], reading.effort[3]) == (0.0, 0.0)
        assert reading.position[4] == HOME[4] + shift
    assert made.read(HOME + 0.3, ZERO, ZERO).position[3] == HOME[3] + 0.3


def test_a_bias_is_on_one_joint_and_does_not_look_like_motion():
    made = sensors()
    made.read(HOME, ZERO, ZERO)
    reading = made.read(HOME, ZERO, ZERO, position_bias={9: 0.2}, effort_bias={9: 1.0})
    plain = made.read(HOME, ZERO, ZERO)
    assert reading.position[9] - plain.position[9] == pytest.approx(0.2)
    assert reading.effort[9] == 1.0
    assert reading.velocity[9] == 0.0
    assert reading.position[8] == plain.position[8]
