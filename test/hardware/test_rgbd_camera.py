# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated camera in the real scene: objects, exposure and noise together."""

from dataclasses import replace

import numpy as np
import pytest

from drex_ros.hardware.depth_noise import StereoNoise
from drex_ros.hardware.rgbd_camera import CameraOptions, RgbdCamera, SceneState
from drex_ros.hardware.scene import object_place
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import ObjectError, load_object
from drex_ros.robot.joints import HOME

SCENE = load_scene()
PLACE = object_place(SCENE, load_object('box'))
STATE = SceneState(
    frame=1,
    seed=2,
    thing='box',
    joint_position=np.array(HOME),
    joint_velocity=np.zeros(23),
    object_pose=np.append(PLACE.position, PLACE.quaternion),
    object_twist=np.zeros(6),
)


@pytest.fixture(scope='module')
def cameras():
    """An exact camera, one with motion blur, and one with noise."""
    options = (
        CameraOptions(),
        CameraOptions(exposure_time=0.02, exposure_samples=5),
        CameraOptions(stereo=StereoNoise(), colour_noise=2.0),
    )
    made = [RgbdCamera(SCENE, each) for each in options]
    yield made
    for camera in made:
        camera.close()


def test_the_object_stands_where_it_is_said(cameras):
    depth = cameras[0].take(STATE).depth
    bare = cameras[0].take(replace(STATE, thing='')).depth
    seen = (depth > 0) & (depth < bare - 1e-3)
    points = SCENE.camera.unproject(depth)[seen]
    low, high = points.min(axis=0), points.max(axis=0)
    mesh = load_object('box').mesh.vertices
    assert np.all(low > PLACE.position + mesh.min(axis=0) - 2e-3)
    assert np.all(high < PLACE.position + mesh.max(axis=0) + 2e-3)
    assert high[2] == pytest.approx(PLACE.position[2] + mesh[:, 2].max(), abs=2e-3)


def test_an_unknown_object_is_refused_and_the_camera_goes_on(cameras):
    before = cameras[0].take(STATE)
    with pytest.raises(ObjectError, match='unicorn'):
        cameras[0].take(replace(STATE, thing='unicorn'))
    np.testing.assert_array_equal(cameras[0].take(STATE).rgb, before.rgb)


def test_what_stands_still_is_not_blurred(cameras):
    sharp, blurred = (camera.take(STATE) for camera in cameras[:2])
    assert np.max(np.abs(sharp.rgb.astype(int) - blurred.rgb)) <= 1
    np.testing.assert_array_equal(sharp.depth, blurred.depth)


def test_motion_blurs_the_colours_over_the_way_of_the_exposure(cameras):
    twist = np.array((0.0, 1.0, 0.0, 0.0, 0.0, 0.0))  # 20 mm in 20 ms
    moving = replace(STATE, object_twist=twist)
    sharp, blurred = (camera.take(moving) for camera in cameras[:2])
    np.testing.assert_array_equal(sharp.depth, blurred.depth)
    changed = np.abs(sharp.rgb.astype(int) - blurred.rgb).max(axis=-1) > 10
    columns = np.nonzero(changed)[1]
    centre = SCENE.camera.project(PLACE.position)[0]
    # On both sides of the object, because the stamp is in the middle of the exposure.
    assert np.sum(columns < centre) > 50
    assert np.sum(columns > centre) > 50
    # The mean of the samples, not one of them.
    ends = [cameras[0].take(moving.later(time)).rgb.astype(float) for time in (-0.008, 0.008)]
    inner = [cameras[0].take(moving.later(time)).rgb.astype(float) for time in (-0.004, 0.004)]
    mean = (sum(ends) + sum(inner) + sharp.rgb) / 5
    assert np.max(np.abs(mean - blurred.rgb)) <= 1.0


def test_velocities_that_cannot_be_are_refused_where_they_count(cameras):
    wrong = replace(STATE, object_twist=np.full(6, np.nan))
    cameras[0].take(wrong)
    with pytest.raises(ValueError, match='must be finite'):
        cameras[1].take(wrong)


def test_later_turns_about_world_axes():
    quarter = replace(STATE, object_twist=np.array((0.1, 0, 0, 0, 0, np.pi))).later(0.5)
    np.testing.assert_allclose(quarter.object_pose[:3], PLACE.position + np.array((0.05, 0, 0)))
    turned = np.array((0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)))
    assert abs(turned @ quarter.object_pose[3:]) == pytest.approx(1.0)


def test_noise_is_that_of_seed_and_frame(cameras):
    noisy = cameras[2]
    first = noisy.take(STATE)
    again = RgbdCamera(SCENE, noisy.options)
    noisy.take(replace(STATE, frame=5, seed=6))
    for other in (noisy.take(STATE), again.take(STATE)):
        np.testing.assert_array_equal(first.rgb, other.rgb)
        np.testing.assert_array_equal(first.depth, other.depth)
    again.close()
    for change in ({'frame': 2}, {'seed': 3}):
        assert np.any(noisy.take(replace(STATE, **change)).depth != first.depth)
    truth = cameras[0].take(STATE).depth
    both = (first.depth > 0) & (truth > 0)
    assert np.median(np.abs(first.depth - truth)[both]) < 3e-3


def test_noise_that_was_prepared_is_the_same(cameras):
    noisy = cameras[2]
    first = noisy.take(STATE)
    for frame in (STATE.frame, STATE.frame + 1):  # the right one, and one that does not come
        noisy.prepare(STATE.seed, frame)
        again = noisy.take(STATE)
        np.testing.assert_array_equal(first.rgb, again.rgb)
        np.testing.assert_array_equal(first.depth, again.depth)
    cameras[0].prepare(STATE.seed, STATE.frame)  # nothing to prepare


def test_a_blind_camera_sees_black(cameras):
    picture = cameras[0].black()
    assert picture.rgb.shape == (480, 640, 3)
    assert not picture.rgb.any()
    assert not picture.depth.any()
