# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The object that pose_tracker tracks: its model, its tracker, and how often it is looked for."""

from __future__ import annotations

from dataclasses import replace

from drex_ros.nodes.tracker_backends import TrackerMaker
from drex_ros.objects import ObjectModel
from drex_ros.perception.estimate import (
    Detection,
    Evidence,
    ObjectEstimate,
    PoseBackend,
    TrackStatus,
)
from drex_ros.perception.external_poses import ExternalPoses
from drex_ros.perception.frame import Colour, RgbdFrame
from drex_ros.perception.object_tracker import ObjectTracker
from drex_ros.perception.overlay import Overlay
from drex_ros.perception.rectification import Lens
from drex_ros.perception.silhouette_check import SilhouetteWatch
from drex_ros.perception.table_watch import TableView
from drex_ros.perception.tag_tracker import TagTracker
from drex_ros.robot.camera import CameraModel

_UNSEEN = (TrackStatus.DETECTING, TrackStatus.LOST)
_DELAY_KNOWN = 0.003  # [s] deviation of a delay that is worth a word


class TrackedObject:
    """An object and what tracks it, as soon as the camera's lens is known."""

    def __init__(self, model: ObjectModel, maker: TrackerMaker) -> None:
        """Begin without a lens; `see_through` must come first."""
        self.model = model
        self.last: ObjectEstimate | None = None
        """The answer for the newest frame."""
        self.searches = 0
        """Frames in which it was looked for anew."""
        self._maker = maker
        self._lens: Lens | None = None
        self.camera: CameraModel | None = None
        """Of the rectified pictures."""
        self._backend: PoseBackend | None = None
        self._tag: TagTracker | None = None
        self._overlay: Overlay | None = None
        self._searched: float | None = None
        silhouette = maker.silhouette
        self._watch = None if silhouette is None else SilhouetteWatch(silhouette)

    @property
    def camera_doubt(self) -> str:
        """What contradicts the pose of the camera, in words; empty: nothing."""
        if self.table is not None and self.table.contradicts:
            return self.table.words
        return '' if self._watch is None else self._watch.words

    @property
    def table(self) -> TableView | None:
        """What the table says about depth and camera; None: nothing yet."""
        backend = self._backend
        return backend.table_view if isinstance(backend, ObjectTracker) else None

    @property
    def colour_delay(self) -> float | None:
        """By how much colours are later than their stamps say [s]; None: not known yet."""
        if not isinstance(self._backend, ObjectTracker):
            return None
        delay, deviation = self._backend.colour_delay
        return delay if deviation < _DELAY_KNOWN else None

    @property
    def external(self) -> ExternalPoses | None:
        """What takes poses of another tracker; None: nothing does."""
        return self._backend if isinstance(self._backend, ExternalPoses) else None

    def see_through(self, lens: Lens) -> None:
        """Prepare for the pictures of a lens; the same again costs nothing. Raises ValueError."""
        if lens is self._lens and self._backend is not None:
            return
        self._backend = None
        self.camera = camera = self._maker.camera(lens)
        self._tag = self._maker.tag_reader(camera)
        self._backend = self._maker.backend(self.model, camera)
        self._lens = lens
        self._begin()

    def update(self, frame: RgbdFrame, search_period: float) -> ObjectEstimate:
        """Where it is in this frame. Raises ValueError for a frame that cannot be used.

        Args:
            frame: the newest.
            search_period: least time between two searches [s]: each takes as long as some ten
                frames in which it is followed.
        """
        backend, last = self._backend, self.last
        assert backend is not None, 'see_through first'
        unseen = last is None or last.status in _UNSEEN
        if last is not None and unseen and self._rests(frame.time, search_period):
            self.last = replace(last, time=frame.time, state=None, evidence=Evidence())
            return self.last
        if unseen:
            self.searches += 1
            self._searched = frame.time
        observation = None
        if self._tag is not None and (last is None or last.status is not TrackStatus.TRACKING):
            observation = self._tag.observe(frame)
        self.last = self._doubted(backend.update(frame, observation))
        if not unseen and self.last.status in _UNSEEN:
            self._searched = frame.time  # it was lost and looked for in this frame
        return self.last

    def detect(self, frame: RgbdFrame) -> Detection:
        """Look for it anew. Raises ValueError for a frame that cannot be used."""
        assert self._backend is not None, 'see_through first'
        self.searches += 1
        self._searched = frame.time
        found = self._backend.detect(frame)
        status = TrackStatus.TRACKING if found.found else TrackStatus.DETECTING
        reason, state = ('', found.state) if found.found else (found.message, None)
        self.last = ObjectEstimate(frame.time, status, reason, state)
        return found

    def smoothed(self) -> ObjectEstimate | None:
        """What the last update made final; None: nothing."""
        found = None if self._backend is None else self._backend.smoothed()
        return None if found is None else self._doubted(found)

    def check_camera(self, frame: RgbdFrame) -> None:
        """See now and then whether the robot is where the camera should see it."""
        if self._watch is not None:
            self._watch.look(frame, 1.0 if self.table is None else self.table.scale)

    def forget(self) -> None:
        """Begin anew, as after a jump of time."""
        self._begin()
        if self._backend is not None:
            self._backend.forget()

    def _begin(self) -> None:
        self.last = self._searched = None
        if self._watch is not None:
            self._watch.forget()

    def draw(self, colour: Colour) -> Colour:
        """A copy of a picture with the newest answer in it."""
        assert self.camera is not None
        assert self.last is not None
        if self._overlay is None:
            self._overlay = Overlay(self.model.mesh)
        return self._overlay.draw(colour, self.camera, self.last)

    def _doubted(self, estimate: ObjectEstimate) -> ObjectEstimate:
        """The estimate, not called good while the camera is not where it should be."""
        doubt = self.camera_doubt
        if not doubt or estimate.status is not TrackStatus.TRACKING:
            return estimate
        return replace(estimate, status=TrackStatus.UNCERTAIN, reason=doubt)

    def _rests(self, time: float, search_period: float) -> bool:
        """Whether it was looked for so lately that this frame may be left out."""
        if not isinstance(self._backend, ObjectTracker) or self._searched is None:
            return False
        return 0.0 <= time - self._searched < search_period
