# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pieces of the tracker's node: postures, complaints, counts, messages, what it is made of."""

import importlib.util
import math

import numpy as np
import pytest
from camera_player import Painter
from rclpy.node import Node

from drex_interfaces.msg import ObjectTrack
from drex_ros.nodes.complaints import CHANGE_PERIOD, PATIENCE, REPEAT_PERIOD, Complaints
from drex_ros.nodes.conversions import stamp
from drex_ros.nodes.joint_history import OLDEST, JointHistory
from drex_ros.nodes.parameters import ParameterValues
from drex_ros.nodes.process import ConfigurationError
from drex_ros.nodes.tracked_object import TrackedObject
from drex_ros.nodes.tracker_backends import TrackerMaker
from drex_ros.nodes.tracker_messages import estimate, pose_message, track_message
from drex_ros.nodes.tracker_parameters import PARAMETERS
from drex_ros.nodes.tracker_statistics import TrackerStatistics
from drex_ros.nodes.transforms import transforms
from drex_ros.objects import load_object
from drex_ros.perception.calibration_file import CameraPose, save_camera_pose
from drex_ros.perception.estimate import ObjectEstimate, ObjectState, TrackStatus
from drex_ros.perception.external_poses import ExternalPoses
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.rectification import Lens
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.tag_tracker import TagTracker
from drex_ros.robot.joints import HOME, JOINT_NAMES

HAS_TF2 = importlib.util.find_spec('tf2_msgs') is not None


@pytest.fixture(scope='module')
def painter():
    painter = Painter()
    yield painter
    painter.close()


def params(**given):
    values = ParameterValues(PARAMETERS)
    by_name = {description.name: description for description in values.descriptions}
    values.update([by_name[name].to_ros(by_name[name].check(v)) for name, v in given.items()])
    return values


# Postures


def test_postures_are_interpolated_and_not_guessed():
    history = JointHistory()
    assert history.at(1.0) is None
    history.add(1.0, JOINT_NAMES, HOME)
    history.add(1.01, JOINT_NAMES, HOME + 0.1)
    np.testing.assert_allclose(history.at(1.0025), HOME + 0.025)
    np.testing.assert_allclose(history.at(1.05), HOME + 0.1)
    assert history.at(1.01 + OLDEST + 0.01) is None
    assert history.at(1.0 - OLDEST - 0.01) is None
    # Across a long silence nothing is known in the middle.
    history.add(2.0, JOINT_NAMES, HOME)
    assert history.at(1.5) is None


def test_arm_and_hand_may_speak_apart_and_time_may_go_back():
    history = JointHistory()
    history.add(1.0, JOINT_NAMES[:7], HOME[:7])
    assert history.missing == list(JOINT_NAMES[7:])
    assert history.at(1.0) is None
    history.add(1.002, [*JOINT_NAMES[7:], 'gripper'], [*HOME[7:], 9.0])
    assert history.missing == []
    np.testing.assert_allclose(history.at(1.002), HOME)
    history.add(0.5, JOINT_NAMES, HOME + 1.0)
    np.testing.assert_allclose(history.at(0.5), HOME + 1.0)
    assert history.at(1.002) is None
    broken = HOME.copy()
    broken[3] = np.nan
    history.add(0.51, JOINT_NAMES, broken)
    assert np.isfinite(history.at(0.51)).all()


# Complaints


def test_complaints_are_made_once_and_when_they_change():
    now, warned, informed = [0.0], [], []
    said = Complaints(warned.append, informed.append, 'over', clock=lambda: now[0])

    def at(time, text):
        now[0] = time
        said.note(text)
        return list(warned)

    assert at(0.0, 'a') == at(0.9 * PATIENCE, 'a') == []
    said.note('')
    assert informed == []  # nothing was said, so nothing is over
    assert at(10.0, 'a') == []
    assert at(10.0 + PATIENCE, 'a') == ['a']
    first = 10.0 + PATIENCE
    assert at(first + 0.9 * REPEAT_PERIOD, 'a') == ['a']
    assert at(first + REPEAT_PERIOD, 'a') == ['a', 'a']
    again = first + REPEAT_PERIOD
    assert at(again + 0.9 * CHANGE_PERIOD, 'b') == ['a', 'a']
    assert at(again + CHANGE_PERIOD, 'c') == ['a', 'a', 'c']
    said.note('')
    said.note('')
    assert informed == ['over']


# Counts


def test_pictures_that_were_overtaken_are_counted():
    statistics = TrackerStatistics()
    assert math.isnan(statistics.arrival)
    assert math.isnan(statistics.latency[0])
    for number in (0, 1, 2, 5, 6, 60 * 30, 60 * 30 + 1):  # 3 and 4 lost, then a pause
        statistics.picture(number / 30.0, number / 30.0 + 0.04)
        statistics.answer(0.05)
    assert (statistics.tracked, statistics.dropped) == (7, 2)
    assert statistics.arrival == pytest.approx(0.04)
    assert statistics.latency == pytest.approx((0.05, 0.05))
    statistics.forget()
    statistics.picture(0.0, 0.04)
    assert statistics.dropped == 2


# Messages


def test_an_estimate_survives_its_message():
    state = ObjectState(
        position=np.array((0.1, 0.2, 0.3)),
        quaternion=np.array((0.0, 0.6, 0.0, 0.8)),
        twist=np.arange(6.0),
        covariance=np.diag(np.arange(1.0, 13.0)) + 0.01,
    )
    given = ObjectEstimate(12.5, TrackStatus.UNCERTAIN, 'half hidden', state, smoothed=True)
    message = track_message('mug', given, stamp(12.5), 'world')
    assert (message.object, message.status, message.smoothed) == ('mug', 2, True)
    assert (message.header.frame_id, message.reason) == ('world', 'half hidden')
    assert message.pose.covariance[1] == pytest.approx(0.01)
    assert message.twist.covariance[0] == pytest.approx(7.01)
    assert pose_message(message).pose == message.pose
    back = estimate(message)
    assert (back.time, back.status, back.reason) == (12.5, TrackStatus.UNCERTAIN, 'half hidden')
    np.testing.assert_allclose(back.state.twist, state.twist)
    np.testing.assert_allclose(back.state.covariance[6:, 6:], state.covariance[6:, 6:])
    assert not back.state.covariance[:6, 6:].any()


def test_without_a_state_nobody_can_take_it_for_a_place():
    nothing = ObjectEstimate(1.0, TrackStatus.LOST, 'gone', None)
    message = track_message('mug', nothing, stamp(1.0), 'world')
    assert np.isnan(message.pose.pose.position.z)
    assert np.isnan(message.twist.twist.linear.x)
    assert message.pose.covariance[0] == message.twist.covariance[0] == -1.0
    assert estimate(message).state is None


@pytest.mark.skipif(HAS_TF2, reason='tf2_msgs is installed here')
def test_without_tf2_there_are_no_transforms(context):
    node = Node('plain', context=context)
    assert transforms(node, 'object') is None
    assert node.count_publishers('/tf') == 0
    node.destroy_node()


@pytest.mark.skipif(not HAS_TF2, reason='tf2_msgs is not installed here')
def test_a_pose_becomes_a_transform(ros):
    from tf2_msgs.msg import TFMessage

    heard = ros.collect(TFMessage, '/tf')
    broadcaster = transforms(ros.node, 'object')
    track = ObjectTrack()
    track.header.frame_id, track.pose.pose.position.x = 'world', 0.5
    ros.spin_until(lambda: broadcaster.publish(track) or heard, what='/tf')
    (transform,) = heard[0].transforms
    assert (transform.header.frame_id, transform.child_frame_id) == ('world', 'object')
    assert transform.transform.translation.x == 0.5


# What it is made of


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'scene': 'moon'}, "no scene 'moon'"),
        ({'backend': 'tag'}, 'backend is tag, but tag_id is -1'),
        ({'tag_id': 3, 'tag_dictionary': 'runes'}, "tag dictionary is 'runes'"),
        ({'tag_id': 3, 'tag_orientation': [1.0, 1.0, 0.0, 0.0]}, 'tag_orientation has length 1.4'),
        ({'table_extent': [0.0, 1.0]}, 'table_extent is .*must be least x and y'),
        ({'table_extent': [0.0, 1.0, 1.0, 0.0]}, 'table_extent is .*must be least x and y'),
    ],
)
def test_what_cannot_be_is_named(given, words):
    with pytest.raises(ConfigurationError, match=words):
        TrackerMaker(params(**given))


def test_a_calibration_file_counts_instead_of_the_scene(painter, tmp_path):
    file = tmp_path / 'camera.yaml'
    pose = CameraPose(
        position=np.array((0.9, 0.1, 0.6)),
        quaternion=np.array((1.0, 0.0, 0.0, 0.0)),
        covariance=np.zeros((6, 6)),
        depth_scale=1.01,
    )
    save_camera_pose(file, pose)
    lens = Lens.of(640, 480, painter.model.matrix.ravel())
    maker = TrackerMaker(params(camera_pose=str(file)))
    np.testing.assert_allclose(maker.camera(lens).position, (0.9, 0.1, 0.6))
    assert maker.depth_scale == 1.01
    simulated = TrackerMaker(params()).camera(lens)
    np.testing.assert_allclose(simulated.position, painter.model.position)


def test_backends_by_name(painter):
    lens, mug = Lens.of(640, 480, painter.model.matrix.ravel()), load_object('mug')
    tag = TrackerMaker(params(backend='tag', tag_id=7, smoothing_lag=5))
    found = tag.backend(mug, tag.camera(lens))
    assert isinstance(found, TagTracker)
    assert (found.settings.id, found.settings.track.lag) == (7, 5)
    assert tag.tag_reader(tag.camera(lens)) is None
    other = TrackerMaker(params(backend='external'))
    poses = other.backend(mug, other.camera(lens))
    assert isinstance(poses, ExternalPoses)
    np.testing.assert_allclose(poses.settings.frame_position, painter.model.position)
    world = TrackerMaker(params(backend='external', external_frame='world'))
    assert not world.backend(mug, world.camera(lens)).settings.frame_position.any()
    both = TrackerMaker(params(tag_id=7, mask_robot=False))
    assert isinstance(both.tag_reader(both.camera(lens)), TagTracker)


def test_is_not_looked_for_in_every_picture_while_it_is_away(painter):
    lens = Lens.of(640, 480, painter.model.matrix.ravel())
    thing = TrackedObject(load_object('mug'), TrackerMaker(params(mask_robot=False)))
    thing.see_through(lens)
    empty, there = painter.paint(''), painter.paint('mug')

    def update(time, picture):
        return thing.update(RgbdFrame(time, picture.rgb, picture.depth), search_period=0.2)

    for number in range(10):  # 0.3 s
        answer = update(number / 30.0, empty)
        assert (answer.status, answer.time) == (TrackStatus.DETECTING, number / 30.0)
    assert thing.searches == 2
    found = [update(0.3 + number / 30.0, there) for number in range(6)]
    assert found[-1].status is TrackStatus.TRACKING
    assert thing.searches == 3


def test_a_camera_that_was_shifted_is_noticed_by_the_robot_and_not_called_good(painter, tmp_path):
    """Along the table, which looks the same from there."""
    lens = Lens.of(640, 480, painter.model.matrix.ravel())
    silhouette = RobotSilhouette(painter.model)
    right, shifted = tmp_path / 'right.yaml', tmp_path / 'shifted.yaml'
    for file, shift in ((right, 0.0), (shifted, 0.03)):
        position = painter.model.position + np.array((0.0, shift, 0.0))
        pose = CameraPose(position, painter.model.quaternion, np.zeros((6, 6)))
        save_camera_pose(file, pose)
    picture = painter.paint('mug')

    def doubt(file):
        maker = TrackerMaker(params(camera_pose=str(file)))
        maker.silhouette = silhouette
        thing = TrackedObject(load_object('mug'), maker)
        thing.see_through(lens)
        for number in range(4):
            frame = RgbdFrame(0.7 * number, picture.rgb, picture.depth, None, HOME.copy())
            thing.check_camera(frame)
            words.append(thing.camera_doubt)
        return thing

    words = []
    assert doubt(right).camera_doubt == ''
    words.clear()
    thing = doubt(shifted)
    # Looked at 0, 1.4 and not between; believed the second time.
    assert [bool(each) for each in words] == [False, False, True, True]
    assert 'of the robot is seen where it should be' in words[-1]
    frame = RgbdFrame(2.2, picture.rgb, picture.depth, None, HOME.copy())
    assert thing.update(frame, 0.0).status is not TrackStatus.TRACKING
