# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures as ROS messages, without a copy too many, and the transport that they need."""

from __future__ import annotations

import array
import os
import sys
from collections.abc import MutableMapping
from typing import Any

import numpy as np
import numpy.typing as npt
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image

from drex_ros.resources import share_file
from drex_ros.robot.camera import CameraModel

PICTURES = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""For publishers of pictures: reliable, so that readers of either kind get every one."""

LATEST_PICTURES = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For readers of pictures: takes what any camera sends; who is too slow misses some."""

# Number type and channels of the encodings that are used here.
_ENCODINGS: dict[str, tuple[type[np.generic], int]] = {
    'rgb8': (np.uint8, 3),
    '16UC1': (np.uint16, 1),
    '32FC1': (np.float32, 1),
    'bgr8': (np.uint8, 3),
    'rgba8': (np.uint8, 4),
    'bgra8': (np.uint8, 4),
    'mono8': (np.uint8, 1),
    'mono16': (np.uint16, 1),
}
_PROFILE_VARIABLES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')


def enlarge_shared_memory(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let pictures of this process travel in shared memory; call it before ROS starts.

    A profile that the user has given counts instead. Other middlewares ignore the variables.
    """
    if not any(environment.get(name) for name in _PROFILE_VARIABLES):
        path = str(share_file('config/dds/camera.xml'))
        for name in _PROFILE_VARIABLES:
            environment[name] = path


class ImageMessage:
    """An Image message whose memory is used again for each picture."""

    def __init__(self, camera: CameraModel, encoding: str, frame_id: str) -> None:
        """Make a message for pictures of this camera's size."""
        kind, channels = _ENCODINGS[encoding]
        step = camera.width * channels * np.dtype(kind).itemsize
        self.message = Image(
            height=camera.height,
            width=camera.width,
            encoding=encoding,
            is_bigendian=sys.byteorder == 'big',
            step=step,
        )
        self.message.header.frame_id = frame_id
        self.message.data = array.array('B', bytes(camera.height * step))
        self._pixels = image_array(self.message)

    def fill(self, pixels: npt.NDArray[Any], stamp: Any) -> Image:
        """The message with these pixels; valid until the next call."""
        self._pixels[...] = pixels
        self.message.header.stamp = stamp
        return self.message


def image_array(message: Image) -> npt.NDArray[Any]:
    """The pixels of a message, sharing its memory: shape (height, width), or with channels.

    Raises ValueError for an encoding that is not used here and for data of a wrong size.
    """
    if message.encoding not in _ENCODINGS:
        known = ', '.join(_ENCODINGS)
        raise ValueError(f'image encoding is {message.encoding!r}, must be one of {known}')
    kind, channels = _ENCODINGS[message.encoding]
    width = message.width * channels * np.dtype(kind).itemsize
    if message.step < width or len(message.data) != message.height * message.step:
        raise ValueError(
            f'image has {len(message.data)} bytes, must have '
            f'{message.height} rows of {message.step} bytes'
        )
    dtype = np.dtype(kind)
    dtype = dtype.newbyteorder('>') if message.is_bigendian else dtype.newbyteorder('<')
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    pixels = rows[:, :width].view(dtype)
    return pixels if channels == 1 else pixels.reshape(message.height, message.width, channels)


def camera_info(camera: CameraModel, frame_id: str) -> CameraInfo:
    """The intrinsics of a camera without distortion, as ROS has them."""
    matrix = camera.matrix
    message = CameraInfo(
        height=camera.height,
        width=camera.width,
        distortion_model='plumb_bob',
        d=[0.0] * 5,
        k=matrix.ravel(),
        r=np.eye(3).ravel(),
        p=np.hstack((matrix, np.zeros((3, 1)))).ravel(),
    )
    message.header.frame_id = frame_id
    return message
