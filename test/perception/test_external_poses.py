# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses from another tracker: frames, what is refused and why, jumps, and silence."""

import numpy as np
import pytest

from drex_ros.perception.estimate import TrackStatus
from drex_ros.perception.external_poses import ExternalPoses, ExternalSettings
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.observation_track import TrackSettings
from drex_ros.robot.rotations import (
    quaternion_from_vector,
    quaternion_product,
    rotation_matrix,
)

UPRIGHT = (0.0, 0.0, 0.0, 1.0)
PLACE = np.array((0.5, 0.1, 0.05))
STEP = 1.0 / 30.0


def frame(time: float) -> RgbdFrame:
    return RgbdFrame(time, np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.float32))


def following(poses: ExternalPoses, count: int = 10) -> float:
    """Take a row of good poses; the time of the last."""
    for i in range(count):
        assert poses.take(i * STEP, PLACE, UPRIGHT), poses.refusal
        poses.update(frame(i * STEP))
    return (count - 1) * STEP


def test_a_pose_is_taken_from_its_frame_and_mesh_to_the_object_in_world():
    settings = ExternalSettings(
        frame_position=np.array((1.0, 0.0, 0.5)),
        frame_quaternion=quaternion_from_vector((0.0, 0.0, np.pi / 2.0)),
        offset_position=np.array((0.0, 0.0, 0.02)),
        offset_quaternion=quaternion_from_vector((0.0, np.pi / 2.0, 0.0)),
    )
    poses = ExternalPoses(settings)
    # The mesh lies on its side: its z is the frame's -y, and that is world's x.
    on_its_side = quaternion_from_vector((np.pi / 2.0, 0.0, 0.0))
    assert poses.take(0.0, (0.1, 0.2, 0.3), on_its_side)
    state = poses.update(frame(0.0)).state
    assert state.position == pytest.approx((1.0 - 0.2 + 0.02, 0.1, 0.8))
    expected = quaternion_product(
        quaternion_product(settings.frame_quaternion, on_its_side), settings.offset_quaternion
    )
    assert abs(state.quaternion @ expected) == pytest.approx(1.0)


def test_covariance_goes_to_world_and_to_the_objects_origin():
    """Against poses with random errors of that covariance, each taken on its own."""
    generator = np.random.default_rng(0)
    settings = ExternalSettings(
        frame_quaternion=quaternion_from_vector((0.3, -1.0, 0.5)),
        offset_position=np.array((0.1, -0.05, 0.2)),
    )
    mesh_turn = quaternion_from_vector((1.0, 0.2, -0.4))
    root = 1e-3 * generator.normal(size=(6, 6))
    covariance = root @ root.T + 1e-8 * np.eye(6)
    poses = ExternalPoses(settings)
    poses.take(0.0, PLACE, mesh_turn, covariance)
    middle = poses.update(frame(0.0)).state
    errors = []
    for sample in generator.multivariate_normal(np.zeros(6), covariance, size=4000):
        turn = quaternion_product(quaternion_from_vector(sample[3:]), mesh_turn)
        outer = rotation_matrix(settings.frame_quaternion)
        origin = PLACE + sample[:3] + rotation_matrix(turn) @ settings.offset_position
        errors.append((*(outer @ origin - middle.position), *(outer @ sample[3:])))
    measured = np.cov(np.array(errors).T)
    scale = np.sqrt(np.diag(measured))
    off = (middle.covariance[:6, :6] - measured) / np.outer(scale, scale)
    assert np.abs(off).max() < 0.1


@pytest.mark.parametrize('unknown', [None, np.zeros(36), np.diag((-1.0, 0.0, 0.0, 0.0, 0.0, 0.0))])
def test_a_pose_without_covariance_gets_that_of_the_settings(unknown):
    poses = ExternalPoses(ExternalSettings(position_sigma=0.003, rotation_sigma=0.04))
    assert poses.take(0.0, PLACE, UPRIGHT, unknown)
    state = poses.update(frame(0.0)).state
    assert np.sqrt(np.diag(state.covariance))[:6] == pytest.approx((0.003,) * 3 + (0.04,) * 3)


@pytest.mark.parametrize(
    ('kind', 'pose', 'words'),
    [
        ('not finite', (1.0, (np.nan, 0.0, 0.0), UPRIGHT), 'is not finite'),
        ('not finite', (np.inf, PLACE, UPRIGHT), 'is not finite'),
        ('far', (1.0, (1e6, 0.0, 0.0), UPRIGHT), 'is more than 10 m away'),
        ('quaternion', (1.0, PLACE, (0.0, 0.0, 0.0, 0.0)), 'length 0, must have 1'),
        ('quaternion', (1.0, PLACE, (0.0, 0.0, 1.0, 1.0)), 'length 1.414, must have 1'),
        ('size', (1.0, PLACE[:2], UPRIGHT), '2 and 4 numbers, must be 3 and 4'),
        ('order', (9 * STEP, PLACE, UPRIGHT), 'stamp 0.300 s is not after the last, 0.300 s'),
        ('order', (0.1, PLACE, UPRIGHT), 'stamp 0.100 s is not after the last, 0.300 s'),
        ('other clock', (1.7e9, PLACE, UPRIGHT), 'another clock?'),
        ('covariance', (0.4, PLACE, UPRIGHT, -2.0 * np.eye(6)), 'positive definite'),
        ('covariance', (0.4, PLACE, UPRIGHT, np.triu(np.ones((6, 6)))), 'symmetric'),
        ('covariance', (0.4, PLACE, UPRIGHT, np.ones(9)), '6 x 6'),
    ],
)
def test_what_cannot_be_is_refused_counted_and_changes_nothing(kind, pose, words):
    poses = ExternalPoses()
    last = following(poses)
    before = poses.update(frame(last + STEP)).state
    assert not poses.take(*pose)
    assert words in poses.refusal
    assert poses.refused == {kind: 1}
    after = poses.update(frame(last + STEP)).state
    assert after.position == pytest.approx(before.position, abs=0.0)
    assert poses.taken == 10


def test_a_pose_too_old_for_the_newest_picture_is_refused():
    poses = ExternalPoses()
    poses.update(frame(5.0))
    assert not poses.take(3.9, PLACE, UPRIGHT)
    assert poses.refusal == 'pose is 1.10 s older than the newest picture'
    assert poses.take(4.1, PLACE, UPRIGHT)


def test_poses_that_come_later_than_newer_pictures_are_used():
    """As of a network that takes 60 ms: the answer is carried on to the newest picture."""
    poses = ExternalPoses()
    speed = np.array((0.3, 0.0, 0.0))
    for i in range(30):
        time = i * STEP
        estimate = poses.update(frame(time))
        if i >= 2:
            then = time - 2.0 * STEP
            assert poses.take(then, PLACE + then * speed, UPRIGHT)
    estimate = poses.update(frame(time))
    assert estimate.status is TrackStatus.TRACKING
    assert estimate.state.position == pytest.approx(PLACE + time * speed, abs=5e-4)
    assert estimate.state.twist[:3] == pytest.approx(speed, abs=0.01)


def test_silence_makes_it_uncertain_and_then_lost():
    poses = ExternalPoses(ExternalSettings(source='foundation_pose'))
    assert poses.update(frame(0.0)).status is TrackStatus.DETECTING
    last = following(poses)
    assert poses.update(frame(last + 0.19)).status is TrackStatus.TRACKING
    estimate = poses.update(frame(last + 0.3))
    assert estimate.status is TrackStatus.UNCERTAIN
    assert estimate.reason == 'foundation_pose not seen for 0.30 s'
    estimate = poses.update(frame(last + 1.1))
    assert estimate.status is TrackStatus.LOST
    assert estimate.state is None
    # What comes next is a new start, wherever it is.
    assert poses.take(last + 1.2, PLACE + 0.3, UPRIGHT)
    estimate = poses.update(frame(last + 1.2))
    assert estimate.status is TrackStatus.TRACKING
    assert estimate.state.position == pytest.approx(PLACE + 0.3)


def test_a_jump_is_refused_until_several_poses_agree():
    poses = ExternalPoses()
    last = following(poses)
    away = PLACE + np.array((0.2, 0.0, 0.0))
    for i in (1, 2):
        assert not poses.take(last + i * STEP, away, UPRIGHT)
        estimate = poses.update(frame(last + i * STEP))
        assert estimate.status is TrackStatus.UNCERTAIN
        assert estimate.reason == 'pose seen 200 mm from where it should be'
        assert estimate.state.position == pytest.approx(PLACE, abs=1e-3)
    assert poses.take(last + 3 * STEP, away, UPRIGHT)
    estimate = poses.update(frame(last + 3 * STEP))
    assert estimate.status is TrackStatus.TRACKING
    assert estimate.state.position == pytest.approx(away)
    assert poses.refused == {'jump': 2}


def test_jumps_that_do_not_agree_never_make_a_start():
    poses = ExternalPoses()
    last = following(poses)
    generator = np.random.default_rng(2)
    for i in range(1, 41):
        assert not poses.take(
            last + i * STEP, PLACE + generator.choice((-1, 1), 3) * i / 10, UPRIGHT
        )
        estimate = poses.update(frame(last + i * STEP))
        assert estimate.status is not TrackStatus.TRACKING
    assert estimate.status is TrackStatus.LOST


def test_a_jump_of_the_rotation_alone_is_refused_too():
    poses = ExternalPoses()
    last = following(poses)
    assert not poses.take(last + STEP, PLACE, quaternion_from_vector((0.0, 0.0, 1.5)))
    assert poses.refused == {'jump': 1}


def test_poses_of_another_clock_before_the_first_picture_are_forgotten():
    poses = ExternalPoses()
    assert poses.take(1.7e9, PLACE, UPRIGHT)
    assert poses.update(frame(10.0)).status is TrackStatus.DETECTING
    assert poses.refused == {'other clock': 1}
    assert poses.take(10.0, PLACE, UPRIGHT)
    assert poses.update(frame(10.0)).status is TrackStatus.TRACKING


def test_pictures_that_go_back_in_time_begin_anew():
    poses = ExternalPoses()
    last = following(poses)
    assert poses.update(frame(last - 0.2)).status is TrackStatus.DETECTING
    assert poses.take(last - 0.2, PLACE, UPRIGHT)


def test_a_smoothed_pose_is_three_old_and_says_so():
    poses = ExternalPoses()
    following(poses, 3)
    assert poses.smoothed() is None
    assert poses.take(3 * STEP, PLACE, UPRIGHT)
    smoothed = poses.smoothed()
    assert smoothed.time == 0.0
    assert smoothed.smoothed
    assert smoothed.state.position == pytest.approx(PLACE, abs=1e-6)


def test_detection_is_there_when_a_good_pose_is():
    poses = ExternalPoses()
    answer = poses.detect(frame(0.0))
    assert not answer.found
    assert answer.message == 'not there: pose not seen yet'
    poses.take(0.0, PLACE, UPRIGHT)
    assert poses.detect(frame(STEP)).found


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'frame_quaternion': np.zeros(4)}, 'frame_quaternion has length 0'),
        ({'offset_position': np.zeros(2)}, 'must be 3 numbers'),
        ({'position_sigma': 0.0}, 'position_sigma is 0.0, must be positive'),
        ({'oldest': np.nan}, 'oldest is nan'),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        ExternalPoses(ExternalSettings(**settings))


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'gate': -1.0}, 'gate is -1.0, must be positive'),
        ({'lag': 1.5}, 'lag is 1.5, must be a whole number from 0'),
        ({'restart_after': 0}, 'restart_after is 0, must be a whole number from 1'),
        ({'uncertain_after': 1.0}, 'lost_after is 0.5 s, must be more than'),
    ],
)
def test_settings_of_a_track_that_cannot_be_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        TrackSettings(**settings)
