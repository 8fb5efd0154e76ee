# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The weight of what the hand carries, held up by the arm."""

from __future__ import annotations

import numpy as np

from drex_ros.control.targets import Payload
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
            self._position = payload.position

    def drop(self) -> None:
        """There is nothing any more."""
        self._goal = self.mass = 0.0

    def torque(self, terms: Terms, period: float) -> Array:
        """Torques of the arm that hold it up [N m], shape (7,), a period [s] later."""
        step = _RATE * period
        self.mass += min(max(self._goal - self.mass, -step), step)
        lever = terms.palm_rotation @ self._position
        jacobian = terms.palm_jacobian
        # A point at a lever r from the palm rises by v_z + w_x r_y - w_y r_x.
        rise = jacobian[2] + jacobian[3] * lever[1] - jacobian[4] * lever[0]
        torque: Array = (self.mass * GRAVITY) * rise
        return torque
