# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The last word on every torque: it brings them within what robot and object bear.

Each joint has a corridor of allowed torque, which narrows near its stops and near its greatest
speed; beyond them it has only torques that lead back. With d the distance to a soft wall and
v_w = min(v_max, sqrt(2 b d)) the speed from which it can still brake before it,

    tau <= k d - c v     (wall: a critically damped spring)
    a <= (v_w - v) / T,  a = M^-1 (tau - C v)    (speed)

and the same downwards. Speeds are kept by accelerations, for every torque on the arm moves all of
its joints. T is the time for which an acceleration goes on at least: torque cannot be taken away
at once, it falls by the robot's limit of its change. Last come that limit and that of torque.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drex_ros.control.interventions import Interventions, Rule
from drex_ros.control.matrices import cholesky, cholesky_solve, dot
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
from drex_ros.robot.terms import Terms, split_terms

WALL = constant(N_ARM * (0.03,) + N_HAND * (0.015,))
"""How far before its stop a joint is turned back [rad]."""
SPEED_SHARE = 0.7
"""Of the velocity limits, that torques drive a joint to."""

_WALL_STIFFNESS = constant((300, 300, 300, 300, 100, 60, 40) + N_HAND * (10.0,))  # [N m/rad]
_FINGER_TIME = 0.005  # [s] in which a finger's joint may come to its greatest speed
# [N m/s]; of the hand the maker states none: here from nothing to all it has in 14 ms.
_RATE = constant(N_ARM * (np.inf,) + N_HAND * (50.0,))
_DEAD_TIME = 0.02  # [s] from a speed to the torque that answers it: filter, cycle and delay
_BRAKE_SHARE = 0.3  # of the greatest torque, that braking before a wall counts on
_TURNS = 5
_CREEP = 0.02  # [rad/s] at which a joint may come to its wall
_RULES = (Rule.JOINT_POSITION, Rule.JOINT_VELOCITY, Rule.EFFORT, Rule.EFFORT_RATE)
_LEVER = 5e-3  # [m] that a straight finger counts as having along itself, not none
_NOTHING = 1e-30  # [N m] of a difference that has faded: smaller numbers only take time
_LONGEST_SILENCE = 0.1  # [s] after which a rule that acts on says so in words again


@dataclass(frozen=True)
class Envelope:
    """Limits of the joints; never wider than the robot's own. Shapes (23,)."""

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

    @classmethod
    def of_robot(cls, effort_share: float = 1.0) -> Envelope:
        """The robot's own, with soft walls before the stops.

        Args:
            effort_share: of the robot's torque limits, 0 to 1.
        """
        if not 0.0 < effort_share <= 1.0:
            raise ValueError(f'effort_share is {effort_share:g}, must be above 0 and at most 1')
        return cls(
            lower=LIMITS.lower + WALL,
            upper=LIMITS.upper - WALL,
            velocity=SPEED_SHARE * LIMITS.velocity,
            effort=effort_share * LIMITS.effort,
            effort_rate=np.minimum(LIMITS.effort_rate, _RATE),
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
        changed = _corridor(
            *(effort, previous, told, position, velocity),
            *(terms.numbers, self._limits, period, limited, self._by_rule),
        )
        if changed:
            self._note(effort, limited, position, velocity, time)
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


def limit_fingertip_force(terms: Terms, effort: Array, limit: float) -> tuple[Array, bool]:
    """Torques [N m] with which no fingertip presses with more than the limit [N].

    Args:
        terms: of the whole robot, at this state.
        effort: torques of the hand without its weight, shape (16,).
        limit: greatest force of a fingertip [N].

    Returns:
        The torques, those of a finger that is too strong made smaller in proportion, and whether
        there is such a finger.
    """
    result = effort.copy()
    return result, limit_fingertips(terms.tip_jacobian, limit, result)


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
    effort, previous, told, position, velocity, numbers, limits, period, out, by_rule
):
    """Cut each torque to its corridor; by_rule tells which rule decided first (0: none)."""
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
        by_rule[i] = 1 if out[i] != effort[i] else 0
    _keep_arm_speed(
        previous, told, position, velocity, mass, terms.coriolis, lower, upper, fastest,
        strongest, change, period, out, by_rule,
    )  # fmt: skip
    for i in range(N_ARM, n):
        # A finger's joint: what the others do moves it little.
        reach = mass[i, i] / _FINGER_TIME
        up, down = _speeds(i, position[i], mass[i, i], lower, upper, fastest, strongest)
        high = load[i] + reach * (up - velocity[i])
        low = load[i] - reach * (down + velocity[i])
        _cut(out, by_rule, i, low, high, 2 if min(up, down) == fastest[i] else 1)
    changed = False
    for i in range(n):
        _cut(out, by_rule, i, -strongest[i], strongest[i], 3)
        step = change[i] * period
        low, high = _step_range(previous[i], told[i], step)
        _cut(out, by_rule, i, low, high, 4)
        if by_rule[i] != 0:
            changed = True
    return changed


@kernel
def _speeds(i, position, inertia, lower, upper, fastest, strongest):  # type: ignore[no-untyped-def]
    """Greatest speeds of a joint up and down [rad/s], from which it can brake before its walls."""
    brake = 2.0 * _BRAKE_SHARE * strongest[i] / inertia
    up = math.sqrt(brake * max(upper[i] - position, 0.0)) + _CREEP
    down = math.sqrt(brake * max(position - lower[i], 0.0)) + _CREEP
    return min(fastest[i], up), min(fastest[i], down)


@kernel
def _step_range(previous, told, step):  # type: ignore[no-untyped-def]
    """Torques within a step of both; of the one that the robot has where both cannot be."""
    low, high = max(previous, told) - step, min(previous, told) + step
    if low > high:
        low, high = previous - step, previous + step
    return low, high


@kernel
def _cut(values, by_rule, i, low, high, rule):  # type: ignore[no-untyped-def]
    """Bring one value into a range; the first rule that does so is noted."""
    value = min(max(values[i], low), high)
    if value != values[i]:
        values[i] = value
        if by_rule[i] == 0:
            by_rule[i] = rule


@kernel
def _keep_arm_speed(  # type: ignore[no-untyped-def]
    previous, told, position, velocity, mass, coriolis, lower, upper, fastest, strongest, change,
    period, out, by_rule,
):  # fmt: skip
    """Change the arm's torques so that no joint will be too fast, here or for its wall.

    What accelerations ask for may be more than the motors can: torques and accelerations are
    brought within their bounds in turn.
    """
    factor = np.empty((N_ARM, N_ARM))
    cholesky(mass[:N_ARM, :N_ARM], factor)
    wanted, off = np.empty(N_ARM), np.empty(N_ARM)
    asked = out[:N_ARM].copy()
    horizon = _DEAD_TIME
    for turn in range(_TURNS):
        for i in range(N_ARM):
            # Only what the motors can give in this cycle tells how fast the joints will be.
            low, high = _step_range(previous[i], told[i], change[i] * period)
            out[i] = min(max(out[i], low, -strongest[i]), high, strongest[i])
            wanted[i] = out[i] - coriolis[i]
            if turn == 0:
                horizon = max(horizon, _DEAD_TIME + abs(out[i]) / change[i])
        cholesky_solve(factor, wanted)
        found = False
        for i in range(N_ARM):
            v = velocity[i]
            up, down = _speeds(i, position[i], mass[i, i], lower, upper, fastest, strongest)
            allowed = min(max(wanted[i], -(down + v) / horizon), (up - v) / horizon)
            off[i] = allowed - wanted[i]
            if off[i] != 0.0:
                found = True
                if by_rule[i] == 0:
                    by_rule[i] = 2 if min(up, down) == fastest[i] else 1
        if not found:
            break
        for i in range(N_ARM):
            for j in range(N_ARM):
                out[i] += mass[i, j] * off[j]
    for i in range(N_ARM):
        if by_rule[i] == 0 and out[i] != asked[i]:
            by_rule[i] = 3 if abs(out[i]) == strongest[i] else 4
