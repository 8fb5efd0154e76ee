# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The moving set-point of the palm: its place and its turn, each as those of joints."""

from __future__ import annotations

import numpy as np

from drex_ros.control.matrices import multiply, rotation_of, rotation_vector
from drex_ros.control.set_point import (
    ACCELERATION,
    CARROT,
    DURATION,
    POSITION,
    VELOCITY,
    JointFollower,
    follow,
    keep_rows_near,
    set_out_again,
)
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array


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
        place, turn = self._place, self._turn
        _follow_pose(place.rows, place.clock, turn.rows, turn.clock, self._pose, period)

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
                *(self._place.rows, self._place.clock, self._turn.rows, self._turn.clock),
                *(self._pose, period, position, rotation, reach, turn),
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
def _follow_pose(place, place_clock, turn, turn_clock, pose, period):  # type: ignore[no-untyped-def]
    """Place and turn of the palm; pose has rotation and goal, velocity and acceleration."""
    follow(place, place_clock, period)
    follow(turn, turn_clock, period)
    for i in range(3):
        pose[6, i], pose[7, i] = place[VELOCITY, i], turn[VELOCITY, i]
        pose[8, i], pose[9, i] = place[ACCELERATION, i], turn[ACCELERATION, i]
    left = np.empty((3, 3))
    rotation_of(turn[POSITION], left)
    multiply(left, pose[3:6], pose[:3])


@kernel
def _follow_pose_near(  # type: ignore[no-untyped-def]
    place, place_clock, turn, turn_clock, pose, period, position, rotation, reach, most
):
    if period > 0.0:
        _follow_pose(place, place_clock, turn, turn_clock, pose, period)
    return _near_pose(place, place_clock, turn, turn_clock, pose, position, rotation, reach, most)


@kernel
def _near_pose(  # type: ignore[no-untyped-def]
    place, place_clock, turn, turn_clock, pose, position, rotation, reach, most
):
    """Do not run ahead of a measured position and rotation; whether that changed something."""
    cut = keep_rows_near(place, place_clock, position, reach)
    if cut:
        pose[6, :] = place[VELOCITY]
        pose[8, :] = place[ACCELERATION]
    ahead = np.empty(3)
    between = np.empty((3, 3))
    multiply(pose[:3], rotation.T, between)
    rotation_vector(between, ahead)
    angle = np.sqrt(ahead[0] * ahead[0] + ahead[1] * ahead[1] + ahead[2] * ahead[2])
    if angle <= most:
        return cut
    for i in range(3):
        ahead[i] *= most / angle
        turn[VELOCITY, i] = turn[ACCELERATION, i] = 0.0
        pose[7, i] = pose[9, i] = 0.0
    rotation_of(ahead, between)
    multiply(between, rotation, pose[:3])
    multiply(pose[:3], pose[3:6].T, between)
    rotation_vector(between, turn[POSITION])
    turn[CARROT, :] = turn[POSITION]
    set_out_again(turn, turn_clock)
    return True
