# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The moving set-point: goes to a goal with bounded speed and acceleration, and never jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.robot.joints import Array


@dataclass(frozen=True)
class SetPoint:
    """Where the joints should be now. Arrays of shape (23,)."""

    position: Array
    """[rad]"""
    velocity: Array
    """[rad/s]"""

    @classmethod
    def at_rest(cls, position: Array) -> SetPoint:
        """A set-point that stands at a posture [rad]."""
        return cls(position.copy(), np.zeros_like(position))


@dataclass(frozen=True)
class MotionLimits:
    """How fast a set-point may move. Arrays of shape (23,)."""

    velocity: Array
    """[rad/s]"""
    acceleration: Array
    """[rad/s^2]"""


def advance(set_point: SetPoint, goal: Array, limits: MotionLimits, period: float) -> SetPoint:
    """The set-point one period [s] later on its way to the goal [rad].

    Each joint runs at the highest speed from which it can still stop at the goal in whole
    periods, so position and velocity stay continuous wherever the goal moves to.
    """
    distance = goal - set_point.position
    size = np.abs(distance)
    change = limits.acceleration * period  # greatest change of velocity in one period
    # Braking by change each period from n change to rest covers change * period * n (n + 1) / 2;
    # solved for n and rounded up: the whole periods needed, and the speed that lands exactly.
    periods = np.ceil(np.sqrt(0.25 + 2.0 * size / (change * period)) - 0.5)
    periods = np.maximum(periods, 1.0)
    speed = size / (periods * period) + 0.5 * (periods - 1.0) * change
    speed = np.minimum(speed, limits.velocity)
    wanted = np.copysign(speed, distance)
    velocity = set_point.velocity + within(wanted - set_point.velocity, change)
    return SetPoint(set_point.position + velocity * period, velocity)


def approach(value: Array, goal: Array, step: Array) -> Array:
    """The value moved towards the goal by at most step, element-wise."""
    return value + within(goal - value, step)


def within(value: Array, size: Array) -> Array:
    """The value cut to -size .. size, element-wise (np.clip costs four times as much)."""
    cut: Array = np.minimum(np.maximum(value, -size), size)
    return cut
