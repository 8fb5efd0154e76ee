# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Lens distortion taken out, against what the camera model projects."""

from typing import Any

import cv2
import numpy as np
import pytest

from drex_ros.perception.rectification import Lens, Rectification
from drex_ros.robot.camera import CameraError

WIDTH, HEIGHT = 160, 120
K = (150.0, 0.0, 79.0, 0.0, 155.0, 60.5, 0.0, 0.0, 1.0)
LENSES = {
    'plumb_bob': (-0.3, 0.1, 0.002, -0.003, 0.05),
    'rational_polynomial': (0.6, 0.1, 0.001, 0.002, 0.01, 0.2, 0.05, 0.01),
    'equidistant': (0.05, 0.01, -0.01, 0.002),
}


def distorted(model: str, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Pixels at which a lens shows points of the optical frame. Shape (n, 2)."""
    k, d = np.reshape(K, (3, 3)), np.array(LENSES[model])
    if model == 'equidistant':
        pixels, _ = cv2.fisheye.projectPoints(points[None], np.zeros(3), np.zeros(3), k, d)
    else:
        pixels, _ = cv2.projectPoints(points, np.zeros(3), np.zeros(3), k, d)
    return pixels.reshape(-1, 2)


@pytest.mark.parametrize('model', LENSES)
def test_a_point_is_where_the_camera_model_says(model: str) -> None:
    rectification = Rectification(Lens.of(WIDTH, HEIGHT, K, LENSES[model], model))
    assert rectification.changes
    camera = rectification.lens.camera((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    points = np.array([(x, y, 1.0) for x in (-0.35, -0.1, 0.1, 0.4) for y in (-0.25, 0.0, 0.27)])
    seen = distorted(model, points)
    assert np.abs(seen - camera.project(points)).max() > 2.0
    grid = np.stack(np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)), axis=-1)
    for pixel, expected in zip(seen, camera.project(points), strict=True):
        spot = 255.0 * np.exp(-0.5 * ((grid - pixel) ** 2).sum(axis=-1) / 1.5**2)
        colour = rectification.colour(np.repeat(spot[..., None], 3, axis=2).astype(np.uint8))
        weight = colour[..., 1].astype(float)
        found = (weight[..., None] * grid).sum(axis=(0, 1)) / weight.sum()
        np.testing.assert_allclose(found, expected, atol=0.15)


@pytest.mark.parametrize('model', LENSES)
def test_depths_are_never_mixed(model: str) -> None:
    rectification = Rectification(Lens.of(WIDTH, HEIGHT, K, LENSES[model], model))
    image = np.full((HEIGHT, WIDTH), 0.5, np.float32)
    image[:, 91:] = 1.5
    flat = rectification.depth(image)
    assert set(np.unique(flat)) <= {np.float32(value) for value in (0.0, 0.5, 1.5)}
    # The edge is as far away as that of the same picture in colour.
    colour = np.repeat((image > 1.0)[..., None], 3, axis=2).astype(np.uint8) * 200
    edge = rectification.colour(colour)[60, :, 0] > 100
    assert np.array_equal(edge, flat[60] > 1.0)
    column = int(np.argmax(edge))
    camera = rectification.lens.camera((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    ray = camera.rays()[60, column - 1 : column + 1]
    left, right = distorted(model, ray)[:, 0]
    assert left < 90.5 <= right


@pytest.mark.parametrize(
    ('d', 'model'), [((), ''), ((0.0,) * 5, 'plumb_bob'), ((0.0,) * 5, 'something else')]
)
def test_without_distortion_nothing_is_copied(d: tuple[float, ...], model: str) -> None:
    rectification = Rectification(Lens.of(WIDTH, HEIGHT, K, d, model))
    assert not rectification.changes
    colour = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    depth = np.zeros((HEIGHT, WIDTH), np.float32)
    assert rectification.colour(colour) is colour
    assert rectification.depth(depth) is depth


def test_the_camera_has_the_numbers_of_the_lens() -> None:
    camera = Lens.of(WIDTH, HEIGHT, K).camera((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))
    assert (camera.width, camera.height) == (WIDTH, HEIGHT)
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == (150.0, 155.0, 79.0, 60.5)
    assert camera.position.tolist() == [1.0, 2.0, 3.0]


def test_a_whole_region_and_no_binning_are_what_cameras_publish() -> None:
    lens = Lens.of(WIDTH, HEIGHT, K, binning=(1, 1), roi=(0, 0, WIDTH, HEIGHT))
    assert lens.distortion.size == 0


NAN = float('nan')


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'k': [0.0] * 9}, 'K of camera_info is all zero: the camera is not calibrated'),
        ({'k': K[:6]}, 'has 6 numbers, must have 9'),
        ({'k': (NAN, *K[1:])}, 'focal lengths nan, 155 px'),
        ({'k': (-150.0, *K[1:])}, 'must be finite, the first two positive'),
        ({'k': (150.0, 3.0, *K[2:])}, 'has skew'),
        ({'width': 0}, 'says 0 x 120 px'),
        ({'d': (0.1, NAN, 0.0, 0.0), 'model': 'plumb_bob'}, 'distortion of camera_info is'),
        ({'d': (0.1,) * 4, 'model': 'jelly'}, "'jelly', must be one of plumb_bob, rational"),
        ({'d': (0.1,) * 3, 'model': 'plumb_bob'}, 'has 3 numbers, must have 4 or 5'),
        ({'binning': (2, 2)}, 'binning 2 x 2, which is not supported'),
        ({'roi': (10, 20, 100, 80)}, 'region of interest of 100 x 80 px at 10, 20'),
    ],
)
def test_what_cannot_be_is_refused_with_words(given: dict[str, Any], words: str) -> None:
    with pytest.raises(CameraError, match=words):
        Lens.of(**{'width': WIDTH, 'height': HEIGHT, 'k': K, **given})


def test_pictures_of_another_size_are_refused() -> None:
    rectification = Rectification(Lens.of(WIDTH, HEIGHT, K))
    with pytest.raises(CameraError, match='colour image is 12 x 10, must be 160 x 120'):
        rectification.colour(np.zeros((10, 12, 3), np.uint8))
    with pytest.raises(CameraError, match='depth image is 12 x 10, must be 160 x 120'):
        rectification.depth(np.zeros((10, 12), np.float32))
