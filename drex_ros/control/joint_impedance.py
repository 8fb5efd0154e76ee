# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint impedance: a spring and a damper in every joint, as pure functions.

    tau = K (q_d - q) + D (v_d - v) + tau_ff,    D = 2 zeta sqrt(K I)

q, v: measured position [rad] and velocity [rad/s]; q_d, v_d: set-point; K: stiffness [N m/rad];
zeta: damping ratio; I: effective inertia of the joint [kg m^2]; tau_ff: feed-forward [N m].
All of shape (23,).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.control.set_point import SetPoint
from drex_ros.robot.joints import Array, JointLimits
from drex_ros.robot.state import RobotState


@dataclass(frozen=True)
class Impedance:
    """How stiff the joints are. Arrays of shape (23,)."""

    stiffness: Array
    """[N m/rad]"""
    damping_ratio: Array
    """1 is critical damping."""


@dataclass(frozen=True)
class LimitedEffort:
    """Torques that the robot will take."""

    effort: Array
    """[N m], shape (23,)"""
    limited: bool
    """Whether a limit changed them."""


def joint_impedance(
    state: RobotState,
    set_point: SetPoint,
    impedance: Impedance,
    inertia: Array,
    feed_forward: Array,
) -> Array:
    """Joint torques [N m] of springs and dampers to the set-point, shape (23,)."""
    stiffness = impedance.stiffness
    damping = 2.0 * impedance.damping_ratio * np.sqrt(stiffness * inertia)
    torque: Array = (
        stiffness * (set_point.position - state.position)
        + damping * (set_point.velocity - state.velocity)
        + feed_forward
    )
    return torque


def limit_effort(
    effort: Array, previous: Array, limits: JointLimits, period: float
) -> LimitedEffort:
    """Keep torques [N m] within the limits of size, and of change since the previous ones.

    period is the time between the two [s], more than 0.
    """
    change = limits.effort_rate * period
    low = np.maximum(-limits.effort, previous - change)
    high = np.minimum(limits.effort, previous + change)
    limited = np.minimum(np.maximum(effort, low), high)
    return LimitedEffort(limited, bool((limited != effort).any()))
