# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The moving set-point of the palm: its place and its turn, each as those of joints."""

from __future__ import annotations

import numpy as np

from drex_ros.control.set_point import (
    ACCELERATION,
    CARROT,
    DURATION,
    POSITION,
    VELOCITY,
    JointFollower,
    follow,
    keep_near,
    set_out_again,
    split_follower,
)
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array, constant
from drex_ros.robot.matrices import multiply, rotation_of, rotation_vector

_ZERO = constant(6 * (0.0,))


class PoseSetPoint:
    """Where the palm should be now. World axes; linear, then angular."""

    def __init__(
        self,
        position: Array,
        rotation: Array,
        velocity: Array = _ZERO,
        acceleration: Array = _ZERO,
    ) -> None:
        """[m], shape (3,); (3, 3); [m/s, rad/s], (6,); [m/s^2, rad/s^2], (6,). All are copied."""
        parts = (position, rotation.ravel(), velocity, acceleration)
        self.numbers: Array = np.concatenate(parts)
        """All of it in one array, for split_pose() in a compiled function. Shape (24,)."""
        pieces = split_pose.py_func(self.numbers)
        self.position, self.rotation, self.velocity, self.acceleration = pieces


class PoseFollower(PoseSetPoint):
    """A set-point of the palm that moves to its goal."""

    def __init__(self, speed: float, turning: float) -> None:
        """Greatest speed [m/s] and rate of turning [rad/s]."""
        super().__init__(np.zeros(3), np.eye(3))
        self._place = JointFollower(np.zeros(3), np.full(3, speed))
        # The turn still to go from the goal back to the set-point, as a vector that shrinks.
        self._turn = JointFollower(np.zeros(3), np.full(3, turning))
        self.goal_rotation = np.eye(3)

    @property
    def goal(self) -> Array:
        """[m] Shape (3,)."""
        return self._place.goal

    @property
    def moves(self) -> bool:
        """Whether it does not stand."""
        return self._place.moves or self._turn.moves

    def rest(self, position: Array, rotation: Array) -> None:
        """Stand at a pose at once."""
        self.put(position, rotation, _ZERO, _ZERO)

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
        self.position[:] = position
        self.rotation[:] = self.goal_rotation[:] = rotation
        self.velocity[:], self.acceleration[:] = velocity, acceleration

    def advance(self, period: float) -> None:
        """Go on for one period [s]."""
        _follow_pose(
            *(self._place.numbers, self._turn.numbers, self.goal_rotation, self.numbers, period)
        )

    def keep_near(self, position: Array, rotation: Array, reach: Array, turn: float) -> bool:
        """Do not run ahead of the measured pose; whether that changed something.

        Args:
            position: measured [m]. Shape (3,).
            rotation: measured. Shape (3, 3).
            reach: how far the set-point may be ahead along each axis [m]. Shape (3,).
            turn: how far it may be turned ahead [rad].
        """
        return self.advance_near(0.0, position, rotation, reach, turn)

    def advance_near(
        self, period: float, position: Array, rotation: Array, reach: Array, turn: float
    ) -> bool:
        """Both in one: go on for a period [s], and do not run ahead."""
        return bool(
            _follow_pose_near(
                *(self._place.numbers, self._turn.numbers, self.goal_rotation, self.numbers),
                *(period, position, rotation, reach, turn),
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
        place[DURATION] = turn[DURATION] = max(place[DURATION], turn[DURATION])


@kernel
def split_pose(numbers):  # type: ignore[no-untyped-def]
    """Position, rotation, velocity, acceleration; `split_pose.py_func` does so outside."""
    return numbers[:3], numbers[3:12].reshape((3, 3)), numbers[12:18], numbers[18:]


@kernel
def _follow_pose(place_numbers, turn_numbers, goal_rotation, numbers, period):  # type: ignore[no-untyped-def]
    """Place and turn of the palm for one period."""
    follow(place_numbers, period)
    follow(turn_numbers, period)
    (place, _), (turn, _) = split_follower(place_numbers), split_follower(turn_numbers)
    position, rotation, velocity, acceleration = split_pose(numbers)
    for i in range(3):
        position[i] = place[POSITION, i]
        velocity[i], velocity[3 + i] = place[VELOCITY, i], turn[VELOCITY, i]
        acceleration[i], acceleration[3 + i] = place[ACCELERATION, i], turn[ACCELERATION, i]
    left = np.empty((3, 3))
    rotation_of(turn[POSITION], left)
    multiply(left, goal_rotation, rotation)


@kernel
def _follow_pose_near(  # type: ignore[no-untyped-def]
    place_numbers, turn_numbers, goal_rotation, numbers, period, measured, measured_rotation,
    reach, most,
):  # fmt: skip
    """Both; whether the set-point had run ahead of what is measured."""
    if period > 0.0:
        _follow_pose(place_numbers, turn_numbers, goal_rotation, numbers, period)
    (place, _), (turn, _) = split_follower(place_numbers), split_follower(turn_numbers)
    position, rotation, velocity, acceleration = split_pose(numbers)
    cut = keep_near(place_numbers, measured, reach)
    if cut:
        for i in range(3):
            position[i] = place[POSITION, i]
            velocity[i], acceleration[i] = place[VELOCITY, i], place[ACCELERATION, i]
    ahead = np.empty(3)
    between = np.empty((3, 3))
    multiply(rotation, measured_rotation.T, between)
    rotation_vector(between, ahead)
    angle = np.sqrt(ahead[0] * ahead[0] + ahead[1] * ahead[1] + ahead[2] * ahead[2])
    if angle <= most:
        return cut
    for i in range(3):
        ahead[i] *= most / angle
        turn[VELOCITY, i] = turn[ACCELERATION, i] = 0.0
        velocity[3 + i] = acceleration[3 + i] = 0.0
    rotation_of(ahead, between)
    multiply(between, measured_rotation, rotation)
    multiply(rotation, goal_rotation.T, between)
    rotation_vector(between, turn[POSITION])
    turn[CARROT, :] = turn[POSITION]
    set_out_again(turn_numbers)
    return True
