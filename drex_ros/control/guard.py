# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at states: whether they can be, and what they lead to.

The robot is held before it comes too near to itself, the table or its bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drex_ros.control.interventions import Rule
from drex_ros.control.proximity import PairKind, Proximity
from drex_ros.control.target_checks import Bounds
from drex_ros.kernel import kernel
from drex_ros.robot.joints import ARM, ARM_JOINTS, LIMITS, N_ARM, Array
from drex_ros.robot.terms import Terms

LOOK_AHEAD = 0.1
"""About the time that the arm takes to stop, at least [s]."""
# A fast arm takes longer: its torques must turn round first, then it brakes as it can.
_TURN_ROUND = 0.05  # [s]
_BRAKING = 6.0  # [m/s^2] of the palm
_TOO_FAST = 0.82  # of its velocity limit, at which a joint is beyond what torques can mend
_APPROACH = 2e-4  # [m] nearer within that time is an approach; less is noise
_CREPT = 0.002  # [m] deeper than it was: an approach, however slow
_DEEP = 0.005  # [m] inside a margin, beyond which a hold is not enough
_JUMP = 0.05  # [rad] in one cycle, beyond what the joint's speed limit explains
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

    def check(
        self, position: Array, velocity: Array, terms: Terms, ahead: Array | None = None
    ) -> Verdict | None:
        """What to do at a posture [rad] and velocity [rad/s], shapes (23,); None: nothing.

        Args:
            position: [rad].
            velocity: [rad/s].
            terms: of this state.
            ahead: where the robot will be soon [rad], where that is planned; None: straight on.
        """
        speed = terms.palm_jacobian[:3] @ velocity[ARM]
        look = max(LOOK_AHEAD, _TURN_ROUND + math.sqrt(float(speed @ speed)) / (2.0 * _BRAKING))
        if ahead is None:
            ahead = position + look * velocity
        return self._box(speed, look, terms) or self._distances(position, ahead)

    @staticmethod
    def too_fast(velocity: Array) -> str:
        """That a joint of the arm is about to trip the robot's own reflex, in words; or empty."""
        joint = _too_fast(velocity, LIMITS.velocity)
        if joint < 0:
            return ''
        return (
            f'{ARM_JOINTS[joint]} turns at {velocity[joint]:.2f} rad/s, '
            f'its limit is {LIMITS.velocity[joint]:g} rad/s'
        )

    def goal_refusal(self, goal: Array, position: Array) -> str:
        """Why a posture [rad] is no goal, coming from another; empty when it is one."""
        there = self._proximity.nearest(goal)
        if there.clearance >= 0.0:
            return ''
        if there.clearance > self._proximity.nearest(position).clearance:
            return ''  # it stands worse now
        return f'the goal is in collision: {there.words}'

    def _distances(self, position: Array, ahead: Array) -> Verdict | None:
        soon = self._proximity.nearest(np.minimum(np.maximum(ahead, LIMITS.lower), LIMITS.upper))
        if soon.clearance >= 0.0:
            self._crept[Rule.TABLE] = self._crept[Rule.SELF_COLLISION] = 0.0
            return None
        now = self._proximity.nearest(position)
        rule = Rule.TABLE if soon.kind in _TABLE_KINDS else Rule.SELF_COLLISION
        near = soon.clearance < now.clearance - _APPROACH
        if not self._deeper(rule, now.clearance) and not near:
            return None
        words = f'too near: {now.words}, soon {1e3 * soon.distance:.0f} mm'
        return Verdict(
            rule, now.clearance < -_DEEP, f'{words}, must be {1e3 * soon.margin:.0f} mm at least'
        )

    def _deeper(self, rule: Rule, clearance: float) -> bool:
        """Whether the robot crept into a margin, too slowly for its speed to tell."""
        highest = self._crept[rule] = max(self._crept[rule], clearance)
        if clearance > highest - _CREPT:
            return False
        self._crept[rule] = clearance
        return True

    def _box(self, speed: Array, look: float, terms: Terms) -> Verdict | None:
        lower, upper, place = self._bounds.lower, self._bounds.upper, terms.palm_position
        soon = place + look * speed
        inside = np.minimum(place - lower, upper - place)
        i = int(np.argmin(np.minimum(inside, np.minimum(soon - lower, upper - soon))))
        out = min(soon[i] - lower[i], upper[i] - soon[i]) < 0.0
        outward = (place[i] - 0.5 * (lower[i] + upper[i])) * speed[i] > 0.0
        near = out and outward and abs(speed[i]) * look > _APPROACH
        if not self._deeper(Rule.WORKSPACE, min(float(inside[i]), 0.0)) and not near:
            return None
        return Verdict(
            Rule.WORKSPACE,
            bool(inside[i] < -_DEEP),
            f'the palm leaves the workspace: {"xyz"[i]} = {place[i]:.3f} m, '
            f'must be in {lower[i]:g} .. {upper[i]:g}',
        )


@kernel
def _too_fast(velocity, fastest):  # type: ignore[no-untyped-def]
    """Number of the first joint of the arm that is too fast; -1: none."""
    for i in range(N_ARM):
        if abs(velocity[i]) > _TOO_FAST * fastest[i]:
            return i
    return -1


@kernel
def finite_state(position, velocity, effort, time):  # type: ignore[no-untyped-def]
    """Whether all numbers of a robot state are numbers."""
    total = time
    for i in range(position.shape[0]):
        total += position[i] + velocity[i] + effort[i]
    return math.isfinite(total)


@kernel
def jumped(before, position, fastest, elapsed):  # type: ignore[no-untyped-def]
    """Whether a joint is further from where it was than its speed explains."""
    for i in range(position.shape[0]):
        if abs(position[i] - before[i]) > _JUMP + 1.5 * fastest[i] * elapsed:
            return True
    return False
