# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tracks an object by an AprilTag or ArUco marker that is fixed to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from drex_ros.objects.model import NO_ROTATION, ORIGIN
from drex_ros.perception.estimate import (
    Detection,
    Evidence,
    ObjectEstimate,
    ObjectState,
    PoseObservation,
)
from drex_ros.perception.frame import Colour, RgbdFrame
from drex_ros.perception.observation_track import ObservationTrack, TrackSettings
from drex_ros.perception.pose_filter import started
from drex_ros.perception.tag_corners import refined_corners
from drex_ros.perception.tag_pose import TagPose, square_corners, tag_pose
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import rotation_matrix

_MARGIN = 1.0  # of the region around the expected tag, in sizes of the tag
_LEAST_MARGIN = 24.0  # [px]
_MOST_RESIDUAL = 10.0  # deviations of a corner above which the four are not those of a square


class TagError(ValueError):
    """A tag that cannot be; the message is one readable line."""


def dictionaries() -> dict[str, int]:
    """Families of tags that can be read, by their names here: apriltag_36h11, 4x4_50, ..."""
    return {
        name.removeprefix('DICT_').lower(): getattr(cv2.aruco, name)
        for name in dir(cv2.aruco)
        if name.startswith('DICT_')
    }


@dataclass(frozen=True, eq=False)
class TagSettings:
    """Which tag is on the object, and where."""

    id: int
    """Number of the tag in its dictionary."""
    size: float
    """Side of the black square [m]."""
    dictionary: str = 'apriltag_36h11'
    position: Array = field(default_factory=lambda: ORIGIN)
    """Of the tag's middle in the object's frame [m]. Shape (3,)."""
    quaternion: Array = field(default_factory=lambda: NO_ROTATION)
    """Of the tag's frame (x right, y up in the printed picture, z out of it) in the object's:
    x y z w. Shape (4,)."""
    corner_sigma: float = 0.1
    """Standard deviation of a corner's column and row [px]."""
    track: TrackSettings = field(default_factory=TrackSettings)

    def __post_init__(self) -> None:
        known = dictionaries()
        if self.dictionary.lower() not in known:
            names = ', '.join(known)
            raise TagError(f'tag dictionary is {self.dictionary!r}, must be one of {names}')
        object.__setattr__(self, 'dictionary', self.dictionary.lower())
        count = len(_dictionary(self.dictionary).bytesList)
        if self.id != int(self.id) or not 0 <= self.id < count:
            raise TagError(f'tag id is {self.id}, {self.dictionary} has 0 .. {count - 1}')
        for name in ('size', 'corner_sigma'):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise TagError(f'tag {name} is {getattr(self, name)}, must be positive')
        for name, length in (('position', 3), ('quaternion', 4)):
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.shape != (length,) or not np.isfinite(array).all():
                raise TagError(f'tag {name} is {array.tolist()}, must be {length} numbers')
            if length == 4 and abs(np.linalg.norm(array) - 1.0) > 1e-6:
                raise TagError(f'tag quaternion {array.tolist()} must have length 1')
            array.setflags(write=False)
            object.__setattr__(self, name, array)


class TagTracker:
    """A PoseBackend that reads one tag."""

    def __init__(self, settings: TagSettings, camera: CameraModel) -> None:
        """Look for this tag with this camera."""
        self.settings = settings
        self.camera = camera
        self._name = f'tag {settings.id}'
        dictionary = _dictionary(settings.dictionary)
        self._cells = dictionary.markerSize + 2  # with the black rim
        self._detector = cv2.aruco.ArucoDetector(dictionary)
        self._corners = (
            square_corners(settings.size) @ rotation_matrix(settings.quaternion).T
            + settings.position
        )
        self._track = ObservationTrack(settings.track, self._name)
        self._now = -np.inf

    def observe(
        self, frame: RgbdFrame, expected: ObjectState | None = None
    ) -> PoseObservation | None:
        """The object's pose by the tag in this frame alone; None: not seen.

        `expected` is what is known of the object at the colour's time: it says where to look
        first and helps to tell the two ways to see a square apart.
        """
        seen = self._seen(frame, expected)
        return seen.observation if seen else None

    def update(
        self, frame: RgbdFrame, observation: PoseObservation | None = None
    ) -> ObjectEstimate:
        """Where the object is in this frame."""
        if frame.time < self._now:
            self._track.forget()
        self._now = frame.time
        time = _colour_time(frame)
        if observation is not None and self._track.time < observation.time < time:
            self._track.step(observation.time, observation)
        seen = self._seen(frame, self._track.at(time))
        if time > self._track.time:
            self._track.step(time, seen.observation if seen else None)
        return self._track.estimate(frame.time, Evidence(contour=seen.residual if seen else 0.0))

    def detect(self, frame: RgbdFrame) -> Detection:
        """Look for the tag anew, in the whole picture."""
        self.forget()
        found = self._find(frame.colour, None)
        if not found:
            return Detection(False, 0.0, f'not there: {self._name} not seen', None)
        if len(found) > 1:
            return Detection(
                False,
                0.0,
                f'ambiguous: {self._name} seen {len(found)} times',
                None,
                candidates=len(found),
            )
        seen = self._pose(frame, found[0], None)
        if seen is None:
            return Detection(
                False,
                0.0,
                f'not there: the corners of {self._name} are not those of a square',
                None,
            )
        self.update(frame)
        settings = self.settings.track
        state = started(seen.observation, (settings.start_speed, settings.start_turn))
        sure = 1.0 - seen.doubt
        message = 'found' if sure > 0.9 else 'found, tilted this way or the other'
        return Detection(True, sure, message, state, candidates=1)

    def smoothed(self) -> ObjectEstimate | None:
        """The newest smoothed step, `lag` frames old; None: none yet."""
        return self._track.smoothed()

    def forget(self) -> None:
        """Begin anew."""
        self._track.forget()
        self._now = -np.inf

    def _seen(self, frame: RgbdFrame, expected: ObjectState | None) -> TagPose | None:
        found = self._find(frame.colour, expected)
        poses = [pose for each in found if (pose := self._pose(frame, each, expected))]
        if not poses:
            return None
        if expected is None:
            # More than one is nothing to guess about.
            return poses[0] if len(poses) == 1 else None
        return min(
            poses, key=lambda pose: np.linalg.norm(pose.observation.position - expected.position)
        )

    def _pose(
        self, frame: RgbdFrame, pixels: Array, expected: ObjectState | None
    ) -> TagPose | None:
        settings = self.settings
        pose = tag_pose(
            _colour_time(frame),
            pixels,
            settings.size,
            settings.position,
            settings.quaternion,
            self.camera,
            settings.corner_sigma,
            depth=frame.depth,
            expected=expected,
        )
        if pose is None or pose.residual > _MOST_RESIDUAL * settings.corner_sigma:
            return None
        return pose

    def _find(self, colour: Colour, expected: ObjectState | None) -> list[Array]:
        """Corners [px] of each such tag in the picture, where it should be or anywhere else."""
        if colour.shape[:2] != (self.camera.height, self.camera.width):
            raise ValueError(
                f'picture of {colour.shape[1]} x {colour.shape[0]} px, '
                f'the camera has {self.camera.width} x {self.camera.height}'
            )
        region = None if expected is None else self._region(expected)
        if region is not None:
            rows, columns = region
            part = self._detect(colour[rows, columns])
            if part:
                first = np.array((columns.start, rows.start))
                return [each + first for each in part]
        return self._detect(colour)

    def _detect(self, colour: Colour) -> list[Array]:
        grey = cv2.cvtColor(np.ascontiguousarray(colour), cv2.COLOR_RGB2GRAY)
        corners, ids, _ = self._detector.detectMarkers(grey)
        if ids is None:
            return []
        found = []
        for each, number in zip(corners, np.ravel(ids), strict=True):
            if number == self.settings.id:
                rough = np.asarray(each, dtype=np.float64).reshape(4, 2)
                cell = np.sqrt(cv2.contourArea(rough.astype(np.float32))) / self._cells
                found.append(refined_corners(grey, rough, float(cell)))
        return [each for each in found if each is not None]

    def _region(self, expected: ObjectState) -> tuple[slice, slice] | None:
        """Rows and columns around where the tag should be; None: it should not be seen."""
        world = self._corners @ rotation_matrix(expected.quaternion).T + expected.position
        pixels = self.camera.project(world)
        if not np.isfinite(pixels).all():
            return None
        low, high = pixels.min(axis=0), pixels.max(axis=0)
        margin = max(_LEAST_MARGIN, _MARGIN * float((high - low).max()))
        size = np.array((self.camera.width, self.camera.height))
        first = np.clip(np.floor(low - margin), 0, size).astype(int)
        last = np.clip(np.ceil(high + margin), 0, size).astype(int)
        if (last - first < _LEAST_MARGIN).any():
            return None
        return slice(first[1], last[1]), slice(first[0], last[0])


def _colour_time(frame: RgbdFrame) -> float:
    return frame.time if frame.colour_time is None else frame.colour_time


def _dictionary(name: str) -> Any:
    return cv2.aruco.getPredefinedDictionary(dictionaries()[name])
