# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracker as a node; the test draws the pictures."""

import numpy as np
import pytest
from camera_player import Painter, Player, errors
from geometry_msgs.msg import PoseWithCovarianceStamped
from ros_harness import NodeProcess
from sensor_msgs.msg import Image
from stack_harness import node_command, node_environment

from drex_interfaces.msg import ObjectTrack
from drex_interfaces.srv import Detect
from drex_ros.nodes.conversions import stamp
from drex_ros.nodes.images import image_array

START = 100.0  # [s]
PARAMS = {'object': 'mug', 'search_period': 0.0, 'diagnostics_period': 0.1}
COMPILED = 600.0  # [s] the first tracker on a machine has its kernels compiled


@pytest.fixture(scope='module')
def painter(ros_domain):
    painter = Painter()
    yield painter
    painter.close()


@pytest.fixture(scope='module')
def process(ros_domain):
    """One tracker for all tests."""
    command = node_command('pose_tracker', namespace='/eye', params=PARAMS)
    with NodeProcess(command, env=node_environment()) as process:
        process.wait_for_line('ready to track mug', COMPILED)
        yield process


@pytest.fixture
def eye(ros, painter, process):
    """A camera before the tracker; its time goes back from test to test."""
    return Player(ros, painter, '/eye', START)


def detect(eye, **request):
    """Call tracker/detect while pictures go on.

    What was shown before may still be on its way, and is as good as new for a tracker whose clock
    is not that of the pictures: where that matters, `eye.track` first.
    """
    client = eye.ros.node.create_client(Detect, f'{eye.namespace}/tracker/detect')
    eye.ros.spin_until(client.service_is_ready, what='tracker/detect')
    thing = request.pop('shown', 'mug')
    eye.painter.paint(thing)  # the first of an object takes longer than the tracker waits
    future = client.call_async(Detect.Request(**request))

    def answered():
        eye.show(thing)
        eye.ros.spin(0.05)
        return future.done()

    eye.ros.spin_until(answered, COMPILED, 'an answer of tracker/detect')
    eye.ros.node.destroy_client(client)
    return future.result()


def test_follows_the_object(eye):
    poses = eye.ros.collect(PoseWithCovarianceStamped, '/eye/object/pose')
    smoothed = eye.ros.collect(ObjectTrack, '/eye/object/track_smoothed')
    eye.track('mug')
    for number in range(12):
        move, turn = 0.004 * number, 0.02 * number
        track = eye.track('mug', move, turn)
        assert (track.status, track.reason) == (ObjectTrack.STATUS_TRACKING, '')
        metres, radians = errors(track, *eye.painter.place('mug', move, turn))
        assert metres < 0.002
        assert radians < np.radians(2.0)
    assert (track.object, track.header.frame_id, track.smoothed) == ('mug', 'world', False)
    # 4 mm a picture, forwards.
    sigma = np.sqrt(track.twist.covariance[0])
    assert sigma < 0.1
    assert abs(track.twist.twist.linear.x - 0.12) < 4.0 * sigma
    covariance = np.reshape(track.pose.covariance, (6, 6))
    assert 1e-5 < np.sqrt(covariance[0, 0]) < 0.002
    assert np.linalg.eigvalsh(covariance)[0] > 0.0
    eye.ros.spin_until(lambda: poses and poses[-1].header == track.header, what='object/pose')
    assert poses[-1].pose == track.pose
    # The smoothed track is three pictures behind, with the very stamps of those.
    stamps = [each.header.stamp for each in eye.tracks]
    eye.ros.spin_until(
        lambda: smoothed and smoothed[-1].header.stamp == stamps[-4],
        what='object/track_smoothed of the third picture before the last',
    )
    assert len(smoothed) >= 5
    assert all(each.smoothed and each.header.stamp in stamps for each in smoothed)


def test_says_that_it_is_lost_and_finds_it_again(eye):
    poses = eye.ros.collect(PoseWithCovarianceStamped, '/eye/object/pose')
    eye.track('mug')
    last = eye.track('mug')
    eye.ros.spin_until(lambda: poses and poses[-1].header == last.header, what='object/pose')
    tracks = [eye.track('') for _ in range(3)]
    assert tracks[-1].status == ObjectTrack.STATUS_LOST
    assert 'mug is not there' in tracks[-1].reason
    assert np.isnan(tracks[-1].pose.pose.position.x)
    assert tracks[-1].pose.covariance[0] == -1.0
    back = eye.track('mug', 0.06)
    assert back.status == ObjectTrack.STATUS_TRACKING
    assert errors(back, *eye.painter.place('mug', 0.06))[0] < 0.002
    eye.ros.spin_until(lambda: poses[-1].header == back.header, what='object/pose')
    lost = [each.header.stamp for each in tracks if each.status == ObjectTrack.STATUS_LOST]
    assert not [pose for pose in poses if pose.header.stamp in lost]


def test_draws_only_for_those_who_look(eye):
    eye.track('mug')
    image_topic = '/eye/tracker/image'
    images = eye.ros.collect(Image, image_topic)
    eye.ros.spin_until(lambda: eye.track('mug') and images, what='a picture with the outline')
    image = images[-1]
    assert (image.encoding, image.width, image.height) == ('rgb8', 640, 480)
    same = next(each for each in eye.tracks if each.header.stamp == image.header.stamp)
    assert same.status == ObjectTrack.STATUS_TRACKING
    # Where the tracker is sure the outline is green, and green is nowhere else.
    red, green, blue = np.moveaxis(image_array(image).astype(int), 2, 0)
    assert ((green > red + 60) & (green > blue + 60)).sum() > 100
    (subscription,) = [s for s in eye.ros.node.subscriptions if s.topic_name == image_topic]
    eye.ros.node.destroy_subscription(subscription)
    count = len(images)
    diagnostics = eye.ros.diagnostics()
    for _ in range(3):
        eye.track('mug')
    eye.ros.spin_until(lambda: '/eye/pose_tracker: track a picture' in diagnostics)
    assert len(images) == count


def test_detects_on_request(eye):
    found = detect(eye)
    assert found.found
    assert 0.65 < found.score <= 1.0
    assert found.message.startswith('found')
    assert found.track.status == ObjectTrack.STATUS_TRACKING
    assert errors(found.track, *eye.painter.place('mug'))[0] < 0.005
    eye.track('')
    gone = detect(eye, shown='')
    assert not gone.found
    assert gone.message.startswith('mug is not there')
    assert gone.track.status == ObjectTrack.STATUS_DETECTING
    assert np.isnan(gone.track.pose.pose.position.x)


def test_another_object_on_request_and_none_that_there_is_not(eye, tmp_path):
    other = detect(eye, object='banana', shown='banana')
    assert other.found, other.message
    assert other.track.object == 'banana'
    assert errors(other.track, *eye.painter.place('banana'))[0] < 0.005
    unknown = detect(eye, object='unicorn', shown='banana')
    assert not unknown.found
    assert unknown.message.startswith("no object 'unicorn'; the objects are: ball, banana")
    file = tmp_path / 'broken.yaml'
    (tmp_path / 'broken.stl').write_text('solid broken\n')
    file.write_text('mesh: broken.stl\nmass: 0.1\nfriction: 0.5\nfinger_friction: 0.8\n')
    broken = detect(eye, object=str(file), shown='banana')
    assert not broken.found
    assert 'broken' in broken.message
    assert '\n' not in broken.message
    # What was tracked before is tracked still.
    assert eye.track('banana').object == 'banana'
    assert detect(eye, object='mug').found


def test_bad_requests_are_refused(eye):
    refused = detect(eye, timeout=-1.0)
    assert (refused.found, refused.message) == (False, 'timeout is -1.0 s, must be 0 to 60')
    client = eye.ros.node.create_client(Detect, '/eye/tracker/detect')
    eye.ros.spin_until(client.service_is_ready, what='tracker/detect')
    eye.track('mug')  # no picture is on its way any more
    future = client.call_async(Detect.Request(timeout=0.2))
    eye.ros.spin_until(future.done, what='an answer without a picture')
    assert future.result().message.startswith('no picture was taken within 0.2 s')
    assert eye.ros.change_state('/eye/pose_tracker', 'deactivate')
    assert detect(eye).message == 'pose_tracker is inactive, must be active'
    assert eye.ros.change_state('/eye/pose_tracker', 'activate')


def test_time_that_goes_back_is_a_new_start(eye, process):
    eye.track('mug')
    before = len(process.lines)
    eye.time -= 50.0
    assert eye.track('mug', 0.03).status == ObjectTrack.STATUS_TRACKING
    process.wait_for_line('time went back: a new start', after=before)


def test_depth_in_metres_with_holes(eye):
    eye.track('mug')
    random = np.random.default_rng(3)

    def publish():
        eye.time += 1.0 / 30.0
        picture = eye.painter.paint('mug')
        depth = picture.depth.astype(np.float32)
        depth[random.random(depth.shape) < 0.01] = np.nan
        at = stamp(eye.time)
        eye.publish(eye.colour.fill(picture.rgb, at), eye.metres.fill(depth, at))
        return eye.answer(0.5)

    for _ in range(3):
        track = eye.ros.spin_until(publish, what='an answer')
    assert track.status == ObjectTrack.STATUS_TRACKING
    assert errors(track, *eye.painter.place('mug'))[0] < 0.002


def test_words_on_diagnostics(eye):
    diagnostics = eye.ros.diagnostics()

    def status(words):
        def found():
            eye.track('mug')
            seen = diagnostics.get('/eye/pose_tracker')
            return seen if seen and words in seen.message else None

        return eye.ros.spin_until(found, what=words)

    well = status('mug: tracking')
    assert well.level == b'\x00'
    values = {value.key: value.value for value in well.values}
    assert float(values['inliers']) > 0.9
    assert values['table'].startswith('fits, depth scale')
    assert values['robot masked'] == 'yes'
    assert int(values['pictures looked at']) > 0
    assert '/eye/pose_tracker: track a picture' in diagnostics
