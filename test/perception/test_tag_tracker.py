# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A tag on the object: how exact its pose is, which way it is tilted, and when it is lost."""

import cv2
import numpy as np
import pytest
from tag_pictures import tag_frame

from drex_ros.perception.estimate import ObjectState, TrackStatus
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.pose_filter import pose_difference
from drex_ros.perception.tag_corners import refined_corners
from drex_ros.perception.tag_file import load_tag
from drex_ros.perception.tag_pose import square_corners, tag_pose
from drex_ros.perception.tag_tracker import TagError, TagSettings, TagTracker
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.rotations import (
    quaternion_from_vector,
    quaternion_product,
    rotation_matrix,
)

# Above the table, looking down.
CAMERA = CameraModel(
    640, 480, 615.0, 615.0, 319.5, 239.5, np.array((0.5, 0.0, 0.8)), np.array((1.0, 0.0, 0.0, 0.0))
)
TAG = TagSettings(
    id=7,
    size=0.04,
    position=np.array((0.01, -0.02, 0.05)),
    quaternion=quaternion_from_vector((0.0, 0.0, 0.4)),
)
PLACE = np.array((0.52, -0.03, 0.05))
STEP = 1.0 / 30.0


def tilted(angle: float, heading: float = 0.7) -> np.ndarray:
    """An object leaning by an angle [deg] towards a heading [rad]."""
    axis = np.array((np.cos(heading), np.sin(heading), 0.0))
    return quaternion_product(
        quaternion_from_vector(np.radians(angle) * axis), quaternion_from_vector((0.0, 0.0, 1.1))
    )


def without_depth(frame: RgbdFrame) -> RgbdFrame:
    return RgbdFrame(frame.time, frame.colour, np.zeros_like(frame.depth))


def blank(time: float) -> RgbdFrame:
    return RgbdFrame(time, np.full((480, 640, 3), 128, np.uint8), np.zeros((480, 640), np.float32))


@pytest.mark.parametrize('dictionary', ['apriltag_36h11', '4x4_50', 'aruco_original'])
@pytest.mark.parametrize(('angle', 'exact'), [(0.0, 4.0), (20.0, 1.0), (50.0, 0.5)])
def test_the_pose_is_exact_and_within_its_covariance(dictionary, angle, exact):
    """To so many degrees: seen from the front, the tilt of a square hardly shows."""
    settings = TagSettings(
        TAG.id, TAG.size, dictionary, position=TAG.position, quaternion=TAG.quaternion
    )
    turn = tilted(angle)
    frame = tag_frame(settings, CAMERA, PLACE, turn, depth_noise=0.002)
    seen = TagTracker(settings, CAMERA).observe(frame)
    error = pose_difference(PLACE, turn, seen.position, seen.quaternion)
    assert np.linalg.norm(error[3:]) < np.radians(exact)
    # The object's origin is 55 mm from the tag, and swings with the tilt.
    assert np.linalg.norm(error[:3]) < 0.0015 + 0.055 * np.radians(exact)
    assert error @ np.linalg.solve(seen.covariance, error) < 12.6  # 95 % of six dimensions


def test_corners_are_found_to_a_tenth_of_a_pixel():
    generator = np.random.default_rng(4)
    errors = []
    for _ in range(12):
        turn = tilted(generator.uniform(0.0, 50.0), generator.uniform(-3.0, 3.0))
        frame = tag_frame(TAG, CAMERA, PLACE, turn, generator=generator)
        grey = cv2.cvtColor(frame.colour, cv2.COLOR_RGB2GRAY)
        middle = PLACE + rotation_matrix(turn) @ TAG.position
        corners = square_corners(TAG.size) @ rotation_matrix(TAG.quaternion).T
        truth = CAMERA.project(corners @ rotation_matrix(turn).T + middle)
        rough = truth + generator.uniform(-0.8, 0.8, (4, 2))
        errors.append(refined_corners(grey, rough, 3.5) - truth)
    assert np.std(errors) < 0.06
    assert np.abs(np.mean(errors, axis=0)).max() < 0.06


def test_there_are_no_corners_where_there_is_no_square():
    grey = np.full((480, 640), 128, np.uint8)
    rough = np.array(((100.0, 100.0), (140.0, 100.0), (140.0, 140.0), (100.0, 140.0)))
    assert refined_corners(grey, rough, 4.0) is None


def corners_of(turn: np.ndarray, noise: float, seed: int) -> np.ndarray:
    """Pixels of the corners of a tag at the object's origin, a little off."""
    world = square_corners(0.04) @ rotation_matrix(turn).T + PLACE
    return CAMERA.project(world) + np.random.default_rng(seed).normal(0.0, noise, (4, 2))


def poses_of(turn: np.ndarray, **options):
    """Poses from pictures so noisy that both ways to see the square fit."""
    upright = np.array((0.0, 0.0, 0.0, 1.0))
    return [
        tag_pose(
            0.0, corners_of(turn, 0.3, seed), 0.04, np.zeros(3), upright, CAMERA, 0.3, **options
        )
        for seed in range(20)
    ]


def wrong_way(turn: np.ndarray, poses) -> list[bool]:
    return [
        np.linalg.norm(
            pose_difference(PLACE, turn, pose.observation.position, pose.observation.quaternion)[
                3:
            ]
        )
        > np.radians(15.0)
        for pose in poses
    ]


def test_a_square_from_the_front_may_be_tilted_either_way_and_the_covariance_says_so():
    turn = tilted(12.0)
    poses = poses_of(turn)
    wrong = wrong_way(turn, poses)
    assert any(wrong)
    for pose in poses:
        error = pose_difference(
            PLACE, turn, pose.observation.position, pose.observation.quaternion
        )
        sigma = np.sqrt(np.linalg.eigvalsh(pose.observation.covariance[3:, 3:])[-1])
        assert np.linalg.norm(error[3:]) < 4.0 * sigma
    assert max(pose.doubt for pose in poses) > 0.2


def test_depth_tells_the_two_ways_apart_even_with_a_wrong_scale():
    turn = tilted(12.0)
    world = rotation_matrix(turn)
    normal = CAMERA.rotation.T @ world[:, 2]
    depth = (normal @ CAMERA.to_optical(PLACE)) / (CAMERA.rays() @ normal)
    poses = poses_of(turn, depth=(1.02 * depth).astype(np.float32))
    assert not any(wrong_way(turn, poses))
    doubts = [np.mean([pose.doubt for pose in each]) for each in (poses, poses_of(turn))]
    assert doubts[0] < 0.5 * doubts[1]


def test_what_is_expected_tells_the_two_ways_apart():
    turn = tilted(12.0)
    covariance = np.diag((0.01,) * 3 + (0.05,) * 3 + (0.1,) * 6) ** 2
    expected = ObjectState(PLACE, turn, np.zeros(6), covariance)
    assert not any(wrong_way(turn, poses_of(turn, expected=expected)))


def test_a_moving_tag_is_followed_with_its_velocity():
    tracker = TagTracker(TAG, CAMERA)
    speed, spin = np.array((0.2, 0.1, 0.0)), np.array((0.0, 0.0, 1.0))
    for i in range(15):
        time = i * STEP
        turn = quaternion_product(quaternion_from_vector(time * spin), tilted(15.0))
        frame = tag_frame(TAG, CAMERA, PLACE + time * speed, turn, time=time)
        estimate = tracker.update(frame)
        assert estimate.status is TrackStatus.TRACKING, estimate.reason
    assert estimate.state.position == pytest.approx(PLACE + time * speed, abs=0.001)
    assert estimate.state.twist[:3] == pytest.approx(speed, abs=0.03)
    assert estimate.state.twist[3:] == pytest.approx(spin, abs=0.3)
    smoothed = tracker.smoothed()
    then = smoothed.time
    assert then == pytest.approx(time - 3 * STEP)
    assert smoothed.smoothed
    assert smoothed.state.position == pytest.approx(PLACE + then * speed, abs=0.001)


def test_an_unseen_tag_is_uncertain_then_lost_then_found_again():
    tracker = TagTracker(TAG, CAMERA)
    assert tracker.update(blank(0.0)).status is TrackStatus.DETECTING
    turn = tilted(25.0)
    for i in range(1, 4):
        estimate = tracker.update(tag_frame(TAG, CAMERA, PLACE, turn, time=i * STEP))
    assert estimate.status is TrackStatus.TRACKING
    last = estimate.time
    said = {}
    for i in range(1, 20):
        estimate = tracker.update(blank(last + i * STEP))
        said.setdefault(estimate.status, (i, estimate.reason))
    assert said == {
        TrackStatus.TRACKING: (1, ''),
        TrackStatus.UNCERTAIN: (4, 'tag 7 not seen for 0.13 s'),
        TrackStatus.LOST: (16, 'tag 7 not seen for 0.53 s'),
    }
    assert estimate.state is None
    away = PLACE + np.array((0.07, 0.0, 0.0))
    estimate = tracker.update(tag_frame(TAG, CAMERA, away, turn, time=last + 1.0))
    assert estimate.status is TrackStatus.TRACKING
    assert estimate.state.position == pytest.approx(away, abs=0.002)


def test_a_tag_put_elsewhere_is_not_tracking_until_it_is_sure():
    tracker = TagTracker(TAG, CAMERA)
    turn = tilted(25.0)
    for i in range(5):
        tracker.update(tag_frame(TAG, CAMERA, PLACE, turn, time=i * STEP))
    away = PLACE + np.array((0.07, 0.0, 0.0))
    statuses = []
    for i in range(5, 9):
        estimate = tracker.update(tag_frame(TAG, CAMERA, away, turn, time=i * STEP))
        statuses.append(estimate.status)
    assert statuses[:2] == [TrackStatus.UNCERTAIN] * 2
    assert statuses[-1] is TrackStatus.TRACKING
    assert estimate.state.position == pytest.approx(away, abs=0.002)


def test_the_pose_is_that_of_the_depths_time():
    """The tag is seen in the colour picture, which here is 17 ms late."""
    tracker = TagTracker(TAG, CAMERA)
    speed = np.array((0.4, 0.0, 0.0))
    turn = tilted(15.0)
    for i in range(15):
        time, late = i * STEP, i * STEP + 0.017
        seen = tag_frame(TAG, CAMERA, PLACE + late * speed, turn)
        estimate = tracker.update(RgbdFrame(time, seen.colour, seen.depth, colour_time=late))
    assert estimate.state.position == pytest.approx(PLACE + time * speed, abs=0.0015)


def test_detection_looks_in_the_whole_picture_and_does_not_guess():
    tracker = TagTracker(TAG, CAMERA)
    answer = tracker.detect(blank(0.0))
    assert (answer.found, answer.message) == (False, 'not there: tag 7 not seen')
    frame = tag_frame(TAG, CAMERA, PLACE, tilted(25.0))
    answer = tracker.detect(frame)
    assert answer.found
    assert answer.state.position == pytest.approx(PLACE, abs=0.002)
    twice = np.concatenate((frame.colour[:, :320], frame.colour[:, :320]), axis=1)
    x = int(CAMERA.project(PLACE)[0])
    twice = frame.colour.copy()
    twice[:200, :200] = frame.colour[140:340, x - 100 : x + 100]
    answer = tracker.detect(RgbdFrame(0.1, twice, np.zeros_like(frame.depth)))
    assert (answer.found, answer.candidates) == (False, 2)
    assert answer.message == 'ambiguous: tag 7 seen 2 times'


def test_another_tag_is_not_this_one():
    other = TagSettings(id=8, size=TAG.size, position=TAG.position, quaternion=TAG.quaternion)
    frame = tag_frame(other, CAMERA, PLACE, tilted(25.0))
    assert TagTracker(other, CAMERA).observe(frame) is not None
    assert TagTracker(TAG, CAMERA).observe(frame) is None


def test_a_picture_of_another_size_is_refused():
    frame = RgbdFrame(0.0, np.zeros((240, 320, 3), np.uint8), np.zeros((240, 320), np.float32))
    with pytest.raises(ValueError, match='picture of 320 x 240 px, the camera has 640 x 480'):
        TagTracker(TAG, CAMERA).update(frame)


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'id': 7, 'size': 0.0}, 'tag size is 0.0, must be positive'),
        ({'id': 600, 'size': 0.04}, 'tag id is 600, apriltag_36h11 has 0 .. 586'),
        ({'id': 1, 'size': 0.04, 'dictionary': '36h12'}, 'must be one of .*apriltag_36h11'),
        ({'id': 1, 'size': 0.04, 'position': np.zeros(2)}, 'must be 3 numbers'),
        ({'id': 1, 'size': 0.04, 'quaternion': np.ones(4)}, 'must have length 1'),
    ],
)
def test_a_tag_that_cannot_be_is_refused(settings, words):
    with pytest.raises(TagError, match=words):
        TagSettings(**settings)


def test_a_tag_from_a_file(tmp_path):
    path = tmp_path / 'tag.yaml'
    path.write_text('id: 3\nsize: 0.05\nposition: [0, 0, 0.1]\nquaternion: [0, 0, 2, 0]\n')
    tag = load_tag(path)
    assert (tag.id, tag.size, tag.dictionary) == (3, 0.05, 'apriltag_36h11')
    assert tag.position.tolist() == [0.0, 0.0, 0.1]
    assert tag.quaternion.tolist() == [0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('id: 3\n', 'size: is missing'),
        ('id: 3\nsize: large\n', "size is 'large', must be a number"),
        ('id: 3\nsize: 0.05\nposition: [0, 0]\n', 'position is .0, 0., must be 3 numbers'),
        ('id: 3\nsize: 0.05\nside: 2\n', 'unknown key side; valid: id, dictionary'),
        ('id: x\nsize: 0.05\n', "id is 'x', must be a whole number"),
        ('[1, 2]', 'must hold id'),
        ('id: [', 'not a readable YAML file'),
        ('id: 9999\nsize: 0.05\n', 'tag.yaml: tag id is 9999'),
    ],
)
def test_a_file_of_a_tag_that_is_wrong(tmp_path, text, words):
    path = tmp_path / 'tag.yaml'
    path.write_text(text)
    with pytest.raises(TagError, match=words):
        load_tag(path)
