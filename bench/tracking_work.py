# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""All that the tracking benchmark does with one sequence, in a process of its own or not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
from tracking_detection import Look, look
from tracking_stress import STRESSES, Trial

from drex_ros.evaluation.sequence import Sequence, SequenceSpec, load_sequence
from drex_ros.evaluation.sequences import KINDS, make_event, make_sequence
from drex_ros.evaluation.tagging import TAGGED, tag_plate
from drex_ros.evaluation.tracking_run import TrackingRun, run_live, run_together
from drex_ros.hardware.gl import choose_gl
from drex_ros.hardware.scene_file import Scene, load_scene
from drex_ros.objects import ObjectModel, load_object
from drex_ros.perception.estimate import PoseBackend, TrackStatus
from drex_ros.perception.object_tracker import ObjectTracker, TrackerSettings
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.silhouette_check import SilhouetteWatch
from drex_ros.perception.tag_tracker import TagTracker
from drex_ros.perception.warm_up import warm_up
from drex_ros.robot.camera import CameraModel

OURS, ICP, TAG = 'ours', 'ICP', 'tag'

_LOOKS = 2  # at the robot, that the node takes before it believes them
_SHORT = 12  # frames of the run that is thrown away


@dataclass(frozen=True)
class Questions:
    """What is to be measured."""

    icp: bool = False
    tag: bool = False
    events: bool = False
    stress: bool = False
    detection: bool = False


@dataclass(frozen=True)
class Job:
    """A sequence, to be made or to be read."""

    spec: SequenceSpec
    folder: Path | None = None

    @property
    def plain(self) -> bool:
        """Without an event."""
        return self.spec.kind in KINDS

    def sequence(self) -> Sequence:
        """The sequence itself."""
        if self.folder is not None:
            return load_sequence(self.folder)
        return make_sequence(self.spec) if self.plain else make_event(self.spec)


@dataclass(frozen=True, eq=False)
class Result:
    """What came of a sequence."""

    spec: SequenceSpec
    runs: dict[str, TrackingRun] = field(default_factory=dict)
    """By tracker."""
    live: TrackingRun | None = None
    """Of an event, with frames missed while the tracker computes."""
    stress: dict[str, TrackingRun] = field(default_factory=dict)
    """By what is wrong."""
    looks: tuple[Look, ...] = ()


class Workshop:
    """Measures sequences one after another."""

    def __init__(self, questions: Questions) -> None:
        """Compile what is compiled."""
        choose_gl()
        cv2.setNumThreads(1)  # everything is measured on one core
        self._questions = questions
        self._scene = load_scene()
        self._silhouette = RobotSilhouette(self._scene.camera)
        warm_up(self._silhouette)
        self._warm = False

    def measure(self, job: Job) -> Result:
        """Answer the questions for a sequence."""
        sequence = job.sequence()
        model = load_object(sequence.spec.thing)
        if not self._warm:
            run_together(self._trackers(sequence, model), sequence, indices=range(_SHORT))
            self._warm = True
        ours = self._tracker(model, sequence.camera)
        looks = tuple(look(ours, sequence)) if self._questions.detection else ()
        if not job.plain:
            live = None
            if self._questions.events:
                live = run_live(self._tracker(model, sequence.camera), sequence)
            return Result(sequence.spec, live=live, looks=looks)
        runs = run_together(self._trackers(sequence, model), sequence)
        if self._questions.tag and model.name in TAGGED:
            runs[TAG] = self._tag(sequence.spec, model)
        stress = self._stress(sequence, model) if self._questions.stress else {}
        return Result(sequence.spec, runs, stress=stress, looks=looks)

    def _trackers(self, sequence: Sequence, model: ObjectModel) -> dict[str, PoseBackend]:
        trackers: dict[str, PoseBackend] = {OURS: self._tracker(model, sequence.camera)}
        if self._questions.icp:
            from tracking_icp import IcpTracker  # its library is needed for nothing else

            trackers[ICP] = IcpTracker.of(sequence, model, self._silhouette)
        return trackers

    def _tracker(self, model: ObjectModel, camera: CameraModel) -> ObjectTracker:
        self._silhouette.aim(camera)
        settings = TrackerSettings(table_extent=table_extent(self._scene))
        return ObjectTracker(model, camera, settings, silhouette=self._silhouette)

    def _tag(self, spec: SequenceSpec, model: ObjectModel) -> TrackingRun:
        plate = tag_plate(model)
        sequence = make_sequence(spec, tag=plate)
        tracker = TagTracker(plate.settings, sequence.camera)
        return run_together({TAG: tracker}, sequence)[TAG]

    def _stress(self, sequence: Sequence, model: ObjectModel) -> dict[str, TrackingRun]:
        runs = {}
        for name, make in STRESSES.items():
            trial = make(sequence)
            tracker = self._tracker(model, trial.camera)
            run = run_together(
                {OURS: tracker}, trial.sequence, frame_of=trial.frame_of, indices=trial.indices
            )[OURS]
            runs[name] = _doubted(run) if self._doubts_camera(trial, tracker) else run
        return runs

    def _doubts_camera(self, trial: Trial, tracker: ObjectTracker) -> bool:
        """Whether the node, which looks at the robot once a second, would not trust the camera."""
        watch = SilhouetteWatch(self._silhouette, period=0.0)
        scale = 1.0 if tracker.table_view is None else tracker.table_view.scale
        for i in range(_LOOKS):
            watch.look(trial.frame_of(i), scale)
        return bool(watch.words)


def _doubted(run: TrackingRun) -> TrackingRun:
    """The same run with no pose called good."""
    return replace(
        run,
        frames=tuple(
            replace(frame, status=TrackStatus.UNCERTAIN) if frame.tracking else frame
            for frame in run.frames
        ),
    )


def table_extent(scene: Scene) -> tuple[float, float, float, float]:
    """Least x and y, greatest x and y of the table top in world [m]."""
    (x, y), (length, width) = scene.table_position, scene.table_size
    return x - length / 2, y - width / 2, x + length / 2, y + width / 2


_workshop: Workshop | None = None


def prepare(questions: Questions) -> None:
    """Set up the workshop of this process."""
    global _workshop
    _workshop = Workshop(questions)


def measure(job: Job) -> Result:
    """Measure a sequence in the workshop of this process."""
    assert _workshop is not None
    return _workshop.measure(job)
