# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Momentum observer: the torque from outside on every joint.

What changes the momentum p = M v of the joints and is neither motor, weight, Coriolis force nor
friction comes from outside:

    r' = L (p' - dM/dt v + C v + g + friction - motors - r)

Of p' - dM/dt v = M dv/dt only a difference of velocities is needed, and these are differences of
positions: the mean velocity of a cycle, which belongs to its middle. So the difference of two
belongs to the moment between the cycles, and there the motors give the mean of both. The velocity
that the robot reports comes through a low pass whose lag would pass for a force.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import N_JOINTS, Array
from drex_ros.robot.state import RobotState
from drex_ros.robot.terms import Terms

ARM_BANDWIDTH = 15.0
"""Of the arm's external torques [Hz]: its encoders' steps are worth 0.3 N m at 30 Hz."""
HAND_BANDWIDTH = 40.0
"""Of the hand's external torques [Hz]."""

SLOW_BANDWIDTH = 1.0
"""Of the residual that shows the friction of standing joints [Hz]."""


class Momentum(NamedTuple):
    """What the observer remembers. Shape (23,) each."""

    residual: Array
    """Torque that neither motor nor inertia nor weight explains: from outside less friction,
    through the low pass [N m]."""
    rubbing: Array
    """Friction through the same low pass [N m]."""
    position: Array
    """In the last cycle [rad]."""
    velocity: Array
    """Mean of the last cycle [rad/s]."""
    effort: Array
    """Of the motors in the last cycle [N m]."""
    weight: Array
    """Gravity, Coriolis and centrifugal torques at the end of the last cycle [N m]."""
    commanded: Array
    """Torque asked of the motors in the last cycle [N m]."""
    raw: Array
    """The residual before the low pass [N m]."""
    inertial: Array
    """Torque that accelerates, in it, through the low pass [N m]."""
    slow: Array
    """The residual through a slower low pass [N m]."""
    change: Array
    """Of the positions in this cycle [rad]."""
    drive: Array
    """Change of the torque asked for in this cycle [N m]."""
    mean_velocity: Array
    """Over this cycle and the last [rad/s]."""
    bandwidth: Array
    """[Hz]"""
    external: Array
    """Torque that the world exerts on the joints [N m]."""


@kernel
def observe(momentum, mass, gravity, coriolis, position, effort, commanded, period):  # type: ignore[no-untyped-def]
    """Bring the residual up to date, and what it says of the friction.

    Args:
        momentum: is brought up to date.
        mass: [kg m^2], shape (23, 23).
        gravity: [N m], shape (23,).
        coriolis: [N m], shape (23,).
        position: [rad], shape (23,).
        effort: of the motors [N m], shape (23,).
        commanded: asked of the motors [N m], shape (23,).
        period: length of the cycle [s].
    """
    n = effort.shape[0]
    slow_gain = 1.0 - np.exp(-2.0 * np.pi * SLOW_BANDWIDTH * period)
    acceleration = np.empty(N_JOINTS)
    for i in range(n):
        momentum.change[i] = position[i] - momentum.position[i]
        momentum.position[i] = position[i]
        velocity = momentum.change[i] / period
        momentum.mean_velocity[i] = 0.5 * (velocity + momentum.velocity[i])
        acceleration[i] = (velocity - momentum.velocity[i]) / period
        momentum.velocity[i] = velocity
    for i in range(n):
        inertial = 0.0
        for j in range(n):
            inertial += mass[i, j] * acceleration[j]
        motors = 0.5 * (effort[i] + momentum.effort[i])
        raw = inertial + momentum.weight[i] - motors
        gain = 1.0 - np.exp(-2.0 * np.pi * momentum.bandwidth[i] * period)
        momentum.residual[i] += gain * (raw - momentum.residual[i])
        momentum.raw[i] = raw
        momentum.inertial[i] += gain * (inertial - momentum.inertial[i])
        momentum.slow[i] += slow_gain * (raw - momentum.slow[i])
        momentum.drive[i] = commanded[i] - momentum.commanded[i]
        momentum.commanded[i] = commanded[i]
        momentum.effort[i] = effort[i]
        momentum.weight[i] = gravity[i] + coriolis[i]


@kernel
def add_friction(momentum, friction, period):  # type: ignore[no-untyped-def]
    """Take the friction [N m], shape (23,), out of the residual: the rest is from outside."""
    for i in range(friction.shape[0]):
        gain = 1.0 - np.exp(-2.0 * np.pi * momentum.bandwidth[i] * period)
        momentum.rubbing[i] += gain * (friction[i] - momentum.rubbing[i])
        momentum.external[i] = momentum.residual[i] + momentum.rubbing[i]


def begin_momentum(momentum: Momentum, robot: RobotState, terms: Terms) -> None:
    """Begin anew at a state; the joints count as standing."""
    momentum.velocity[:] = momentum.rubbing[:] = momentum.inertial[:] = 0.0
    momentum.position[:] = robot.position
    momentum.effort[:] = robot.effort
    momentum.weight[:] = terms.gravity + terms.coriolis
    momentum.commanded[:] = robot.effort_commanded
    momentum.residual[:] = momentum.slow[:] = momentum.external[:] = momentum.weight - robot.effort
