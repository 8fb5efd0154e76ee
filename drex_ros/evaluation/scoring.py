# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How far an estimated pose is from the truth, as far as that can be seen.

An object that looks the same when it is turned has several poses that are equally right, and may
have directions of turn that nobody can see. The error is that to the nearest of the right poses,
without those directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.perception.estimate import ObjectState
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import rotation_matrix

CHI_SQUARE_95 = {1: 3.8415, 2: 5.9915, 3: 7.8147, 4: 9.4877, 5: 11.0705, 6: 12.5916}
"""By degrees of freedom: below it are 95 % of e' C^-1 e where the covariance C is right."""


@dataclass(frozen=True, eq=False)
class PoseError:
    """Truth against estimate, in world axes."""

    translation: Array
    """Of the object's origin, truth less estimate [m]. Shape (3,)."""
    rotation: Array
    """Vector e with truth = exp(e) estimate [rad], without what cannot be seen. Shape (3,)."""
    basis: Array
    """Orthonormal directions in which a turn can be seen. Shape (3, 3), (3, 2) or (3, 0)."""

    @property
    def distance(self) -> float:
        """[m]"""
        return float(np.linalg.norm(self.translation))

    @property
    def angle(self) -> float:
        """[rad]"""
        return float(np.linalg.norm(self.rotation))

    @property
    def vector(self) -> Array:
        """Translation, then rotation along the basis. Shape (3 + k,)."""
        return np.concatenate((self.translation, self.basis.T @ self.rotation))

    def normalised_square(self, covariance: Array) -> float:
        """Error squared by its covariance, e' C^-1 e, over the dimensions; 1 on average.

        `covariance` is that of position and rotation, shape (6, 6), or has it as its first block.
        """
        pick = np.zeros((3 + self.basis.shape[1], 6))
        pick[:3, :3] = np.eye(3)
        pick[3:, 3:] = self.basis.T
        error, seen = self.vector, pick @ covariance[:6, :6] @ pick.T
        return float(error @ np.linalg.solve(seen, error)) / len(error)


def pose_error(group: SymmetryGroup, truth: Array, estimate: Array) -> PoseError:
    """Error of a pose; poses are position [m] and quaternion x y z w, shape (7,)."""
    rotation, basis = group.error(rotation_matrix(truth[3:]), rotation_matrix(estimate[3:]))
    return PoseError(np.asarray(truth[:3] - estimate[:3]), rotation, basis)


def state_error(group: SymmetryGroup, truth: Array, state: ObjectState) -> PoseError:
    """Error of a tracker's state; `truth` is position [m] and quaternion, shape (7,)."""
    return pose_error(group, truth, np.concatenate((state.position, state.quaternion)))


def twist_error(group: SymmetryGroup, pose: Array, truth: Array, estimate: Array) -> Array:
    """Truth less estimate of a twist, without turns that cannot be seen. Shape (6,).

    `pose` is the object's true one, shape (7,); twists are [m/s] and [rad/s], shape (6,).
    """
    rotation = rotation_matrix(pose[3:])
    _, basis = group.error(rotation, rotation)
    difference = np.asarray(truth - estimate, dtype=np.float64)
    difference[3:] = basis @ (basis.T @ difference[3:])
    return difference


@dataclass(frozen=True)
class Summary:
    """Errors of many frames."""

    count: int
    translation_median: float
    """[m]"""
    translation_95: float
    """95th percentile [m]."""
    rotation_median: float
    """[rad]; NaN where no turn can be seen."""
    rotation_95: float
    """95th percentile [rad]."""


def summary(errors: Iterable[PoseError]) -> Summary:
    """Median and 95th percentile of errors; those without a visible turn count for translation."""
    kept = list(errors)
    if not kept:
        return Summary(0, *(4 * (float('nan'),)))
    distances = [error.distance for error in kept]
    angles = [error.angle for error in kept if error.basis.shape[1]] or [float('nan')]
    return Summary(
        len(kept),
        float(np.median(distances)),
        float(np.percentile(distances, 95.0)),
        float(np.median(angles)),
        float(np.percentile(angles, 95.0)),
    )
