# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint impedance: a spring and a damper in every joint, as pure functions.

    tau = K (q_d - q) + D (v_d - v) + M a_d + C v,    D = 2 zeta sqrt(K I)

q, v: measured position [rad] and velocity [rad/s]; q_d, v_d, a_d: set-point; K: stiffness
[N m/rad]; zeta: damping ratio; M: mass matrix [kg m^2], I its diagonal; C v: Coriolis torques.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array
from drex_ros.robot.terms import Terms

_SOFTEST = 1.0  # [N m/rad]: a softer joint is damped like one of this stiffness, so never free


@dataclass(frozen=True)
class Impedance:
    """How stiff joints are. Arrays of shape (n,)."""

    stiffness: Array
    """[N m/rad]"""
    damping_ratio: Array
    """1 is critical damping."""


def joint_impedance(
    terms: Terms,
    position: Array,
    velocity: Array,
    wanted: Array,
    wanted_velocity: Array,
    wanted_acceleration: Array,
    stiffness: Array,
    damping_ratio: float,
) -> Array:
    """Torques of the first n joints [N m], shape (n,), on top of what carries their weight.

    Args:
        terms: of the whole robot, at this state.
        position: measured [rad]; shape (n,) or longer, as the next.
        velocity: measured [rad/s].
        wanted: where the springs rest [rad]. Shape (n,), as all that follow.
        wanted_velocity: [rad/s].
        wanted_acceleration: [rad/s^2].
        stiffness: [N m/rad].
        damping_ratio: of every joint; 1 is critical.
    """
    torque = np.empty(wanted.shape[0])
    _law(
        terms.mass, terms.coriolis, position, velocity, wanted, wanted_velocity,
        wanted_acceleration, stiffness, damping_ratio, torque,
    )  # fmt: skip
    return torque


@kernel
def _law(mass, coriolis, q, v, wanted, speed, acceleration, stiffness, ratio, out):  # type: ignore[no-untyped-def]
    n = out.shape[0]
    for i in range(n):
        damping = 2.0 * ratio * math.sqrt(max(stiffness[i], _SOFTEST) * mass[i, i])
        torque = stiffness[i] * (wanted[i] - q[i]) + damping * (speed[i] - v[i]) + coriolis[i]
        for j in range(n):
            torque += mass[i, j] * acceleration[j]
        out[i] = torque
