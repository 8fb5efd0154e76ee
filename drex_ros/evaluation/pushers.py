# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What pushes: a stick, or the robot's index finger with the arm following it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from drex_ros.control.inverse_kinematics import ArmKinematics
from drex_ros.evaluation.physics import STICK_RADIUS, TIMESTEP
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, Array, constant

TIP_RADIUS = 0.012
"""Of a fingertip [m]."""

# Index finger straight, the others and the thumb folded away.
_POINTING = constant(
    (0.0, 0.1, 0.1, 0.1) + 2 * (0.0, 1.45, 1.45, 1.3) + (0.4, 0.2, 0.6, 0.9)
)  # [rad]
_TURNS = tuple(np.radians((0, 20, -20, 40, -40, 60, -60, 90, -90, 120, -120, 150, -150, 180)))


def fingers_down(across: Array) -> Array:
    """Turn of the palm in world at which straight fingers point down. Shape (3, 3).

    `across` is where the palm's y points, from the ring finger to the index finger; level.
    """
    down = np.array((0.0, 0.0, -1.0))
    return np.stack((np.cross(across, down), across, down), axis=1)


class OutOfReachError(Exception):
    """The arm has no posture for a place."""


class Pusher(Protocol):
    """Something whose tip can be led along a path."""

    radius: float
    """Of the tip [m]."""
    hurry: float
    """Greatest speed on the way from one push to the next [m/s]."""
    tip: Array
    """Middle of the tip in world [m], shape (3,)."""
    posture: Array
    """Of the robot [rad], shape (23,)."""
    stick: Array | None
    """Lower end of the stick [m], shape (3,); None: there is none."""

    def height(self, tall: float) -> float:
        """Above the table at which an object so tall is pushed [m]."""

    def begin(self, tip: Array, direction: Array) -> None:
        """Be at a place, for a push in a direction."""

    def move(self, tip: Array) -> None:
        """Go on to a place near by."""


class StickPusher:
    """An upright stick; the robot stands in its home posture."""

    def __init__(self) -> None:
        self.radius, self.hurry = STICK_RADIUS, 1.6
        self.tip = np.zeros(3)
        self.posture: Array = HOME.copy()
        self.stick: Array | None = self.tip

    def height(self, tall: float) -> float:
        """Its lower end goes close above the table."""
        return 0.012

    def begin(self, tip: Array, direction: Array) -> None:
        """Be at a place."""
        self.move(tip)

    def move(self, tip: Array) -> None:
        """Go on to a place near by."""
        self.tip = np.array(tip)
        self.stick = self.tip


class FingerPusher:
    """The robot's index finger pointing down; the arm goes where its tip must be."""

    def __init__(self) -> None:
        self.radius, self.hurry = TIP_RADIUS, 0.7
        self.tip = np.zeros(3)
        self.posture: Array = HOME.copy()
        self.posture[HAND] = _POINTING
        self.stick: Array | None = None
        self._dynamics = Dynamics()
        self._arm = ArmKinematics(self._dynamics)
        position, rotation = self._arm.palm_pose(self.posture[ARM])
        index = self._dynamics.fingertip_positions(self.posture)[0]
        self._tip_in_palm = (index - position) @ rotation
        self._rotation = rotation

    def height(self, tall: float) -> float:
        """At the middle of low things, low at tall ones."""
        return float(np.clip(0.5 * tall, 0.014, 0.03))

    def begin(self, tip: Array, direction: Array) -> None:
        """Be at a place, the rest of the hand behind the finger if that can be."""
        # The other fingers are beside the index finger, along the palm's -y.
        for away in _TURNS:
            c, s = np.cos(away), np.sin(away)
            x, y, _ = direction
            rotation = fingers_down(np.array((c * x - s * y, s * x + c * y, 0.0)))
            found = self._arm.solve(tip - rotation @ self._tip_in_palm, rotation, HOME[ARM])
            if not isinstance(found, str):
                self._rotation, self.tip = rotation, np.array(tip)
                self.posture[ARM] = found
                return
        raise OutOfReachError

    def move(self, tip: Array) -> None:
        """Go on to a place near by."""
        place = tip - self._rotation @ self._tip_in_palm
        found = self._arm.track(place, self._rotation, self.posture[ARM])
        farthest = TIMESTEP * LIMITS.velocity[ARM]
        if not found.found or (np.abs(found.arm - self.posture[ARM]) > farthest).any():
            raise OutOfReachError
        self.posture[ARM], self.tip = found.arm, np.array(tip)
