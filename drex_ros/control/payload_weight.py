# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The weight of what the hand carries, held up by the arm."""

from __future__ import annotations

import numpy as np

from drex_ros.control.targets import Payload
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array
from drex_ros.robot.terms import Terms

GRAVITY = 9.81
"""[m/s^2]"""
_RATE = 2.0  # [kg/s] so that the arm does not start when a mass becomes known


class PayloadWeight:
    """A payload that comes and goes gradually."""

    def __init__(self) -> None:
        self._goal = 0.0
        self._position = np.zeros(3)
        self.mass = 0.0
        """That is held up now [kg]."""

    @property
    def carries(self) -> bool:
        """Whether there is anything to hold up."""
        return self.mass > 0.0 or self._goal > 0.0

    def carry(self, payload: Payload) -> None:
        """Hold this up from now on; a mass of 0 ends it."""
        self._goal = payload.mass
        if payload.mass > 0.0:
            self._position[:] = payload.position

    def drop(self) -> None:
        """There is nothing any more."""
        self._goal = self.mass = 0.0

    def add_torque(self, terms: Terms, period: float, effort: Array) -> None:
        """Add what holds it up a period [s] later to torques of the arm [N m], shape (7,)."""
        step = _RATE * period
        self.mass += min(max(self._goal - self.mass, -step), step)
        weight = self.mass * GRAVITY
        _hold_up(terms.palm_rotation, terms.palm_jacobian, self._position, weight, effort)


@kernel
def _hold_up(rotation, jacobian, position, weight, effort):  # type: ignore[no-untyped-def]
    """Add the torques by which a weight [N] at a position in the palm [m] is held."""
    x, y = 0.0, 0.0
    for k in range(3):
        x += rotation[0, k] * position[k]
        y += rotation[1, k] * position[k]
    for i in range(effort.shape[0]):
        # A point at a lever r from the palm rises by v_z + w_x r_y - w_y r_x.
        rise = jacobian[2, i] + jacobian[3, i] * y - jacobian[4, i] * x
        effort[i] += weight * rise
