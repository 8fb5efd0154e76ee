# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is believed of an object between two frames, and what that makes one expect in the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drex_ros.perception.fit import Course
from drex_ros.perception.hand_motion import VELOCITY_VARIANCE
from drex_ros.perception.poses import Pose
from drex_ros.robot.joints import Array

START = np.diag(np.repeat((0.02, 1.0, 0.03, 0.3), 3) ** 2)
"""Covariance before anything is seen: a place is known roughly, an orientation hardly."""

ANY_TURN = float(np.pi / np.sqrt(3.0))
"""Deviation of a turn that nothing is known of: all are as likely [rad]."""

_FREE_TURN = 5.0  # [rad/s] deviation of its velocity
_WHITE = {(0, 0): 1.0 / 3.0, (0, 1): 0.5, (1, 0): 0.5, (1, 1): 1.0}  # of white acceleration


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of the object in the optical frame."""

    pose: Pose
    velocity: Array
    """[m/s, rad/s], shape (6,)."""
    covariance: Array
    """Shape (12, 12)."""

    def predicted(self, duration: float, noise: Array) -> Belief:
        """What is believed some time later [s]; `noise` is the accelerations' variance, (6,).

        Accelerations come and go within that time: were one constant over it, a place that is
        known well would give each velocity twice the error of the last, with the other sign.
        """
        forward = np.eye(12)
        forward[:6, 6:] = duration * np.eye(6)
        covariance = forward @ self.covariance @ forward.T
        for (i, j), share in _WHITE.items():
            part = np.diag(share * duration ** (4 - i - j) * noise)
            covariance[6 * i : 6 * i + 6, 6 * j : 6 * j + 6] += part
        return Belief(self.pose.moved(duration * self.velocity), self.velocity, covariance)

    @property
    def course(self) -> Course:
        """The velocity, and how it goes with the pose: the conditional mean of a Gaussian."""
        pose_part, mixed = self.covariance[:6, :6], self.covariance[:6, 6:]
        gain: Array = np.linalg.solve(pose_part, mixed).T.astype(float)
        spread = self.covariance[6:, 6:] - gain @ mixed
        return Course(self.pose, self.velocity, gain, spread)

    def carried(self, duration: float, step: Array, noise: Array) -> Belief:
        """What is believed some time later [s] of an object that a hand moves by a step (6,).

        `noise` is the variance of the object's step about the hand's, shape (6,).
        """
        forward = np.eye(12)
        forward[:6, 6:] = duration * np.eye(6)
        covariance = forward @ self.covariance @ forward.T
        covariance[:6, :6] += np.diag(noise)
        covariance[6:, 6:] += np.diag(VELOCITY_VARIANCE)
        return Belief(self.pose.moved(step), step / duration, covariance)

    def in_hand(self, velocity: Array) -> Belief:
        """The same with the velocity of the hand that holds it."""
        covariance = np.zeros((12, 12))
        covariance[:6, :6] = self.covariance[:6, :6]
        covariance[6:, 6:] = np.diag(VELOCITY_VARIANCE)
        return Belief(self.pose, velocity, covariance)

    def slowed(self, share: float) -> Belief:
        """The same with a part of its velocity."""
        return replace(self, velocity=share * self.velocity)


def without_free_turns(belief: Belief, axes: Array, *, keep_velocity: bool = False) -> Belief:
    """A turn that cannot be seen stays as it is, with a variance that does not grow on.

    `axes` are those of the object about which any turn looks the same, shape (n, 3).
    """
    if not len(axes):
        return belief
    velocity, covariance = belief.velocity.copy(), belief.covariance
    for axis in axes:
        free = belief.pose.rotation @ axis
        if not keep_velocity:
            velocity[3:] -= free * (free @ velocity[3:])
        spread = min(float(free @ covariance[3:6, 3:6] @ free), ANY_TURN**2)
        # Nothing else goes with it: else a tilt of the axis would seem as unknown as the turn.
        keep, along = np.eye(12), np.outer(free, free)
        keep[3:6, 3:6] -= along
        keep[9:, 9:] -= along
        covariance = keep @ covariance @ keep
        covariance[3:6, 3:6] += spread * along
        covariance[9:, 9:] += _FREE_TURN**2 * along
    return Belief(belief.pose, velocity, covariance)
