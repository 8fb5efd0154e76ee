# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How often an object is found at once in a single frame, and how often where it is not."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence as Many
from dataclasses import dataclass

import numpy as np

from drex_ros.evaluation.scoring import state_error
from drex_ros.evaluation.sequence import Sequence
from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.evaluation.tracking_run import in_memory
from drex_ros.evaluation.tracking_table import Share
from drex_ros.objects import load_object
from drex_ros.perception.estimate import PoseBackend

RIGHT = (0.008, math.radians(8.0))
"""Errors [m, rad] below which a detection is right."""
OTHERS = 5
"""Frames of a sequence that are tried besides the first."""
ABSENT = 3
"""Frames of an event that are tried in which the object is not there."""


@dataclass(frozen=True)
class Look:
    """One detection without anything known of colours or place."""

    thing: str
    kind: str
    index: int
    visible: float
    """Truth: share of the object to be seen; 0: it is not there."""
    found: bool
    score: float
    right: bool
    """Found, and where it is."""
    seconds: float
    """Processor time [s]."""


def look(backend: PoseBackend, sequence: Sequence) -> list[Look]:
    """Detect in some frames of a sequence; where there is an event, while the object is gone."""
    group = SymmetryGroup(load_object(sequence.spec.thing).symmetry)
    looks = []
    for i in _indices(sequence):
        frame = in_memory(sequence.frame(i))
        backend.forget()
        begin = time.process_time()
        answer = backend.detect(frame)
        seconds = time.process_time() - begin
        right = False
        if answer.found and answer.state is not None and sequence.present[i]:
            error = state_error(group, sequence.pose[i], answer.state)
            right = error.distance < RIGHT[0] and error.angle < RIGHT[1]
        looks.append(
            Look(
                sequence.spec.thing,
                sequence.spec.kind,
                i,
                float(sequence.visible[i]),
                answer.found,
                answer.score,
                right,
                seconds,
            )
        )
    return looks


def _indices(sequence: Sequence) -> list[int]:
    if sequence.event is None or sequence.back is None:
        spread = np.linspace(0, len(sequence) - 1, OTHERS + 1)
    elif sequence.event == sequence.back:
        return []  # it is somewhere else at once, never gone
    else:
        spread = np.linspace(sequence.event, sequence.back - 1, ABSENT)
    return [round(float(each)) for each in spread]


@dataclass(frozen=True)
class DetectionSummary:
    """Some looks together."""

    right: Share
    wrong: Share
    """Found where it is not."""
    score: tuple[float, float, float]
    """5th percentile, median, 95th percentile of all scores."""
    right_score: tuple[float, float, float]
    """The same of those that are right."""
    seconds_median: float
    seconds_95: float


def detection_summary(looks: Many[Look]) -> DetectionSummary:
    """The figures of some looks."""
    seconds = [each.seconds for each in looks]
    median, high = np.percentile(seconds, (50.0, 95.0)) if seconds else (math.nan, math.nan)
    return DetectionSummary(
        Share(sum(each.right for each in looks), len(looks)),
        Share(sum(each.found and not each.right for each in looks), len(looks)),
        _spread([each.score for each in looks]),
        _spread([each.score for each in looks if each.right]),
        float(median),
        float(high),
    )


def _spread(values: list[float]) -> tuple[float, float, float]:
    if not values:
        return math.nan, math.nan, math.nan
    low, middle, high = np.percentile(values, (5.0, 50.0, 95.0))
    return float(low), float(middle), float(high)
