# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How much later the colour was taken than its stamp says: one number of the camera, learned.

A moving object has its outline where it was at the colour's time and its surface where it was at
the depth's. How far the two are apart along its velocity is the time between them. Until that is
known, the outline has no say in how far along its way the object is: the delay is solved for
together with the pose, and eliminated from the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.robot.joints import Array

START = 0.010
"""Deviation of the delay before anything is known of it [s]."""

_LEAST = 0.0007  # [s] deviation that no number of frames takes away: outlines err for good
_TOGETHER = 6.0  # frames that err together
_FARTHEST = 3.0  # deviations: more is not the camera's delay, but a pose that is wrong


@dataclass(frozen=True, eq=False)
class DelayStep:
    """What one frame says about the delay."""

    change: float
    """Of what was believed of the delay [s]."""
    variance: float
    """Of the delay after it [s^2]."""


class ColourDelay:
    """What is believed of the delay."""

    def __init__(self) -> None:
        """Stamps are as good as any guess."""
        self.value = 0.0
        """By how much the colour is later than it says [s]."""
        self.variance = START**2

    @property
    def deviation(self) -> float:
        """[s]"""
        return float(np.sqrt(self.variance))

    def take(self, step: DelayStep) -> None:
        """Believe what a frame says in which the object was surely where it was fitted."""
        gained = 1.0 / step.variance - 1.0 / self.variance
        if gained <= 0.0 or abs(step.change) > _FARTHEST * self.deviation:
            return
        # What this frame alone says, worth less as frames err together.
        off = step.change / (gained * step.variance)
        gain = self.variance / (self.variance + _TOGETHER / gained)
        self.value += gain * off
        self.variance = max((1.0 - gain) * self.variance, _LEAST**2)


class OtherTime:
    """What an outline says that was taken at another time than the depth.

    Until then the object went by a step that is known to a covariance S only: with H and g the
    outline's equations, H (1 + S H)^-1 and (1 + H S)^-1 g are those without that step.
    """

    def __init__(
        self,
        information: Array,
        gradient: Array,
        *,
        velocity: Array,
        variance: float,
        rest: Array,
        chain: Array,
    ) -> None:
        """Take the step out of the equations.

        Args:
            information: of the outline on the pose at its own time. Shape (6, 6).
            gradient: likewise. Shape (6,).
            velocity: of the object: by it the outline moves with the delay. Shape (6,).
            variance: of the delay before this frame [s^2].
            rest: covariance of what else the object may have gone. Shape (6, 6).
            chain: how the pose at that time goes with the one at the depth's. Shape (6, 6).
        """
        self._velocity, self._variance, self._chain = velocity, variance, chain
        spread = variance * np.outer(velocity, velocity) + rest
        both = np.column_stack((information, gradient))
        less = np.linalg.solve(np.eye(6) + information @ spread, both)
        self._then, self._pull = 0.5 * (less[:, :6] + less[:, :6].T), less[:, 6]
        self.information = chain.T @ self._then @ chain
        self.gradient = chain.T @ self._pull

    def delay(self, step: Array, covariance: Array) -> DelayStep:
        """The delay that goes with a step of the pose whose covariance is (6, 6)."""
        left = self._pull - self._then @ (self._chain @ step)
        along = self._variance * (self._then @ self._velocity)
        sure = float(along @ self._velocity) * self._variance
        change = self._variance * float(self._velocity @ left)
        along = along @ self._chain
        return DelayStep(change, self._variance - sure + float(along @ covariance @ along))
