# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Postures for poses of the palm: exact, within the limits, near the start, or a clear no."""

import re

import numpy as np
import pytest

from drex_ros.control.inverse_kinematics import INSIDE, ArmKinematics
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HOME, LIMITS, N_JOINTS
from drex_ros.robot.rotations import quaternion_from_rpy, rotation_matrix

LOWER, UPPER = LIMITS.lower[ARM] + INSIDE, LIMITS.upper[ARM] - INSIDE
START = HOME[ARM]


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture(scope='module')
def kinematics(dynamics):
    return ArmKinematics(dynamics)


def arms(count, seed):
    return np.random.default_rng(seed).uniform(LOWER, UPPER, (count, len(LOWER)))


def palm_by_pinocchio(dynamics, arm):
    terms = dynamics.terms(np.concatenate((arm, HOME[7:])), np.zeros(N_JOINTS))
    return terms.palm_position.copy(), terms.palm_rotation.copy()


def test_the_palm_is_where_pinocchio_has_it(dynamics, kinematics):
    for arm in arms(50, 0):
        for mine, its in zip(
            kinematics.palm_pose(arm), palm_by_pinocchio(dynamics, arm), strict=True
        ):
            np.testing.assert_allclose(mine, its, atol=1e-12)


def test_every_pose_in_reach_is_found(dynamics, kinematics):
    for arm in arms(200, 1):
        position, rotation = kinematics.palm_pose(arm)
        found = kinematics.solve(position, rotation, START)
        assert not isinstance(found, str), (arm.tolist(), found)
        assert ((found >= LOWER) & (found <= UPPER)).all()
        there, turned = palm_by_pinocchio(dynamics, found)
        np.testing.assert_allclose(there, position, atol=1e-5)
        np.testing.assert_allclose(turned, rotation, atol=1e-5)


def test_stays_where_it_is_when_the_palm_is_there(kinematics):
    for arm in arms(50, 2):
        found = kinematics.solve(*kinematics.palm_pose(arm), arm)
        np.testing.assert_allclose(found, arm, atol=1e-6)


def test_goes_to_the_posture_nearest_to_the_start(kinematics):
    """What is found is never farther from the start than the posture that the pose is from."""
    for arm in arms(100, 3):
        found = kinematics.solve(*kinematics.palm_pose(arm), START)
        # By the joint that has farthest to go, for it sets the time.
        assert np.abs(found - START).max() <= np.abs(arm - START).max() * 1.1 + 0.05


def test_repeats_bit_by_bit(dynamics, kinematics):
    again = ArmKinematics(dynamics)
    for arm in arms(10, 4):
        pose = kinematics.palm_pose(arm)
        np.testing.assert_array_equal(
            kinematics.solve(*pose, START), again.solve(*pose, START), strict=True
        )


def test_says_how_far_a_pose_is_out_of_reach(kinematics):
    """Straight ahead of the shoulder the palm can come so far and no farther."""
    level = rotation_matrix(quaternion_from_rpy((0.0, np.pi / 2, 0.0)))
    shoulder = 0.333
    reach = max(
        x
        for x in np.arange(0.6, 1.3, 0.01)
        if not isinstance(kinematics.solve(np.array((x, 0.0, shoulder)), level, START), str)
    )
    for beyond in (0.05, 0.3, 2.0):
        said = kinematics.solve(np.array((reach + beyond, 0.0, shoulder)), level, START)
        assert isinstance(said, str)
        number = re.match(r'out of reach: the palm comes within ([\d.]+) cm', said)
        assert number is not None, said
        # A little nearer than along the line with the palm level, for it may turn.
        assert beyond - 0.06 < float(number[1]) / 100 < beyond + 0.02


def test_says_when_only_the_turn_is_out_of_reach(kinematics):
    """At the end of its reach the palm can only point ahead."""
    backwards = rotation_matrix(quaternion_from_rpy((0.0, -np.pi / 2, 0.0)))
    said = kinematics.solve(np.array((0.95, 0.0, 0.333)), backwards, START)
    assert isinstance(said, str)
    assert said.startswith('out of reach: the palm comes within')
    assert ' deg ' in said


def test_follows_a_line_in_small_steps(kinematics):
    position, rotation = kinematics.palm_pose(START)
    arm = START
    for share in np.linspace(0.0, 1.0, 41):
        there = position + share * np.array((0.15, 0.1, -0.1))
        attempt = kinematics.track(there, rotation, arm)
        assert attempt.found
        assert np.abs(attempt.arm - arm).max() < 0.05
        arm = attempt.arm
        np.testing.assert_allclose(kinematics.palm_pose(arm)[0], there, atol=1e-5)
