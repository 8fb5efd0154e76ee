# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps what physics and pusher do, frame by frame."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from drex_ros.evaluation.motion import FPS, Motion, Prop
from drex_ros.evaluation.physics import (
    STEPS,
    STICK_LENGTH,
    STICK_RADIUS,
    TIMESTEP,
    PushPhysics,
)
from drex_ros.evaluation.pushers import Pusher
from drex_ros.robot.joints import Array, constant

STICK = Prop('capsule', (STICK_RADIUS, STICK_LENGTH / 2), constant((0.55, 0.56, 0.58, 1.0)))
"""The stick as it is seen."""

_RESTS = 0.02  # [m/s, rad/s] slower than this is at rest


class TimeIsUpError(Exception):
    """All frames are there."""


class WrongError(Exception):
    """The object does what it should not."""


class Recording:
    """Steps the physics with a pusher and keeps each frame."""

    def __init__(
        self,
        physics: PushPhysics,
        pusher: Pusher,
        frames: int,
        right: Callable[[Array, Array], bool],
    ) -> None:
        """Prepare for a number of frames.

        Args:
            physics: of the object.
            pusher: what moves it.
            frames: how many are kept; after them TimeIsUpError is raised.
            right: whether a pose (7,) and a twist (6,) may be; else WrongError is raised.
        """
        self.physics, self.pusher = physics, pusher
        self.postures: list[Array] = []
        self.places: list[Array] = []
        self.poses: list[Array] = []
        self.twists: list[Array] = []
        self._frames, self._count, self._right = frames, 0, right

    def wait(self, seconds: float) -> None:
        """Stand still."""
        self.follow(np.repeat(self.pusher.tip[None], round(seconds / TIMESTEP), axis=0))

    def let_slide(self) -> Array:
        """Stand still until the object does; its pose then."""
        while True:
            self.wait(1.0 / FPS)
            pose, twist = self.physics.object()
            if np.abs(twist).max() < _RESTS:
                return pose

    def follow(self, tips: Array) -> None:
        """Lead the pusher's tip along places a time step apart, shape (k, 3)."""
        for tip in tips:
            if self._count % STEPS == 0:
                self._keep()
            self.pusher.move(tip)
            self.physics.step(self.pusher.posture, self.pusher.stick)
            self._count += 1

    def _keep(self) -> None:
        if len(self.poses) == self._frames:
            raise TimeIsUpError
        pose, twist = self.physics.object()
        if not self._right(pose, twist):
            raise WrongError
        self.postures.append(self.pusher.posture.copy())
        self.places.append(self.pusher.tip.copy())
        self.poses.append(pose)
        self.twists.append(twist)

    def motion(self) -> Motion:
        """All that was kept."""
        motion = Motion(np.array(self.postures), np.array(self.poses), np.array(self.twists))
        if self.pusher.stick is None:
            return motion
        place = np.zeros((len(motion), 1, 7))
        place[:, 0, :3] = np.add(self.places, (0.0, 0.0, STICK_LENGTH / 2))
        place[:, 0, 6] = 1.0
        return motion.with_props((STICK,), place)
