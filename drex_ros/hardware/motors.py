# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From the torque that is asked for to the torque that acts: delay, saturation, rate.

Friction and rotor inertia are the rest of the motor model; they are part of the joints in MuJoCo
(urdf/joint_limits.yaml has the numbers), scaled by these settings.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from drex_ros.robot.joints import LIMITS, N_JOINTS, Array


@dataclass(frozen=True)
class MotorSettings:
    """How far the motors are from ideal ones."""

    delay: int = 1
    """Control cycles from a command to its torque. libfranka and the Allegro's CAN bus both apply
    a command in the cycle after the one that brought it."""
    friction_scale: float = 1.0
    """Factor on Coulomb and viscous friction of every joint."""
    rotor_inertia_scale: float = 1.0
    """Factor on the rotor inertia of every joint."""


class Motors:
    """Torque of 23 motors; ask once a physics step."""

    def __init__(self, settings: MotorSettings, timestep: float) -> None:
        """Motors at rest; timestep [s] of the physics."""
        self._delay = settings.delay
        self._step = LIMITS.effort_rate * timestep
        self._on_the_way: deque[Array] = deque()
        self.torque: Array = np.zeros(N_JOINTS)
        """Torque that acts now [N m], shape (23,)."""

    def reset(self) -> None:
        """No torque, nothing on the way."""
        self._on_the_way.clear()
        self.torque[:] = 0.0

    def delayed(self, effort: Array, before: Array) -> Array:
        """The effort that has arrived in this control cycle, one of which is sent in each.

        Args:
            effort: what is commanded now [N m].
            before: what acted until the first command came [N m].
        """
        line = self._on_the_way
        while len(line) < self._delay:
            line.append(before)
        line.append(effort)
        return line.popleft()

    def forget(self) -> None:
        """Nothing that was commanded before arrives any more."""
        self._on_the_way.clear()

    def drive(self, effort: Array) -> Array:
        """Go towards an effort [N m] for one physics step; returns the torque that acts."""
        change = effort - self.torque
        np.minimum(change, self._step, out=change)
        np.maximum(change, -self._step, out=change)
        self.torque += change
        np.minimum(self.torque, LIMITS.effort, out=self.torque)
        np.maximum(self.torque, -LIMITS.effort, out=self.torque)
        return self.torque
