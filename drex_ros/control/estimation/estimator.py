# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""All that a controller asks of what the world does to the robot, cycle by cycle."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drex_ros.control.estimation.arm_wrench import estimate_wrench
from drex_ros.control.estimation.contact_force import estimate_contacts
from drex_ros.control.estimation.joint_friction import (
    follow_friction,
    forget_friction,
    prepare_friction,
)
from drex_ros.control.estimation.memory import SIZE, split
from drex_ros.control.estimation.momentum_observer import (
    ARM_BANDWIDTH,
    HAND_BANDWIDTH,
    add_friction,
    begin_momentum,
    observe,
)
from drex_ros.control.estimation.payload import (
    GRASP_CENTRE,
    MASS,
    POSTURE,
    SAME_POSTURE,
    SIGMA,
    TARED,
    TARING,
    begin_tare,
    forget_mean,
    weigh,
)
from drex_ros.control.estimation.slip import detect_slip
from drex_ros.kernel import kernel
from drex_ros.robot.joints import ARM, HAND, N_ARM, Array
from drex_ros.robot.state import RobotState
from drex_ros.robot.terms import N_FINGERS, Terms, split_terms

_LONGEST_CYCLES = 5.0  # of the usual period; after a longer gap velocities mean nothing
_ARM_BIAS = 0.1  # [N m] constant error of an arm torque sensor before a tare (1 sigma)
_TARED_BIAS = 0.02  # [N m] what a tare leaves of it
_NOISE = 0.005  # [N m] of every external torque, after the observer's low pass


@dataclass(frozen=True)
class EstimatorSettings:
    """How the estimators are set."""

    arm_bandwidth: float = ARM_BANDWIDTH
    """Of the arm's external torques [Hz]."""
    hand_bandwidth: float = HAND_BANDWIDTH
    """Of the hand's external torques [Hz]."""
    payload_centre: tuple[float, float, float] = GRASP_CENTRE
    """Where a held thing is, in the palm's frame [m]."""


@dataclass
class Estimates:
    """What is known at one cycle. The arrays are overwritten by the next: copy what must stay."""

    external_torque: Array
    """Of the world on the joints [N m]; the arm's against its tare. Shape (23,)."""
    external_torque_sigma: Array
    """[N m], shape (23,)."""
    wrench: Array
    """Of the world on the palm: force [N], torque about its origin [N m]. World axes, (6,)."""
    wrench_sigma: Array
    """Shape (6,)."""
    tip_force: Array
    """Of each fingertip on what it touches [N]. World axes, shape (4, 3)."""
    tip_sigma: Array
    """Of its components [N]. Shape (4,)."""
    in_contact: npt.NDArray[np.bool_]
    """The force is above what noise and friction explain. Shape (4,)."""
    slipping: npt.NDArray[np.bool_]
    """The tip moves along what it touches. Shape (4,)."""
    payload_mass: float = math.nan
    """[kg]; NaN while it cannot be weighed."""
    payload_sigma: float = math.nan
    """[kg]"""
    tared: bool = False
    """A tare is complete."""


class Estimator:
    """Runs all estimators on one robot. Not for use by two threads at once."""

    def __init__(self, settings: EstimatorSettings | None = None) -> None:
        """Estimators that have seen nothing."""
        settings = settings or EstimatorSettings()
        self._memory = np.zeros(SIZE)
        self._views = views = split.py_func(self._memory)
        self._flags = flags = np.zeros((2, N_FINGERS), dtype=np.bool_)
        views.momentum.bandwidth[ARM] = settings.arm_bandwidth
        views.momentum.bandwidth[HAND] = settings.hand_bandwidth
        views.payload.centre[:] = settings.payload_centre
        prepare_friction(views.friction)
        self.estimates = Estimates(
            external_torque=views.external,
            external_torque_sigma=views.sigma,
            wrench=views.wrench,
            wrench_sigma=views.wrench_sigma,
            tip_force=views.contacts.force,
            tip_sigma=views.contacts.sigma,
            in_contact=flags[0],
            slipping=flags[1],
        )
        self._time = math.nan

    def reset(self) -> None:
        """Forget the motion: the next state begins anew. A complete tare stays."""
        self._time = math.nan

    def tare(self) -> None:
        """Take the arm's external torque of the next second at this posture as none."""
        begin_tare(self._views.payload)

    @property
    def payload_reason(self) -> str:
        """Why the payload is not weighed, in words; empty when it is."""
        status = self._views.payload.status
        if status[TARING]:
            return 'the tare is being averaged'
        if not status[TARED]:
            return 'no tare'
        if status[POSTURE] > SAME_POSTURE:
            return (
                f'the arm is {status[POSTURE]:.2g} rad from the posture of the tare, '
                f'must be within {SAME_POSTURE:g} rad'
            )
        if math.isnan(status[MASS]):
            return 'the arm moves, or the mean is not yet long enough'
        return ''

    def update(
        self,
        robot: RobotState,
        terms: Terms,
        period: float,
        *,
        dithered: bool,
        moving_target: bool,
    ) -> Estimates:
        """Take in one state.

        Args:
            robot: the state.
            terms: dynamics at this state.
            period: usual length of a cycle [s].
            dithered: the arm's motors are shaken against friction.
            moving_target: the hand's set-point moves, so its tips may.
        """
        elapsed, self._time = robot.time - self._time, robot.time
        if not 0.0 < elapsed < _LONGEST_CYCLES * period:  # true for NaN too
            self._begin(robot, terms)
            return self.estimates
        estimates = self.estimates
        # One by one: a tuple of arrays takes longer to hand over than its arrays.
        mass, sigma, tared, finite = _estimate(
            self._memory, self._flags, robot.position, robot.effort, robot.effort_commanded,
            terms.numbers, elapsed, dithered, not moving_target,
        )  # fmt: skip
        estimates.payload_mass, estimates.payload_sigma, estimates.tared = mass, sigma, tared
        if not finite:
            self._heal()
        return estimates

    def _heal(self) -> None:
        """What is no number would stay so for ever: the next state begins anew."""
        self._time = math.nan
        payload = self._views.payload
        if not np.isfinite(payload.tare).all():
            payload.tare[:] = payload.status[TARED] = payload.status[TARING] = 0.0

    def _begin(self, robot: RobotState, terms: Terms) -> None:
        """Nothing is known but the state; what was estimated reads as such."""
        views = self._views
        forget_friction(views.friction)
        forget_mean(views.payload)
        begin_momentum(views.momentum, robot, terms)
        for unknown in (views.external, views.sigma, views.wrench, views.wrench_sigma):
            unknown[:] = np.nan
        views.contacts.force[:] = views.contacts.touching[:] = 0.0
        views.contacts.sigma[:] = np.nan
        views.slip.velocity[:] = views.slip.force[:] = 0.0
        views.slip.left[:] = 0.0
        self._flags[:] = False
        self.estimates.payload_mass = self.estimates.payload_sigma = math.nan


@kernel
def _estimate(  # type: ignore[no-untyped-def]
    memory, flags, position, effort, commanded, terms_numbers, period, dithered, resting
):
    """One cycle of all estimators.

    Returns:
        Mass and sigma of the payload [kg], whether it is tared, whether all is finite.
    """
    views, terms = split(memory), split_terms(terms_numbers)
    momentum, friction, contacts = views.momentum, views.friction, views.contacts
    payload, slip = views.payload, views.slip
    observe(
        momentum, terms.mass, terms.gravity, terms.coriolis, position, effort, commanded, period
    )
    velocity = momentum.mean_velocity
    follow_friction(friction, momentum, period, dithered)
    add_friction(momentum, friction.torque, period)
    weigh(
        payload, position, friction.drift, terms.palm_rotation, terms.palm_jacobian,
        momentum.external, friction.sigma, period,
    )  # fmt: skip
    external, sigma = views.external, views.sigma
    tared = payload.status[TARED] > 0.5
    bias = _TARED_BIAS if tared else _ARM_BIAS
    finite = True
    for i in range(external.shape[0]):
        external[i] = momentum.external[i]
        variance = friction.sigma[i] ** 2 + _NOISE**2
        if i < N_ARM:
            variance += bias * bias
            if tared:
                external[i] -= payload.tare[i]
        sigma[i] = np.sqrt(variance)
        finite &= math.isfinite(external[i])
    estimate_contacts(contacts, terms.tip_jacobian, external, sigma)
    estimate_wrench(terms.palm_jacobian, external, sigma, views.wrench, views.wrench_sigma)
    detect_slip(
        slip, terms.tip_jacobian, velocity, contacts.force, contacts.touching, resting, period
    )
    for finger in range(flags.shape[1]):
        flags[0, finger] = contacts.touching[finger] > 0.5
        flags[1, finger] = slip.left[finger] > 0.0
    return payload.status[MASS], payload.status[SIGMA], tared, finite
