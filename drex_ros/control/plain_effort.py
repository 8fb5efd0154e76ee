# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plain torques of joints, as somebody sends them: they change gradually, and not for ever."""

from __future__ import annotations

import numpy as np

from drex_ros.control.set_point import within
from drex_ros.robot.joints import Array


class PlainEffort:
    """Torques of n joints [N m]."""

    def __init__(self, rate: Array, timeout: float) -> None:
        """That change by at most a rate [N m/s], shape (n,), and count for a timeout [s]."""
        self._rate = rate
        self._timeout = timeout
        self._goal = np.zeros(rate.shape[0])
        self.until = 0.0
        """When they count no more without new ones [s]."""
        self.effort = np.zeros(rate.shape[0])
        """As they are now [N m]. Shape (n,)."""

    def begin(self, effort: Array) -> None:
        """Set out from torques that there are [N m]."""
        self.effort[:] = effort

    def take(self, goal: Array, time: float) -> None:
        """Go to these [N m], which are told at a time [s]."""
        self._goal[:] = goal
        self.until = time + self._timeout

    def advance(self, period: float) -> Array:
        """The torques a period [s] later [N m]. Shape (n,)."""
        self.effort += within(self._goal - self.effort, self._rate * period)
        return self.effort
