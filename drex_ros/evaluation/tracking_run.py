# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Lets trackers work on a sequence, and keeps how right each answer was and what it cost.

Costs are processor time of this process: on a busy machine a clock on the wall would measure the
others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from drex_ros.evaluation.scoring import CHI_SQUARE_95, PoseError, state_error
from drex_ros.evaluation.sequence import Sequence, SequenceSpec
from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.objects import load_object
from drex_ros.perception.estimate import ObjectEstimate, PoseBackend, TrackStatus
from drex_ros.perception.frame import RgbdFrame

FrameOf = Callable[[int], RgbdFrame]
Clock = Callable[[], float]

_LATE = 1e-9  # of a frame: what is done in exactly one frame misses none


@dataclass(frozen=True, eq=False)
class FrameScore:
    """What a tracker said of one frame, against the truth."""

    index: int
    """Of the frame in its sequence."""
    status: TrackStatus
    seconds: float
    """Processor time of the answer [s]."""
    visible: float
    """Truth: share of the object's own pixels that nothing hides."""
    present: bool
    """Truth: the object is there to be seen."""
    error: PoseError | None = None
    """None: the tracker gave no pose, or there is no true one."""
    normalised_square: float = math.nan
    """Error squared by its covariance, over the dimensions; NaN: there is no covariance."""

    @property
    def tracking(self) -> bool:
        """Whether the pose is said to be good."""
        return self.status is TrackStatus.TRACKING

    @property
    def inside(self) -> bool | None:
        """Whether the error is in the covariance's 95 % bound; None: there is none."""
        if self.error is None or not math.isfinite(self.normalised_square):
            return None
        dimensions = 3 + self.error.basis.shape[1]
        return bool(self.normalised_square * dimensions < CHI_SQUARE_95[dimensions])

    def within(self, distance: float, angle: float) -> bool:
        """Whether there is a pose with errors below these [m, rad]."""
        return (
            self.error is not None and self.error.distance < distance and self.error.angle < angle
        )


@dataclass(frozen=True, eq=False)
class TrackingRun:
    """All that a tracker said of a sequence."""

    spec: SequenceSpec
    frames: tuple[FrameScore, ...]
    """Those that it was given, in order."""
    event: int | None = None
    """First frame at which the object is lost or elsewhere; None: never."""
    back: int | None = None
    """First frame at which it is to be seen again."""

    @property
    def found(self) -> int | None:
        """Number in `frames` of the first that is tracked; None: there is none."""
        return next((i for i, frame in enumerate(self.frames) if frame.tracking), None)


def run_together(
    backends: Mapping[str, PoseBackend],
    sequence: Sequence,
    *,
    frame_of: FrameOf | None = None,
    indices: Iterable[int] | None = None,
    clock: Clock = time.process_time,
) -> dict[str, TrackingRun]:
    """Give frames to trackers, each frame to all of them in turn, so that all see the same load.

    Args:
        backends: trackers by name; they have seen nothing yet.
        sequence: with the truth.
        frame_of: makes the frame with a number; None: as the sequence has it.
        indices: numbers of the frames, in order; None: all.
        clock: that costs are measured by [s].

    Returns:
        The runs, by the trackers' names.
    """
    group = SymmetryGroup(load_object(sequence.spec.thing).symmetry)
    frame_of = frame_of or sequence.frame
    scores: dict[str, list[FrameScore]] = {name: [] for name in backends}
    order = list(backends)
    for i in range(len(sequence)) if indices is None else indices:
        frame = in_memory(frame_of(i))
        for name in order:
            begin = clock()
            estimate = backends[name].update(frame)
            seconds = clock() - begin
            scores[name].append(_score(sequence, group, i, estimate, seconds))
        order.reverse()  # nobody always finds the pictures in the processor's cache
    return {
        name: TrackingRun(sequence.spec, tuple(frames), sequence.event, sequence.back)
        for name, frames in scores.items()
    }


def run_live(
    backend: PoseBackend, sequence: Sequence, *, clock: Clock = time.process_time
) -> TrackingRun:
    """Give frames to a tracker as a camera does: those that come while it computes are missed."""
    group = SymmetryGroup(load_object(sequence.spec.thing).symmetry)
    scores: list[FrameScore] = []
    i = 0
    while i < len(sequence):
        frame = in_memory(sequence.frame(i))
        begin = clock()
        estimate = backend.update(frame)
        seconds = clock() - begin
        scores.append(_score(sequence, group, i, estimate, seconds))
        i += max(1, math.ceil(seconds * sequence.spec.fps - _LATE))
    return TrackingRun(sequence.spec, tuple(scores), sequence.event, sequence.back)


def in_memory(frame: RgbdFrame) -> RgbdFrame:
    """The same frame with pictures that need not be read from the disk at the first look."""
    return replace(frame, colour=np.array(frame.colour), depth=np.array(frame.depth))


def _score(
    sequence: Sequence, group: SymmetryGroup, i: int, estimate: ObjectEstimate, seconds: float
) -> FrameScore:
    error, square = None, math.nan
    if estimate.state is not None and sequence.present[i]:
        error = state_error(group, sequence.pose[i], estimate.state)
        if np.isfinite(estimate.state.covariance[:6, :6]).all():
            square = error.normalised_square(estimate.state.covariance)
    return FrameScore(
        index=i,
        status=estimate.status,
        seconds=seconds,
        visible=float(sequence.visible[i]),
        present=bool(sequence.present[i]),
        error=error,
        normalised_square=square,
    )
