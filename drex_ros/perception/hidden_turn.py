# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is believed of a turn that only a part of the object shows, as a mug's handle does.

That such a part is hidden lasts, so frames do not add up to an answer: the turn is as unsure as it
may have changed since the part was last seen, unless `turn_profile` says better.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from drex_ros.perception.belief import ANY_TURN, Belief
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RoundAxis
from drex_ros.robot.joints import Array

_SMALL_TURN = 0.1  # [rad] deviation up to which a turn is known, and an arc its tangent
_ALIGNED = 0.9  # cosine between two axes that are about the same
_AT_REST = 0.003  # [rad] a frame, that a turn which is not seen may change by
_ON_ITS_WAY = 4.0  # [rad/m] the same of what is pushed


class HiddenTurns:
    """Turns about the axes about which the object is round but for a part."""

    def __init__(self, axes: tuple[RoundAxis, ...]) -> None:
        """Nothing is known of the turns."""
        self._axes = axes
        self.forget()

    def forget(self) -> None:
        """Any turn is as likely as another."""
        self._before = self._now = [ANY_TURN] * len(self._axes)
        self._place = np.zeros(3)
        self.open: list[RoundAxis] = []
        """Axes about which the turn is not known in this frame."""

    def begin(self, belief: Belief) -> None:
        """Begin a frame, with what was believed in the last."""
        self._before, self._place = self._now, belief.pose.position

    def expect(self, prior: Belief, *, held: bool) -> list[RoundAxis]:
        """See what is open in this frame; `held`: the hand has it, so that it does not turn."""
        way = 0.0 if held else float(np.linalg.norm(prior.pose.position - self._place))
        known = [_deviation(prior, axis) for axis in self._axes]
        self.open = [
            axis for axis, now in zip(self._axes, known, strict=True) if now > _SMALL_TURN
        ]
        self._now = [
            now if now <= _SMALL_TURN else min(before + _AT_REST + _ON_ITS_WAY * way, ANY_TURN)
            for before, now in zip(self._before, known, strict=True)
        ]
        return self.open

    def deviation(self, axis: RoundAxis) -> float:
        """Of a turn since the part was seen that shows it [rad]."""
        return self._now[self._axes.index(axis)]

    def kept(self, prior: Belief, covariance: Array, pose: Pose, unseen: Iterable[Array]) -> Array:
        """A covariance (12, 12) that knows no more of hidden turns than the prior did.

        Args:
            prior: what was expected.
            covariance: after the frame.
            pose: as fitted.
            unseen: turns that the frame does not show, as steps (6,) of 1 rad.
        """
        for turn in unseen:
            axis = turn[3:]
            if self._is_round_about(axis, pose):
                lost = float(axis @ (prior.covariance - covariance)[3:6, 3:6] @ axis)
                covariance = covariance.copy()
                covariance[:6, :6] += max(lost, 0.0) * np.outer(turn, turn)
        return covariance

    def off_tangent(self, belief: Belief, unseen: Iterable[Array]) -> Belief:
        """The belief with what a turn of unknown size moves the origin off its tangent.

        The origin of a mug is beside the axis that its hidden handle turns about: turned by much,
        it is not where a small turn would lead.
        """
        covariance = belief.covariance
        for turn in unseen:
            spread = float(turn[3:] @ covariance[3:6, 3:6] @ turn[3:])
            if spread > _SMALL_TURN**2 and self._is_round_about(turn[3:], belief.pose):
                off = min(spread, 1.0) * np.linalg.norm(turn[:3])
                covariance = covariance.copy()
                covariance[:3, :3] += 0.5 * off**2 * np.eye(3)
        return Belief(belief.pose, belief.velocity, covariance)

    def _is_round_about(self, axis: Array, pose: Pose) -> bool:
        """Whether the object is round about an axis of the optical frame, but for a part."""
        directions = (pose.rotation @ each.direction for each in self._axes)
        return any(abs(axis @ direction) > _ALIGNED for direction in directions)


def _deviation(belief: Belief, axis: RoundAxis) -> float:
    """Of the turn about a line of the object [rad]."""
    direction = belief.pose.rotation @ axis.direction
    return float(np.sqrt(direction @ belief.covariance[3:6, 3:6] @ direction))


def sharpened(covariance: Array, axis: Array, variance: float) -> Array:
    """A covariance (12, 12) in which the turn about an axis (3,) has this variance [rad^2].

    What is known better is taken in like a measurement, so that all that goes with the turn is
    known better, too; what is known worse is forgotten of the turn alone.
    """
    row = np.zeros(12)
    row[3:6] = axis
    along = covariance @ row
    before = float(row @ along)
    if variance >= before:
        return covariance + (variance - before) * np.outer(row, row)
    return covariance - (before - variance) / before**2 * np.outer(along, along)
