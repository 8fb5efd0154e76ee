# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the hand carries the object: then it moves as the palm does, which the joints tell.

Two beliefs are compared in each frame in which the hand moves with its fingers around the object:
that it is left alone, on the table or not, and that it is held. Each expects the object somewhere;
the odds go with how likely each finds the pose that depth and outline alone give.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drex_ros.perception.poses import Pose
from drex_ros.robot.joints import Array

NOISE = np.repeat((0.0004, 0.007), 3) ** 2
"""Variance of what a held object moves in the hand from frame to frame [m^2, rad^2]."""
VELOCITY_VARIANCE = np.repeat((0.02, 0.3), 3) ** 2
"""Of a held object's velocity about the hand's [m^2/s^2, rad^2/s^2]."""

_SLIP = 0.05  # of the hand's step: what is held does not quite follow
_AROUND = 0.03  # [m] from the object's box to a fingertip that may touch it
_LEAST_MOVE, _LEAST_TURN = 0.00025, 0.003  # [m], [rad] steps of the hand that tell something
_START = -2.0  # log odds of being held when the fingers come around it
_SURE = 8.0  # most that the odds are believed
_MOST = 6.0  # that one frame may say
_KEPT = 0.9  # of the odds from one frame to the next: grasps end


class HandPlace(NamedTuple):
    """The hand in the optical frame."""

    palm: Pose
    tips: Array
    """Index, middle, ring finger, thumb [m]. Shape (4, 3)."""


class Expectation(NamedTuple):
    """Where a belief expects the object, as a step from some pose."""

    step: Array
    """Shape (6,)."""
    covariance: Array
    """Shape (6, 6)."""

    def log_likelihood(self, step: Array, covariance: Array) -> float:
        """Of a pose that was measured with a covariance, but for a constant."""
        spread = self.covariance + covariance
        off = step - self.step
        _, size = np.linalg.slogdet(spread)
        return -0.5 * float(off @ np.linalg.solve(spread, off) + size)


class HandMotion:
    """What is believed of being held. Not for use by two threads at once."""

    def __init__(self, corners: Array) -> None:
        """Begin with an open hand; `corners` are vertices of the object's mesh, shape (n, 3)."""
        low, high = corners.min(axis=0), corners.max(axis=0)
        self._middle, self._half = 0.5 * (low + high), 0.5 * (high - low)
        self.forget()

    def forget(self) -> None:
        """The object is left alone, for all that is known."""
        self._odds = _START
        self._last: Pose | None = None
        self.carry: Array | None = None
        """Step of a held object in this frame; None: the hand is not around it. Shape (6,)."""

    @property
    def holds(self) -> bool:
        """Whether the object is believed to be held."""
        return self.carry is not None and self._odds > 0.0

    def advance(self, hand: HandPlace | None, pose: Pose) -> None:
        """See where the hand went since the last frame, in which the object had a pose."""
        before, self._last = self._last, None if hand is None else hand.palm
        self.carry = None
        if hand is None or not self._around(hand, pose):
            self._odds = _START
            return
        if before is None:
            return
        turn = hand.palm.rotation @ before.rotation.T
        moved = Pose(
            hand.palm.position + turn @ (pose.position - before.position), turn @ pose.rotation
        )
        self.carry = pose.step_to(moved)
        self._odds *= _KEPT

    @property
    def moves(self) -> bool:
        """Whether the hand went far enough to tell what goes with it."""
        if self.carry is None:
            return False
        move, turn = np.linalg.norm(self.carry[:3]), np.linalg.norm(self.carry[3:])
        return bool(move > _LEAST_MOVE or turn > _LEAST_TURN)

    @property
    def noise(self) -> Array:
        """Variance of a held object's step about the hand's. Shape (6,)."""
        assert self.carry is not None
        move, turn = np.linalg.norm(self.carry[:3]), np.linalg.norm(self.carry[3:])
        return np.asarray(NOISE + np.repeat((_SLIP * move, _SLIP * turn), 3) ** 2)

    def weigh(
        self, held: Expectation, alone: Expectation, step: Array, covariance: Array
    ) -> None:
        """Compare the beliefs by a pose that was measured without either.

        Args:
            held: where it is if the hand carries it.
            alone: where it is if not.
            step: to where it was measured, from the same pose. Shape (6,).
            covariance: of that. Shape (6, 6).
        """
        if not self.moves:
            return
        more = held.log_likelihood(step, covariance) - alone.log_likelihood(step, covariance)
        self._odds = float(np.clip(self._odds + np.clip(more, -_MOST, _MOST), -_SURE, _SURE))

    def _around(self, hand: HandPlace, pose: Pose) -> bool:
        """Whether thumb and another fingertip are at the object."""
        tips = (hand.tips - pose.position) @ pose.rotation - self._middle
        gaps = np.linalg.norm(np.maximum(np.abs(tips) - self._half, 0.0), axis=1)
        return bool(gaps[3] < _AROUND and gaps[:3].min() < _AROUND)
