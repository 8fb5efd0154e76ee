# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compensation of joint friction, moving and standing.

    tau = F (s_d + (1 - |s_d|) s) + B v_a + dither,
    s_d = tanh(v_d / v_m),    s = v / v_f, cut to -1 .. 1

F: Coulomb friction [N m]; B: viscous friction [N m s/rad]; v_d: desired velocity, of which v_m is
motion beyond doubt; v: mean of the measured velocity; v_a: either of the two, blended like s_d.

A joint that is told to move is helped by what it is told, for that has no noise and no delay; one
that is pushed, by what is measured. One that stands sticks: up to F holds it either way, which is
some Newton at the palm, and neither force nor position tells. So joints that stand are shaken. The
dither is the torque of a tiny motion, joint i going to and fro at V_i by a sine,

    dither = M V w cos(w t) + F sgn(V) (1 - |s|) sin(w t), cut off at 2/3 of its height,

with the whole inertia M, or those joints would stand whose neighbours shake them less. A shaken
joint creeps under the slightest load, as in a viscous fluid, and its full friction is back at
v_f = V + F / (I w), I being the inertia that it feels with all others free. Up to there s stays
below what friction takes, so that the sum damps and nothing hunts: no less than v_f will do. The
mean over one period of the dither tells v from the shaking; the mean of the dither is nothing.

A robot with less friction than described is helped too much: at 0.85 of it the palm wanders by
0.3 mm, at 0.7 it hunts by some millimetres. Where friction is not known that well, take a share of
0.8: at 0.7 the palm then stays within 0.2 mm, and sticks a little with the friction described.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import ARM, JOINT_DAMPING, JOINT_FRICTION, Array, constant
from drex_ros.robot.matrices import cholesky, solve_lower

ARM_DITHER = constant((1e-3, 1.5e-3, -2e-3, 3e-3, 4e-3, -2e-3, 4e-3))
"""Speed of each arm joint in the dither [rad/s]: more for light joints; signs by which the palm
moves least, some micrometres. Shape (7,)."""

_PERIOD = 0.016  # [s]: eight control cycles at 500 Hz
_HISTORY = 64  # readings that a mean velocity may need: a period at up to 4 kHz
_SHARP = 1.5  # height at which the sine of the dither is cut off at 1
_DITHER_SHARE = 1.05  # of the Coulomb friction that the dither overcomes


@dataclass(frozen=True)
class FrictionModel:
    """Friction of n joints, and how it is compensated. Arrays of shape (n,)."""

    coulomb: Array
    """[N m]"""
    viscous: Array
    """[N m s/rad]"""
    dither: Array
    """Speed of the joints in the dither, with their sign [rad/s]; all 0: none."""
    period: float = _PERIOD
    """Of the dither [s]: a whole number of control cycles, so that its mean is nothing."""
    moving: float = 0.02
    """Desired speed that is motion beyond doubt [rad/s]."""

    @classmethod
    def arm(cls, *, share: float = 1.0, dither: float = 1.0) -> FrictionModel:
        """That of the arm by the robot's description.

        Args:
            share: of the friction that is compensated; 0 for a robot that does so itself.
            dither: factor on ARM_DITHER; 0: a joint that stands is not shaken.
        """
        shaken = ARM_DITHER * (dither if share > 0.0 else 0.0)
        return cls(share * JOINT_FRICTION[ARM], share * JOINT_DAMPING[ARM], shaken)


class MeanVelocity:
    """Velocity of n joints over one period, by their positions at its two ends."""

    def __init__(self, n: int, period: float = _PERIOD) -> None:
        """Nothing measured yet; period [s] of the mean, as that of the dither."""
        self._period = period
        self._ring = np.zeros((_HISTORY, 1 + n))
        self.reset()

    def reset(self) -> None:
        """Forget what was, as after a jump of the joints: the next mean is zero."""
        self._ring[:, 0] = -np.inf
        self._last = 0

    def update(self, position: Array, time: float) -> Array:
        """Feed the positions [rad] at a time [s]; mean velocities [rad/s], shape (n,).

        Of an array that is longer than n the first n count.
        """
        out = np.empty(self._ring.shape[1] - 1)
        self._last = _mean_velocity(self._ring, self._last, self._period, position, time, out)
        return out


class FrictionCompensation:
    """Both for the first n joints of a robot, cycle by cycle in one compiled call."""

    def __init__(self, model: FrictionModel) -> None:
        """For the friction of n joints; nothing measured yet."""
        n = model.coulomb.shape[0]
        self._model = model
        self._rows = np.stack((model.coulomb, model.viscous, model.dither))
        self._ring = np.full((_HISTORY, 1 + n), -np.inf)
        self._last = 0

    def add(
        self, mass: Array, desired_velocity: Array, position: Array, time: float, effort: Array
    ) -> None:
        """Add the torques against friction to effort [N m], shape (n,).

        Args:
            mass: as for friction_torque(), as the next.
            desired_velocity: [rad/s].
            position: measured [rad]. Shape (n,) or longer.
            time: of the robot [s].
            effort: of the law; changed here.
        """
        model = self._model
        self._last = _compensate(
            self._ring, self._last, self._rows, model.period, model.moving, mass,
            desired_velocity, position, time, effort,
        )  # fmt: skip


def friction_torque(
    model: FrictionModel, mass: Array, desired_velocity: Array, velocity: Array, time: float
) -> Array:
    """Torque to add to the command against the friction of n joints [N m], shape (n,).

    Args:
        model: of the n joints.
        mass: inertia of at least these joints, which come first [kg m^2]. Shape (m, m), m >= n.
        desired_velocity: of the set-point [rad/s]; of shape (n,) or longer, as the next.
        velocity: mean of the measured velocity over the period of the dither [rad/s].
        time: of the robot [s]; the dither goes by it alone.
    """
    out = np.empty(model.coulomb.shape[0])
    rows = np.stack((model.coulomb, model.viscous, model.dither))
    _torque(rows, model.period, model.moving, mass, desired_velocity, velocity, time, out)
    return out


@kernel
def _compensate(  # type: ignore[no-untyped-def]
    ring, last, rows, period, moving, mass, desired_velocity, position, time, effort
):
    """Add the torque at the mean velocity; where in the ring this reading is."""
    n = effort.shape[0]
    drift, torque = np.empty(n), np.empty(n)
    last = _mean_velocity(ring, last, period, position, time, drift)
    _torque(rows, period, moving, mass, desired_velocity, drift, time, torque)
    for i in range(n):
        effort[i] += torque[i]
    return last


@kernel
def _torque(rows, period, moving, mass, desired_velocity, velocity, time, out):  # type: ignore[no-untyped-def]
    coulomb, viscous, dither = rows[0], rows[1], rows[2]
    n = out.shape[0]
    frequency = 2.0 * math.pi / period
    sine = math.sin(frequency * time)
    cosine = math.cos(frequency * time)
    push = min(max(_SHARP * sine, -1.0), 1.0)
    factor = np.empty((n, n))
    cholesky(mass[:n, :n], factor)
    column = np.empty(n)
    shaken = np.empty(n)
    for i in range(n):
        column[:] = 0.0
        column[i] = 1.0
        solve_lower(factor, column)
        mobility = 0.0  # (M^-1)_ii = |L^-1 e_i|^2
        for k in range(n):
            mobility += column[k] * column[k]
        free_speed = abs(dither[i]) + coulomb[i] * mobility / frequency
        told = math.tanh(desired_velocity[i] / moving)
        rest = 1.0 - abs(told)
        seen = min(max(velocity[i] / max(free_speed, 1e-9), -1.0), 1.0)
        speed = (1.0 - rest) * desired_velocity[i] + rest * velocity[i]
        out[i] = coulomb[i] * (told + rest * seen) + viscous[i] * speed
        shaken[i] = rest * dither[i]
        if dither[i] != 0.0:
            height = _DITHER_SHARE * coulomb[i] * rest * (1.0 - abs(seen))
            out[i] += math.copysign(height, dither[i]) * push
    for i in range(n):
        for k in range(n):
            out[i] += mass[i, k] * shaken[k] * frequency * cosine


@kernel
def _mean_velocity(ring, last, period, position, time, out):  # type: ignore[no-untyped-def]
    """Put a reading into the ring; the mean back to the first that is a period old."""
    times, positions = ring[:, 0], ring[:, 1:]
    size, n = positions.shape
    if time < times[last] or time > times[last] + 2.0 * period:  # another run, or a long silence
        times[:] = -np.inf
    now = (last + 1) % size
    times[now] = time
    positions[now] = position[:n]
    first = now
    while times[first] > time - period + 1e-6:
        before = (first - 1) % size
        if before == now or times[before] == -np.inf:
            break
        first = before
    if first == now or times[first] >= time:
        out[:] = 0.0
    else:
        for i in range(n):
            out[i] = (positions[now, i] - positions[first, i]) / (time - times[first])
    return now
