# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images of cameras as metres."""

import numpy as np
import pytest

from drex_ros.perception.depth_image import DepthImage
from drex_ros.robot.camera import CameraError

MILLIMETRES = np.array(((0, 1, 800), (65535, 1000, 2500)), np.uint16)
METRES = np.array(((0.0, 0.001, 0.8), (65.535, 1.0, 2.5)), np.float32)


def test_millimetres_become_metres() -> None:
    metres = DepthImage(3, 2).read(MILLIMETRES)
    assert metres.dtype == np.float32
    np.testing.assert_allclose(metres, METRES, rtol=1e-6)


def test_another_unit_and_a_scale_count() -> None:
    image = DepthImage(3, 2, unit=0.0001)
    np.testing.assert_allclose(image.read(MILLIMETRES, 1.02), 0.102 * METRES, rtol=1e-6)
    np.testing.assert_allclose(image.read(METRES, 1.02), 1.02 * METRES, rtol=1e-6)


def test_what_is_no_depth_becomes_zero() -> None:
    pixels = np.array(((np.nan, np.inf, -np.inf), (-0.5, 0.0, 0.7)), np.float32)
    expected = np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 0.7)), np.float32)
    np.testing.assert_array_equal(DepthImage(3, 2).read(pixels), expected)


@pytest.mark.parametrize('kind', ['<u2', '>u2'])
def test_padded_rows_and_both_byte_orders_are_read(kind: str) -> None:
    rows = np.zeros((2, 5), kind)
    rows[:, :3] = MILLIMETRES
    np.testing.assert_allclose(DepthImage(3, 2).read(rows[:, :3]), METRES, rtol=1e-6)


def test_the_memory_is_used_again() -> None:
    image = DepthImage(3, 2)
    first = image.read(MILLIMETRES)
    second = image.read(METRES[::-1])
    assert second is first
    np.testing.assert_array_equal(first, METRES[::-1])


def test_memory_that_must_not_be_written_is_read() -> None:
    pixels = np.frombuffer(MILLIMETRES.tobytes(), np.uint16).reshape(2, 3)
    np.testing.assert_allclose(DepthImage(3, 2).read(pixels), METRES, rtol=1e-6)


def test_wrong_images_are_refused_with_words() -> None:
    image = DepthImage(3, 2)
    with pytest.raises(CameraError, match='depth image is 2 x 3, must be 3 x 2 as camera_info'):
        image.read(MILLIMETRES.T)
    with pytest.raises(CameraError, match='depth pixels are float64, must be uint16 or float32'):
        image.read(METRES.astype(np.float64))
    with pytest.raises(CameraError, match=r'unit of the depth is 0\.0 m, must be positive'):
        DepthImage(3, 2, unit=0.0)
