# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags: types of their own, the robot's posture, and what is no bag any more."""

import sqlite3
import struct

import numpy as np
import pytest
from bag_files import TYPES, header, write_bag
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from drex_ros.cli import bag_frames
from drex_ros.cli.bag_frames import BagFrames, find_topics
from drex_ros.cli.bag_reading import Bag, BagError
from drex_ros.cli.bag_salvage import DamageError, salvage
from drex_ros.perception.frame import RgbdFrame
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME, JOINT_NAMES, N_JOINTS

CAMERA = CameraModel.from_pose((1.0, 0.0, 0.5), (0.0, 0.6, 3.0), width=64, height=48)


@pytest.fixture
def recorded() -> list[RgbdFrame]:
    """Three frames of noise."""
    generator = np.random.default_rng(0)
    return [
        RgbdFrame(
            1000.0 + i / 30.0,
            generator.integers(0, 256, (48, 64, 3), dtype=np.uint8),
            generator.uniform(0.3, 2.0, (48, 64)).astype(np.float32),
        )
        for i in range(3)
    ]


def test_frames_have_the_robots_posture_by_the_names_of_its_joints(tmp_path, recorded):
    bag = write_bag(tmp_path / 'push', recorded[:3], CAMERA)
    with Bag(bag) as opened:
        found = BagFrames(opened, find_topics(opened))
        assert (found.rate, found.expected) == (30, 3)
        for frame, given in zip(found, recorded, strict=False):
            assert frame.joint_position == pytest.approx(HOME)
            assert (frame.colour == given.colour).all()
            assert frame.depth == pytest.approx(given.depth, abs=0.0005 + 1e-6)
            assert frame.skew == 0.0
        assert found.without_posture == 0
    without = write_bag(tmp_path / 'alone', recorded[:3], CAMERA, without=('joint_states',))
    with Bag(without) as opened:
        found = BagFrames(opened, find_topics(opened))
        assert [frame.joint_position for frame in found] == [None] * 3


def test_a_posture_lies_between_the_joint_states_around_it():
    postures = bag_frames._Postures()
    kind = TYPES.types['sensor_msgs/msg/JointState']
    empty = np.empty(0)
    for time, value in ((1.0, 0.1), (1.1, 0.3)):
        arm, hand = JOINT_NAMES[:7], JOINT_NAMES[7:]
        # Arm and hand may have drivers of their own, and other joints are none of ours.
        for names in (arm, (*hand, 'gripper')):
            message = kind(header(time), list(names), np.full(len(names), value), empty, empty)
            postures.add(time, message)
    assert postures.at(1.05) == pytest.approx(np.full(N_JOINTS, 0.2))
    assert postures.at(1.15) == pytest.approx(np.full(N_JOINTS, 0.3))
    assert postures.at(0.95) == pytest.approx(np.full(N_JOINTS, 0.1))
    assert postures.at(1.3) is None
    assert postures.at(0.8) is None


def test_a_robot_state_of_our_own_is_read_by_the_definition_in_the_bag(tmp_path, recorded):
    types = get_typestore(Stores.ROS2_JAZZY)
    name = 'drex_interfaces/msg/RobotState'
    text = 'std_msgs/Header header\nfloat64[23] position\n'
    types.register(get_types_from_msg(text, name))
    bag = write_bag(tmp_path / 'push', recorded[:1], CAMERA, without=('joint_states',))
    with Writer(tmp_path / 'robot', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection('/robot/state', name, typestore=types)
        message = types.types[name](header(5.0), np.arange(23.0))
        writer.write(connection, 5, types.serialize_cdr(message, name))
    with Bag(tmp_path / 'robot') as opened:
        ((topic, read),) = opened.messages(['/robot/state'])
    assert topic == '/robot/state'
    postures = bag_frames._Postures()
    postures.add(5.0, read)
    assert postures.at(5.0) == pytest.approx(np.arange(23.0))
    with Bag(bag) as opened:
        assert find_topics(opened).joints == ''


def test_a_type_that_nobody_knows_is_said(tmp_path):
    types = get_typestore(Stores.ROS2_JAZZY)
    types.register(get_types_from_msg('int32 x\n', 'odd_msgs/msg/Thing'))
    path = tmp_path / 'odd'
    with Writer(path, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        connection = writer.add_connection('/thing', 'odd_msgs/msg/Thing', typestore=types)
        message = types.types['odd_msgs/msg/Thing'](3)
        writer.write(connection, 1, types.serialize_cdr(message, 'odd_msgs/msg/Thing'))
    data = path / 'odd.db3'
    connection = sqlite3.connect(data)
    connection.execute('DELETE FROM message_definitions')
    connection.commit()
    connection.close()
    with Bag(data) as opened:
        words = 'odd_msgs/msg/Thing of /thing is neither in the bag nor installed'
        with pytest.raises(BagError, match=words):
            list(opened.messages(['/thing']))


def test_a_record_of_a_senseless_size_ends_the_reading(tmp_path):
    path = tmp_path / 'odd.mcap'
    path.write_bytes(b'\x89MCAP0\r\n' + struct.pack('<BQ', 5, 2**60))
    with pytest.raises(DamageError, match='no record'):
        list(salvage(path))
