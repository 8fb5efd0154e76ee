# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small bags for tests, as a recorder would have written them."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from drex_ros.perception.frame import RgbdFrame
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME, JOINT_NAMES

TYPES = get_typestore(Stores.ROS2_JAZZY)
COLOUR = 'camera/color/image_raw'
DEPTH = 'camera/aligned_depth_to_color/image_raw'
INFO = 'camera/color/camera_info'


def image(time: float, pixels: np.ndarray, encoding: str):
    """An Image message; depth in metres becomes what the encoding says."""
    if encoding == '16UC1':
        pixels = np.rint(1e3 * pixels).astype(np.uint16)
    elif encoding == 'bgr8':
        pixels = pixels[..., ::-1]
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels).view(np.uint8).ravel()
    return TYPES.types['sensor_msgs/msg/Image'](
        header(time), height, width, encoding, 0, data.size // height, data
    )


def header(time: float):
    """A header with this stamp [s]."""
    nanoseconds = round(time * 1e9)
    stamp = TYPES.types['builtin_interfaces/msg/Time'](nanoseconds // 10**9, nanoseconds % 10**9)
    return TYPES.types['std_msgs/msg/Header'](stamp, 'camera_color_optical_frame')


def camera_info(time: float, camera: CameraModel):
    """The intrinsics of a camera without distortion."""
    matrix = camera.matrix
    region = TYPES.types['sensor_msgs/msg/RegionOfInterest'](0, 0, 0, 0, False)
    return TYPES.types['sensor_msgs/msg/CameraInfo'](
        header(time),
        camera.height,
        camera.width,
        'plumb_bob',
        np.zeros(5),
        matrix.ravel(),
        np.eye(3).ravel(),
        np.hstack((matrix, np.zeros((3, 1)))).ravel(),
        0,
        0,
        region,
    )


def joint_state(time: float, position: np.ndarray):
    """All joints by name, in an order of its own."""
    order = np.argsort(JOINT_NAMES)
    return TYPES.types['sensor_msgs/msg/JointState'](
        header(time),
        [JOINT_NAMES[i] for i in order],
        np.asarray(position)[order],
        np.empty(0),
        np.empty(0),
    )


def write_bag(
    path: Path,
    frames: Iterable[RgbdFrame],
    camera: CameraModel,
    *,
    storage: StoragePlugin = StoragePlugin.MCAP,
    namespace: str = '',
    encodings: tuple[str, str] = ('rgb8', '16UC1'),
    without: tuple[str, ...] = (),
) -> Path:
    """Record frames, with the robot at home, on the topics of the camera."""
    kinds = {COLOUR: 'Image', DEPTH: 'Image', INFO: 'CameraInfo', 'joint_states': 'JointState'}
    with Writer(path, version=9, storage_plugin=storage) as writer:
        connections = {
            name: writer.add_connection(
                f'{namespace}/{name}', f'sensor_msgs/msg/{kind}', typestore=TYPES
            )
            for name, kind in kinds.items()
            if name not in without
        }
        for frame in frames:
            messages = {
                'joint_states': joint_state(frame.time, HOME),
                INFO: camera_info(frame.time, camera),
                COLOUR: image(frame.time, frame.colour, encodings[0]),
                DEPTH: image(frame.time, frame.depth, encodings[1]),
            }
            for name, message in messages.items():
                if name in connections:
                    writer.write(
                        connections[name],
                        round(1e9 * (frame.time + 0.01)),
                        TYPES.serialize_cdr(message, connections[name].msgtype),
                    )
    return path
