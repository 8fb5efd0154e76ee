# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Slip of a fingertip along what it touches, as far as the finger's own joints show it.

A tip that is dragged along a surface moves in the hand although its set-point rests. One that
sticks and takes up a load moves too, but then its spring answers: the force against the motion
rises with the way. Motion without that is slip. So a slip is seen only while it drags the tip: a
thing that slides past fingers that stand still shows nothing in their joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array

_SPEED = 3e-3  # [m/s] of the tip along the surface that is slip
_FILTER = 10.0  # [Hz] low pass of that speed, and of the force
_STIFFNESS = 50.0  # [N/m] a finger that sticks answers its motion with more than this
_KEEP = 0.1  # [s] that a slip is reported after its last sign


class Slip(NamedTuple):
    """Slip of each fingertip: index, middle, ring, thumb."""

    velocity: Array
    """Of the tip along the surface, in the palm [m/s]. Shape (4, 3)."""
    force: Array
    """Of the tip on what it touches, through the same low pass [N]. Shape (4, 3)."""
    left: Array
    """Time for which the slip is still reported [s]; 0: none. Shape (4,)."""


@kernel
def detect_slip(slip, jacobian, velocity, force, touching, resting, period):  # type: ignore[no-untyped-def]
    """Bring the slip up to date.

    Args:
        slip: is brought up to date.
        jacobian: of the fingertips, shape (4, 3, 4).
        velocity: of the joints [rad/s], shape (23,).
        force: of the tips on what they touch [N], shape (4, 3).
        touching: 1 where a tip touches, shape (4,).
        resting: the hand's set-point rests.
        period: length of the cycle [s].
    """
    gain = 1.0 - np.exp(-2.0 * np.pi * _FILTER * period)
    for finger in range(force.shape[0]):
        size = np.sqrt((force[finger] ** 2).sum())
        speed = np.zeros(3)
        for k in range(3):
            for j in range(4):
                speed[k] += jacobian[finger, k, j] * velocity[7 + 4 * finger + j]
        along = 0.0
        for k in range(3):
            along += speed[k] * force[finger, k] / max(size, 1e-9)
        total, answer = 0.0, 0.0
        for k in range(3):
            across = speed[k] - along * force[finger, k] / max(size, 1e-9)
            slip.velocity[finger, k] += gain * (across - slip.velocity[finger, k])
            rise = gain * (force[finger, k] - slip.force[finger, k])
            slip.force[finger, k] += rise
            total += slip.velocity[finger, k] ** 2
            answer -= rise / period * slip.velocity[finger, k]  # [N/s] by the speed
        slip.left[finger] = max(slip.left[finger] - period, 0.0)
        sticks = answer > _STIFFNESS * total
        if touching[finger] > 0.5 and resting and total > _SPEED * _SPEED and not sticks:
            slip.left[finger] = _KEEP
