# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""When the arm stops by itself: a torque jump, a collision, a joint that is too fast.

The hand has no such reflexes, as the real one has none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drex_ros.robot.joints import ARM, ARM_JOINTS, LIMITS, N_ARM, Array

_SLACK = 1e-6  # relative, for rounding in the sender


@dataclass(frozen=True)
class ReflexSettings:
    """Thresholds of the arm's reflexes."""

    collision_torque: tuple[float, ...] = (20.0, 20.0, 18.0, 18.0, 16.0, 14.0, 12.0)
    """Torque from outside on each joint that is a collision [N m]: the behaviour that libfranka's
    examples set."""
    collision_filter: float = 0.01
    """Time constant of the low pass on the torque from outside [s]; short knocks do not trip."""


class CollisionDetector:
    """Watches the torque from outside on the arm's joints."""

    def __init__(self, settings: ReflexSettings, period: float) -> None:
        """A detector that is fed every period [s]."""
        self._threshold = np.array(settings.collision_torque)
        self._memory = math.exp(-period / settings.collision_filter)
        self.torque: Array = np.zeros(N_ARM)
        """Filtered torque from outside [N m], shape (7,)."""

    def reset(self) -> None:
        """Forget what was."""
        self.torque[:] = 0.0

    def update(self, external: Array) -> str:
        """Feed the torque from outside [N m], shape (7,); why the arm must stop, or empty."""
        self.torque *= self._memory
        self.torque += (1.0 - self._memory) * external
        over = np.abs(self.torque) > self._threshold
        if not over.any():
            return ''
        joint = int(np.argmax(over))
        return (
            f'collision: {self.torque[joint]:.3g} N m from outside on {ARM_JOINTS[joint]}, '
            f'its threshold is {self._threshold[joint]:g} N m'
        )


def torque_jump(effort: Array, previous: Array, period: float) -> str:
    """Why a commanded effort [N m] comes too far from the one a period [s] before; or empty."""
    change = np.abs(effort[ARM] - previous[ARM])
    over = change > LIMITS.effort_rate[ARM] * (period * (1.0 + _SLACK))
    if not over.any():
        return ''
    joint = int(np.argmax(over))
    rate = LIMITS.effort_rate[joint]
    return (
        f'torque jump: {change[joint]:.3g} N m on {ARM_JOINTS[joint]} in {1e3 * period:g} ms, '
        f'its limit is {rate:g} N m/s'
    )


def overspeed(velocity: Array) -> str:
    """Why a joint velocity [rad/s] is too much for the arm; or empty."""
    over = np.abs(velocity[ARM]) > LIMITS.velocity[ARM]
    if not over.any():
        return ''
    joint = int(np.argmax(over))
    return (
        f'too fast: {ARM_JOINTS[joint]} turns at {velocity[joint]:.3g} rad/s, '
        f'its limit is {LIMITS.velocity[joint]:g} rad/s'
    )
