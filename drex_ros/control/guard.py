# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Looks ahead: the robot is held before it comes too near to itself, the table or its bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.control.interventions import Rule
from drex_ros.control.proximity import PairKind, Proximity
from drex_ros.control.target_checks import Bounds
from drex_ros.robot.joints import ARM, LIMITS, Array
from drex_ros.robot.terms import Terms

_LOOK_AHEAD = 0.1  # [s] about the time that the arm takes to stop
_APPROACH = 2e-4  # [m] nearer within that time is an approach; less is noise
_CREPT = 0.002  # [m] deeper than it was: an approach, however slow
_DEEP = 0.005  # [m] inside a margin, beyond which a hold is not enough
_TABLE_KINDS = (PairKind.ARM_TABLE, PairKind.FINGER_TABLE)


@dataclass(frozen=True)
class Verdict:
    """What must be done, and why."""

    rule: Rule
    stop: bool
    """Stop, for to hold did not help."""
    reason: str


class Guard:
    """Watches the way of the robot, a little ahead of it."""

    def __init__(self, proximity: Proximity, bounds: Bounds) -> None:
        self._proximity = proximity
        self._bounds = bounds
        self._crept = dict.fromkeys((Rule.TABLE, Rule.SELF_COLLISION, Rule.WORKSPACE), 0.0)

    def check(self, position: Array, velocity: Array, terms: Terms) -> Verdict | None:
        """What to do at a posture [rad] and velocity [rad/s], shapes (23,); None: nothing."""
        return self._box(velocity, terms) or self._distances(position, velocity)

    def goal_refusal(self, goal: Array, position: Array) -> str:
        """Why a posture [rad] is no goal, coming from another; empty when it is one."""
        there = self._proximity.nearest(goal)
        if there.clearance >= 0.0:
            return ''
        if there.clearance > self._proximity.nearest(position).clearance:
            return ''  # it stands worse now
        return f'the goal is in collision: {there.words}'

    def _distances(self, position: Array, velocity: Array) -> Verdict | None:
        ahead = position + _LOOK_AHEAD * velocity
        np.minimum(np.maximum(ahead, LIMITS.lower, out=ahead), LIMITS.upper, out=ahead)
        soon = self._proximity.nearest(ahead)
        if soon.clearance >= 0.0:
            self._crept[Rule.TABLE] = self._crept[Rule.SELF_COLLISION] = 0.0
            return None
        now = self._proximity.nearest(position)
        rule = Rule.TABLE if soon.kind in _TABLE_KINDS else Rule.SELF_COLLISION
        near = soon.clearance < now.clearance - _APPROACH
        if not self._deeper(rule, now.clearance) and not near:
            return None
        return Verdict(rule, now.clearance < -_DEEP, f'too near: {now.words}')

    def _deeper(self, rule: Rule, clearance: float) -> bool:
        """Whether the robot crept into a margin, too slowly for its speed to tell."""
        highest = self._crept[rule] = max(self._crept[rule], clearance)
        if clearance > highest - _CREPT:
            return False
        self._crept[rule] = clearance
        return True

    def _box(self, velocity: Array, terms: Terms) -> Verdict | None:
        lower, upper, place = self._bounds.lower, self._bounds.upper, terms.palm_position
        speed = terms.palm_jacobian[:3] @ velocity[ARM]
        soon = place + _LOOK_AHEAD * speed
        inside = np.minimum(place - lower, upper - place)
        i = int(np.argmin(np.minimum(inside, np.minimum(soon - lower, upper - soon))))
        out = min(soon[i] - lower[i], upper[i] - soon[i]) < 0.0
        outward = (place[i] - 0.5 * (lower[i] + upper[i])) * speed[i] > 0.0
        near = out and outward and abs(speed[i]) * _LOOK_AHEAD > _APPROACH
        if not self._deeper(Rule.WORKSPACE, min(float(inside[i]), 0.0)) and not near:
            return None
        return Verdict(
            Rule.WORKSPACE,
            bool(inside[i] < -_DEEP),
            f'the palm leaves the workspace: {"xyz"[i]} = {place[i]:.3f} m, '
            f'must be in {lower[i]:g} .. {upper[i]:g}',
        )
