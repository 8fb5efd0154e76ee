# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The last word on every torque: it brings them within what robot and object bear.

Each joint has a corridor of allowed torque, which narrows near its stops and near its greatest
speed; beyond them it has only torques that lead back. With d the distance to a soft wall, I the
joint's inertia and v_w = min(v_max, sqrt(2 a d)) the speed from which it can still brake,

    tau <= k d - c v              (wall: a critically damped spring)
    tau <= I (v_w - v) / T        (speed)
    tau <= R (sqrt(s^2 + 2 I (v_w - v) / R) - s)

and the same downwards. The last is for torque that cannot be taken away at once: it falls by R a
second, begins to after the dead time s, and speeds the joint up meanwhile. I counts with all other
joints free, for they give way. Then come the robot's own limits of torque and of its change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.control.interventions import Interventions, Rule
from drex_ros.control.matrices import cholesky, solve_lower
from drex_ros.kernel import kernel
from drex_ros.robot.joints import (
    HAND,
    JOINT_NAMES,
    LIMITS,
    N_ARM,
    N_HAND,
    N_JOINTS,
    Array,
    constant,
)
from drex_ros.robot.terms import Terms

WALL = constant(N_ARM * (0.03,) + N_HAND * (0.0,))
"""How far before its stop a joint is turned back [rad]; a finger may rest on its stop."""
SPEED_SHARE = 0.9
"""Of the velocity limits, that torques drive a joint to."""

_WALL_STIFFNESS = constant((300, 300, 300, 300, 100, 60, 40) + N_HAND * (10.0,))  # [N m/rad]
# [s] in which a joint may come to its greatest speed: short enough to leave slow joints alone.
_SPEED_TIME = constant(N_ARM * (0.01,) + N_HAND * (0.005,))
# [N m/s]; of the hand the maker states none: here from nothing to all it has in 14 ms.
_RATE = constant(N_ARM * (np.inf,) + N_HAND * (50.0,))
_DEAD_TIME = 0.006  # [s] from a speed to the torque that answers it: filter, cycle and delay
_BRAKE_SHARE = 0.3  # of the greatest torque, that braking before a wall counts on
_CREEP = 0.02  # [rad/s] at which a joint may come to its wall
_RULES = (Rule.JOINT_POSITION, Rule.JOINT_VELOCITY, Rule.EFFORT, Rule.EFFORT_RATE)
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
        self._envelope = envelope
        self._interventions = interventions
        self._effort = np.zeros(N_JOINTS)
        self._by_rule = np.zeros(N_JOINTS, dtype=np.int64)
        self._load = np.zeros(N_JOINTS)

    def limit(
        self,
        effort: Array,
        previous: Array,
        position: Array,
        velocity: Array,
        terms: Terms,
        period: float,
        time: float,
    ) -> tuple[Array, bool]:
        """Torques that the robot may be told [N m], shape (23,), and whether any was changed.

        The array is the supervisor's own and is overwritten by the next call.

        Args:
            effort: what the law asks for [N m].
            previous: what the robot was told last [N m].
            position: [rad].
            velocity: [rad/s].
            terms: of this state.
            period: since the last command [s].
            time: of this state [s].
        """
        envelope = self._envelope
        # The hand carries its own weight by these torques, so its corridor lies around it.
        self._load[HAND] = terms.gravity[HAND]
        changed = _corridor(
            *(effort, previous, position, velocity, terms.mass, self._load),
            *(envelope.lower, envelope.upper, envelope.velocity),
            *(envelope.effort, envelope.effort_rate, _WALL_STIFFNESS, _SPEED_TIME),
            *(period, self._effort, self._by_rule),
        )
        if changed:
            self._note(effort, position, velocity, time)
        return self._effort, bool(changed)

    def _note(self, effort: Array, position: Array, velocity: Array, time: float) -> None:
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
                    f'{effort[j]:.3g} N m became {self._effort[j]:.3g} N m'
                )
            record.time = time


@kernel
def _corridor(  # type: ignore[no-untyped-def]
    effort, previous, position, velocity, mass, load,
    lower, upper, fastest, strongest, change, wall, speed_time, period, out, by_rule,
):  # fmt: skip
    """Cut each torque to its corridor; by_rule tells which rule decided (0: none)."""
    changed = 0
    factor = np.empty((N_ARM, N_ARM))
    cholesky(mass[:N_ARM, :N_ARM], factor)
    column = np.empty(N_ARM)
    for i in range(effort.shape[0]):
        q, v, inertia = position[i], velocity[i], mass[i, i]
        free = inertia
        if i < N_ARM:
            column[:] = 0.0
            column[i] = 1.0
            solve_lower(factor, column)
            mobility = 0.0  # (M^-1)_ii = |L^-1 e_i|^2
            for k in range(N_ARM):
                mobility += column[k] * column[k]
            free = 1.0 / mobility
        damping = 2.0 * np.sqrt(wall[i] * inertia)
        brake = 2.0 * _BRAKE_SHARE * strongest[i] / inertia
        value, rule = effort[i], 0
        high = load[i] + wall[i] * (upper[i] - q) - damping * v
        low = load[i] + wall[i] * (lower[i] - q) - damping * v
        if value > high:
            value, rule = high, 1
        elif value < low:
            value, rule = low, 1
        up = min(fastest[i], np.sqrt(brake * max(upper[i] - q, 0.0)) + _CREEP)
        down = min(fastest[i], np.sqrt(brake * max(q - lower[i], 0.0)) + _CREEP)
        high = load[i] + _room(up - v, free, speed_time[i], change[i])
        low = load[i] - _room(down + v, free, speed_time[i], change[i])
        if value > high:
            value, rule = high, 2 if up == fastest[i] else 1
        elif value < low:
            value, rule = low, 2 if down == fastest[i] else 1
        if abs(value) > strongest[i]:
            value, rule = strongest[i] if value > 0.0 else -strongest[i], 3
        step = change[i] * period
        if abs(value - previous[i]) > step:
            value, rule = previous[i] + (step if value > previous[i] else -step), 4
        out[i] = value
        by_rule[i] = rule
        if rule != 0:
            changed += 1
    return changed


@kernel
def _room(gap, inertia, time, rate):  # type: ignore[no-untyped-def]
    """Greatest torque towards a speed that is a gap [rad/s] away; less than none beyond it."""
    linear = inertia * gap / time
    if gap <= 0.0:
        return linear
    dead = _DEAD_TIME
    return min(linear, rate * (np.sqrt(dead * dead + 2.0 * inertia * gap / rate) - dead))
