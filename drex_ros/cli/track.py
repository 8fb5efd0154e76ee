# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex track`: run the tracker on a recorded bag; poses as CSV, and a video to look at."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from drex_ros.cli.bag_frames import BagFrames, find_topics
from drex_ros.cli.bag_reading import Bag, BagError
from drex_ros.cli.track_files import TrackFile
from drex_ros.hardware.movie import MovieError, MovieWriter
from drex_ros.hardware.scene_file import Scene, SceneError, load_scene
from drex_ros.objects import ObjectError, ObjectModel, load_object
from drex_ros.perception.backends import BACKENDS, BackendError, make_backend
from drex_ros.perception.calibration_file import CalibrationError, load_camera_pose
from drex_ros.perception.estimate import ObjectEstimate, PoseBackend, TrackStatus
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.overlay import Overlay
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.tag_file import load_tag
from drex_ros.perception.tag_tracker import TagError, TagSettings
from drex_ros.robot.camera import CameraError, CameraModel
from drex_ros.robot.description import DescriptionError


class TrackError(RuntimeError):
    """A bag cannot be tracked; the message is one readable line."""

_VIDEO = 'overlay.mp4'


@dataclass(frozen=True)
class TrackOptions:
    """What `drex track` was told."""

    bag: Path
    thing: str
    """Name of the object, or its YAML file."""
    output: Path | None = None
    """Folder; None: named after bag and object, below the current one."""
    camera_pose: Path | None = None
    video: bool = True
    namespace: str = ''
    backend: str = 'mesh'
    tag: Path | None = None
    """YAML file of the tag on the object."""


@dataclass
class Summary:
    """How it went."""

    output: Path
    statuses: Counter[TrackStatus] = field(default_factory=Counter)
    durations: list[float] = field(default_factory=list)
    """Of the tracker on each frame [s]."""
    smoothed: int = 0
    notes: list[str] = field(default_factory=list)
    last_reason: str = ''
    """Why the object was not tracked when it last was not."""
    damage: str = ''
    """What is wrong with the bag; empty: it was read to its end."""

    @property
    def frames(self) -> int:
        """Frames that were tracked."""
        return len(self.durations)

    def line(self) -> str:
        """All of it in one line."""
        shares = ', '.join(
            f'{count / self.frames:.1%} {status.name.lower()}'
            for status, count in sorted(self.statuses.items())
        )
        milliseconds = 1e3 * float(np.median(self.durations))
        return f'{self.frames} frames: {shares}; {milliseconds:.1f} ms a frame (median)'


def run_track(options: TrackOptions) -> int:
    """Track and say how it went; 1 when the bag is damaged. Raises TrackError."""
    console = Console(stderr=True, highlight=False)
    summary = track_bag(options, console)
    for note in summary.notes:
        console.print(f'note: {note}', markup=False, soft_wrap=True)
    print(summary.line())
    if not summary.statuses[TrackStatus.TRACKING]:
        print(f'never tracked: {summary.last_reason}')
    print(f'written to {summary.output}')
    if summary.damage:
        console.print(
            f'drex track: {options.bag} is damaged ({summary.damage}): '
            f'{summary.frames} frames were read and are written',
            markup=False,
            soft_wrap=True,
        )
    return int(bool(summary.damage))


def track_bag(options: TrackOptions, console: Console | None = None) -> Summary:
    """Track all frames of a bag and write the files. Raises TrackError."""
    try:
        return _track(options, console or Console(quiet=True))
    except (
        *(BagError, BackendError, CalibrationError, CameraError, DescriptionError),
        *(MovieError, ObjectError, SceneError, TagError),
    ) as error:
        raise TrackError(str(error)) from None
    except OSError as error:
        raise TrackError(f'{error.filename or options.bag}: {error.strerror}') from None


def _track(options: TrackOptions, console: Console) -> Summary:
    model = load_object(options.thing)
    tag = _tag(options)
    with Bag(options.bag) as bag:
        topics = find_topics(bag, options.namespace)
        frames = BagFrames(bag, topics)
        summary = Summary(_output_folder(options, model))
        camera, scene = _camera(options, frames, summary)
        silhouette = None
        if options.backend == 'mesh':
            if topics.joints:
                silhouette = RobotSilhouette(camera)
            else:
                summary.notes.append('no joint_states in the bag: the robot is not masked')
        backend = make_backend(
            options.backend,
            model,
            camera,
            tag=tag,
            silhouette=silhouette,
            table_extent=_extent(scene) if scene else None,
        )
        _follow(options, frames, backend, Overlay(model.mesh), camera, summary, console)
        summary.damage = bag.damage
        if topics.joints and frames.without_posture:
            summary.notes.append(
                f'{frames.without_posture} frames have no joint state near them: '
                'there the robot is not masked'
            )
        if frames.jumps:
            summary.notes.append(f'time went back {frames.jumps} times: each a new start')
    return summary


def _follow(
    options: TrackOptions,
    frames: BagFrames,
    backend: PoseBackend,
    overlay: Overlay,
    camera: CameraModel,
    summary: Summary,
    console: Console,
) -> None:
    """Run the backend over all frames and write what it says."""
    folder = summary.output
    with ExitStack() as stack:
        poses = stack.enter_context(TrackFile(folder / 'poses.csv'))
        smoothed = stack.enter_context(TrackFile(folder / 'smoothed.csv'))
        video: MovieWriter | None = None
        # H.264 halves the colours, so a last odd row or column is left out.
        size = camera.width // 2 * 2, camera.height // 2 * 2
        if options.video:
            video = stack.enter_context(MovieWriter(folder / _VIDEO, size, frames.rate))
        else:
            (folder / _VIDEO).unlink(missing_ok=True)  # of another run
        newest = -np.inf
        with _progress(console, frames.expected) as progress:
            for frame in progress(frames):
                estimate = _timed(backend, frame, summary)
                poses.add(estimate)
                final = backend.smoothed()
                if final is not None and final.time != newest:
                    newest = final.time
                    smoothed.add(final)
                if video is not None:
                    picture = overlay.draw(frame.colour, camera, estimate)
                    video.add(np.ascontiguousarray(picture[: size[1], : size[0]]))
        if not summary.frames:
            raise TrackError(
                f'{options.bag}: no colour and depth images with the same stamp can be read'
            )
        summary.smoothed = smoothed.count


def _timed(backend: PoseBackend, frame: RgbdFrame, summary: Summary) -> ObjectEstimate:
    start = time.perf_counter()
    estimate = backend.update(frame)
    summary.durations.append(time.perf_counter() - start)
    summary.statuses[estimate.status] += 1
    summary.last_reason = estimate.reason or summary.last_reason
    return estimate


@contextmanager
def _progress(console: Console, total: int) -> Iterator[_Bar]:
    """A bar with frames, speed and time left, where there is a terminal to show it."""
    progress = Progress(
        TextColumn('tracking'),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn('{task.fields[rate]:.0f} frames/s'),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with progress:
        yield _Bar(progress, total)


class _Bar:
    """Counts frames as they go by."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._task = progress.add_task('', total=total, rate=0.0)

    def __call__(self, frames: BagFrames) -> Iterator[RgbdFrame]:
        start = time.perf_counter()
        for count, frame in enumerate(frames, start=1):
            yield frame
            rate = count / max(time.perf_counter() - start, 1e-9)
            self._progress.update(self._task, completed=count, rate=rate)


def _tag(options: TrackOptions) -> TagSettings | None:
    if options.backend not in BACKENDS:
        raise TrackError(f'no backend {options.backend!r}; there are: {", ".join(BACKENDS)}')
    if options.backend == 'tag' and options.tag is None:
        raise TrackError('--backend tag needs --tag FILE, the YAML file of the tag')
    return None if options.tag is None else load_tag(options.tag)


def _output_folder(options: TrackOptions, model: ObjectModel) -> Path:
    name = options.bag.absolute().name.removesuffix(options.bag.suffix)
    folder = options.output or Path(f'{name}_{model.name}')
    if folder.exists() and not folder.is_dir():
        raise TrackError(f'{folder} is a file, must be a folder')
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _camera(
    options: TrackOptions, frames: BagFrames, summary: Summary
) -> tuple[CameraModel, Scene | None]:
    """The camera; and the scene, where its pose is that of the simulated one."""
    if options.camera_pose is not None:
        pose = load_camera_pose(options.camera_pose)
        frames.depth_scale = pose.depth_scale
        return frames.lens.camera(pose.position, pose.quaternion), None
    scene = load_scene()
    summary.notes.append(
        f'the camera is taken to be where {scene.source.name} has it; else give --camera-pose'
    )
    return frames.lens.camera(scene.camera.position, scene.camera.quaternion), scene


def _extent(scene: Scene) -> tuple[float, float, float, float]:
    (x, y), (length, width) = scene.table_position, scene.table_size
    return x - length / 2, y - width / 2, x + length / 2, y + width / 2
