# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A trajectory on its way: how far it is, and how it ended."""

from __future__ import annotations

import numpy as np

from drex_ros.control.trajectory import Trajectory
from drex_ros.robot.joints import ARM, Array

ARRIVED = 0.03
"""Largest error of an arm joint at the end [rad]: it sags by 0.02 under a kilogram that it does
not know of yet. Fingers may be kept off by what they touch."""
_SETTLING = 1.0  # [s] after the end of the trajectory, for the robot to arrive


class Move:
    """One move of the robot, led by a trajectory of all joints."""

    def __init__(self, trajectory: Trajectory, source: str) -> None:
        self.trajectory = trajectory
        self.source = source
        self._started: float | None = None
        self.elapsed = 0.0
        """Since its start [s]."""
        self.over = False
        self.failure = ''
        """Why it ended before its goal, in words."""

    def advance(self, time: float) -> tuple[Array, Array, Array]:
        """Set-point at a time of the robot [s]: position, velocity, acceleration, (23,) each."""
        if self._started is None:
            self._started = time
        self.elapsed = time - self._started
        return self.trajectory.at(min(self.elapsed, self.trajectory.duration))

    def step(self, seconds: float) -> Array:
        """How far the set-point goes within some seconds from now [rad]. Shape (23,)."""
        return self.trajectory.at(self.elapsed + seconds)[0] - self.trajectory.at(self.elapsed)[0]

    def judge(self, position: Array) -> None:
        """End it when the robot is there [rad], or cannot come there."""
        if self.elapsed < self.trajectory.duration:
            return
        goal = self.trajectory.at(self.trajectory.duration)[0]
        error = float(np.abs(position - goal)[ARM].max())
        if error <= ARRIVED:
            self.over = True
        elif self.elapsed > self.trajectory.duration + _SETTLING:
            self.fail(f'blocked: the arm stays {error:.3f} rad from its goal')

    def fail(self, reason: str) -> None:
        """End it on its way."""
        if not self.over:
            self.over, self.failure = True, reason

    @property
    def remaining(self) -> float:
        """Time to go [s]."""
        return max(self.trajectory.duration - self.elapsed, 0.0)

    @property
    def progress(self) -> float:
        """0 to 1."""
        duration = self.trajectory.duration
        return min(self.elapsed / duration, 1.0) if duration > 0.0 else 1.0
