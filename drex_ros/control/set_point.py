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

from drex_ros.control.matrices import multiply, rotation_of, rotation_vector
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array, constant

SINGLE = 0.1
"""For the way to a target that does not come in a stream [s]."""
_STREAM = 0.3  # [s] longest time between the targets of a stream
_SLOWEST, _FASTEST = 20.0, 100.0  # [1/s] range of w
_PER_TARGET = 4.0  # w times the time between two targets
_SMOOTH = 0.3  # weight of the newest interval in the mean of them
_STOPPING = 40.0  # [1/s] w of a stop
_RATE_CHANGE = 60.0  # [1/s^2] of w
_NONE = constant((0.0,))


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


# Rows of a follower's array, and places in its clock.
_POSITION, _VELOCITY, _ACCELERATION, _CARROT, _FROM, _GOAL, _SPEED = range(7)
_ALONG, _DURATION, _RATE, _RATE_GOAL = range(4)


class JointFollower:
    """Where joints should be now.

    All of it is in two arrays, for handing each to a compiled function costs 0.2 us.
    """

    def __init__(self, position: Array, speed: Array) -> None:
        """At rest at a posture [rad]; speed is the greatest of each joint [rad/s]."""
        self.rows = rows = np.zeros((7, position.shape[0]))
        rows[_SPEED] = speed
        self.clock = np.array((1.0, 1.0, _rate(SINGLE), _rate(SINGLE)))
        self.position: Array = rows[_POSITION]
        """[rad]"""
        self.velocity = rows[_VELOCITY]
        """[rad/s]"""
        self.acceleration = rows[_ACCELERATION]
        """[rad/s^2]"""
        self.carrot = rows[_CARROT]
        """What the set-point follows [rad]."""
        self.goal: Array = rows[_GOAL]
        """[rad]"""
        self.rest(position)

    def rest(self, position: Array) -> None:
        """Stand at a posture [rad] at once."""
        self.put(position, _NONE, _NONE)

    def go(self, goal: Array, duration: float) -> None:
        """Set out for a goal [rad], there after a duration [s], or later by the greatest speed."""
        self.rows[_FROM] = self.carrot
        self.goal[:] = goal
        longest = float(np.max(np.abs(goal - self.carrot) / self.rows[_SPEED], initial=0.0))
        self.clock[_DURATION] = max(duration, longest, 1e-6)
        self.clock[_ALONG] = 0.0
        self.clock[_RATE_GOAL] = _rate(duration)

    def stop(self) -> None:
        """Come to rest soon, without turning back."""
        self.clock[_RATE] = self.clock[_RATE_GOAL] = _STOPPING
        # The spring to this point pulls as much as its damper at first: no jump of acceleration.
        self.goal[:] = self.position + (2.0 / _STOPPING) * self.velocity
        self.carrot[:] = self.goal
        self.clock[_ALONG] = 1.0

    def put(self, position: Array, velocity: Array, acceleration: Array) -> None:
        """Be where somebody else leads it."""
        self.position[:], self.velocity[:] = position, velocity
        self.acceleration[:] = acceleration
        self.goal[:] = self.carrot[:] = self.rows[_FROM] = position
        self.clock[_ALONG] = 1.0

    def advance(self, period: float) -> None:
        """Go on for one period [s]."""
        _follow(self.rows, self.clock, period)

    def keep_near(self, position: Array, reach: Array) -> bool:
        """Do not run ahead of the measured position [rad]; whether that changed something."""
        return bool(_near(self.rows, self.clock, position, reach))

    def advance_near(self, period: float, position: Array, reach: Array) -> bool:
        """Both in one: go on, and do not run ahead."""
        return bool(_follow_near(self.rows, self.clock, period, position, reach))


class PoseFollower:
    """Where the palm should be now. World axes."""

    def __init__(self, speed: float, turning: float) -> None:
        """Greatest speed [m/s] and rate of turning [rad/s]."""
        self._place = JointFollower(np.zeros(3), np.full(3, speed))
        # Rotation and goal, velocity and acceleration in one array, as those of a follower.
        self._pose = np.zeros((10, 3))
        self.rotation, self.goal_rotation = self._pose[:3], self._pose[3:6]
        self.rotation[:] = self.goal_rotation[:] = np.eye(3)
        # The turn still to go from the goal back to the set-point, as a vector that shrinks.
        self._turn = JointFollower(np.zeros(3), np.full(3, turning))
        self.velocity = self._pose[6:8].reshape(6)
        """Linear [m/s] and angular [rad/s]. Shape (6,)."""
        self.acceleration = self._pose[8:].reshape(6)
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
        self._turn.goal[:] = self._turn.carrot[:] = 0.0

    def put(self, position: Array, rotation: Array, velocity: Array, acceleration: Array) -> None:
        """Be where somebody else leads it."""
        self._place.put(position, velocity[:3], acceleration[:3])
        self._turn.rest(np.zeros(3))
        self.rotation[:] = self.goal_rotation[:] = rotation
        self.velocity[:], self.acceleration[:] = velocity, acceleration

    def advance(self, period: float) -> None:
        """Go on for one period [s]."""
        _follow_pose(self._place.rows, self._place.clock, self._turn.rows, self._turn.clock,
                     self._pose, period)  # fmt: skip

    def keep_near(self, position: Array, rotation: Array, reach: Array, turn: float) -> bool:
        """Do not run ahead of the measured pose; whether that changed something.

        Args:
            position: measured [m]. Shape (3,).
            rotation: measured. Shape (3, 3).
            reach: how far the set-point may be ahead along each axis [m]. Shape (3,).
            turn: how far it may be turned ahead [rad].
        """
        return bool(
            _near_pose(
                *(self._place.rows, self._place.clock, self._turn.rows, self._turn.clock),
                *(self._pose, position, rotation, reach, turn),
            )
        )

    def _rebase(self, goal: Array) -> None:
        """Count the turn that is left from another goal; the set-point stays where it is."""
        turn, velocity = np.empty(3), self._turn.velocity.copy()
        acceleration = self._turn.acceleration.copy()
        carrot = np.empty((3, 3))
        rotation_of(self._turn.carrot, carrot)
        left = np.empty(3)
        rotation_vector(carrot @ self.goal_rotation @ goal.T, left)
        rotation_vector(self.rotation @ goal.T, turn)
        self.goal_rotation[:] = goal
        self._turn.rest(turn)
        self._turn.velocity[:], self._turn.acceleration[:] = velocity, acceleration
        self._turn.carrot[:] = left

    def _share_duration(self) -> None:
        place, turn = self._place.clock, self._turn.clock
        place[_DURATION] = turn[_DURATION] = max(place[_DURATION], turn[_DURATION])


def _rate(duration: float) -> float:
    return min(max(_PER_TARGET / max(duration, 1e-6), _SLOWEST), _FASTEST)


def within(value: Array, size: Array) -> Array:
    """The value cut to -size .. size, element-wise (np.clip costs four times as much)."""
    cut: Array = np.minimum(np.maximum(value, -size), size)
    return cut


@kernel
def _follow(rows, clock, period):  # type: ignore[no-untyped-def]
    """One period of the critically damped spring, solved exactly for a carrot that stands."""
    along = clock[_ALONG] = min(clock[_ALONG] + period / clock[_DURATION], 1.0)
    if clock[_RATE] != clock[_RATE_GOAL]:
        # At once, it would make up for its whole lag at several times the speed.
        change = _RATE_CHANGE * period
        clock[_RATE] += min(max(clock[_RATE_GOAL] - clock[_RATE], -change), change)
    rate = clock[_RATE]
    decay = np.exp(-rate * period)
    for i in range(rows.shape[1]):
        carrot = rows[_GOAL, i]
        if along < 1.0:
            carrot = rows[_FROM, i] + along * (carrot - rows[_FROM, i])
        error = rows[_POSITION, i] - carrot
        drive = rows[_VELOCITY, i] + rate * error
        left = (error + drive * period) * decay
        velocity = drive * decay - rate * left
        rows[_POSITION, i] = carrot + left
        rows[_VELOCITY, i] = velocity
        rows[_ACCELERATION, i] = -rate * (2.0 * velocity + rate * left)
        rows[_CARROT, i] = carrot


@kernel
def _near(rows, clock, measured, reach):  # type: ignore[no-untyped-def]
    """Hold set-points near. One that is held stands, and its carrot waits: it shall not leap."""
    cut = False
    for i in range(rows.shape[1]):
        ahead = rows[_POSITION, i] - measured[i]
        if abs(ahead) > reach[i]:
            rows[_POSITION, i] = measured[i] + (reach[i] if ahead > 0.0 else -reach[i])
            if rows[_VELOCITY, i] * ahead > 0.0:
                rows[_VELOCITY, i] = 0.0
            if rows[_ACCELERATION, i] * ahead > 0.0:
                rows[_ACCELERATION, i] = 0.0
            rows[_CARROT, i] = rows[_POSITION, i]
            cut = True
    if cut:
        _set_out_again(rows, clock)
    return cut


@kernel
def _set_out_again(rows, clock):  # type: ignore[no-untyped-def]
    """Go on to the goal from the carrot, no faster than before: it may have been moved."""
    longest = (1.0 - clock[_ALONG]) * clock[_DURATION]
    for i in range(rows.shape[1]):
        rows[_FROM, i] = rows[_CARROT, i]
        longest = max(longest, abs(rows[_GOAL, i] - rows[_CARROT, i]) / rows[_SPEED, i])
    clock[_DURATION] = max(longest, 1e-6)
    clock[_ALONG] = 0.0


@kernel
def _follow_near(rows, clock, period, measured, reach):  # type: ignore[no-untyped-def]
    _follow(rows, clock, period)
    return _near(rows, clock, measured, reach)


@kernel
def _follow_pose(place, place_clock, turn, turn_clock, pose, period):  # type: ignore[no-untyped-def]
    """Place and turn of the palm; pose has rotation and goal, velocity and acceleration."""
    _follow(place, place_clock, period)
    _follow(turn, turn_clock, period)
    for i in range(3):
        pose[6, i], pose[7, i] = place[_VELOCITY, i], turn[_VELOCITY, i]
        pose[8, i], pose[9, i] = place[_ACCELERATION, i], turn[_ACCELERATION, i]
    left = np.empty((3, 3))
    rotation_of(turn[_POSITION], left)
    multiply(left, pose[3:6], pose[:3])


@kernel
def _near_pose(  # type: ignore[no-untyped-def]
    place, place_clock, turn, turn_clock, pose, position, rotation, reach, most
):
    """Do not run ahead of a measured position and rotation; whether that changed something."""
    cut = _near(place, place_clock, position, reach)
    if cut:
        pose[6, :] = place[_VELOCITY]
        pose[8, :] = place[_ACCELERATION]
    ahead = np.empty(3)
    between = np.empty((3, 3))
    multiply(pose[:3], rotation.T, between)
    rotation_vector(between, ahead)
    angle = np.sqrt(ahead[0] * ahead[0] + ahead[1] * ahead[1] + ahead[2] * ahead[2])
    if angle <= most:
        return cut
    for i in range(3):
        ahead[i] *= most / angle
        turn[_VELOCITY, i] = turn[_ACCELERATION, i] = 0.0
        pose[7, i] = pose[9, i] = 0.0
    rotation_of(ahead, between)
    multiply(between, rotation, pose[:3])
    multiply(pose[:3], pose[3:6].T, between)
    rotation_vector(between, turn[_POSITION])
    turn[_CARROT, :] = turn[_POSITION]
    _set_out_again(turn, turn_clock)
    return True
