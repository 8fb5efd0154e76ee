# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Torques of the arm by which neither a joint nor the palm becomes too fast.

Speeds are kept by accelerations, for every torque on the arm moves all of its joints. With v the
speed of a joint, or of the palm along an axis, and d the distance to its wall,

    (-v_w - v) / T <= a <= (v_w - v) / T,    v_w = min(v_max, sqrt(2 b d))

a = M^-1 (tau - C v), of the palm J a; b is what it can brake by. T is the time for which an
acceleration goes on at least: torque cannot be taken away at once, it falls by the robot's limit
of its change.
"""

from __future__ import annotations

import math

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import N_ARM
from drex_ros.robot.matrices import cholesky, cholesky_solve, dot

PALM_SPEED = 1.2
"""Greatest speed of the palm along each axis [m/s]."""

NO_RULE, POSITION, VELOCITY, EFFORT, EFFORT_RATE = range(5)
"""Which rule changed a torque."""

_DEAD_TIME = 0.02  # [s] from a speed to the torque that answers it: filter, cycle and delay
_BRAKE_SHARE = 0.3  # of the greatest torque, that braking before a wall counts on
_PALM_BRAKE = 3.0  # [m/s^2] that braking before the end of the workspace counts on
_RETURN, _FASTEST_RETURN = 5.0, 0.1  # [1/s], [m/s] by which it comes back from beyond
_PALM_WALL = 0.01  # [m] how far before that end it is slow
_CREEP = 0.02  # [rad/s], [m/s] at which a wall may be come to
_ROWS = N_ARM + 3  # joints, then the palm along x, y, z
_SWEEPS = 20  # over the rows, at most, in search of torques
_NEAR_ENOUGH = 0.05  # [rad/s^2], [m/s^2] that an acceleration may be off
_LEAST_SLOPE = 0.1  # of its own, that a row counts with whose torques are at their bounds


@kernel
def speeds(i, position, inertia, lower, upper, fastest, strongest):  # type: ignore[no-untyped-def]
    """Greatest speeds of a joint up and down [rad/s], from which it can brake before its walls."""
    brake = _BRAKE_SHARE * strongest[i] / inertia
    up, down = _approach(upper[i] - position, brake), _approach(position - lower[i], brake)
    return min(fastest[i], up), min(fastest[i], down)


@kernel
def _approach(distance, brake):  # type: ignore[no-untyped-def]
    """Speed at which a wall may be come to from a distance."""
    return math.sqrt(2.0 * brake * max(distance, 0.0)) + _CREEP


@kernel
def _palm_speed(distance):  # type: ignore[no-untyped-def]
    """Greatest speed of the palm towards the end of its box, from a distance [m].

    Beyond the end it is below zero: the palm comes back.
    """
    if distance <= 0.0:
        return max(_RETURN * distance, -_FASTEST_RETURN)
    return min(PALM_SPEED, _approach(distance - _PALM_WALL, _PALM_BRAKE))


@kernel
def step_range(previous, told, step):  # type: ignore[no-untyped-def]
    """Torques within a step of both; of the one that the robot has where both cannot be."""
    low, high = max(previous, told) - step, min(previous, told) + step
    if low > high:
        low, high = previous - step, previous + step
    return low, high


@kernel
def keep_arm_speed(previous, told, position, velocity, terms, limits, box, period, out, by_rule):  # type: ignore[no-untyped-def]
    """Change the arm's torques so that nothing will be too fast, here or for its wall.

    Of all torques that the motors can give in this cycle they become those nearest to what is
    asked for, by the joints' inertia, whose accelerations are within their bounds (Hildreth's
    method).

    Args:
        previous: torques that the robot has [N m].
        told: that it was sent last [N m].
        position: [rad].
        velocity: [rad/s].
        terms: of this state.
        limits: lower, upper, velocity, effort, effort rate of the joints, in rows.
        box: lower and upper ends of the palm's place [m]. Shape (2, 3).
        period: since the last command [s].
        out: torques asked for [N m]; changed here.
        by_rule: which rule changed each first; changed here.

    Returns:
        The axis along which the palm was kept from the end of its box; -1: none.
    """
    lower, upper, fastest = limits[0], limits[1], limits[2]
    strongest, change = limits[3], limits[4]
    mass, coriolis, jacobian = terms.mass, terms.coriolis, terms.palm_jacobian
    factor = np.empty((N_ARM, N_ARM))
    cholesky(mass[:N_ARM, :N_ARM], factor)
    low, high, asked = np.empty(N_ARM), np.empty(N_ARM), np.empty(N_ARM)
    wanted = np.empty(N_ARM)  # acceleration
    horizon = _DEAD_TIME
    for i in range(N_ARM):
        least, most = step_range(previous[i], told[i], change[i] * period)
        low[i], high[i] = max(least, -strongest[i]), min(most, strongest[i])
        asked[i] = min(max(out[i], low[i]), high[i])
        if asked[i] != out[i] and by_rule[i] == NO_RULE:
            by_rule[i] = EFFORT if abs(asked[i]) == strongest[i] else EFFORT_RATE
        out[i] = asked[i]
        wanted[i] = out[i] - coriolis[i]
        horizon = max(horizon, _DEAD_TIME + abs(out[i]) / change[i])
    cholesky_solve(factor, wanted)
    slowest, quickest = np.empty(_ROWS), np.empty(_ROWS)  # accelerations that may be
    found, axis = False, -1
    for i in range(N_ARM):
        up, down = speeds(i, position[i], mass[i, i], lower, upper, fastest, strongest)
        slowest[i], quickest[i] = -(down + velocity[i]) / horizon, (up - velocity[i]) / horizon
        if not slowest[i] <= wanted[i] <= quickest[i]:
            found = True
            if by_rule[i] == NO_RULE:
                by_rule[i] = VELOCITY if min(up, down) == fastest[i] else POSITION
    for k in range(3):
        speed, row = dot(jacobian[k], velocity[:N_ARM]), N_ARM + k
        up = _palm_speed(box[1, k] - terms.palm_position[k])
        down = _palm_speed(terms.palm_position[k] - box[0, k])
        slowest[row], quickest[row] = -(down + speed) / horizon, (up - speed) / horizon
        if not slowest[row] <= dot(jacobian[k], wanted) <= quickest[row]:
            found, axis = True, k
    if not found:
        return axis
    rows = np.zeros((_ROWS, N_ARM))  # how torques accelerate what is bounded
    for i in range(N_ARM):
        rows[i, i] = 1.0
        cholesky_solve(factor, rows[i])
    for k in range(3):
        for j in range(N_ARM):
            rows[N_ARM + k, j] = dot(jacobian[k], rows[j])
    _hildreth(rows, mass, coriolis, slowest, quickest, low, high, asked, out)
    for i in range(N_ARM):
        if by_rule[i] == NO_RULE and out[i] != asked[i]:
            by_rule[i] = VELOCITY
    return axis


@kernel
def _hildreth(rows, mass, coriolis, slowest, quickest, low, high, asked, out):  # type: ignore[no-untyped-def]
    """Write the torques between low and high that keep all rows within their bounds, to out.

    Where there are none, they are as near as they come after so many sweeps.
    """
    force = np.zeros(rows.shape[0])  # of each bound
    pulled = asked.copy()  # torques before they are cut to what the motors can
    for _ in range(_SWEEPS):
        largest = 0.0
        for i in range(rows.shape[0]):
            row = rows[i]
            acceleration, slope, whole = 0.0, 0.0, 0.0
            for j in range(N_ARM):
                acceleration += row[j] * (out[j] - coriolis[j])
                share = row[j] * row[j] * mass[j, j]
                whole += share
                if low[j] < pulled[j] < high[j]:
                    slope += share
            slope = max(slope, _LEAST_SLOPE * whole)
            free = acceleration - slope * force[i]
            step = (min(max(free, slowest[i]), quickest[i]) - free) / slope - force[i]
            force[i] += step
            largest = max(largest, abs(step) * slope)
            for j in range(N_ARM):
                pulled[j] += mass[j, j] * row[j] * step
                out[j] = min(max(pulled[j], low[j]), high[j])
        if largest < _NEAR_ENOUGH:
            return
