# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The last word on every torque: it brings them within what robot and object bear.

Each joint has a corridor of allowed torque, which narrows near its stops; beyond them it has only
torques that lead back. With d the distance to a soft wall, tau <= k d - c v: a critically damped
spring. What is said of speeds is in drex_ros/control/speed_limit. Last come the limits of torque
and of its change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drex_ros.control.interventions import Interventions, Rule
from drex_ros.control.speed_limit import (
    EFFORT,
    EFFORT_RATE,
    NO_RULE,
    POSITION,
    VELOCITY,
    keep_arm_speed,
    speeds,
    step_range,
)
from drex_ros.kernel import kernel
from drex_ros.robot.joints import (
    JOINT_NAMES,
    LIMITS,
    N_ARM,
    N_HAND,
    N_JOINTS,
    Array,
    constant,
)
from drex_ros.robot.matrices import cholesky, cholesky_solve, dot
from drex_ros.robot.terms import Terms, split_terms

WALL = constant(N_ARM * (0.03,) + N_HAND * (0.015,))
"""How far before its stop a joint is turned back [rad]."""
SPEED_SHARE = 0.7
"""Of the velocity limits, that torques drive a joint to."""

_WALL_STIFFNESS = constant((300, 300, 300, 300, 100, 60, 40) + N_HAND * (10.0,))  # [N m/rad]
_FINGER_TIME = 0.005  # [s] in which a finger's joint may come to its greatest speed
# [N m/s]; of the hand the maker states none: here from nothing to all it has in 14 ms.
_RATE = constant(N_ARM * (np.inf,) + N_HAND * (50.0,))
_ANYWHERE = constant((-np.inf,) * 3), constant((np.inf,) * 3)  # [m]
_RULES = (Rule.JOINT_POSITION, Rule.JOINT_VELOCITY, Rule.EFFORT, Rule.EFFORT_RATE)
_LEVER = 5e-3  # [m] that a straight finger counts as having along itself, not none
_NOTHING = 1e-30  # [N m] of a difference that has faded: smaller numbers only take time
_LONGEST_SILENCE = 0.1  # [s] after which a rule that acts on says so in words again


@dataclass(frozen=True)
class Envelope:
    """Limits of the joints, never wider than the robot's own, and of the palm. Shapes (23,)."""

    lower: Array
    """[rad]"""
    upper: Array
    """[rad]"""
    velocity: Array
    """[rad/s]"""
    effort: Array
    """[N m]"""
    effort_rate: Array
    """[N m/s]"""
    palm_lower: Array
    """Of the palm's place [m]. Shape (3,), as the next."""
    palm_upper: Array
    """[m]"""

    @classmethod
    def of_robot(
        cls,
        effort_share: float = 1.0,
        palm_lower: Array = _ANYWHERE[0],
        palm_upper: Array = _ANYWHERE[1],
    ) -> Envelope:
        """The robot's own, with soft walls before the stops.

        Args:
            effort_share: of the robot's torque limits, 0 to 1.
            palm_lower: end of the workspace [m], shape (3,); none by default, as of the next.
            palm_upper: the other end [m].
        """
        if not 0.0 < effort_share <= 1.0:
            raise ValueError(f'effort_share is {effort_share:g}, must be above 0 and at most 1')
        return cls(
            lower=LIMITS.lower + WALL,
            upper=LIMITS.upper - WALL,
            velocity=SPEED_SHARE * LIMITS.velocity,
            effort=effort_share * LIMITS.effort,
            effort_rate=np.minimum(LIMITS.effort_rate, _RATE),
            palm_lower=palm_lower,
            palm_upper=palm_upper,
        )


class Supervisor:
    """Limits the torques of one controller."""

    def __init__(self, envelope: Envelope, interventions: Interventions) -> None:
        self._interventions = interventions
        self._by_rule = np.zeros(N_JOINTS, dtype=np.int64)
        # In one array: each that is handed to a compiled function costs 0.2 us.
        self._limits = np.stack(
            (
                *(envelope.lower, envelope.upper, envelope.velocity),
                *(envelope.effort, envelope.effort_rate, _WALL_STIFFNESS),
            )
        )
        self._box = np.stack((envelope.palm_lower, envelope.palm_upper))

    def limit(
        self,
        effort: Array,
        previous: Array,
        told: Array,
        position: Array,
        velocity: Array,
        terms: Terms,
        period: float,
        time: float,
    ) -> tuple[Array, bool]:
        """Torques that the robot may be told [N m], shape (23,), and whether any was changed.

        Args:
            effort: what the law asks for [N m].
            previous: what the robot says that it was told last [N m].
            told: what it was sent last [N m]; the same, but for commands on their way.
            position: [rad].
            velocity: [rad/s].
            terms: of this state.
            period: since the last command [s].
            time: of this state [s].
        """
        limited = np.empty(N_JOINTS)
        changed, axis = _corridor(
            *(effort, previous, told, position, velocity),
            *(terms.numbers, self._limits, self._box, period, limited, self._by_rule),
        )
        if changed:
            self._note(effort, limited, position, velocity, time)
        if axis >= 0:
            place = terms.palm_position[axis]
            self._interventions.note(
                Rule.WORKSPACE, time, f'the palm was slowed at {"xyz"[axis]} = {place:.3f} m'
            )
        return limited, changed

    def _note(
        self, effort: Array, limited: Array, position: Array, velocity: Array, time: float
    ) -> None:
        for number, rule in enumerate(_RULES, start=1):
            joints = np.flatnonzero(self._by_rule == number)
            if joints.size == 0:
                continue
            record = self._interventions.records[rule]
            record.count += 1
            if time - record.time > _LONGEST_SILENCE or not record.reason:
                j = int(joints[0])
                record.reason = (
                    f'{JOINT_NAMES[j]} at {position[j]:.3f} rad and {velocity[j]:.2f} rad/s: '
                    f'{effort[j]:.3g} N m became {limited[j]:.3g} N m'
                )
            record.time = time


@kernel
def join_efforts(  # type: ignore[no-untyped-def]
    arm, hand, blend, begins, fade, commanded, terms_numbers, finger_force, effort
):
    """Write the torques of both laws to effort, blended, fingertips no stronger than they may.

    Returns:
        Whether all are finite, and whether a fingertip would have been too strong.
    """
    first, n = arm.shape[0], effort.shape[0]
    total = 0.0
    for i in range(n):
        law = arm[i] if i < first else hand[i - first]
        # Begin with the torques that there were; the difference to the law's fades.
        left = fade * (commanded[i] - law if begins else blend[i])
        blend[i] = left if abs(left) > _NOTHING else 0.0
        effort[i] = law + blend[i]
        total += effort[i]
    if not math.isfinite(total):
        return False, False
    terms = split_terms(terms_numbers)
    gravity = terms.gravity
    pressing = np.empty(n - first)
    for i in range(first, n):
        pressing[i - first] = effort[i] - gravity[i]
    cut = limit_fingertips(terms.tip_jacobian, finger_force, pressing)
    if cut:
        for i in range(first, n):
            effort[i] = pressing[i - first] + gravity[i]
    return True, cut


@kernel
def limit_fingertips(jacobians, limit, effort):  # type: ignore[no-untyped-def]
    """Make the torques of fingers that are too strong smaller; whether there is one.

    The thumb bears what the others press with together, so their sum counts for each of them.
    """
    limited = False
    sizes = np.empty(4)
    square = np.empty((3, 3))
    force = np.empty(3)
    for i in range(4):
        jacobian = jacobians[i]
        torque = effort[4 * i : 4 * i + 4]
        # Least squares of J^T f = torque: J J^T f = J torque.
        for k in range(3):
            force[k] = dot(jacobian[k], torque)
            for m in range(3):
                square[k, m] = dot(jacobian[k], jacobian[m])
            square[k, k] += _LEVER**2
        cholesky(square, square)
        cholesky_solve(square, force)
        sizes[i] = math.sqrt(dot(force, force))
    together = sizes[0] + sizes[1] + sizes[2]
    for i in range(4):
        size = together if i < 3 else sizes[3]
        if size > limit:
            for a in range(4 * i, 4 * i + 4):
                effort[a] *= limit / size
            limited = True
    return limited


@kernel
def _corridor(  # type: ignore[no-untyped-def]
    effort, previous, told, position, velocity, numbers, limits, box, period, out, by_rule
):
    """Cut each torque to its corridor; by_rule tells which rule decided first (0: none).

    Returns:
        Whether anything was changed; the axis along which the palm was slowed, -1: none.
    """
    terms = split_terms(numbers)
    mass, gravity = terms.mass, terms.gravity
    lower, upper, fastest = limits[0], limits[1], limits[2]
    strongest, change, wall = limits[3], limits[4], limits[5]
    n = effort.shape[0]
    load = np.zeros(N_JOINTS)
    # The hand carries its own weight by these torques, so its corridor lies around it.
    for i in range(N_ARM, n):
        load[i] = gravity[i]
    for i in range(n):
        q, v = position[i], velocity[i]
        damping = 2.0 * math.sqrt(wall[i] * mass[i, i])
        high = load[i] + wall[i] * (upper[i] - q) - damping * v
        low = load[i] + wall[i] * (lower[i] - q) - damping * v
        out[i] = min(max(effort[i], low), high)
        by_rule[i] = POSITION if out[i] != effort[i] else NO_RULE
    axis = keep_arm_speed(
        previous, told, position, velocity, terms, limits, box, period, out, by_rule
    )
    for i in range(N_ARM, n):
        # A finger's joint: what the others do moves it little.
        reach = mass[i, i] / _FINGER_TIME
        up, down = speeds(i, position[i], mass[i, i], lower, upper, fastest, strongest)
        high = load[i] + reach * (up - velocity[i])
        low = load[i] - reach * (down + velocity[i])
        _cut(out, by_rule, i, low, high, VELOCITY if min(up, down) == fastest[i] else POSITION)
    changed = False
    for i in range(n):
        _cut(out, by_rule, i, -strongest[i], strongest[i], EFFORT)
        step = change[i] * period
        low, high = step_range(previous[i], told[i], step)
        _cut(out, by_rule, i, low, high, EFFORT_RATE)
        if by_rule[i] != NO_RULE:
            changed = True
    return changed, axis


@kernel
def _cut(values, by_rule, i, low, high, rule):  # type: ignore[no-untyped-def]
    """Bring one value into a range; the first rule that does so is noted."""
    value = min(max(values[i], low), high)
    if value != values[i]:
        values[i] = value
        if by_rule[i] == NO_RULE:
            by_rule[i] = rule
