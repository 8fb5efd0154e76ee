# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The moving set-point: from targets that come at any rate, a way that never jumps.

A carrot runs straight from the last goal to the present one, for as long as targets are apart or
as its greatest speed needs. The set-point follows it as a critically damped spring would,

    x'' = w^2 (c - x) - 2 w x',

so position, velocity and acceleration are continuous wherever goals go, and it never passes a
goal that stands. It lags by 2 / w; w follows the rate of the targets.
"""

from __future__ import annotations

import numpy as np

from drex_ros.control.matrices import rotation_vector
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array

SINGLE = 0.1
"""For the way to a target that does not come in a stream [s]."""
_STREAM = 0.3  # [s] longest time between the targets of a stream
_SLOWEST, _FASTEST = 20.0, 100.0  # [1/s] range of w
_PER_TARGET = 4.0  # w times the time between two targets
_SMOOTH = 0.3  # weight of the newest interval in the mean of them
_STOPPING = 40.0  # [1/s] w of a stop
_RATE_CHANGE = 60.0  # [1/s^2] of w


class StreamClock:
    """How far apart the targets of one source come."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """The next target is the first one."""
        self._last = -np.inf
        self._interval = 0.0

    def tick(self, time: float) -> float:
        """A target comes at a time [s]; how long its way shall take [s]."""
        apart, self._last = time - self._last, time
        if not 0.0 < apart <= _STREAM:
            # Two targets in one cycle belong together; a pause ends the stream.
            if apart != 0.0:
                self._interval = 0.0
        elif self._interval == 0.0:
            self._interval = apart
        else:
            self._interval += _SMOOTH * (apart - self._interval)
        return self._interval or SINGLE


class JointFollower:
    """Where joints should be now."""

    def __init__(self, position: Array, speed: Array) -> None:
        """At rest at a posture [rad]; speed is the greatest of each joint [rad/s]."""
        self.position = position.copy()
        """[rad]"""
        self.velocity = np.zeros_like(position)
        """[rad/s]"""
        self.acceleration = np.zeros_like(position)
        """[rad/s^2]"""
        self.goal = position.copy()
        """[rad]"""
        self._speed = speed
        self._carrot = position.copy()
        self._from = position.copy()
        self._along = 1.0
        self._duration = 1.0
        self._rate = self._rate_goal = _rate(SINGLE)

    def rest(self, position: Array) -> None:
        """Stand at a posture [rad] at once."""
        for array in (self.position, self.goal, self._carrot, self._from):
            array[:] = position
        self.velocity[:] = 0.0
        self.acceleration[:] = 0.0
        self._along = 1.0

    def go(self, goal: Array, duration: float) -> None:
        """Set out for a goal [rad], there after a duration [s], or later by the greatest speed."""
        self._from[:] = self._carrot
        self.goal[:] = goal
        longest = float(np.max(np.abs(goal - self._carrot) / self._speed, initial=0.0))
        self._duration = max(duration, longest, 1e-6)
        self._along = 0.0
        self._rate_goal = _rate(duration)

    def stop(self) -> None:
        """Come to rest soon, without turning back."""
        self._rate = self._rate_goal = _STOPPING
        # The spring to this point pulls as much as its damper at first: no jump of acceleration.
        self.goal[:] = self.position + (2.0 / _STOPPING) * self.velocity
        self._carrot[:] = self.goal
        self._along = 1.0

    def put(self, position: Array, velocity: Array, acceleration: Array) -> None:
        """Be where somebody else leads it."""
        self.position[:], self.velocity[:] = position, velocity
        self.acceleration[:] = acceleration
        self.goal[:] = self._carrot[:] = self._from[:] = position
        self._along = 1.0

    def advance(self, period: float) -> None:
        """Go on for one period [s]."""
        self._along = min(self._along + period / self._duration, 1.0)
        if self._rate != self._rate_goal:
            # At once, it would make up for its whole lag at several times the speed.
            change = _RATE_CHANGE * period
            self._rate += min(max(self._rate_goal - self._rate, -change), change)
        _follow(
            *(self.position, self.velocity, self.acceleration, self._carrot),
            *(self._from, self.goal, self._along, self._rate, period),
        )

    def keep_near(self, position: Array, reach: Array) -> bool:
        """Do not run ahead of the measured position [rad]; whether that changed something."""
        return bool(_near(self.position, self.velocity, position, reach))


class PoseFollower:
    """Where the palm should be now. World axes."""

    def __init__(self, speed: float, turning: float) -> None:
        """Greatest speed [m/s] and rate of turning [rad/s]."""
        self._place = JointFollower(np.zeros(3), np.full(3, speed))
        self.rotation = np.eye(3)
        self.goal_rotation = np.eye(3)
        # The turn still to go from the goal back to the set-point, as a vector that shrinks.
        self._turn = JointFollower(np.zeros(3), np.full(3, turning))
        self._ahead = np.zeros(3)
        self.velocity = np.zeros(6)
        """Linear [m/s] and angular [rad/s]. Shape (6,)."""
        self.acceleration = np.zeros(6)
        """[m/s^2, rad/s^2] Shape (6,)."""

    @property
    def position(self) -> Array:
        """[m] Shape (3,)."""
        return self._place.position

    @property
    def goal(self) -> Array:
        """[m] Shape (3,)."""
        return self._place.goal

    def rest(self, position: Array, rotation: Array) -> None:
        """Stand at a pose at once."""
        self._place.rest(position)
        self._turn.rest(np.zeros(3))
        self.rotation[:] = self.goal_rotation[:] = rotation
        self.velocity[:] = 0.0
        self.acceleration[:] = 0.0

    def go(self, position: Array, rotation: Array, duration: float) -> None:
        """Set out for a pose, there after a duration [s], or later by the greatest speeds."""
        self._place.go(position, duration)
        self._rebase(rotation)
        self._turn.go(np.zeros(3), duration)
        self._share_duration()

    def stop(self) -> None:
        """Come to rest soon."""
        self._place.stop()
        self._turn.stop()
        goal = np.empty((3, 3))
        rotation_of(self._turn.goal, goal)
        self._rebase(goal @ self.goal_rotation)
        self._turn.goal[:] = self._turn._carrot[:] = 0.0

    def put(self, position: Array, rotation: Array, velocity: Array, acceleration: Array) -> None:
        """Be where somebody else leads it."""
        self._place.put(position, velocity[:3], acceleration[:3])
        self._turn.rest(np.zeros(3))
        self.rotation[:] = self.goal_rotation[:] = rotation
        self.velocity[:], self.acceleration[:] = velocity, acceleration

    def advance(self, period: float) -> None:
        """Go on for one period [s]."""
        self._place.advance(period)
        self._turn.advance(period)
        self.velocity[:3], self.velocity[3:] = self._place.velocity, self._turn.velocity
        self.acceleration[:3] = self._place.acceleration
        self.acceleration[3:] = self._turn.acceleration
        _turned(self._turn.position, self.goal_rotation, self.rotation)

    def keep_near(self, position: Array, rotation: Array, reach: Array, turn: float) -> bool:
        """Do not run ahead of the measured pose; whether that changed something.

        Args:
            position: measured [m]. Shape (3,).
            rotation: measured. Shape (3, 3).
            reach: how far the set-point may be ahead along each axis [m]. Shape (3,).
            turn: how far it may be turned ahead [rad].
        """
        cut = self._place.keep_near(position, reach)
        ahead = self._ahead
        angle = _turn_ahead(self.rotation, rotation, ahead)
        if angle <= turn:
            return cut
        nearer = np.empty((3, 3))
        rotation_of(ahead * (turn / angle), nearer)
        self.rotation[:] = nearer @ rotation
        rotation_vector(self.rotation @ self.goal_rotation.T, self._turn.position)
        self._turn.velocity[:] = 0.0
        return True

    def _rebase(self, goal: Array) -> None:
        """Count the turn that is left from another goal; the set-point stays where it is."""
        turn, velocity = np.empty(3), self._turn.velocity.copy()
        acceleration = self._turn.acceleration.copy()
        carrot = np.empty((3, 3))
        rotation_of(self._turn._carrot, carrot)
        left = np.empty(3)
        rotation_vector(carrot @ self.goal_rotation @ goal.T, left)
        rotation_vector(self.rotation @ goal.T, turn)
        self.goal_rotation[:] = goal
        self._turn.rest(turn)
        self._turn.velocity[:], self._turn.acceleration[:] = velocity, acceleration
        self._turn._carrot[:] = left

    def _share_duration(self) -> None:
        longest = max(self._place._duration, self._turn._duration)
        self._place._duration = self._turn._duration = longest


def _rate(duration: float) -> float:
    return min(max(_PER_TARGET / max(duration, 1e-6), _SLOWEST), _FASTEST)


def within(value: Array, size: Array) -> Array:
    """The value cut to -size .. size, element-wise (np.clip costs four times as much)."""
    cut: Array = np.minimum(np.maximum(value, -size), size)
    return cut


@kernel
def _follow(position, velocity, acceleration, carrot, start, goal, along, rate, period):  # type: ignore[no-untyped-def]
    """One period of the critically damped spring, solved exactly for a carrot that stands."""
    decay = np.exp(-rate * period)
    for i in range(position.shape[0]):
        if along < 1.0:
            carrot[i] = start[i] + along * (goal[i] - start[i])
        else:
            carrot[i] = goal[i]
        error = position[i] - carrot[i]
        drive = velocity[i] + rate * error
        left = (error + drive * period) * decay
        velocity[i] = drive * decay - rate * left
        position[i] = carrot[i] + left
        acceleration[i] = -rate * (2.0 * velocity[i] + rate * left)


@kernel
def _near(position, velocity, measured, reach):  # type: ignore[no-untyped-def]
    cut = False
    for i in range(position.shape[0]):
        ahead = position[i] - measured[i]
        if abs(ahead) > reach[i]:
            position[i] = measured[i] + (reach[i] if ahead > 0.0 else -reach[i])
            if velocity[i] * ahead > 0.0:
                velocity[i] = 0.0
            cut = True
    return cut


@kernel
def _turned(vector, goal, out):  # type: ignore[no-untyped-def]
    """Out = exp(vector) goal."""
    turn = np.empty((3, 3))
    rotation_of(vector, turn)
    for i in range(3):
        for j in range(3):
            out[i, j] = turn[i, 0] * goal[0, j] + turn[i, 1] * goal[1, j] + turn[i, 2] * goal[2, j]


@kernel
def _turn_ahead(rotation, measured, out):  # type: ignore[no-untyped-def]
    """Write the turn from the measured rotation to another to out; its angle [rad]."""
    turn = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            turn[i, j] = (
                rotation[i, 0] * measured[j, 0]
                + rotation[i, 1] * measured[j, 1]
                + rotation[i, 2] * measured[j, 2]
            )
    rotation_vector(turn, out)
    return np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])


@kernel
def rotation_of(vector, out):  # type: ignore[no-untyped-def]
    """Rotation matrix of a turn about an axis: direction the axis, length the angle [rad]."""
    square = vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]
    angle = np.sqrt(square)
    if angle < 1e-6:
        s, c = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        s, c = np.sin(angle) / angle, (1.0 - np.cos(angle)) / square
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i, i] = 1.0 - c * (vector[j] * vector[j] + vector[k] * vector[k])
        out[i, j] = c * vector[i] * vector[j] - s * vector[k]
        out[j, i] = c * vector[i] * vector[j] + s * vector[k]
