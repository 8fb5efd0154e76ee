# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Turns as vectors and as matrices."""

import numpy as np
import pytest

from drex_ros.robot.rotations import matrix_from_vector, quaternion_from_matrix, vector_from_matrix


def axes() -> np.ndarray:
    """Directions of all kinds. Shape (n, 3)."""
    random = np.random.default_rng(0).normal(size=(20, 3))
    given = np.concatenate((np.eye(3), -np.eye(3), random))
    return given / np.linalg.norm(given, axis=1, keepdims=True)


def test_a_quarter_turn_about_z_brings_x_to_y() -> None:
    matrix = matrix_from_vector((0.0, 0.0, np.pi / 2))
    np.testing.assert_allclose(matrix @ (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), atol=1e-15)
    np.testing.assert_allclose(matrix @ (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), atol=1e-15)


def test_a_turn_keeps_its_axis_and_turns_what_is_square_to_it() -> None:
    for axis in axes():
        matrix = matrix_from_vector(0.7 * axis)
        np.testing.assert_allclose(matrix @ axis, axis, atol=1e-14)
        across = np.cross(axis, (0.3, -0.5, 0.8))
        across /= np.linalg.norm(across)
        expected = np.cos(0.7) * across + np.sin(0.7) * np.cross(axis, across)
        np.testing.assert_allclose(matrix @ across, expected, atol=1e-14)


@pytest.mark.parametrize('angle', [0.0, 1e-12, 1e-6, 0.01, 1.0, 3.0, np.pi - 1e-6])
def test_a_vector_comes_back_from_its_matrix(angle: float) -> None:
    for axis in axes():
        vector = vector_from_matrix(matrix_from_vector(angle * axis))
        np.testing.assert_allclose(vector, angle * axis, atol=1e-9)


def test_a_turn_of_more_than_half_comes_back_as_the_shorter_one() -> None:
    for axis in axes():
        vector = vector_from_matrix(matrix_from_vector(1.5 * np.pi * axis))
        np.testing.assert_allclose(vector, -0.5 * np.pi * axis, atol=1e-12)


def test_half_a_turn_has_its_axis_up_to_the_sign() -> None:
    for axis in axes():
        vector = vector_from_matrix(matrix_from_vector(np.pi * axis))
        assert np.linalg.norm(vector) == pytest.approx(np.pi)
        assert abs(vector @ axis) == pytest.approx(np.pi)


def test_turns_that_are_nearly_the_same_have_nearly_the_same_quaternion() -> None:
    random = np.random.default_rng(3)
    for axis in axes():
        for angle in (0.0, 1.0, 3.0):
            near = [
                quaternion_from_matrix(
                    matrix_from_vector(angle * axis + 1e-6 * random.normal(size=3))
                )
                for _ in range(20)
            ]
            assert np.ptp(near, axis=0).max() < 1e-5
