# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What runs of a tracker come to: accuracy, honesty, cost, losses and false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from drex_ros.evaluation.scoring import Summary, summary
from drex_ros.evaluation.tracking_run import FrameScore, TrackingRun
from drex_ros.perception.estimate import TrackStatus

FAR = (0.02, math.radians(20.0))
"""Errors [m, rad] above which a pose has nothing to do with the object."""
FAR_FRAMES = 5
"""Frames in a row with such errors after which a sequence counts as lost."""
RIGHT = (0.005, math.radians(8.0))
"""Errors [m, rad] below which an object counts as found again."""
PROMISED = (0.001, math.radians(1.3))
"""Errors [m, rad] that 95 % of the tracked poses are to be below."""
REPORTED = 2
"""Frames within which a loss is to be reported, the first different one included."""
AGAIN = 0.5
"""Time within which a pose is to be right again [s]."""
SEEN = 0.3
"""Least share of an object to be seen at which it is an alarm that it is not tracked."""

_Z_95 = 1.959964  # normal deviate of 95 % on both sides
_NAN = math.nan


@dataclass(frozen=True)
class Accuracy:
    """How well some sequences were tracked."""

    sequences: int
    lost: tuple[str, ...]
    """Names of the sequences that were lost or never found."""
    until_found: int
    """Frames before the first that is tracked, over all sequences."""
    frames: int
    """From the first that is tracked on."""
    tracking: float
    """Share of these with status TRACKING."""
    errors: Summary
    """Over the frames with status TRACKING."""
    all_errors: Summary
    """Over all frames with a pose, whatever its status."""
    normalised_square: float
    """Mean over the frames with status TRACKING; 1 where covariances are right."""
    inside: float
    """Share of them inside their 95 % bound."""
    seconds_median: float
    """Of the frames after the first that is tracked [s]."""
    seconds_95: float
    """95th percentile of the same [s]."""


def is_lost(run: TrackingRun) -> bool:
    """Whether a run never found its object, lost it, or followed something else.

    A pose that is far off is no loss where it is not said to be good and its covariance admits it:
    the object was hidden, and the tracker said that it does not know.
    """
    # One that is never sure, as of a mug whose handle is never seen, has a pose all the same.
    first = run.found or 0
    in_a_row = 0
    for frame in run.frames[first:]:
        if run.found is None and frame.present and frame.error is None:
            return True
        if frame.status is TrackStatus.LOST:
            return True
        far = frame.error is not None and (
            frame.error.distance > FAR[0] or frame.error.angle > FAR[1]
        )
        admitted = not frame.tracking and frame.inside is True
        in_a_row = in_a_row + 1 if far and not admitted else 0
        if in_a_row >= FAR_FRAMES:
            return True
    return False


def accuracy(runs: Sequence[TrackingRun]) -> Accuracy:
    """The figures of some runs together."""
    kept: list[FrameScore] = []
    seconds: list[float] = []
    until_found = 0
    for run in runs:
        first = len(run.frames) if run.found is None else run.found
        until_found += first
        kept += run.frames[first:]
        seconds += [frame.seconds for frame in run.frames[first + 1 :]]
    tracked = [frame for frame in kept if frame.tracking]
    squares = [
        frame.normalised_square for frame in tracked if math.isfinite(frame.normalised_square)
    ]
    inside = [frame.inside for frame in tracked if frame.inside is not None]
    median, high = np.percentile(seconds, (50.0, 95.0)) if seconds else (_NAN, _NAN)
    return Accuracy(
        sequences=len(runs),
        lost=tuple(run.spec.name for run in runs if is_lost(run)),
        until_found=until_found,
        frames=len(kept),
        tracking=_share(len(tracked), len(kept)),
        errors=summary(frame.error for frame in tracked if frame.error is not None),
        all_errors=summary(frame.error for frame in kept if frame.error is not None),
        normalised_square=float(np.mean(squares)) if squares else _NAN,
        inside=_share(sum(inside), len(inside)),
        seconds_median=float(median),
        seconds_95=float(high),
    )


@dataclass(frozen=True)
class EventOutcome:
    """What a tracker made of one event."""

    name: str
    """Of the sequence."""
    found_before: bool
    """It was tracked right before the event, so that there was something to lose."""
    report: int | None
    """Frame in which the loss is reported, 1: the first different one; None: never."""
    again: float | None
    """Time from when the object is back until a right pose is out [s]; None: never."""
    gone: int
    """Frames after the first REPORTED ones in which the object is not there."""
    deceived: int
    """Those of them with status TRACKING."""
    wrong_end: bool
    """At the end something else is said to be tracked."""


def event_outcome(run: TrackingRun) -> EventOutcome:
    """What became of an event; the run's sequence must have one."""
    event, back = run.event, run.back
    if event is None or back is None:
        raise ValueError(f'{run.spec.name}: has no event; take a sequence with one')
    before = [frame for frame in run.frames if frame.index < event]
    after = [frame for frame in run.frames if frame.index >= event]
    report = next(
        (
            frame.index - event + 1
            for frame in after
            if not frame.tracking or (frame.present and frame.within(*RIGHT))
        ),
        None,
    )
    again = next(
        (
            (frame.index - back) / run.spec.fps + frame.seconds
            for frame in after
            if frame.index >= back and frame.tracking and frame.within(*RIGHT)
        ),
        None,
    )
    gone = [frame for frame in after if event + REPORTED <= frame.index < back]
    last = run.frames[-1]
    return EventOutcome(
        name=run.spec.name,
        found_before=bool(before) and before[-1].tracking and before[-1].within(*RIGHT),
        report=report,
        again=again,
        gone=len(gone),
        deceived=sum(frame.tracking for frame in gone),
        wrong_end=last.tracking and not last.within(*FAR),
    )


@dataclass(frozen=True)
class Share:
    """A count out of a number, with its 95 % interval after Wilson."""

    count: int
    number: int

    @property
    def value(self) -> float:
        """From 0 to 1; NaN of nothing."""
        return _share(self.count, self.number)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share is in 95 % of cases."""
        if not self.number:
            return 0.0, 1.0
        n, p, z = self.number, self.value, _Z_95
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


@dataclass(frozen=True)
class EventSummary:
    """Outcomes of many events."""

    events: int
    not_found_before: int
    """Events left out, as the object was not tracked when they came."""
    reported: Share
    """Within REPORTED frames."""
    report_frames: tuple[int, ...]
    """Frames until the report, sorted, of those that were reported."""
    again: Share
    """Right within AGAIN after the object is back."""
    again_median: float
    """Time until it is right again [s], of those that became right."""
    deceived: Share
    """Frames with status TRACKING while the object is not there."""
    wrong_end: int
    """Events after which something else is said to be tracked to the end."""
    late: tuple[str, ...]
    """Names of those not reported in time."""
    not_again: tuple[str, ...]
    """Names of those not right again in time."""


def event_summary(outcomes: Sequence[EventOutcome]) -> EventSummary:
    """The figures of some events together."""
    kept = [each for each in outcomes if each.found_before]
    reports = sorted(each.report for each in kept if each.report is not None)
    late = [each.name for each in kept if each.report is None or each.report > REPORTED]
    not_again = [each.name for each in kept if each.again is None or each.again > AGAIN]
    times = [each.again for each in kept if each.again is not None]
    return EventSummary(
        events=len(outcomes),
        not_found_before=len(outcomes) - len(kept),
        reported=Share(len(kept) - len(late), len(kept)),
        report_frames=tuple(reports),
        again=Share(len(kept) - len(not_again), len(kept)),
        again_median=float(np.median(times)) if times else _NAN,
        deceived=Share(sum(each.deceived for each in kept), sum(each.gone for each in kept)),
        wrong_end=sum(each.wrong_end for each in kept),
        late=tuple(late),
        not_again=tuple(not_again),
    )


def false_alarms(runs: Sequence[TrackingRun]) -> Share:
    """Frames not tracked although nothing is wrong, out of all frames without a reason for that.

    The object was found before, SEEN of it is to be seen, and no event is under way nor was over
    less than AGAIN ago. An alarm is false when there is no pose, or one as right as PROMISED:
    who is uncertain and not that right has said the truth.
    """
    calm = list(_calm(runs))
    return Share(sum(not frame.tracking and _is_right(frame) for frame in calm), len(calm))


def alarms(runs: Sequence[TrackingRun]) -> Share:
    """Frames not tracked for whatever reason, out of those of `false_alarms`."""
    calm = list(_calm(runs))
    return Share(sum(not frame.tracking for frame in calm), len(calm))


def _is_right(frame: FrameScore) -> bool:
    return frame.error is None or frame.within(*PROMISED)


def _calm(runs: Sequence[TrackingRun]) -> Iterator[FrameScore]:
    for run in runs:
        if run.found is None:
            continue
        for frame in run.frames[run.found :]:
            if frame.present and frame.visible >= SEEN and not _disturbed(run, frame.index):
                yield frame


def _disturbed(run: TrackingRun, index: int) -> bool:
    if run.event is None or run.back is None:
        return False
    return run.event <= index <= run.back + AGAIN * run.spec.fps


def _share(count: float, number: int) -> float:
    return count / number if number else _NAN
