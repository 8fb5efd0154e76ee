# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracker as a whole on rendered frames with the camera's noise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from rendered import (
    CAMERA,
    PERIOD,
    Place,
    at,
    frame_of,
    noisy,
    off,
    seen_pose,
    sliding,
    thing,
    view,
    world_pose,
)

from drex_ros.hardware.rendering import Picture
from drex_ros.perception.depth_image import DepthImage
from drex_ros.perception.estimate import ObjectEstimate, PoseObservation, TrackStatus
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.object_tracker import ObjectTracker, TrackerSettings
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.robot.joints import HOME

REST = at(0.5, 0.0, 0.3)
ELSEWHERE = at(0.45, 0.1, 1.0)
N_FRAMES = 40


def box_tracker(**settings: object) -> ObjectTracker:
    return ObjectTracker(thing('box'), CAMERA, TrackerSettings(**settings))  # type: ignore[arg-type]


def follow(tracker: ObjectTracker, place: Place, first: int, count: int) -> list[ObjectEstimate]:
    return [tracker.update(noisy('box', place, first + i)) for i in range(count)]


def empty(number: int) -> RgbdFrame:
    return noisy('', REST, number)


def plated(number: int) -> RgbdFrame:
    """The resting box behind a blue plate that is 0.2 m nearer."""
    seen = seen_pose('box', REST).position
    column = round(CAMERA.fx * seen[0] / seen[2] + CAMERA.cx)
    row = round(CAMERA.fy * seen[1] / seen[2] + CAMERA.cy)
    picture = view('box', REST)
    depth, colour = picture.depth.copy(), picture.rgb.copy()
    part = np.s_[row - 90 : row + 90, column - 90 : column + 90]
    depth[part], colour[part] = seen[2] - 0.2, (30, 60, 200)
    return frame_of(Picture(colour, depth), number)


@cache
def tracked() -> tuple[list[ObjectEstimate], list[ObjectEstimate | None]]:
    """Estimates and smoothed ones of a box that is pushed about."""
    tracker, estimates, smoothed = box_tracker(lag=3), [], []
    for number in range(N_FRAMES):
        estimates.append(tracker.update(noisy('box', sliding(number), number)))
        smoothed.append(tracker.smoothed())
    return estimates, smoothed


def test_finds_the_box_in_the_first_frame_and_follows_it() -> None:
    estimates, _ = tracked()
    for number, each in enumerate(estimates):
        assert each.status is TrackStatus.TRACKING, (number, each.reason)
        assert each.reason == ''
        assert not each.smoothed
        assert each.time == pytest.approx(number * PERIOD)
        moved, turned = off('box', each.state, sliding(number))
        assert moved < 1.5, number
        assert turned < 1.5, number
        assert each.evidence.inliers > 0.9
        assert each.evidence.pixels > 300


def test_answers_are_numbers_with_a_covariance_that_can_be() -> None:
    for each in tracked()[0]:
        state = each.state
        assert state is not None
        for values in (state.position, state.quaternion, state.twist, state.covariance):
            assert np.isfinite(values).all()
        assert np.linalg.norm(state.quaternion) == pytest.approx(1.0)
        np.testing.assert_allclose(state.covariance, state.covariance.T, atol=1e-12)
        assert np.linalg.eigvalsh(state.covariance).min() > 0.0


def test_errors_are_as_large_as_the_covariance_says() -> None:
    squares = []
    for number, each in enumerate(tracked()[0][2:], start=2):
        assert each.state is not None
        error = each.state.position - world_pose('box', sliding(number))[:3]
        squares.append(error @ np.linalg.solve(each.state.covariance[:3, :3], error) / 3.0)
    assert 0.1 < np.mean(squares) < 4.0


def test_the_velocity_is_that_of_the_world() -> None:
    errors = []
    for number, each in enumerate(tracked()[0][10:-1], start=10):
        before, after = (world_pose('box', sliding(number + i))[:3] for i in (-1, 1))
        assert each.state is not None
        errors.append(np.linalg.norm(each.state.twist[:3] - (after - before) / (2 * PERIOD)))
    assert np.median(errors) < 0.06


def test_smoothed_estimates_lag_by_three_frames_and_are_no_worse() -> None:
    estimates, smoothed = tracked()
    assert smoothed[:3] == [None, None, None]
    filtered_errors, smoothed_errors = [], []
    for number, each in enumerate(smoothed[3:], start=3):
        assert each is not None
        assert each.smoothed
        assert each.time == pytest.approx((number - 3) * PERIOD)
        place = sliding(number - 3)
        smoothed_errors.append(off('box', each.state, place))
        filtered_errors.append(off('box', estimates[number - 3].state, place))
    ratio = np.mean(smoothed_errors, axis=0) / np.mean(filtered_errors, axis=0)
    assert (ratio < 1.5).all()


def test_a_covered_object_is_waited_for_and_found_again() -> None:
    tracker = box_tracker()
    assert follow(tracker, REST, 0, 4)[-1].status is TrackStatus.TRACKING
    covered = [tracker.update(plated(number)) for number in range(4, 24)]
    assert all(each.status is not TrackStatus.TRACKING for each in covered[1:])
    assert 'covered' in covered[1].reason
    assert covered[1].evidence.occluded > 0.9 or covered[1].evidence.pixels == 0
    assert covered[-1].status is TrackStatus.LOST
    again = follow(tracker, REST, 24, 3)
    assert again[-1].status is TrackStatus.TRACKING
    assert off('box', again[-1].state, REST)[0] < 1.5


def test_an_object_that_is_taken_away_is_lost_and_found_where_it_is_put() -> None:
    tracker = box_tracker()
    follow(tracker, REST, 0, 4)
    gone = [tracker.update(empty(number)) for number in range(4, 9)]
    assert gone[2].status is TrackStatus.LOST
    assert any('not there' in each.reason for each in gone[:3])
    assert all(each.status is TrackStatus.LOST for each in gone[2:])
    assert 'not there' in gone[-1].reason
    assert gone[-1].state is None
    again = follow(tracker, ELSEWHERE, 9, 3)
    assert again[-1].status is TrackStatus.TRACKING
    moved, turned = off('box', again[-1].state, ELSEWHERE)
    assert moved < 1.5
    assert turned < 1.5


def test_before_it_is_found_it_is_being_looked_for() -> None:
    estimate = box_tracker().update(empty(0))
    assert estimate.status is TrackStatus.DETECTING
    assert 'box is not there' in estimate.reason
    assert estimate.state is None


def test_after_a_gap_in_time_the_object_is_looked_for_anew() -> None:
    tracker = box_tracker(longest_gap=0.25)
    follow(tracker, REST, 0, 8)
    assert tracker.smoothed() is not None
    # Half a second later it is far from where it was.
    late = replace(noisy('box', ELSEWHERE, 9), time=7 * PERIOD + 0.5)
    estimate = tracker.update(late)
    assert estimate.status is TrackStatus.TRACKING
    assert off('box', estimate.state, ELSEWHERE)[0] < 2.0
    # What was before the gap is not smoothed together with what is after it.
    assert tracker.smoothed() is None
    soon = replace(noisy('box', ELSEWHERE, 10), time=7 * PERIOD + 0.5 + PERIOD)
    assert tracker.update(soon).status is TrackStatus.TRACKING
    assert tracker.smoothed() is None


def test_a_short_gap_is_bridged() -> None:
    tracker = box_tracker(longest_gap=0.25)
    follow(tracker, REST, 0, 5)
    estimate = tracker.update(noisy('box', REST, 10))
    assert estimate.status is TrackStatus.TRACKING
    assert tracker.smoothed() is not None


def test_time_that_goes_back_makes_it_forget() -> None:
    tracker = box_tracker()
    follow(tracker, REST, 10, 6)
    gone = tracker.update(empty(0))
    # As if it had never been found.
    assert gone.status is TrackStatus.DETECTING
    assert gone.state is None
    assert tracker.smoothed() is None
    back = tracker.update(noisy('box', ELSEWHERE, 1))
    assert back.status is TrackStatus.TRACKING
    assert off('box', back.state, ELSEWHERE)[0] < 2.0


def test_a_pose_from_elsewhere_tells_where_to_begin() -> None:
    tracker, pose = box_tracker(), world_pose('box', REST)
    beside = pose[:3] + np.array((0.004, -0.003, 0.002))
    near = PoseObservation(0.0, beside, pose[3:], 1e-4 * np.eye(6))
    estimate = tracker.update(noisy('box', REST, 0), near)
    assert estimate.status is TrackStatus.TRACKING
    assert off('box', estimate.state, REST)[0] < 1.5


def test_detecting_anew_goes_on_from_what_is_found() -> None:
    tracker = box_tracker()
    follow(tracker, REST, 0, 3)
    assert tracker.detect(noisy('box', ELSEWHERE, 3)).found
    estimate = tracker.update(noisy('box', ELSEWHERE, 4))
    assert estimate.status is TrackStatus.TRACKING
    assert off('box', estimate.state, ELSEWHERE)[0] < 1.5


def reaching() -> tuple[float, ...]:
    """The hand over the table, between the camera and the box."""
    posture = HOME.copy()
    posture[:7] = (0.0, 0.3, 0.0, -2.1, 0.0, 2.4, 0.8)
    posture[8:19] += 0.3
    return tuple(posture.tolist())


@pytest.fixture(scope='module')
def silhouette() -> RobotSilhouette:
    return RobotSilhouette(CAMERA)


def test_the_hand_is_not_taken_for_the_object(silhouette: RobotSilhouette) -> None:
    frame = noisy('', REST, 0, reaching())
    tracker = ObjectTracker(thing('box'), CAMERA, silhouette=silhouette)
    result = tracker.detect(frame)
    assert not result.found
    assert 'nothing stands on the table' in result.message
    # Without knowing where the robot is, it is a thing on the table.
    blind = tracker.detect(replace(frame, joint_position=None))
    assert not blind.found
    assert 'things on the table' in blind.message


def test_a_box_behind_the_hand_is_followed(silhouette: RobotSilhouette) -> None:
    place = at(0.4, 0.0, 0.3)
    home = tuple(HOME.tolist())
    tracker = ObjectTracker(thing('box'), CAMERA, silhouette=silhouette)
    for number in range(4):
        estimate = tracker.update(noisy('box', place, number, home))
    assert estimate.status is TrackStatus.TRACKING
    assert estimate.evidence.occluded < 0.05
    for number in range(4, 12):
        estimate = tracker.update(noisy('box', place, number, reaching()))
        assert estimate.status is TrackStatus.TRACKING, estimate.reason
        assert 0.2 < estimate.evidence.occluded < 0.8
        moved, turned = off('box', estimate.state, place)
        assert moved < 2.0
        assert turned < 2.0


@pytest.mark.parametrize('following', [False, True])
def test_frames_without_depth_or_colour_are_survived(following: bool) -> None:
    good = noisy('box', REST, 4)
    no_depth = replace(good, depth=np.zeros_like(good.depth))
    black = replace(good, colour=np.zeros_like(good.colour))
    nothing = replace(no_depth, colour=black.colour)
    for bad in (no_depth, black, nothing):
        tracker = box_tracker()
        if following:
            follow(tracker, REST, 0, 4)
        for number in range(4, 8):
            estimate = tracker.update(replace(bad, time=number * PERIOD))
            assert estimate.state is None or np.isfinite(estimate.state.covariance).all()
        if bad is nothing:
            assert estimate.status is not TrackStatus.TRACKING
        after = follow(tracker, REST, 8, 3)[-1]
        assert after.status is TrackStatus.TRACKING, after.reason
        assert off('box', after.state, REST)[0] < 1.5


def test_depth_that_is_not_a_number_is_cleaned_before() -> None:
    reader, random = DepthImage(CAMERA.width, CAMERA.height), np.random.default_rng(0)
    tracker = box_tracker()
    for number in range(4):
        frame = noisy('box', REST, number)
        dirty = frame.depth.copy()
        dirty[random.random(dirty.shape) < 0.01] = np.nan
        dirty[random.random(dirty.shape) < 0.002] = np.inf
        estimate = tracker.update(replace(frame, depth=reader.read(dirty).copy()))
        assert estimate.status is TrackStatus.TRACKING
        assert off('box', estimate.state, REST)[0] < 1.5


@pytest.mark.parametrize('part', ['depth', 'colour'])
def test_pictures_of_another_size_are_refused(part: str) -> None:
    frame = noisy('box', REST, 0)
    small = np.ascontiguousarray(getattr(frame, part)[::2, ::2])
    tracker = box_tracker()
    for call in (tracker.update, tracker.detect):
        with pytest.raises(ValueError, match=rf'{part} image .*240, 320.*480, 640'):
            call(replace(frame, **{part: small}))
    assert tracker.update(frame).status is TrackStatus.TRACKING
