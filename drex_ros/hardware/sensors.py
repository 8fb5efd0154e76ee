# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the joint sensors of a simulated robot read: steps, noise, bias, and broken sensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from drex_ros.robot.joints import ARM, HAND, N_JOINTS, Array


@dataclass(frozen=True)
class SensorSettings:
    """How far the sensors are from ideal ones. Zero everywhere: exact."""

    arm_resolution: float = 4e-6
    """Step of the arm's encoders [rad]: assumed 14 bit on the motor side of the 1:100 gear."""
    hand_resolution: float = 3.5e-5
    """Step of the hand's encoders [rad]: 0.002 deg, data sheet of the Allegro hand."""
    velocity_bandwidth: float = 100.0
    """Corner of the low pass on differences of positions [Hz]; 0: the true velocity. libfranka's
    default cut-off for signals is 100 Hz."""
    arm_effort_noise: float = 0.02
    """Standard deviation of the arm's torque sensors [N m]: their resolution by the Panda's
    data sheet."""
    arm_effort_bias: float = 0.1
    """Standard deviation of their constant error [N m], drawn with the seed: two thirds of the
    0.15 N m accuracy by the Panda's data sheet."""
    hand_effort_noise: float = 0.0
    """Of the hand [N m]. It has no torque sensor: it reports what its motors are told."""
    hand_effort_bias: float = 0.0
    """Of the hand [N m]."""

    @classmethod
    def exact(cls) -> SensorSettings:
        """Sensors without any error."""
        return cls(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Reading:
    """One reading of all joint sensors. Arrays of shape (23,)."""

    position: Array
    """[rad]"""
    velocity: Array
    """[rad/s]"""
    effort: Array
    """[N m]"""


class JointSensors:
    """Sensors of all joints, read once a control cycle."""

    def __init__(self, settings: SensorSettings, period: float) -> None:
        """Sensors that are read every period [s]."""
        self._resolution = _by_part(settings.arm_resolution, settings.hand_resolution)
        self._noise = _by_part(settings.arm_effort_noise, settings.hand_effort_noise)
        self._bias_sigma = _by_part(settings.arm_effort_bias, settings.hand_effort_bias)
        self._noisy = bool(self._noise.any())
        self._stepped = bool(self._resolution.any())
        # A step of zero is none: far below what a double of this size can tell.
        self._resolution[self._resolution == 0.0] = 1e-15
        self._period = period
        bandwidth = settings.velocity_bandwidth
        self._memory = math.exp(-2.0 * math.pi * bandwidth * period)
        self._differences = bandwidth > 0.0
        self._frozen: dict[int, tuple[float, float, float]] = {}

    def reset(self, position: Array, random: np.random.Generator) -> None:
        """Begin anew at rest at a posture [rad], with a bias of its own."""
        self._random = random
        self._bias = self._bias_sigma * random.standard_normal(N_JOINTS)
        self._position = self._encoder(position)
        self._velocity = np.zeros(N_JOINTS)
        self._frozen.clear()
        self.last = Reading(self._position, self._velocity, np.zeros(N_JOINTS))

    def read(
        self,
        position: Array,
        velocity: Array,
        effort: Array,
        *,
        frozen: Iterable[int] = (),
        position_bias: Mapping[int, float] | None = None,
        effort_bias: Mapping[int, float] | None = None,
    ) -> Reading:
        """Read the true values.

        Args:
            position: [rad], shape (23,).
            velocity: [rad/s], shape (23,).
            effort: [N m], shape (23,).
            frozen: joints whose sensors are stuck.
            position_bias: error of broken position sensors by joint [rad].
            effort_bias: error of broken torque sensors by joint [N m].
        """
        before, self._position = self._position, self._encoder(position)
        if self._differences:
            memory = self._memory
            rate = (self._position - before) * ((1.0 - memory) / self._period)
            self._velocity = memory * self._velocity + rate
        else:
            self._velocity = velocity.copy()
        measured = effort + self._bias
        if self._noisy:
            measured += self._noise * self._random.standard_normal(N_JOINTS)
        reading = Reading(self._position, self._velocity, measured)
        if frozen or position_bias or effort_bias or self._frozen:
            reading = self._broken(reading, set(frozen), position_bias or {}, effort_bias or {})
        self.last = reading
        return reading

    def _encoder(self, position: Array) -> Array:
        if not self._stepped:
            return position.copy()
        stepped: Array = np.rint(position / self._resolution) * self._resolution
        return stepped

    def _broken(
        self,
        reading: Reading,
        frozen: set[int],
        position_bias: Mapping[int, float],
        effort_bias: Mapping[int, float],
    ) -> Reading:
        position, effort = reading.position.copy(), reading.effort
        velocity = reading.velocity.copy()
        for joint, bias in position_bias.items():
            position[joint] += bias
        for joint, bias in effort_bias.items():
            effort[joint] += bias
        self._frozen = {joint: kept for joint, kept in self._frozen.items() if joint in frozen}
        for joint in frozen:
            last = self.last
            values = (last.position[joint], last.velocity[joint], last.effort[joint])
            kept = self._frozen.setdefault(joint, values)
            position[joint], velocity[joint], effort[joint] = kept
        return Reading(position, velocity, effort)


def _by_part(arm: float, hand: float) -> Array:
    values = np.empty(N_JOINTS)
    values[ARM] = arm
    values[HAND] = hand
    return values
