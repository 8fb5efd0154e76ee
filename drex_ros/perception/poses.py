# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses in the camera's optical frame, and small steps between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array
from drex_ros.robot.matrices import multiply, rotation_of, rotation_vector


@dataclass(frozen=True, eq=False)
class Pose:
    """Of an object in the optical frame."""

    position: Array
    """[m], shape (3,)."""
    rotation: Array
    """Shape (3, 3)."""

    def moved(self, step: Array) -> Pose:
        """The pose after a small move and a turn about the object's origin. Shape (6,)."""
        rotation = np.empty((3, 3))
        _turned(self.rotation, step[3:], rotation)
        return Pose(self.position + step[:3], rotation)

    def step_to(self, other: Pose) -> Array:
        """The move and turn that make this pose the other one. Shape (6,)."""
        step = np.empty(6)
        _turn_between(self.rotation, other.rotation, step[3:])
        np.subtract(other.position, self.position, out=step[:3])
        return step


@kernel
def _turned(rotation, vector, out):  # type: ignore[no-untyped-def]
    turn = np.empty((3, 3))
    rotation_of(vector, turn)
    multiply(turn, rotation, out)


@kernel
def _turn_between(first, second, out):  # type: ignore[no-untyped-def]
    turn = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            turn[i, j] = (
                second[i, 0] * first[j, 0]
                + second[i, 1] * first[j, 1]
                + second[i, 2] * first[j, 2]
            )
    rotation_vector(turn, out)
