# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mass of what the hand holds: the arm's torques now against those of a tare at the same posture.

The tare takes away what does not change between the two: the constant errors of the torque
sensors, and of the model's weight. Joint friction is what is left, so both are averaged, and the
torques of joints whose friction is not known count less. The load is a point mass near the grasp
centre; where exactly is found along with the mass, as far as the torques show it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drex_ros.control.estimation.least_squares import solve_weighted
from drex_ros.kernel import kernel
from drex_ros.robot.joints import N_ARM, Array

GRASP_CENTRE = (0.115, 0.01, 0.0)
"""Where a held thing is by default, in the palm's frame [m]."""
GRAVITY = 9.81
"""[m/s^2], as in MuJoCo and Pinocchio."""
TARE_TIME = 1.0
"""How long a tare is averaged [s]."""
SAME_POSTURE = 0.1
"""Farther than this from the tare's posture a load is not weighed [rad]."""

_MEAN_TIME = 0.5  # [s] time constant of the running mean
_LEAST_TIME = 0.5  # [s] averaged before the first result
_SLOW = 0.3  # [rad/s] no joint of the arm may be faster
_OFFSET_PRIOR = 0.03  # [kg m] mass times its way from the assumed centre
_MASS_PRIOR = 20.0  # [kg]
_NOISE = 5e-3  # [N m] of a mean, apart from friction


# Places in Payload.status.
TARING, TARED, TARE_SUM, MEAN_SUM, MASS, SIGMA, POSTURE = range(7)


class Payload(NamedTuple):
    """The balance."""

    status: Array
    """Taring and tared (0 or 1), time averaged in the tare and now [s], mass and sigma [kg],
    greatest distance of a joint from the tare's posture [rad]. Shape (7,)."""
    tare: Array
    """External torques at the tare [N m]. Shape (7,)."""
    tare_variance: Array
    """[N^2 m^2], shape (7,)."""
    tare_position: Array
    """[rad], shape (7,)."""
    mean: Array
    """External torques now, averaged, without the tare taken off [N m]. Shape (7,)."""
    mean_variance: Array
    """[N^2 m^2], shape (7,)."""
    centre: Array
    """Assumed place of the load in the palm's frame [m]. Shape (3,)."""


def begin_tare(payload: Payload) -> None:
    """Average a new tare from the next cycle on; the old one is forgotten."""
    payload.status[:] = 0.0
    payload.status[TARING] = 1.0
    payload.tare[:] = 0.0
    payload.tare_variance[:] = 0.0
    forget_mean(payload)


def forget_mean(payload: Payload) -> None:
    """Average anew; a tare stays, one under way begins again."""
    payload.status[MEAN_SUM] = 0.0
    payload.status[MASS] = payload.status[SIGMA] = np.nan
    if payload.status[TARING]:
        payload.status[TARE_SUM] = 0.0


@kernel
def weigh(  # type: ignore[no-untyped-def]
    payload, position, velocity, palm_rotation, palm_jacobian, external, friction_sigma, period
):
    """Bring tare and mass up to date.

    Args:
        payload: is brought up to date.
        position: [rad], shape (23,).
        velocity: [rad/s], shape (23,).
        palm_rotation: shape (3, 3).
        palm_jacobian: shape (6, 7).
        external: torques of the world on the joints, without any tare [N m]. Shape (23,).
        friction_sigma: standard deviation of the joints' friction [N m], shape (23,).
        period: length of the cycle [s].
    """
    status = payload.status
    fastest = 0.0
    for i in range(N_ARM):
        fastest = max(fastest, abs(velocity[i]))
    if status[TARING] > 0.5:
        if fastest > _SLOW:
            status[TARE_SUM] = 0.0
            return
        status[TARE_SUM] += period
        share = min(period / status[TARE_SUM], 1.0)
        for i in range(N_ARM):
            payload.tare[i] += share * (external[i] - payload.tare[i])
            payload.tare_variance[i] += share * (friction_sigma[i] ** 2 - payload.tare_variance[i])
            payload.tare_position[i] += share * (position[i] - payload.tare_position[i])
        if status[TARE_SUM] >= TARE_TIME:
            status[TARING], status[TARED] = 0.0, 1.0
        return
    status[POSTURE] = 0.0
    for i in range(N_ARM):
        status[POSTURE] = max(status[POSTURE], abs(position[i] - payload.tare_position[i]))
    if status[TARED] < 0.5 or fastest > _SLOW or status[POSTURE] > SAME_POSTURE:
        status[MEAN_SUM] = 0.0
        status[MASS], status[SIGMA] = np.nan, np.nan
        return
    status[MEAN_SUM] += period
    share = min(period / min(status[MEAN_SUM], _MEAN_TIME), 1.0)
    for i in range(N_ARM):
        payload.mean[i] += share * (external[i] - payload.mean[i])
        payload.mean_variance[i] += share * (friction_sigma[i] ** 2 - payload.mean_variance[i])
    if status[MEAN_SUM] < _LEAST_TIME:
        return
    rows = np.zeros((3, N_ARM))
    torque, sigma = np.empty(N_ARM), np.empty(N_ARM)
    arm = np.zeros(3)  # numba has the product of matrices only together with SciPy
    for i in range(3):
        for j in range(3):
            arm[i] += palm_rotation[i, j] * payload.centre[j]
    for i in range(N_ARM):
        # A weight of -m g along z at c has the moment c x f = m g (-c_y, c_x, 0).
        turn_x, turn_y = palm_jacobian[3, i], palm_jacobian[4, i]
        rows[0, i] = GRAVITY * (-palm_jacobian[2, i] - arm[1] * turn_x + arm[0] * turn_y)
        rows[1, i] = GRAVITY * turn_y
        rows[2, i] = -GRAVITY * turn_x
        torque[i] = payload.mean[i] - payload.tare[i]
        variance = payload.mean_variance[i] + payload.tare_variance[i]
        sigma[i] = np.sqrt(variance + 2.0 * _NOISE * _NOISE)
    prior = np.array((_MASS_PRIOR, _OFFSET_PRIOR, _OFFSET_PRIOR))
    found, spread = np.empty(3), np.empty(3)
    solve_weighted(rows, torque, sigma, prior, found, spread)
    status[MASS], status[SIGMA] = found[0], spread[0]
