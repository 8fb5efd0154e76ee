# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracker as a whole: finds the object, follows it, says when it is lost, finds it again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from drex_ros.objects import ObjectModel
from drex_ros.perception.belief import START, Belief
from drex_ros.perception.detector import Detector
from drex_ros.perception.estimate import (
    Detection,
    Evidence,
    ObjectEstimate,
    PoseObservation,
    TrackStatus,
)
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.hand_motion import HandPlace
from drex_ros.perception.hypotheses import Found
from drex_ros.perception.judgement import Finding, Judge, examine
from drex_ros.perception.mesh_tracker import FilterSettings, MeshTracker
from drex_ros.perception.optical_frame import from_world, in_world
from drex_ros.perception.pose_filter import FilterStep, FixedLagSmoother
from drex_ros.perception.poses import Pose
from drex_ros.perception.raster import NOTHING
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.table_watch import TableView, TableWatch
from drex_ros.perception.tracked_mesh import TrackedMesh
from drex_ros.robot.camera import CameraModel


@dataclass(frozen=True)
class TrackerSettings:
    """What a user may want to choose."""

    filter: FilterSettings = field(default_factory=FilterSettings)
    lag: int = 3
    """Frames that the smoothed track is behind."""
    longest_gap: float = 0.25
    """Between two frames [s]; after a longer one the object is looked for anew."""
    table_extent: tuple[float, float, float, float] | None = None
    """Least x and y, greatest x and y of the table top in world [m]; None: no end is known."""


_LEARN_EVERY = 4  # frames
_LEARN_RATE = 0.2
_LEARN_INLIERS = 0.92
_LEARN_OCCLUDED = 0.3
_LEARN_WAY = 0.0015  # [m] that the object goes between colour and depth
_PLAIN_SIGHT = 0.6  # share of the object in sight at which its turn can be told
_TURNED = 'most of it is hidden, and other orientations agree about as well'
_UNEXPLAINED = 0.03  # of the object's pixels, beside it
_PICK_UP_TIME = 2.0  # [s] for which a lost object is looked for near where it was
_RECONSIDER_AFTER = 2  # frames with so much
_RECONSIDER_EVERY = 6


class ObjectTracker:
    """Tracks one object by its mesh: a PoseBackend. Not for use by two threads at once."""

    def __init__(
        self,
        model: ObjectModel,
        camera: CameraModel,
        settings: TrackerSettings | None = None,
        *,
        silhouette: RobotSilhouette | None = None,
    ) -> None:
        """Prepare for an object.

        Args:
            model: its shape, symmetry and name; mass and friction are not looked at.
            camera: intrinsics and pose.
            settings: None: the defaults.
            silhouette: draws the robot, so that it is not taken for the object; None: not known.
        """
        self.settings = settings = settings or TrackerSettings()
        self.model = model
        self.camera = camera
        self.mesh = TrackedMesh.of(model)
        self.table_view: TableView | None = None
        self._tracker = MeshTracker(self.mesh, camera, settings.filter)
        self._detector = Detector(model, self.mesh, camera)
        self._watch = TableWatch(camera, extent=settings.table_extent)
        self._silhouette = silhouette
        self._smoother = FixedLagSmoother(settings.lag)
        self._judge = Judge()
        self._robot_region = (0, 0, 0, 0)
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a jump of time; the object's colours stay known."""
        self._time: float | None = None
        self._following = self._ambiguous = False
        self._found_before = False
        self._last: tuple[float, Pose] | None = None
        self._count = 0
        self._doubts = 0
        self._smoothed: ObjectEstimate | None = None
        self._smoother.clear()
        self._judge.forget()
        self._watch.forget()

    def update(
        self, frame: RgbdFrame, observation: PoseObservation | None = None
    ) -> ObjectEstimate:
        """Where the object is in this frame."""
        self._smoothed = None
        gap = None if self._time is None else frame.time - self._time
        if gap is not None and gap <= 0.0:
            self.forget()
            gap = None
        self._time = frame.time
        self._look(frame)
        if self._following and (gap is None or gap > self.settings.longest_gap):
            self._lose()
        if self._following and gap is not None:
            estimate = self._follow(frame, gap)
            if estimate.status is not TrackStatus.LOST:
                return self._reconsider(frame, estimate)
            # Perhaps it is somewhere else: this frame may already tell.
            again = self._find(frame, observation)
            return again if self._following else estimate
        return self._find(frame, observation)

    def detect(self, frame: RgbdFrame) -> Detection:
        """Look for the object anew, without what was known of where it is."""
        self._lose()
        self._time = frame.time
        self._look(frame)
        found = self._search(frame, anew=True)
        message = found.words(self.model.name)
        if found.best is None:
            return Detection(False, 0.0, message, None)
        score, pose = found.best.score, found.best.pose
        good = found.plain is not None and self._begin(frame, pose)
        self._found_before = self._found_before or good
        belief = self._tracker.belief if good else Belief(pose, np.zeros(6), START)
        assert belief is not None
        return Detection(good, score, message, in_world(self.camera, belief), found.rivals + 1)

    @property
    def colour_delay(self) -> tuple[float, float]:
        """By how much colours are later than their stamps say, and its deviation [s]."""
        delay = self._tracker.fitter.delay
        return delay.value, delay.deviation

    def smoothed(self) -> ObjectEstimate | None:
        """The estimate, `lag` frames old, that the last update made final; None: none."""
        return self._smoothed

    def _look(self, frame: RgbdFrame) -> None:
        """See what the table says, and where the robot is."""
        self._check(frame)
        self.table_view = view = self._watch.update(frame.depth)
        fitter = self._tracker.fitter
        fitter.scale = view.scale
        self._draw_robot(frame)

    def _check(self, frame: RgbdFrame) -> None:
        size = (self.camera.height, self.camera.width)
        for name, array, shape in (
            ('colour', frame.colour, (*size, 3)),
            ('depth', frame.depth, size),
        ):
            if array.shape != shape:
                raise ValueError(f'{name} image has shape {array.shape}, must be {shape}')

    def _draw_robot(self, frame: RgbdFrame, *, whole: bool = False) -> None:
        robot = self._tracker.fitter.robot
        x, y, width, height = self._robot_region
        robot[y : y + height, x : x + width] = NOTHING
        self._robot_region = (0, 0, 0, 0)
        if self._silhouette is None or frame.joint_position is None:
            return
        region = (0, 0, self.camera.width, self.camera.height)
        if self._following and not whole and self._tracker.belief is not None:
            x, y, width, height = self._tracker.fitter.window(self._tracker.belief.pose)
            if width > 0 and height > 0:
                region = (int(x), int(y), int(width), int(height))
        self._robot_region = x, y, width, height = region
        part = np.empty((height, width), np.float32)
        self._silhouette.draw(frame.joint_position, region, part)
        robot[y : y + height, x : x + width] = part

    def _follow(self, frame: RgbdFrame, gap: float) -> ObjectEstimate:
        tracker = self._tracker
        if not tracker.advance(frame, gap, self._hand(frame)):
            self._lose()
            return self._lost(frame, 'it left the picture')
        assert tracker.fit is not None
        assert tracker.belief is not None
        finding = self._examine(frame)
        if self._ambiguous and finding.evidence.occluded > 1.0 - _PLAIN_SIGHT:
            finding = finding.no_better_than(1, _TURNED)
        else:
            self._ambiguous = False
        status = self._judge.judge(finding)

        if status is TrackStatus.LOST:
            state = in_world(self.camera, tracker.belief)
            self._lose()
            return ObjectEstimate(
                frame.time, TrackStatus.LOST, finding.reason, state, finding.evidence
            )
        if status is not TrackStatus.TRACKING:
            if finding.covered and finding.severity > 1:
                tracker.expect()
            elif not finding.only_outline:
                tracker.doubt()
        else:
            self._last = (frame.time, tracker.belief.pose)
            self._learn(frame, finding.evidence)
        self._smooth(frame.time, status, finding.reason, finding.evidence)
        state = in_world(self.camera, tracker.reported)
        reason = finding.reason
        if status is TrackStatus.TRACKING and self.table_view and self.table_view.contradicts:
            status, reason = TrackStatus.UNCERTAIN, self.table_view.words
        return ObjectEstimate(frame.time, status, reason, state, finding.evidence)

    def _hand(self, frame: RgbdFrame) -> HandPlace | None:
        if self._silhouette is None or frame.joint_position is None:
            return None
        return self._silhouette.hand(frame.joint_position)

    def _reconsider(self, frame: RgbdFrame, estimate: ObjectEstimate) -> ObjectEstimate:
        """Look anew when much of the object's colour is beside it: it may be turned otherwise."""
        unexplained = estimate.evidence.unexplained
        self._doubts = self._doubts + 1 if unexplained > _UNEXPLAINED else 0
        if self._doubts % _RECONSIDER_EVERY != _RECONSIDER_AFTER:
            return estimate
        kept, doubts = self._tracker.belief, self._doubts
        assert kept is not None
        found = self._search(frame).plain
        if found is None:
            return estimate
        if self._begin(frame, found.pose):
            other = self._began(frame)
            if self._following and other.evidence.unexplained < 0.5 * unexplained:
                return other
        self._tracker.resume(kept)
        self._following, self._doubts = True, doubts
        return estimate

    def _examine(self, frame: RgbdFrame) -> Finding:
        tracker = self._tracker
        assert tracker.fit is not None
        return examine(
            tracker.fitter, frame, tracker.fit, tracker.place_doubt(), tracker.turn_doubt()
        )

    def _learn(self, frame: RgbdFrame, evidence: Evidence) -> None:
        self._count += 1
        tracker = self._tracker
        assert tracker.belief is not None
        good = evidence.inliers > _LEARN_INLIERS and evidence.occluded < _LEARN_OCCLUDED
        # Where colour and depth are of two places, colours of the one are beside the other.
        way = abs(tracker.fitter.lateness) * float(np.linalg.norm(tracker.belief.velocity[:3]))
        if good and way < _LEARN_WAY and self._count % _LEARN_EVERY == 0:
            tracker.learn(frame, _LEARN_RATE)

    def _smooth(
        self, time: float, status: TrackStatus, reason: str, evidence: Evidence
    ) -> None:
        """Take what is believed into the smoothed track, too."""
        tracker = self._tracker
        assert tracker.belief is not None
        updated = in_world(self.camera, tracker.belief)
        before = tracker.predicted
        predicted = updated if before is None else in_world(self.camera, before)
        step = FilterStep(time, predicted, updated)
        try:
            result = self._smoother.add(step)
        except ValueError:
            self._smoother.clear()
            return
        if result is not None:
            when, state = result
            self._smoothed = ObjectEstimate(when, status, reason, state, evidence, smoothed=True)

    def _find(self, frame: RgbdFrame, observation: PoseObservation | None) -> ObjectEstimate:
        """Look for the object, and begin to follow it."""
        if observation is not None:
            pose = from_world(self.camera, observation)
            if self._begin(frame, pose):
                return self._began(frame)
        again = self._pick_up(frame)
        if again is not None:
            return again
        found = self._search(frame)
        if found.plain is None:
            return self._lost(frame, found.words(self.model.name))
        if not self._begin(frame, found.plain.pose):
            return self._lost(frame, 'it is at the edge of the picture')
        self._ambiguous = found.turned and found.plain.in_sight < _PLAIN_SIGHT
        return self._began(frame)

    def _pick_up(self, frame: RgbdFrame) -> ObjectEstimate | None:
        """Go on near where the object was lost, if it is plainly there; it may be in the hand."""
        if self._last is None or frame.time - self._last[0] > _PICK_UP_TIME:
            return None
        tracker, contact = self._tracker, self._tracker.contact
        if not tracker.pick_up(frame, self._last[1]):
            return None
        assert tracker.belief is not None
        finding = self._examine(frame)
        plain = finding.evidence.unexplained < _UNEXPLAINED and finding.evidence.colour > 0.8
        if finding.severity > 0 or not plain or finding.evidence.inliers < _LEARN_INLIERS:
            contact.release()
            return None
        self._following = True
        self._judge.forget()
        self._smoother.clear()
        state = in_world(self.camera, tracker.belief)
        return ObjectEstimate(frame.time, TrackStatus.TRACKING, '', state, finding.evidence)

    def _began(self, frame: RgbdFrame) -> ObjectEstimate:
        tracker = self._tracker
        assert tracker.fit is not None
        assert tracker.belief is not None
        finding = self._examine(frame)
        if finding.severity >= 2:
            self._lose()
            return self._lost(frame, finding.reason)
        self._found_before = True
        if self._ambiguous:
            finding = finding.no_better_than(1, _TURNED)
        status = self._judge.judge(finding)
        self._smooth(frame.time, status, finding.reason, finding.evidence)
        state = in_world(self.camera, tracker.reported)
        return ObjectEstimate(frame.time, status, finding.reason, state, finding.evidence)

    def _begin(self, frame: RgbdFrame, pose: Pose) -> bool:
        tracker = self._tracker
        if not tracker.begin(frame, pose):
            return False
        self._judge.forget()
        self._smoother.clear()
        self._following, self._ambiguous = True, False
        return True

    def _lose(self) -> None:
        self._following = False
        self._smoother.clear()
        self._judge.forget()

    def _lost(self, frame: RgbdFrame, reason: str) -> ObjectEstimate:
        status = TrackStatus.LOST if self._found_before else TrackStatus.DETECTING
        if self.table_view is not None and self.table_view.contradicts:
            reason = f'{reason}; {self.table_view.words}'  # perhaps that is why
        return ObjectEstimate(frame.time, status, reason, None)

    def _search(self, frame: RgbdFrame, *, anew: bool = False) -> Found:
        fitter = self._tracker.fitter
        self._draw_robot(frame, whole=True)
        likely: npt.NDArray[np.float32] | None = None
        if not anew and fitter.colours.known and fitter.colours.separability > 0.8:
            fitter.look_at(frame)
            whole = np.array((0, 0, self.camera.width, self.camera.height))
            likely = fitter.likely_in(whole)
        like = None
        if not anew and self._last is not None and frame.time - self._last[0] < _PICK_UP_TIME:
            like = self._last[1]
        return self._detector.detect(
            frame, scale=fitter.scale, robot=fitter.robot, likely=likely, like=like
        )
