# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Kalman filter and fixed-lag smoother for a pose that moves with nearly constant velocity.

The error of a state has twelve numbers: position, rotation, velocity, angular velocity, all along
the axes of world, with truth = exp(rotation) estimate. Functions take and give ObjectState.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drex_ros.perception import filter_kernels
from drex_ros.perception.estimate import ObjectState, PoseObservation
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

POSE = slice(0, 6)
TWIST = slice(6, 12)

_INVERSE = np.array((-1.0, -1.0, -1.0, 1.0))


def rotation_vector(quaternion: npt.ArrayLike) -> Array:
    """Axis times angle [rad] of a unit quaternion x y z w, angle 0 .. pi. Shape (3,)."""
    x, y, z, w = np.asarray(quaternion, dtype=np.float64)
    length = float(np.sqrt(x * x + y * y + z * z))
    sign = -1.0 if w < 0.0 else 1.0
    factor = 2.0 if length < 1e-12 else 2.0 * np.arctan2(length, abs(w)) / length
    return sign * factor * np.array((x, y, z))


def pose_difference(
    position: Array, quaternion: Array, from_position: Array, from_quaternion: Array
) -> Array:
    """What takes one pose to another: shift [m] and turn about world's axes [rad]. Shape (6,)."""
    turn = quaternion_product(quaternion, _INVERSE * from_quaternion)
    return np.concatenate((position - from_position, rotation_vector(turn)))


def state_difference(state: ObjectState, reference: ObjectState) -> Array:
    """The error of the reference, were the state the truth. Shape (12,)."""
    return np.concatenate(
        (
            pose_difference(
                state.position, state.quaternion, reference.position, reference.quaternion
            ),
            state.twist - reference.twist,
        )
    )


def corrected(state: ObjectState, error: Array, covariance: Array) -> ObjectState:
    """The state without this error, shape (12,), and with another covariance."""
    quaternion = quaternion_product(quaternion_from_vector(error[3:6]), state.quaternion)
    return ObjectState(
        position=state.position + error[:3],
        quaternion=quaternion / np.linalg.norm(quaternion),
        twist=state.twist + error[TWIST],
        covariance=covariance,
    )


def predict(state: ObjectState, dt: float, accelerations: Array) -> ObjectState:
    """The state a time [s] later, or earlier for a time below 0.

    `accelerations` are the standard deviations of what changes the velocity, constant over the
    time and independent from one call to the next: along x, y, z [m/s^2] and about them
    [rad/s^2]. Shape (6,).
    """
    covariance = np.empty((12, 12))
    filter_kernels.propagate(state.covariance, state.twist, dt, accelerations, covariance)
    quaternion = quaternion_product(quaternion_from_vector(dt * state.twist[3:]), state.quaternion)
    return ObjectState(
        position=state.position + dt * state.twist[:3],
        quaternion=quaternion / np.linalg.norm(quaternion),
        twist=state.twist,
        covariance=covariance,
    )


def distance(state: ObjectState, observation: PoseObservation) -> float:
    """Square of the Mahalanobis distance of an observation: about 6 for one that fits."""
    return float(
        filter_kernels.distance(
            state.covariance, observation.covariance, _innovation(state, observation)
        )
    )


def update(state: ObjectState, observation: PoseObservation) -> ObjectState:
    """The state with what an observation of the same moment says.

    Raises ValueError when their covariances have no positive definite sum.
    """
    error, covariance = np.empty(12), np.empty((12, 12))
    if not filter_kernels.kalman(
        state.covariance,
        observation.covariance,
        _innovation(state, observation),
        error,
        covariance,
    ):
        raise ValueError('the covariances of state and observation must be positive definite')
    return corrected(state, error, covariance)


def _innovation(state: ObjectState, observation: PoseObservation) -> Array:
    return pose_difference(
        observation.position, observation.quaternion, state.position, state.quaternion
    )


def started(observation: PoseObservation, speeds: npt.ArrayLike) -> ObjectState:
    """The state after a first observation.

    `speeds` are the standard deviations of the unknown velocity [m/s] and turn [rad/s].
    """
    covariance = np.zeros((12, 12))
    covariance[POSE, POSE] = observation.covariance
    covariance[TWIST, TWIST] = np.diag(np.repeat(np.square(speeds), 3))
    return ObjectState(
        position=observation.position,
        quaternion=observation.quaternion,
        twist=np.zeros(6),
        covariance=covariance,
    )


@dataclass(frozen=True, eq=False)
class FilterStep:
    """One frame of a filter: what was expected and what came out."""

    time: float
    """[s]"""
    predicted: ObjectState
    """Before the update."""
    updated: ObjectState
    """After it; the same where nothing was observed."""


def smooth(steps: Sequence[FilterStep]) -> ObjectState:
    """The state at the first step, with what all later ones say (Rauch, Tung and Striebel).

    Raises ValueError when a predicted covariance is not positive definite.
    """
    result = steps[-1].updated
    for step, following in zip(steps[-2::-1], steps[:0:-1], strict=True):
        filtered, predicted = step.updated, following.predicted
        error, covariance = np.empty(12), np.empty((12, 12))
        if not filter_kernels.smooth_back(
            filtered.twist,
            following.time - step.time,
            filtered.covariance,
            predicted.covariance,
            result.covariance,
            state_difference(result, predicted),
            error,
            covariance,
        ):
            raise ValueError('the covariances of predicted states must be positive definite')
        result = corrected(filtered, error, covariance)
    return result


class FixedLagSmoother:
    """Gives each step again, smoothed, when `lag` later ones are there."""

    def __init__(self, lag: int = 3) -> None:
        """Begin without steps; `lag` is at least 0."""
        if lag < 0:
            raise ValueError(f'lag is {lag} frames, must be at least 0')
        self._steps: deque[FilterStep] = deque(maxlen=lag + 1)

    def add(self, step: FilterStep) -> tuple[float, ObjectState] | None:
        """Take the newest step; time and smoothed state of the one `lag` before, once there is."""
        self._steps.append(step)
        if len(self._steps) < (self._steps.maxlen or 1):
            return None
        return self._steps[0].time, smooth(tuple(self._steps))

    def clear(self) -> None:
        """Begin anew: what comes next does not follow from what was."""
        self._steps.clear()
