# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at states: whether they can be, and what they lead to.

The robot is held before it comes too near to itself, the table or its bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drex_ros.control.interventions import Rule
from drex_ros.control.proximity import PairKind, Proximity
from drex_ros.control.target_checks import Bounds
from drex_ros.kernel import kernel
from drex_ros.robot.joints import ARM_JOINTS, LIMITS, N_ARM, Array
from drex_ros.robot.matrices import cholesky, cholesky_solve
from drex_ros.robot.state import RobotState
from drex_ros.robot.terms import Terms, split_terms

LOOK_AHEAD = 0.1
"""About the time that the arm takes to stop, at least [s]."""
# A fast arm takes longer: its torques must turn round first, then it brakes as it can.
_TURN_ROUND = 0.05  # [s]
_GAIN_ERROR = 0.05  # [rad/s] that such a gain of speed may be off
_NOTICED = 0.01  # [s] until an arm that speeds up is seen to, before its torques turn round
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


class Findings(NamedTuple):
    """What one robot state is like."""

    finite: bool
    """All its numbers are numbers."""
    jumped: bool
    """A joint is further from where it was than its speed explains."""
    fast_joint: int
    """The first joint of the arm that is about to trip the robot's own reflex; -1: none."""

    def too_fast(self, velocity: Array) -> str:
        """That a joint is too fast at these velocities [rad/s], in words; or empty."""
        if self.fast_joint < 0:
            return ''
        return (
            f'{ARM_JOINTS[self.fast_joint]} turns at {velocity[self.fast_joint]:.2f} rad/s, '
            f'its limit is {LIMITS.velocity[self.fast_joint]:g} rad/s'
        )


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
            velocity: [rad/s], as speed_ahead() gives it.
            terms: of this state.
            ahead: where the robot will be soon [rad], where that is planned; None: straight on.
        """
        bounds = self._bounds
        look, axis, inside, leaves = _box(terms.numbers, velocity, bounds.lower, bounds.upper)
        if self._deeper(Rule.WORKSPACE, min(inside, 0.0)) or leaves:
            words = (
                f'the palm leaves the workspace: {"xyz"[axis]} = {terms.palm_position[axis]:.3f} '
                f'm, must be in {bounds.lower[axis]:g} .. {bounds.upper[axis]:g}'
            )
            return Verdict(Rule.WORKSPACE, inside < -_DEEP, words)
        if ahead is None:
            ahead = position + look * velocity
        return self._distances(position, ahead)

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
        words = f'too near: soon {soon.words}, must be {1e3 * soon.margin:.0f} mm at least'
        return Verdict(rule, now.clearance < -_DEEP, words)

    def _deeper(self, rule: Rule, clearance: float) -> bool:
        """Whether the robot crept into a margin, too slowly for its speed to tell."""
        highest = self._crept[rule] = max(self._crept[rule], clearance)
        if clearance > highest - _CREPT:
            return False
        self._crept[rule] = clearance
        return True


def speed_ahead(velocity: Array, told: Array, external: Array, terms: Terms) -> Array:
    """Velocities when the torques that drive the arm can be gone [rad/s]. Shape (23,).

    Args:
        velocity: measured [rad/s]. Shape (23,), as the next two.
        told: torques that the robot was sent last [N m].
        external: torques of the world on the joints [N m]; NaN: not known.
        terms: of this state.
    """
    ahead = velocity.copy()
    _speed_ahead(terms.numbers, told, external, LIMITS.effort_rate, ahead)
    return ahead


@kernel
def _speed_ahead(numbers, told, external, rate, velocity):  # type: ignore[no-untyped-def]
    """Add what the arm gains while its torques fall to nothing by the robot's rate."""
    terms = split_terms(numbers)
    factor = np.empty((N_ARM, N_ARM))
    cholesky(terms.mass[:N_ARM, :N_ARM], factor)
    gain = np.empty(N_ARM)
    falling = 0.0
    for i in range(N_ARM):
        outside = external[i] if math.isfinite(external[i]) else 0.0
        gain[i] = told[i] + outside - terms.coriolis[i]
        falling = max(falling, abs(told[i]) / rate[i])
    cholesky_solve(factor, gain)
    for i in range(N_ARM):
        # Of an arm that stands the sum of its torques is nothing but their errors.
        gained = (_NOTICED + 0.5 * falling) * gain[i]
        velocity[i] += gained - min(max(gained, -_GAIN_ERROR), _GAIN_ERROR)


def examine(robot: RobotState, last: RobotState | None) -> Findings:
    """Look at a robot state, and at the one before it."""
    before = robot if last is None else last
    elapsed = robot.time - before.time
    return Findings(
        *_examine(
            *(robot.position, robot.velocity, robot.effort, robot.time),
            *(before.position, LIMITS.velocity, elapsed),
        ),
    )


@kernel
def _examine(position, velocity, effort, time, before, fastest, elapsed):  # type: ignore[no-untyped-def]
    """The findings: no number in it, a jump, the first joint that is too fast."""
    total, jumped, joint = time, False, -1
    for i in range(position.shape[0]):
        total += position[i] + velocity[i] + effort[i]
        if abs(position[i] - before[i]) > _JUMP + 1.5 * fastest[i] * max(elapsed, 0.0):
            jumped = True
        if i < N_ARM and joint < 0 and abs(velocity[i]) > _TOO_FAST * fastest[i]:
            joint = i
    return math.isfinite(total), jumped, joint


@kernel
def _box(numbers, velocity, lower, upper):  # type: ignore[no-untyped-def]
    """The palm in its box.

    Returns:
        How far to look ahead [s]; the axis along which the palm is nearest to the box's face, now
        or then; how far it is inside now [m]; whether it goes out.
    """
    terms = split_terms(numbers)
    speed = np.zeros(3)
    square = 0.0
    for i in range(3):
        for j in range(N_ARM):
            speed[i] += terms.palm_jacobian[i, j] * velocity[j]
        square += speed[i] * speed[i]
    look = max(LOOK_AHEAD, _TURN_ROUND + math.sqrt(square) / (2.0 * _BRAKING))
    axis, least = 0, np.inf
    for i in range(3):
        place = terms.palm_position[i]
        soon = place + look * speed[i]
        room = min(place - lower[i], upper[i] - place, soon - lower[i], upper[i] - soon)
        if room < least:
            axis, least = i, room
    place = terms.palm_position[axis]
    soon = place + look * speed[axis]
    inside = min(place - lower[axis], upper[axis] - place)
    outward = (place - 0.5 * (lower[axis] + upper[axis])) * speed[axis] > 0.0
    out = min(soon - lower[axis], upper[axis] - soon) < 0.0
    return look, axis, inside, out and outward and abs(speed[axis]) * look > _APPROACH
