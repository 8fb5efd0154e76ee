# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The intake of pictures: what is paired and converted, and what is said about bad input."""

import time

import numpy as np
import pytest
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from drex_ros.nodes.base import ManagedNode
from drex_ros.nodes.camera_input import (
    COLOUR_TOPIC,
    DEPTH_TOPIC,
    INFO_TOPIC,
    CameraInput,
    CameraTopics,
)
from drex_ros.nodes.conversions import stamp
from drex_ros.nodes.images import PICTURES, camera_info
from drex_ros.robot.camera import CameraModel

CAMERA = CameraModel.from_pose((0, 0, 1), (0, 1.5, 0), width=8, height=6, fx=9.0, fy=9.0)
RGB = np.arange(144, dtype=np.uint8).reshape(6, 8, 3)
MILLIMETRES = np.arange(48, dtype=np.uint16).reshape(6, 8) + 500


def image(pixels, encoding, seconds, frame='lens'):
    message = Image(height=pixels.shape[0], width=pixels.shape[1], encoding=encoding)
    message.step = pixels.dtype.itemsize * pixels[0].size
    message.data = pixels.tobytes()
    message.header.stamp, message.header.frame_id = stamp(seconds), frame
    return message


def colour(seconds, frame='lens'):
    return image(RGB, 'rgb8', seconds, frame)


def depth(seconds, frame='lens'):
    return image(MILLIMETRES, '16UC1', seconds, frame)


@pytest.fixture
def camera():
    camera = CameraInput()
    camera.take_info(camera_info(CAMERA, 'lens'))
    return camera


def test_a_pair_becomes_pictures_that_share_the_memory_of_the_message(camera):
    message = colour(1.0)
    assert camera.take_colour(message) == []
    (pair,) = camera.take_depth(depth(1.002))
    assert (pair.time, pair.colour_time, pair.frame_id) == (pytest.approx(1.002), 1.0, 'lens')
    assert pair.stamp == stamp(1.002)
    rgb, metres = camera.pictures(pair)
    np.testing.assert_array_equal(rgb, RGB)
    np.testing.assert_allclose(metres, MILLIMETRES * 1e-3, rtol=1e-6)
    assert np.shares_memory(rgb, np.frombuffer(message.data, np.uint8))
    assert camera.problem == ''
    scaled = camera.pictures(pair, scale=1.02)[1]
    np.testing.assert_allclose(scaled, MILLIMETRES * 1.02e-3, rtol=1e-6)


@pytest.mark.parametrize(
    ('encoding', 'pixels'),
    [
        ('bgr8', RGB[..., ::-1]),
        ('rgba8', np.dstack((RGB, np.full((6, 8), 9, np.uint8)))),
        ('bgra8', np.dstack((RGB[..., ::-1], np.full((6, 8), 9, np.uint8)))),
    ],
)
def test_other_orders_of_colour_become_red_green_blue(camera, encoding, pixels):
    camera.take_colour(image(np.ascontiguousarray(pixels), encoding, 1.0))
    (pair,) = camera.take_depth(depth(1.0))
    np.testing.assert_array_equal(camera.pictures(pair)[0], RGB)


def test_grey_pictures_and_depth_in_metres_are_read(camera):
    camera.take_colour(image(RGB[..., 0].copy(), 'mono8', 1.0))
    metres = MILLIMETRES.astype(np.float32) * np.float32(1e-3)
    metres[0, 0] = np.nan
    (pair,) = camera.take_depth(image(metres, '32FC1', 1.0))
    rgb, found = camera.pictures(pair)
    np.testing.assert_array_equal(rgb, np.repeat(RGB[..., :1], 3, axis=2))
    assert found[0, 0] == 0.0
    np.testing.assert_array_equal(found.ravel()[1:], metres.ravel()[1:])


def test_distortion_is_taken_out():
    camera = CameraInput()
    info = camera_info(CAMERA, 'lens')
    info.d = [1.0, 0.0, 0.0, 0.0, 0.0]
    camera.take_info(info)
    assert camera.lens.model == 'plumb_bob'
    camera.take_colour(colour(1.0))
    (pair,) = camera.take_depth(depth(1.0))
    rgb, metres = camera.pictures(pair)
    assert not np.array_equal(rgb, RGB)
    assert not np.allclose(metres, MILLIMETRES * 1e-3)


def test_each_step_of_the_start_is_told():
    camera = CameraInput()
    assert camera.problem == 'no colour and no depth image has come yet'
    camera.take_colour(colour(1.0))
    assert camera.problem == 'no depth image has come yet'
    assert camera.take_depth(depth(1.0)) == []
    assert camera.problem == 'images come, but no camera_info yet'
    camera.take_info(camera_info(CAMERA, 'lens'))
    camera.take_colour(colour(2.0))
    assert len(camera.take_depth(depth(2.0))) == 1
    assert camera.problem == ''


def small(message):
    message.width, message.step = 7, 21
    message.data = message.data[: 6 * 21]
    return message


def short(message):
    message.data = message.data[:100]
    return message


@pytest.mark.parametrize(
    ('picture', 'image_', 'words'),
    [
        (image(RGB, 'yuv422', 1.0), depth(1.0), "colour image has encoding 'yuv422', must be one"),
        (image(MILLIMETRES, '16UC1', 1.0), depth(1.0), "encoding '16UC1', must be one of rgb8"),
        (colour(1.0), image(RGB, 'rgb8', 1.0), "depth image has encoding 'rgb8', must be one of"),
        (short(colour(1.0)), depth(1.0), 'colour image has 100 bytes, must have 6 rows of 24'),
        (small(colour(1.0)), depth(1.0), 'colour image is 7 x 6, must be 8 x 6 as camera_info'),
        (colour(1.0), depth(1.0, 'infra'), "frame 'lens' and depth in 'infra', must be the same"),
    ],
)
def test_bad_pictures_are_one_line_and_good_ones_end_it(camera, picture, image_, words):
    assert camera.take_colour(picture) + camera.take_depth(image_) == []
    assert words in camera.problem
    assert '\n' not in camera.problem
    camera.take_colour(colour(2.0))
    assert len(camera.take_depth(depth(2.0))) == 1
    assert camera.problem == ''


def test_a_bad_camera_info_is_one_line_until_a_good_one_comes(camera):
    bad = camera_info(CAMERA, 'lens')
    bad.k = [0.0] * 9
    camera.take_info(bad)
    camera.take_colour(colour(1.0))
    assert camera.take_depth(depth(1.0)) == []
    assert camera.problem == 'K of camera_info is all zero: the camera is not calibrated'
    assert camera.lens is None
    camera.take_info(camera_info(CAMERA, 'lens'))
    camera.take_colour(colour(2.0))
    assert len(camera.take_depth(depth(2.0))) == 1


def test_the_lens_is_the_same_object_until_its_numbers_change(camera):
    before = camera.lens
    camera.take_info(camera_info(CAMERA, 'lens'))
    assert camera.lens is before
    other = camera_info(CAMERA, 'lens')
    other.k[0] = 10.0
    camera.take_info(other)
    assert camera.lens is not before
    assert camera.lens.matrix[0, 0] == 10.0


def test_stamps_that_never_meet_are_told(camera):
    for n in range(30):
        camera.take_colour(colour(1.0 + n / 10))
        camera.take_depth(depth(1.05 + n / 10))
    assert camera.problem == (
        'colour and depth have stamps 50 ms apart, must be within 20 ms to be paired'
    )
    assert min(camera.unpaired) >= 10


def test_stamps_that_jump_back_are_counted_and_it_goes_on(camera):
    camera.take_colour(colour(100.0))
    camera.take_depth(depth(100.0))
    assert camera.jumps == 0
    camera.take_colour(colour(1.0))
    (pair,) = camera.take_depth(depth(1.0))
    assert pair.time == 1.0
    assert camera.jumps >= 1


class Reader(ManagedNode):
    """Reads a camera."""

    NAME = 'reader'

    def configure(self) -> None:
        self.camera = CameraTopics(self)


@pytest.mark.parametrize('late', ['colour', 'depth'])
def test_pairs_come_over_ros_whichever_of_the_two_is_later(context, late):
    reader = Reader(context=context)
    sender = Node('sender', context=context)
    try:
        reader.trigger_configure()
        reader.trigger_activate()
        publishers = {
            'info': sender.create_publisher(CameraInfo, INFO_TOPIC, PICTURES),
            'colour': sender.create_publisher(Image, COLOUR_TOPIC, PICTURES),
            'depth': sender.create_publisher(Image, DEPTH_TOPIC, PICTURES),
        }
        deadline = time.monotonic() + 20.0
        while any(p.get_subscription_count() == 0 for p in publishers.values()):
            assert time.monotonic() < deadline
            time.sleep(0.02)

        def pairs_of(time_, timeout):
            messages = {'colour': colour(time_), 'depth': depth(time_)}
            for kind in sorted(messages, key=lambda kind: kind == late):
                publishers[kind].publish(messages[kind])
            found, end = [], time.monotonic() + timeout
            while not found and time.monotonic() < end:
                found = reader.camera.wait(0.02)
            return [pair.time for pair in found]

        # A publisher knows its reader before the reader knows it, and best effort is not repeated.
        number = 0
        while not pairs_of(0.5 + number / 30, 0.2):
            assert time.monotonic() < deadline
            publishers['info'].publish(camera_info(CAMERA, 'lens'))
            number += 1
        start = 0.5 + (number + 1) / 30
        times = [time_ for n in range(5) for time_ in pairs_of(start + n / 30, 20.0)]
        assert times == pytest.approx([start + n / 30 for n in range(5)])
        assert reader.camera.input.problem == ''
    finally:
        sender.destroy_node()
        reader.destroy_node()
