# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tracker says about bad input, and what it does with poses of another tracker."""

import itertools

import numpy as np
import pytest
from camera_player import FRAME, Painter, Player, errors
from geometry_msgs.msg import PoseStamped
from ros_harness import NodeProcess
from stack_harness import node_command, node_environment

from drex_interfaces.msg import ObjectTrack
from drex_interfaces.srv import Detect
from drex_ros.nodes.conversions import stamp
from drex_ros.robot.rotations import quaternion_from_matrix, rotation_matrix

TIMES = itertools.count(100, 100)  # [s]
COMMON = {'backend': 'external', 'diagnostics_period': 0.1}


@pytest.fixture(scope='module')
def painter(ros_domain):
    painter = Painter()
    yield painter
    painter.close()


@pytest.fixture(scope='module')
def process(ros_domain):
    """A tracker that needs nothing compiled, for all tests."""
    command = node_command('pose_tracker', namespace='/ear', params={**COMMON, 'object': 'mug'})
    with NodeProcess(command, env=node_environment()) as process:
        yield process


@pytest.fixture
def ear(ros, painter, process):
    return Player(ros, painter, '/ear', float(next(TIMES)))


def warning(player, words, show):
    """Show pictures until the tracker's status has words in it; the status."""
    diagnostics = player.ros.diagnostics()

    def found():
        show()
        player.ros.spin(0.05)
        seen = diagnostics.get(player.node)
        return seen if seen and words in seen.message else None

    status = player.ros.spin_until(found, what=words)
    assert status.level == b'\x01'
    return status


def test_waits_for_camera_info_and_says_so(ear, process):
    """First of all: once it has come, it is known."""
    ear.with_info = False
    warning(ear, 'mug: images come, but no camera_info yet', lambda: ear.show('mug'))
    process.wait_for_line('WARN.*images come, but no camera_info yet')
    ear.with_info = True
    assert ear.track('mug').status == ObjectTrack.STATUS_DETECTING
    process.wait_for_line('the input is well again')


def test_an_unknown_encoding_is_named_once(ear, process):
    ear.track('mug')
    before = len(process.lines)
    words = "colour image has encoding 'yuv422', must be one of rgb8"
    warning(ear, words, lambda: ear.show('mug', encoding='yuv422'))
    for _ in range(30):
        ear.show('mug', encoding='yuv422')
        ear.ros.spin(0.05)
    process.wait_for_line(words, after=before)
    lines = [line for line in process.lines[before:] if 'yuv422' in line.text]
    assert len(lines) == 1
    assert ear.track('mug')


def test_sizes_that_do_not_fit_are_named(ear):
    ear.track('mug')

    def show():
        ear.show('mug', width=320, step=960, height=480, data=bytes(960 * 480))

    warning(ear, 'colour image is 320 x 480, must be 640 x 480', show)
    assert ear.track('mug')


def test_pictures_that_stop_are_noticed(ear):
    ear.track('mug')
    warning(ear, 'mug: no picture for more than 2 s', lambda: None)
    assert ear.track('mug')


def camera_pose_of(painter, thing, move=0.0):
    """Pose of an object in the optical frame, as another tracker would give it."""
    position, quaternion = painter.place(thing, move)
    camera = painter.model
    turn = quaternion_from_matrix(camera.rotation.T @ rotation_matrix(quaternion))
    message = PoseStamped()
    place = message.pose.position
    place.x, place.y, place.z = camera.to_optical(position).tolist()
    out = message.pose.orientation
    out.x, out.y, out.z, out.w = turn.tolist()
    message.header.frame_id = FRAME
    return message


def test_poses_of_another_tracker_are_followed_and_missed(ear):
    poses = ear.ros.publisher(PoseStamped, '/ear/external/pose')

    def follow(move):
        message = camera_pose_of(ear.painter, 'mug', move)
        message.header.stamp = stamp(ear.time + 1.0 / 30.0)
        poses.publish(message)
        ear.ros.spin(0.02)
        return ear.track('mug', move)

    for number in range(8):
        track = follow(0.002 * number)
    assert track.status == ObjectTrack.STATUS_TRACKING
    assert errors(track, *ear.painter.place('mug', 0.014))[0] < 0.004
    lost = next(t for t in (ear.track('mug') for _ in range(60)) if t.status == 3)
    assert lost.reason.startswith('external/pose not seen for 1.')
    # Without sense: refused, in words.
    wrong = camera_pose_of(ear.painter, 'mug')
    wrong.header.frame_id = 'moon'

    def publish():
        wrong.header.stamp = stamp(ear.time)
        poses.publish(wrong)
        ear.show('mug')

    words = "external/pose: poses are in frame 'moon', must be in 'camera_color_optical_frame'"
    warning(ear, words, publish)


def test_an_object_that_there_is_not_is_no_reason_to_end(ros, painter, start):
    params = {**COMMON, 'object': 'unicorn'}
    command = node_command('pose_tracker', namespace='/late', params=params)
    process = start(command, env=node_environment())
    process.wait_for_line("cannot track 'unicorn': no object 'unicorn'; the objects are")
    diagnostics = ros.diagnostics()
    status = ros.spin_until(
        lambda: (seen := diagnostics.get('/late/pose_tracker')) and 'unicorn' in seen.message
        and seen,
        what='a warning',
    )  # fmt: skip
    assert status.level == b'\x01'
    nothing = ros.call(Detect, '/late/tracker/detect')
    assert nothing.message.startswith("no object 'unicorn'")
    request = Detect.Request(object='mug', timeout=0.1)
    answer = ros.call(Detect, '/late/tracker/detect', request)
    assert answer.message.startswith('no picture was taken within 0.1 s: no colour and no depth')
    assert Player(ros, painter, '/late', 7.0).track('mug').object == 'mug'


def test_nothing_to_track_is_well_and_listens_to_no_camera(ros, start):
    params = {'diagnostics_period': 0.1}
    start(node_command('pose_tracker', namespace='/idle', params=params), env=node_environment())
    diagnostics = ros.diagnostics()
    status = ros.spin_until(
        lambda: (seen := diagnostics.get('/idle/pose_tracker')) and 'nothing' in seen.message
        and seen,
        what='words',
    )  # fmt: skip
    assert status.level == b'\x00'
    assert ros.node.count_subscribers('/idle/camera/color/image_raw') == 0
    assert ros.node.count_subscribers('/idle/joint_states') == 0
    empty = ros.call(Detect, '/idle/tracker/detect')
    assert empty.message == 'nothing to look for: name an object'
    assert np.isnan(empty.track.pose.pose.position.x)


def test_a_wrong_parameter_ends_it(start):
    params = {'camera_pose': '/nowhere/camera.yaml'}
    process = start(node_command('pose_tracker', params=params), env=node_environment())
    assert process.wait() == 2
    process.wait_for_line('/nowhere/camera.yaml: no such file: run drex calibrate')
