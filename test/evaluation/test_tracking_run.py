# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of trackers over sequences, and the figures that they come to."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat

import numpy as np
import pytest

from drex_ros.evaluation.scoring import PoseError
from drex_ros.evaluation.sequence import Sequence, SequenceSpec
from drex_ros.evaluation.sequences import make_event
from drex_ros.evaluation.tracking_run import FrameScore, TrackingRun, run_live, run_together
from drex_ros.evaluation.tracking_table import (
    Share,
    accuracy,
    alarms,
    event_outcome,
    event_summary,
    false_alarms,
    is_lost,
)
from drex_ros.objects import load_object
from drex_ros.perception.estimate import ObjectEstimate, ObjectState, TrackStatus
from drex_ros.perception.object_tracker import ObjectTracker
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.rotations import quaternion_from_vector

SPEC = SequenceSpec('mug', 'slow', 1, 'tuning')
CAMERA = CameraModel.from_pose((1.0, 0.0, 0.5), (0.0, 0.5, np.pi), width=8, height=6)
DETECTING, TRACKING, UNCERTAIN, LOST = TrackStatus


def sequence(count: int, *, event: int | None = None, back: int | None = None) -> Sequence:
    """A mug that slides along x by 1 mm a frame, in pictures of nothing."""
    pose = np.tile((0.5, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0), (count, 1))
    pose[:, 0] += 0.001 * np.arange(count)
    present = np.ones(count, dtype=np.bool_)
    if event is not None:
        present[event:back] = False
    return Sequence(
        spec=SPEC,
        camera=CAMERA,
        colour=np.zeros((count, 6, 8, 3), np.uint8),
        depth=np.full((count, 6, 8), 700, np.uint16),
        time=np.arange(count) / 30.0,
        joint_position=np.zeros((count, 23)),
        pose=pose,
        twist=np.zeros((count, 6)),
        visible=present.astype(np.float64),
        present=present,
        event=event,
        back=back,
    )


class Ahead:
    """A backend that knows the truth and says something a little off it."""

    def __init__(self, truth: Sequence, status: dict[int, TrackStatus] | None = None) -> None:
        self._truth, self._status = truth, status or {}
        self.seen: list[int] = []

    def update(self, frame, observation=None) -> ObjectEstimate:
        i = round(frame.time * 30.0)
        self.seen.append(i)
        status = self._status.get(i, TRACKING)
        pose = self._truth.pose[i]
        # 2 mm of one deviation each, 0.02 rad of 0.01: 1 / 6 and 4 / 6 of the dimensions.
        state = ObjectState(
            np.add(pose[:3], (0.0, 0.002, 0.0)),
            quaternion_from_vector((0.0, 0.0, 0.02)),
            np.zeros(6),
            np.diag(np.repeat((0.002, 0.01, 1.0, 1.0), 3) ** 2.0),
        )
        return ObjectEstimate(frame.time, status, '', None if status is DETECTING else state)


def ticking(*durations: float) -> Iterator[float]:
    """Times of a clock by which calls last so long; the last one for ever."""
    now = 0.0
    for duration in chain(durations, repeat(durations[-1])):
        yield now
        now += duration
        yield now


def score(index: int, status: TrackStatus = TRACKING, off: float = 0.0, **more) -> FrameScore:
    """A frame with an error along x [m]."""
    error = PoseError(np.array((off, 0.0, 0.0)), np.zeros(3), np.eye(3))
    given = {'seconds': 0.004, 'visible': 1.0, 'present': True, 'error': error, **more}
    return FrameScore(index, status, **given)


def run_of(*frames: FrameScore, event: int | None = None, back: int | None = None) -> TrackingRun:
    return TrackingRun(SPEC, frames, event, back)


def test_errors_covariance_and_costs_of_each_frame_are_kept() -> None:
    truth = sequence(4)
    clock = ticking(0.5, 0.25)
    runs = run_together(
        {'one': Ahead(truth, {0: DETECTING})}, truth, clock=lambda: next(clock)
    )
    frames = runs['one'].frames
    assert [frame.index for frame in frames] == [0, 1, 2, 3]
    assert [frame.seconds for frame in frames] == [0.5, 0.25, 0.25, 0.25]
    assert frames[0].error is None
    assert frames[0].inside is None
    assert runs['one'].found == 1
    for frame in frames[1:]:
        assert frame.error is not None
        assert frame.error.translation == pytest.approx((0.0, -0.002, 0.0))
        assert frame.error.angle == pytest.approx(0.02)
        assert frame.normalised_square == pytest.approx(5.0 / 6.0)
        assert frame.inside is True


def test_error_outside_of_the_bound_is_found_out() -> None:
    assert score(0, normalised_square=2.05).inside is True
    assert score(0, normalised_square=2.15).inside is False  # 12.59 / 6 = 2.10


def test_tracker_is_run_on_rendered_pictures() -> None:
    rendered = make_event(SequenceSpec('box', 'teleported', 3, 'tuning'), frames=16)
    tracker = ObjectTracker(load_object('box'), rendered.camera)
    found = accuracy([run_together({'ours': tracker}, rendered, indices=range(4))['ours']])
    assert (found.frames, found.until_found, found.tracking) == (4, 0, 1.0)
    assert 0.0 < found.errors.translation_median < 0.003
    assert 0.0 < found.errors.rotation_median < np.radians(3.0)
    assert found.normalised_square > 0.0
    assert found.seconds_median > 0.0


def test_where_the_object_is_not_there_no_pose_is_right() -> None:
    truth = sequence(6, event=2, back=4)
    frames = run_together({'one': Ahead(truth)}, truth)['one'].frames
    assert [frame.error is None for frame in frames] == [False, False, True, True, False, False]


def test_all_trackers_are_given_the_same_frames() -> None:
    truth = sequence(6)
    first, second = Ahead(truth), Ahead(truth)
    runs = run_together({'first': first, 'second': second}, truth, indices=range(0, 6, 2))
    assert first.seen == second.seen == [0, 2, 4]
    assert [frame.index for frame in runs['second'].frames] == [0, 2, 4]


def test_frames_can_be_made_otherwise() -> None:
    """The camera's pictures are spoiled, the truth is not."""
    truth = sequence(3)
    tracker = Ahead(truth)
    run_together({'one': tracker}, truth, frame_of=lambda i: replace(truth.frame(i), time=0.0))
    assert tracker.seen == [0, 0, 0]


def test_frames_that_come_while_a_tracker_computes_are_missed() -> None:
    truth = sequence(12)
    tracker = Ahead(truth)
    clock = ticking(0.110, 0.004, 0.034, 1.0 / 30.0, 0.004)
    run = run_live(tracker, truth, clock=lambda: next(clock))
    # 110 ms are 3.3 frames, so it is given the fourth after; 34 ms are more than one frame.
    assert tracker.seen == [0, 4, 5, 7, 8, 9, 10, 11]
    assert [frame.index for frame in run.frames] == tracker.seen


def test_accuracy_leaves_out_frames_before_the_object_is_found() -> None:
    frames = [
        score(0, DETECTING, error=None, seconds=0.2),
        score(1, seconds=0.2, off=0.001),
        score(2, seconds=0.004, off=0.002, normalised_square=0.5),
        score(3, UNCERTAIN, seconds=0.006, off=0.015),
        score(4, seconds=0.005, off=0.003, normalised_square=3.0),
    ]
    found = accuracy([run_of(*frames)])
    assert (found.sequences, found.until_found, found.frames, found.lost) == (1, 1, 4, ())
    assert found.tracking == pytest.approx(3 / 4)
    assert found.errors.count == 3
    assert found.errors.translation_median == pytest.approx(0.002)
    assert found.errors.translation_95 == pytest.approx(0.0029)
    assert found.all_errors.translation_median == pytest.approx(0.0025)
    assert found.normalised_square == pytest.approx(1.75)
    assert found.inside == pytest.approx(1 / 2)
    assert found.seconds_median == pytest.approx(0.005)
    assert found.seconds_95 == pytest.approx(0.0059)


def test_accuracy_of_nothing_says_so() -> None:
    found = accuracy([run_of(score(0, DETECTING, error=None))])
    assert (found.until_found, found.frames, found.errors.count) == (1, 0, 0)
    assert found.lost == (SPEC.name,)
    assert np.isnan((found.tracking, found.inside, found.seconds_median)).all()


def test_sequence_is_lost_by_its_status_or_when_it_stays_far_off() -> None:
    good = [score(i) for i in range(10)]
    far = [score(i, off=0.021) for i in range(10)]
    assert not is_lost(run_of(*good))
    assert not is_lost(run_of(score(0, LOST), *good[1:]))  # before it was found
    assert is_lost(run_of(*good[:5], score(5, LOST), *good[6:]))
    assert not is_lost(run_of(*good[:2], *far[2:6], *good[6:]))
    assert is_lost(run_of(*good[:2], *far[2:7], *good[7:]))
    turned = PoseError(np.zeros(3), np.array((0.0, 0.36, 0.0)), np.eye(3))
    assert is_lost(run_of(*good[:2], *[score(i, error=turned) for i in range(2, 7)]))


def test_what_the_tracker_admits_not_to_know_is_not_lost() -> None:
    good = [score(i) for i in range(10)]
    hidden = [score(i, UNCERTAIN, off=0.05, normalised_square=0.8) for i in range(10)]
    assert not is_lost(run_of(*good[:2], *hidden[2:8], *good[8:]))
    for status, square in ((UNCERTAIN, 9.0), (TRACKING, 0.8)):
        far = [score(i, status, off=0.05, normalised_square=square) for i in range(10)]
        assert is_lost(run_of(*good[:2], *far[2:8], *good[8:]))


def test_a_run_that_is_never_sure_and_says_so_is_not_lost() -> None:
    unsure = [score(i, UNCERTAIN, off=0.03, normalised_square=0.8) for i in range(10)]
    assert not is_lost(run_of(*unsure))
    wrong = [score(i, UNCERTAIN, off=0.03, normalised_square=9.0) for i in range(10)]
    assert is_lost(run_of(*unsure[:5], *wrong[5:]))
    assert is_lost(run_of(*unsure[:9], score(9, DETECTING, error=None)))


def test_loss_is_reported_and_found_again() -> None:
    gone = {'present': False, 'visible': 0.0, 'error': None}
    frames = [
        *[score(i) for i in range(10)],
        score(10, **gone),
        score(11, LOST, **gone),
        score(12, LOST, **gone),
        score(13, **gone),  # deceived
        *[score(i, LOST, error=None) for i in range(14, 17)],
        score(17, seconds=0.1),
        *[score(i) for i in range(18, 34)],
    ]
    outcome = event_outcome(run_of(*frames, event=10, back=14))
    assert outcome.found_before
    assert outcome.report == 2
    assert outcome.again == pytest.approx(3 / 30 + 0.1)
    assert (outcome.gone, outcome.deceived, outcome.wrong_end) == (2, 1, False)


def test_teleport_counts_as_reported_when_the_pose_is_right_at_once() -> None:
    before = [score(i) for i in range(5)]
    right = [score(i, off=0.004) for i in range(5, 9)]
    wrong = [score(i, off=0.07) for i in range(5, 9)]
    assert event_outcome(run_of(*before, *right, event=5, back=5)).report == 1
    stuck = event_outcome(run_of(*before, *wrong, event=5, back=5))
    assert (stuck.report, stuck.again, stuck.wrong_end) == (None, None, True)


def test_event_of_an_object_that_was_not_tracked_does_not_count() -> None:
    frames = [score(0), score(1, UNCERTAIN), *[score(i, LOST) for i in range(2, 5)]]
    outcome = event_outcome(run_of(*frames, event=2, back=2))
    assert not outcome.found_before
    found = event_summary([outcome])
    assert (found.events, found.not_found_before, found.reported.number) == (1, 1, 0)


def test_events_are_summed_up() -> None:
    good = event_outcome(run_of(score(0), score(1, LOST), score(2), event=1, back=1))
    late = replace(good, report=3, again=0.51)
    never = replace(good, report=None, again=None)
    found = event_summary([good, late, never])
    assert found.reported == Share(1, 3)
    assert found.report_frames == (1, 3)
    assert found.again == Share(1, 3)
    assert found.late == found.not_again == (SPEC.name, SPEC.name)


def test_run_without_an_event_has_no_outcome() -> None:
    with pytest.raises(ValueError, match='has no event'):
        event_outcome(run_of(score(0)))


def test_alarms_are_false_only_where_nothing_is_wrong() -> None:
    plain = run_of(
        score(0, DETECTING, error=None),
        score(1),
        score(2, UNCERTAIN),
        score(3, UNCERTAIN, visible=0.2),
        score(4),
    )
    assert false_alarms([plain]) == Share(1, 3)
    # Uncertain of a pose that is off by more than is promised: the truth.
    off = run_of(score(0), score(1, UNCERTAIN, off=0.002), score(2))
    assert false_alarms([off]) == Share(0, 3)
    assert alarms([off]) == Share(1, 3)
    frames = [score(i, LOST if i >= 2 else TRACKING) for i in range(22)]
    # Event at 2, back at 3: frames 2 to 18 are during it or within half a second after it.
    assert false_alarms([run_of(*frames, event=2, back=3)]) == Share(3, 5)


def test_interval_of_a_share_is_wilsons() -> None:
    # 8 of 10, by hand: centre 0.7167, half width 0.2266.
    low, high = Share(8, 10).interval
    assert (low, high) == pytest.approx((0.4902, 0.9433), abs=2e-4)
    assert Share(0, 0).interval == (0.0, 1.0)
    assert Share(60, 60).interval[0] == pytest.approx(0.9398, abs=2e-4)
