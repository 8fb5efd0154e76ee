# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a tracker answers: where the object is, how sure that is, and what to think of it.

Vectors of six are position or velocity first, then rotation, as in ROS. A small rotation is a
vector about the axes of the world frame: truth = exp(rotation) estimate.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from drex_ros.perception.frame import RgbdFrame
from drex_ros.robot.joints import Array


class TrackStatus(IntEnum):
    """What a pose is worth; the numbers are those of ObjectTrack.msg."""

    DETECTING = 0
    """Looking for the object; there may be no pose."""
    TRACKING = 1
    """The pose is good to its covariance."""
    UNCERTAIN = 2
    """The pose is a prediction or badly supported."""
    LOST = 3
    """Do not use the pose."""


@dataclass(frozen=True, eq=False)
class ObjectState:
    """Pose and velocity of an object's frame in world, with their covariance."""

    position: Array
    """[m], shape (3,)."""
    quaternion: Array
    """x y z w, shape (4,)."""
    twist: Array
    """Velocity of the origin [m/s] and of the turn [rad/s], world axes. Shape (6,)."""
    covariance: Array
    """Of position, rotation, velocity, angular velocity. Shape (12, 12)."""


@dataclass(frozen=True)
class Evidence:
    """How well model and picture agree; shares from 0 to 1."""

    pixels: int = 0
    """Of the model that are compared with measured depth."""
    inliers: float = 0.0
    """Share of the pixels in sight whose depth is that of the model."""
    occluded: float = 0.0
    """Share of the model's pixels that something nearer hides."""
    contour: float = 0.0
    """Mean distance of the outline from where colours change [px]."""
    colour: float = 0.0
    """Share of the pixels in sight that have the object's colours."""
    unexplained: float = 0.0
    """Pixels beside it that have its colours and stand out of the table, as a share of its own."""


@dataclass(frozen=True, eq=False)
class ObjectEstimate:
    """The answer for one frame."""

    time: float
    """Of the frame [s]."""
    status: TrackStatus
    reason: str
    """Why the status is not TRACKING, in words; else empty."""
    state: ObjectState | None
    """None: nothing is known of where it is."""
    evidence: Evidence = Evidence()
    smoothed: bool = False
    """From the fixed-lag smoother: later frames were used too."""


@dataclass(frozen=True, eq=False)
class PoseObservation:
    """A pose from elsewhere: a tag on the object, or another tracker."""

    time: float
    """[s]"""
    position: Array
    """Of the object's frame in world [m], shape (3,)."""
    quaternion: Array
    """x y z w, shape (4,)."""
    covariance: Array
    """Of position and rotation. Shape (6, 6)."""


@dataclass(frozen=True, eq=False)
class Detection:
    """The answer to: where is it, anew?"""

    found: bool
    score: float
    """0 to 1: how well model and picture agree at the best place."""
    message: str
    """In words: 'found', 'not there: ...', 'ambiguous: two candidates ...'."""
    state: ObjectState | None
    """The best place; None when there is none at all."""
    candidates: int = 0
    """How many places were about as good."""


class PoseBackend(Protocol):
    """Finds an object, frame by frame. Not for use by two threads at once."""

    def update(
        self, frame: RgbdFrame, observation: PoseObservation | None = None
    ) -> ObjectEstimate:
        """Where the object is in this frame. Frames come in the order of their times."""

    def detect(self, frame: RgbdFrame) -> Detection:
        """Look for the object anew, without what was known; go on from there if it is found."""

    def smoothed(self) -> ObjectEstimate | None:
        """The estimate, some frames old, that the last update made final; None: none yet."""

    def forget(self) -> None:
        """Begin anew, as after a jump of time."""
