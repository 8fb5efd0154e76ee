# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The stereo camera's errors: as large as stated, where they belong, and repeatable."""

from dataclasses import replace

import numpy as np
import pytest

from drex_ros.hardware.depth_noise import (
    DepthSensor,
    StereoNoise,
    add_colour_noise,
    frame_generator,
    to_millimetres,
)
from drex_ros.robot.camera import CameraModel

CAMERA = CameraModel.from_pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
SHAPE = (CAMERA.height, CAMERA.width)
NOISE = StereoNoise()
# Nothing but what a test switches on.
SILENT = replace(
    NOISE, sigma=0.0, edge_wander=0.0, flying=1e-9, edge_holes=1e-9, speckle=1e-9, subpixel=1e-4
)


def wall(distance):
    return np.full(SHAPE, distance, np.float32)


def step(near=0.6, far=1.0):
    """A near square before a far wall."""
    depth = wall(far)
    depth[100:300, 200:400] = near
    return depth


def measure(depth, noise=NOISE, *, seed=0, frame=0):
    return DepthSensor(CAMERA, noise, seed=seed).measure(depth, frame_generator(seed, frame))


def test_without_errors_it_gives_the_truth():
    measured = measure(wall(0.8), SILENT)
    np.testing.assert_allclose(measured, 0.8, rtol=1e-4)


@pytest.mark.parametrize('distance', [0.4, 0.8, 1.6])
def test_deviation_grows_with_the_square_of_the_distance(distance):
    sensor = DepthSensor(CAMERA, seed=4)
    errors = []
    for frame in range(8):
        measured = sensor.measure(wall(distance), frame_generator(4, frame))
        errors.append(measured[measured > 0] - distance)
    all_errors = np.concatenate(errors)
    expected = NOISE.sigma * distance**2 / (NOISE.focal * NOISE.baseline)
    assert np.std(all_errors) == pytest.approx(expected, rel=0.05)
    # The lasting part has a mean of its own over a picture.
    assert abs(np.mean(all_errors)) < 0.1 * expected


def test_at_the_working_distance_it_is_as_good_as_the_real_one():
    measured = measure(wall(0.8))
    assert 1.5e-3 < np.std(measured[measured > 0]) < 2.1e-3


def test_neighbours_err_alike_and_a_part_of_it_lasts():
    sensor = DepthSensor(CAMERA, replace(NOISE, speckle=1e-9), seed=1)
    frames = [sensor.measure(wall(0.8), frame_generator(1, i)) - 0.8 for i in range(2)]

    def correlation(first, second):
        return np.corrcoef(first.ravel(), second.ravel())[0, 1]

    assert correlation(frames[0][:, 1:], frames[0][:, :-1]) > 0.4
    assert abs(correlation(frames[0][:, 40:], frames[0][:, :-40])) < 0.1
    # The lasting share of the variance is 0.35 squared.
    assert correlation(*frames) == pytest.approx(NOISE.fixed**2, abs=0.05)


def test_depth_comes_in_steps_of_the_disparity():
    measured = measure(np.linspace(0.4, 1.2, SHAPE[0] * SHAPE[1], dtype=np.float32).reshape(SHAPE))
    steps = NOISE.focal * NOISE.baseline / measured[measured > 0] / NOISE.subpixel
    assert np.max(np.abs(steps - np.rint(steps))) < 2e-3
    assert len(np.unique(np.rint(steps))) > 100


def test_flying_pixels_are_between_near_and_far_at_edges_only():
    measured = measure(step(), replace(SILENT, flying=0.4))
    flying = (measured > 0.61) & (measured < 0.99)
    assert 100 < np.sum(flying) < 4000
    rows, columns = np.nonzero(flying)
    inside = (rows > 103) & (rows < 296) & (columns > 203) & (columns < 396)
    outside = (rows < 96) | (rows > 303) | (columns < 196) | (columns > 403)
    assert not np.any(inside | outside)


def test_edges_have_holes():
    measured = measure(step(), replace(SILENT, edge_holes=0.4))
    holes = measured == 0
    border = np.zeros(SHAPE, bool)
    border[98:302, 398:402] = True  # the right side has no shadow
    assert 0.2 < np.mean(holes[border]) < 0.6
    assert not np.any(holes[150:250, 210:390])


def test_the_shadow_is_left_of_what_is_near():
    near, far = 0.6, 1.0
    holes = measure(step(near, far), SILENT) == 0
    # What the right imager sees displaced by the baseline, in pixels of the picture.
    width = CAMERA.fx * NOISE.baseline * (1 / near - 1 / far)
    shadow = np.sum(holes[120:280], axis=1)
    assert np.all(np.abs(shadow - width) <= 2)
    assert np.all(np.nonzero(holes[120:280])[1] < 200)
    assert np.all(np.nonzero(holes[120:280])[1] >= 200 - width - 2)


def test_a_steep_surface_does_not_shadow_itself():
    depth = np.broadcast_to(np.linspace(0.5, 1.5, SHAPE[1], dtype=np.float32), SHAPE)
    assert np.all(measure(np.ascontiguousarray(depth), SILENT) > 0)
    assert np.all(measure(np.ascontiguousarray(depth[:, ::-1]), SILENT) > 0)


def test_edges_wander_by_about_a_pixel():
    measured = measure(step(), replace(SILENT, edge_wander=1.0))
    right = np.argmax(measured[120:280, 350:] > 0.8, axis=1) + 350
    assert 0.3 < np.std(right) < 2.0
    assert np.mean(right) == pytest.approx(400, abs=1.0)


def test_out_of_range_there_is_nothing():
    depth = wall(0.15)
    depth[:, 100:200] = 12.0
    depth[:, 200:300] = np.inf
    depth[:, 300:] = 1.0
    measured = measure(depth, SILENT)
    assert not np.any(measured[:, :290])
    assert np.all(measured[:, 450:] > 0)
    assert np.isfinite(measured).all()


def test_speckle_holes_are_few():
    holes = np.mean([np.mean(measure(wall(0.8), frame=i) == 0) for i in range(5)])
    assert 0.5 * NOISE.speckle < holes < 2.0 * NOISE.speckle


def test_the_same_seed_and_frame_give_the_same_picture():
    first = measure(step(), seed=3, frame=7)
    np.testing.assert_array_equal(first, measure(step(), seed=3, frame=7))
    assert np.mean(first != measure(step(), seed=3, frame=8)) > 0.5
    assert np.mean(first != measure(step(), seed=4, frame=7)) > 0.5


def test_the_truth_is_left_alone():
    depth = step()
    measure(depth)
    np.testing.assert_array_equal(depth, step())


def test_another_size_is_refused():
    with pytest.raises(ValueError, match=r'shape \(2, 2\), must be \(480, 640\)'):
        measure(np.ones((2, 2), np.float32))


def test_millimetres():
    depth = np.array((0.0, 0.8004, 0.8006, 65.535, 65.6, np.inf, np.nan), np.float32)
    assert to_millimetres(depth).tolist() == [0, 800, 801, 65535, 0, 0, 0]


def test_colour_noise_has_its_deviation_and_stays_in_range():
    grey = np.full((*SHAPE, 3), 128, np.uint8)
    noisy = add_colour_noise(grey, 3.0, frame_generator(0, 0)).astype(float)
    assert np.std(noisy) == pytest.approx(3.0, rel=0.03)
    assert np.mean(noisy) == pytest.approx(128.0, abs=0.1)
    assert np.all(grey == 128)
    white = add_colour_noise(np.full_like(grey, 255), 3.0, frame_generator(0, 0))
    assert white.min() > 230
    np.testing.assert_array_equal(add_colour_noise(grey, 0.0, frame_generator(0, 0)), grey)
