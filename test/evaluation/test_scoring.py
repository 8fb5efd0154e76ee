# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of poses and whether a covariance is honest about them."""

import numpy as np
import pytest

from drex_ros.evaluation.scoring import (
    CHI_SQUARE_95,
    PoseError,
    pose_error,
    state_error,
    summary,
    twist_error,
)
from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.objects import load_object
from drex_ros.perception.estimate import ObjectState
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

TRUTH = np.array((0.5, -0.1, 0.2, *quaternion_from_vector((0.3, 0.5, -0.9))))


def group_of(name: str) -> SymmetryGroup:
    return SymmetryGroup(load_object(name).symmetry)


def off(translation: tuple[float, ...], rotation: tuple[float, ...]) -> np.ndarray:
    """A pose from which the truth is so far away."""
    turned = quaternion_product(quaternion_from_vector(np.negative(rotation)), TRUTH[3:])
    return np.append(TRUTH[:3] - translation, turned)


def test_error_is_truth_less_estimate() -> None:
    error = pose_error(group_of('mug'), TRUTH, off((0.001, 0.0, -0.002), (0.0, 0.01, 0.02)))
    assert np.allclose(error.translation, (0.001, 0.0, -0.002))
    assert np.allclose(error.rotation, (0.0, 0.01, 0.02), atol=1e-9)
    assert error.distance == pytest.approx(0.001 * np.sqrt(5.0))
    assert error.angle == pytest.approx(0.01 * np.sqrt(5.0))
    assert np.allclose(error.vector, (0.001, 0.0, -0.002, 0.0, 0.01, 0.02), atol=1e-9)


def test_quaternion_of_the_other_sign_is_the_same_pose() -> None:
    estimate = TRUTH * (1, 1, 1, -1, -1, -1, -1)
    assert pose_error(group_of('mug'), TRUTH, estimate).angle < 1e-9


@pytest.mark.parametrize('name', ['mug', 'cup', 'ball'])
def test_normalised_square_is_one_on_average_where_the_covariance_is_right(name: str) -> None:
    """Also where some of the turn cannot be seen, and however large its variance there is."""
    group = group_of(name)
    random = np.random.default_rng(1)
    mixing = random.normal(size=(6, 6))
    covariance = 1e-6 * (mixing @ mixing.T + np.eye(6))
    root = np.linalg.cholesky(covariance)
    squares = []
    for _ in range(1500):
        error = root @ random.normal(size=6)
        wrong = pose_error(group, TRUTH, off(tuple(error[:3]), tuple(error[3:])))
        squares.append(wrong.normalised_square(covariance))
    dimensions = 3 + group.observable
    assert np.mean(squares) == pytest.approx(1.0, abs=0.08)
    inside = np.mean(np.array(squares) * dimensions < CHI_SQUARE_95[dimensions])
    assert inside == pytest.approx(0.95, abs=0.02)


def test_normalised_square_takes_the_first_block_of_a_larger_covariance() -> None:
    error = PoseError(np.array((0.002, 0.0, 0.0)), np.zeros(3), np.eye(3))
    covariance = np.full((12, 12), np.nan)
    covariance[:6, :6] = 1e-6 * np.eye(6)
    assert error.normalised_square(covariance) == pytest.approx(4.0 / 6.0)


def test_state_of_a_tracker_is_scored_as_its_pose() -> None:
    estimate = off((0.003, 0.0, 0.0), (0.0, 0.0, 0.04))
    state = ObjectState(estimate[:3], estimate[3:], np.zeros(6), np.eye(12))
    error = state_error(group_of('mug'), TRUTH, state)
    assert (error.distance, error.angle) == pytest.approx((0.003, 0.04))


def test_twist_about_a_free_axis_does_not_count() -> None:
    group = group_of('cup')
    pose = np.array((0.5, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0))
    truth, estimate = np.array((0.1, 0, 0, 0.2, 0, 5.0)), np.array((0, 0, 0, 0, 0, 1.0))
    assert np.allclose(twist_error(group, pose, truth, estimate), (0.1, 0, 0, 0.2, 0, 0))
    assert np.allclose(
        twist_error(group_of('mug'), pose, truth, estimate), (0.1, 0, 0, 0.2, 0, 4.0)
    )


def test_summary_has_median_and_95th_percentile() -> None:
    errors = [
        PoseError(np.array((i * 1e-3, 0.0, 0.0)), np.array((0.0, i * 1e-2, 0.0)), np.eye(3))
        for i in range(101)
    ]
    errors.append(PoseError(np.array((0.050, 0.0, 0.0)), np.zeros(3), np.zeros((3, 0))))
    found = summary(errors)
    assert found.count == 102
    assert found.translation_median == pytest.approx(0.050)
    assert found.translation_95 == pytest.approx(0.095, abs=1e-3)
    assert (found.rotation_median, found.rotation_95) == pytest.approx((0.50, 0.95))


def test_summary_of_nothing_says_so() -> None:
    found = summary([])
    assert found.count == 0
    assert np.isnan(found.translation_median)
