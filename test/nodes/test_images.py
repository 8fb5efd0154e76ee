# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures as messages."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from builtin_interfaces.msg import Time

from drex_ros.nodes.images import ImageMessage, camera_info, enlarge_shared_memory, image_array
from drex_ros.robot.camera import CameraModel

CAMERA = CameraModel.from_pose(
    (0, 0, 0), (0, 0, 0), width=6, height=4, fx=5.0, fy=7.0, cx=2.0, cy=1.0
)
PIXELS = {
    'rgb8': np.arange(72, dtype=np.uint8).reshape(4, 6, 3),
    '16UC1': np.arange(24, dtype=np.uint16).reshape(4, 6) + 1000,
    '32FC1': np.linspace(0.0, 2.0, 24, dtype=np.float32).reshape(4, 6),
}


@pytest.mark.parametrize('encoding', PIXELS)
def test_pixels_come_back(encoding):
    image = ImageMessage(CAMERA, encoding, 'lens')
    message = image.fill(PIXELS[encoding], Time(sec=3, nanosec=5))
    assert (message.width, message.height, message.encoding) == (6, 4, encoding)
    assert message.header.frame_id == 'lens'
    assert message.header.stamp == Time(sec=3, nanosec=5)
    np.testing.assert_array_equal(image_array(message), PIXELS[encoding])
    # The same memory serves the next picture.
    data = message.data
    assert image.fill(PIXELS[encoding][::-1], Time()).data is data
    np.testing.assert_array_equal(image_array(message), PIXELS[encoding][::-1])


def test_padded_rows_and_the_other_byte_order_are_read():
    message = ImageMessage(CAMERA, '16UC1', 'lens').message
    rows = np.zeros((4, 16), np.uint8)
    rows[:, :12] = PIXELS['16UC1'].astype('>u2').view(np.uint8)
    message.step, message.is_bigendian, message.data = 16, 1, rows.tobytes()
    np.testing.assert_array_equal(image_array(message), PIXELS['16UC1'])


def test_wrong_images_are_refused():
    message = ImageMessage(CAMERA, 'rgb8', 'lens').message
    message.data = bytes(5)
    with pytest.raises(ValueError, match='5 bytes, must have 4 rows of 18 bytes'):
        image_array(message)
    message.encoding = 'jpeg'
    with pytest.raises(ValueError, match="'jpeg', must be one of rgb8, 16UC1, 32FC1"):
        image_array(message)


def test_intrinsics():
    message = camera_info(CAMERA, 'lens')
    assert message.k.tolist() == [5.0, 0.0, 2.0, 0.0, 7.0, 1.0, 0.0, 0.0, 1.0]
    assert message.p.tolist() == [5.0, 0, 2.0, 0, 0, 7.0, 1.0, 0, 0, 0, 1.0, 0]
    assert message.r.tolist() == np.eye(3).ravel().tolist()
    assert (message.distortion_model, list(message.d)) == ('plumb_bob', [0.0] * 5)


def test_a_transport_profile_of_the_user_counts():
    environment = {}
    enlarge_shared_memory(environment)
    (path,) = set(environment.values())
    assert int(ET.parse(path).find('.//{*}segment_size').text) >= 32 * 2**20
    given = {'FASTRTPS_DEFAULT_PROFILES_FILE': 'mine.xml'}
    enlarge_shared_memory(given)
    assert given == {'FASTRTPS_DEFAULT_PROFILES_FILE': 'mine.xml'}
