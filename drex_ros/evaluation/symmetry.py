# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The turns that leave an object looking the same, all of them, from the few that are stated.

A statement is an axis and a smallest turn. Together they generate a group: a finite one, one with
a free axis (a can), or that of all turns (a ball).
"""

from __future__ import annotations

import numpy as np

from drex_ros.evaluation.motion import rotation_vector
from drex_ros.objects import Symmetry
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import (
    quaternion_from_matrix,
    quaternion_from_vector,
    rotation_matrix,
)

_SAME = 1e-6  # difference of rotation matrices that are one
_MOST = 120  # turns of a finite group of a solid: 60 for an icosahedron


class SymmetryGroup:
    """All turns of an object that nobody can see."""

    def __init__(self, symmetry: tuple[Symmetry, ...]) -> None:
        """Find what the statements about an object generate."""
        free = [each.axis for each in symmetry if each.angle == 0.0]
        turns = _generated(
            [quaternion_from_vector(each.angle * each.axis) for each in symmetry if each.angle]
        )
        # A turn takes a free axis to another one; if that is not the same line, all turns are.
        axes = [turn @ axis for turn in turns for axis in free]
        self.axis: Array | None = axes[0] if axes else None
        """The one free axis in the object's frame, shape (3,); None: there is none, or any."""
        self.observable = 3
        """Directions about which a turn can be seen: 3, 2 with a free axis, 0 for a ball."""
        if axes:
            one_line = all(np.abs(axes[0] @ axis) > 1.0 - _SAME for axis in axes)
            self.observable = 2 if one_line else 0
            self.axis = axes[0] if one_line else None
        self.turns = turns
        """Of the stated discrete turns. Shape (n, 3, 3), the identity first."""

    def error(self, truth: Array, estimate: Array) -> tuple[Array, Array]:
        """What of a rotation error can be seen, by the nearest of all equal poses.

        Args:
            truth: rotation of the object in world. Shape (3, 3).
            estimate: the same as estimated.

        Returns:
            The vector e with truth = exp(e) estimate [rad], in world axes, shape (3,), and an
            orthonormal basis of the directions in which it can lie, shape (3, observable).
        """
        if self.observable == 0:
            return np.zeros(3), np.zeros((3, 0))
        if self.axis is None:
            errors = [
                rotation_vector(quaternion_from_matrix(truth @ turn @ estimate.T))
                for turn in self.turns
            ]
            return min(errors, key=lambda error: float(error @ error)), np.eye(3)
        estimated = estimate @ self.axis
        errors = [_between(estimated, truth @ turn @ self.axis) for turn in self.turns]
        # Rows of the last two right singular vectors: all that is square to the axis.
        basis = np.linalg.svd(estimated[None]).Vh[1:].T
        return min(errors, key=lambda error: float(error @ error)), basis


def _generated(generators: list[Array]) -> Array:
    """All products of some turns, the identity first. Shape (n, 3, 3)."""
    steps = [rotation_matrix(each) for each in generators]
    found = [np.eye(3)]
    for turn in found:  # grows while it is gone through
        for step in steps:
            product = step @ turn
            if all(np.abs(product - other).max() > _SAME for other in found):
                found.append(product)
        if len(found) > _MOST:
            raise ValueError(
                f'the stated symmetries make more than {_MOST} turns: their axes do not fit'
            )
    return np.array(found)


def _between(first: Array, second: Array) -> Array:
    """Shortest turn from one unit vector to another: axis times angle [rad]. Shape (3,)."""
    axis = np.cross(first, second)
    sine, cosine = float(np.linalg.norm(axis)), float(first @ second)
    if sine < 1e-12:
        if cosine > 0.0:
            return np.zeros(3)
        # Half a turn, about any axis square to it.
        axis, sine = np.linalg.svd(first[None]).Vh[1], 1.0
        return np.asarray(np.pi * axis)
    return np.asarray(float(np.arctan2(sine, cosine)) / sine * axis)
