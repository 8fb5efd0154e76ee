# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations as unit quaternions x y z w, as ROS writes them. MuJoCo's w x y z is made here too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from drex_ros.robot.joints import Array


def quaternion_product(first: npt.ArrayLike, second: npt.ArrayLike) -> Array:
    """Rotation `first` after rotation `second`. Shape (4,), x y z w."""
    x1, y1, z1, w1 = np.asarray(first, dtype=np.float64)
    x2, y2, z2, w2 = np.asarray(second, dtype=np.float64)
    return np.array(
        (
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
        )
    )


def quaternion_from_vector(rotation: npt.ArrayLike) -> Array:
    """Turn about an axis: direction the axis, length the angle [rad]. Shape (4,), x y z w."""
    vector = np.asarray(rotation, dtype=np.float64)
    half = 0.5 * float(np.linalg.norm(vector))
    # sinc has no trouble at zero: sin(half) / half.
    return np.append(0.5 * np.sinc(half / np.pi) * vector, np.cos(half))


def quaternion_from_rpy(rpy: Sequence[float]) -> Array:
    """Roll, pitch, yaw [rad] about the fixed axes x, y, z in turn, as in URDF. Shape (4,)."""
    roll, pitch, yaw = rpy
    about_x = quaternion_from_vector((roll, 0.0, 0.0))
    about_y = quaternion_from_vector((0.0, pitch, 0.0))
    about_z = quaternion_from_vector((0.0, 0.0, yaw))
    return quaternion_product(about_z, quaternion_product(about_y, about_x))


def rotation_matrix(quaternion: npt.ArrayLike) -> Array:
    """Rotation matrix of a unit quaternion x y z w. Shape (3, 3)."""
    x, y, z, w = np.asarray(quaternion, dtype=np.float64)
    return np.array(
        (
            (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
            (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
            (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
        )
    )


def quaternion_from_matrix(rotation: npt.ArrayLike) -> Array:
    """Unit quaternion x y z w of a rotation matrix, its largest number positive. Shape (4,)."""
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(rotation, dtype=np.float64)
    # It is the eigenvector of the greatest eigenvalue of this: no cases to tell apart.
    symmetric = np.array(
        (
            (a - e - i, 0.0, 0.0, 0.0),
            (d + b, e - a - i, 0.0, 0.0),
            (g + c, h + f, i - a - e, 0.0),
            (h - f, c - g, d - b, a + e + i),
        )
    )
    result: Array = np.linalg.eigh(symmetric, UPLO='L').eigenvectors[:, -1]
    # Both signs are the same turn; one that changes by chance would look like motion.
    return result if result[np.argmax(np.abs(result))] > 0.0 else -result


def to_wxyz(quaternion: npt.ArrayLike) -> Array:
    """MuJoCo's order of a quaternion x y z w. Shape (4,)."""
    return np.roll(np.asarray(quaternion, dtype=np.float64), 1)


def matrix_from_vector(rotation: npt.ArrayLike) -> Array:
    """Rotation matrix of a turn about an axis: its length is the angle [rad]. Shape (3, 3)."""
    return rotation_matrix(quaternion_from_vector(rotation))


def vector_from_matrix(rotation: npt.ArrayLike) -> Array:
    """The turn that a rotation matrix is: direction the axis, length the angle [rad]."""
    x, y, z, w = quaternion_from_matrix(rotation)
    vector = np.array((x, y, z)) if w >= 0.0 else -np.array((x, y, z))
    half = float(np.linalg.norm(vector))
    # The half angle over its sine, which is 1 at zero.
    factor = 1.0 if half < 1e-9 else np.arctan2(half, abs(w)) / half
    return 2.0 * factor * vector
