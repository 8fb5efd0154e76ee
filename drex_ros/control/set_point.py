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

from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array, constant

SINGLE = 0.1
"""For the way to a target that does not come in a stream [s]."""
_STREAM = 0.3  # [s] longest time between the targets of a stream
_SLOWEST, _FASTEST = 20.0, 100.0  # [1/s] range of w
_PER_TARGET = 4.0  # w times the time between two targets
_SMOOTH = 0.3  # weight of the newest interval in the mean of them
_STOPPING = 30.0  # [1/s] w of a stop: as hard as the limit of torque rates allows
_RATE_CHANGE = 60.0  # [1/s^2] of w
_STANDS = 0.1  # [rad/s] slower than this a joint stands
_MOVES = 1e-3  # [rad/s], [m/s] from which on a set-point moves
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
POSITION, VELOCITY, ACCELERATION, CARROT, _FROM, _GOAL, _SPEED = range(7)
_ALONG, DURATION, _RATE, _RATE_GOAL = range(4)


class JointFollower:
    """Where joints should be now.

    All of it is in one array, for handing each to a compiled function costs 0.2 us.
    """

    def __init__(self, position: Array, speed: Array) -> None:
        """At rest at a posture [rad]; speed is the greatest of each joint [rad/s]."""
        self.numbers = np.zeros(7 * position.shape[0] + 4)
        self.rows, self.clock = rows, clock = split_follower.py_func(self.numbers)
        rows[_SPEED] = speed
        clock[:] = 1.0, 1.0, _rate(SINGLE), _rate(SINGLE)
        self.position: Array = rows[POSITION]
        """[rad]"""
        self.velocity = rows[VELOCITY]
        """[rad/s]"""
        self.acceleration = rows[ACCELERATION]
        """[rad/s^2]"""
        self.carrot = rows[CARROT]
        """What the set-point follows [rad]."""
        self.goal: Array = rows[_GOAL]
        """[rad]"""
        self.rest(position)

    @property
    def moves(self) -> bool:
        """Whether it does not stand."""
        return bool(_moves(self.numbers))

    def rest(self, position: Array) -> None:
        """Stand at a posture [rad] at once."""
        self.put(position, _NONE, _NONE)

    def brake(self, position: Array, velocity: Array) -> None:
        """Come to rest from a posture [rad] and velocity [rad/s] that the robot has.

        A set-point that stood at once would have each joint brake as it can, and throw others.
        """
        self.put(position, np.where(np.abs(velocity) < _STANDS, 0.0, velocity), _NONE)
        self.stop()

    def go(self, goal: Array, duration: float) -> None:
        """Set out for a goal [rad], there after a duration [s], or later by the greatest speed."""
        self.rows[_FROM] = self.carrot
        self.goal[:] = goal
        longest = float(np.max(np.abs(goal - self.carrot) / self.rows[_SPEED], initial=0.0))
        self.clock[DURATION] = max(duration, longest, 1e-6)
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
        follow(self.numbers, period)

    def keep_near(self, position: Array, reach: Array) -> bool:
        """Do not run ahead of the measured position [rad]; whether that changed something."""
        return bool(keep_near(self.numbers, position, reach))

    def advance_near(self, period: float, position: Array, reach: Array) -> bool:
        """Both in one: go on, and do not run ahead."""
        return bool(_follow_near(self.numbers, period, position, reach))


def _rate(duration: float) -> float:
    return min(max(_PER_TARGET / max(duration, 1e-6), _SLOWEST), _FASTEST)


def within(value: Array, size: Array) -> Array:
    """The value cut to -size .. size, element-wise (np.clip costs four times as much)."""
    cut: Array = np.minimum(np.maximum(value, -size), size)
    return cut


def approach(value: Array, goal: Array, step: Array) -> Array:
    """The value moved towards the goal by at most step; the goal itself once it is there."""
    moved = value + within(goal - value, step)
    return goal if np.array_equal(moved, goal) else moved


def loaded_rest(
    position: Array, velocity: Array, load: Array, stiffness: Array, farthest: float
) -> Array:
    """Where springs shall rest so that joints go on carrying what they carry now [rad].

    A joint that stands although it is driven presses on something or bears a load: its spring
    begins with the torque that it has.

    Args:
        position: measured [rad]. Shape (n,), as the next.
        velocity: measured [rad/s].
        load: torque that each carries [N m].
        stiffness: of the springs, above 0 [N m/rad].
        farthest: that a spring may begin ahead by [rad].
    """
    beyond = np.minimum(np.maximum(load / stiffness, -farthest), farthest)
    rest: Array = position + np.where(np.abs(velocity) < _STANDS, beyond, 0.0)
    return rest


@kernel
def split_follower(numbers):  # type: ignore[no-untyped-def]
    """Rows and clock as views of a follower's array; `split_follower.py_func` does so outside."""
    n = (numbers.shape[0] - 4) // 7
    return numbers[: 7 * n].reshape((7, n)), numbers[7 * n :]


@kernel
def follow(numbers, period):  # type: ignore[no-untyped-def]
    """One period of the critically damped spring, solved exactly for a carrot that stands."""
    rows, clock = split_follower(numbers)
    along = clock[_ALONG] = min(clock[_ALONG] + period / clock[DURATION], 1.0)
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
        error = rows[POSITION, i] - carrot
        drive = rows[VELOCITY, i] + rate * error
        left = (error + drive * period) * decay
        velocity = drive * decay - rate * left
        rows[POSITION, i] = carrot + left
        rows[VELOCITY, i] = velocity
        rows[ACCELERATION, i] = -rate * (2.0 * velocity + rate * left)
        rows[CARROT, i] = carrot


@kernel
def _moves(numbers):  # type: ignore[no-untyped-def]
    rows, _ = split_follower(numbers)
    fastest = 0.0
    for i in range(rows.shape[1]):
        fastest = max(fastest, abs(rows[VELOCITY, i]))
    return fastest > _MOVES


@kernel
def keep_near(numbers, measured, reach):  # type: ignore[no-untyped-def]
    """Hold set-points near. One that is held stands, and its carrot waits: it shall not leap."""
    rows, _ = split_follower(numbers)
    cut = False
    for i in range(rows.shape[1]):
        ahead = rows[POSITION, i] - measured[i]
        if abs(ahead) > reach[i]:
            rows[POSITION, i] = measured[i] + (reach[i] if ahead > 0.0 else -reach[i])
            if rows[VELOCITY, i] * ahead > 0.0:
                rows[VELOCITY, i] = 0.0
            if rows[ACCELERATION, i] * ahead > 0.0:
                rows[ACCELERATION, i] = 0.0
            rows[CARROT, i] = rows[POSITION, i]
            cut = True
    if cut:
        set_out_again(numbers)
    return cut


@kernel
def set_out_again(numbers):  # type: ignore[no-untyped-def]
    """Go on to the goal from the carrot, no faster than before: it may have been moved."""
    rows, clock = split_follower(numbers)
    longest = (1.0 - clock[_ALONG]) * clock[DURATION]
    for i in range(rows.shape[1]):
        rows[_FROM, i] = rows[CARROT, i]
        longest = max(longest, abs(rows[_GOAL, i] - rows[CARROT, i]) / rows[_SPEED, i])
    clock[DURATION] = max(longest, 1e-6)
    clock[_ALONG] = 0.0


@kernel
def _follow_near(numbers, period, measured, reach):  # type: ignore[no-untyped-def]
    follow(numbers, period)
    return keep_near(numbers, measured, reach)
