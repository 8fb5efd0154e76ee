# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated camera as a node; the test plays the simulator."""

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from ros_harness import NodeProcess, mapped_segments
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from stack_harness import node_command, node_environment
from std_msgs.msg import UInt64

from drex_interfaces.msg import MockScene
from drex_ros.hardware.scene_file import load_scene
from drex_ros.nodes.conversions import seconds
from drex_ros.nodes.images import image_array
from drex_ros.robot.joints import HOME

COLOUR = 'camera/color'
DEPTH = 'camera/aligned_depth_to_color'
READER = Path(__file__).with_name('camera_reader.py')
PERIOD = 1 / 30


SEEDS = itertools.count(1)


def command(namespace, **params):
    return node_command('mock_camera', namespace=namespace, params=params)


@pytest.fixture(scope='module')
def processes(ros_domain):
    """Two cameras for all tests, told apart by their namespaces."""
    exact = command('/exact', noise=False, depth_format='32FC1')
    noisy = command('/noisy')
    with NodeProcess(exact, env=node_environment()) as first:
        with NodeProcess(noisy, env=node_environment()) as second:
            yield {'/exact': first, '/noisy': second}


@pytest.fixture
def exact(ros, processes):
    return Simulator(ros, '/exact')


@pytest.fixture
def noisy(ros, processes):
    return Simulator(ros, '/noisy')


class Simulator:
    """Publishes scenes and waits for what the camera says to them."""

    def __init__(self, ros, namespace):
        self.ros = ros
        self.node = f'{namespace}/mock_camera'
        # No two tests send the same scene, which would not be drawn again.
        self.seed = next(SEEDS)
        self.delay = 0.0
        self.rendered = ros.collect(UInt64, f'{namespace}/mock/rendered')
        self.colour = ros.collect(Image, f'{namespace}/{COLOUR}/image_raw')
        self.depth = ros.collect(Image, f'{namespace}/{DEPTH}/image_raw')
        self.infos = [
            ros.collect(CameraInfo, f'{namespace}/{topic}/camera_info')
            for topic in (COLOUR, DEPTH)
        ]
        self._publisher = ros.publisher(MockScene, f'{namespace}/mock/scene')
        # Nothing may be lost at the beginning: the camera shall know all readers.
        warm_up = self.scene(0, seed=0)
        lists = (self.rendered, self.colour, self.depth, *self.infos)

        def all_heard():
            self._publisher.publish(warm_up)
            warm_up.frame += 1
            ros.spin(0.05)
            return all(lists)

        ros.spin_until(all_heard, what='all topics of the camera')
        self.send(self.scene(0, seed=0, camera_blank=True))
        ros.spin(0.2)
        for messages in lists:
            messages.clear()

    def scene(self, frame, **fields):
        message = MockScene(frame=frame, seed=self.seed, object='box', camera_delay=self.delay)
        message.header.frame_id = 'world'
        nanoseconds = round(frame * PERIOD * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
        message.joint_position[:] = HOME
        message.object_pose.position.x, message.object_pose.position.z = 0.5, 0.05
        for name, value in fields.items():
            setattr(message, name, value)
        return message

    def send(self, message):
        """Publish a scene and wait for its answer, as the simulator in lockstep does."""
        count = len(self.rendered)
        self._publisher.publish(message)
        self.ros.spin_until(
            lambda: any(answer.data == message.frame for answer in self.rendered[count:]),
            what=f'mock/rendered {message.frame}',
        )

    def stamps(self):
        """Times [s] of the pictures that came, after waiting for more in vain."""
        self.ros.spin(0.2)
        return [seconds(image.header.stamp) for image in self.colour]

    def picture(self, number):
        """Colour and depth of a picture, once it is there."""
        self.ros.spin_until(
            lambda: min(len(self.colour), len(self.depth)) > number, what=f'picture {number}'
        )
        return image_array(self.colour[number]), image_array(self.depth[number])


def test_a_picture_has_what_a_realsense_gives(noisy):
    noisy.send(noisy.scene(3))
    rgb, depth = noisy.picture(0)
    model = load_scene().camera
    assert (rgb.shape, rgb.dtype) == ((480, 640, 3), np.uint8)
    assert (depth.shape, depth.dtype) == ((480, 640), np.uint16)
    assert (noisy.colour[0].encoding, noisy.depth[0].encoding) == ('rgb8', '16UC1')
    # In millimetres: the table at the pixel where it is looked at.
    column, row = np.rint(model.project((0.75, 0.1, 0.0))).astype(int)
    patch = depth[row - 5 : row + 6, column - 5 : column + 6]
    true = model.to_optical((0.75, 0.1, 0.0))[2]
    assert np.median(patch[patch > 0]) == pytest.approx(1e3 * true, abs=5.0)
    assert 0.001 < np.mean(depth[300:] == 0) < 0.05
    noisy.ros.spin_until(lambda: all(noisy.infos), what='camera_info')
    header = noisy.colour[0].header
    assert header.frame_id == 'camera_color_optical_frame'
    assert seconds(header.stamp) == pytest.approx(0.1)
    assert noisy.depth[0].header == header
    for info in noisy.infos:
        assert info[0].header == header
        np.testing.assert_allclose(np.reshape(info[0].k, (3, 3)), model.matrix)
        assert (info[0].width, info[0].height) == (640, 480)


def test_metres_on_request(exact):
    exact.send(exact.scene(0))
    depth = exact.picture(0)[1]
    model = load_scene().camera
    assert depth.dtype == np.float32
    column, row = np.rint(model.project((0.75, 0.1, 0.0))).astype(int)
    height = model.unproject(depth)[row, column, 2]
    assert height == pytest.approx(0.0, abs=5e-4)


def test_same_seed_same_pictures(noisy):
    scenes = [noisy.scene(0), noisy.scene(1), noisy.scene(1, seed=99)]
    for scene in (*scenes, scenes[0], scenes[1]):
        noisy.send(scene)
    pictures = [noisy.picture(i) for i in range(5)]
    for first, second in ((0, 3), (1, 4)):
        for one, other in zip(pictures[first], pictures[second], strict=True):
            np.testing.assert_array_equal(one, other)
    for first, second in ((0, 1), (1, 2)):
        for one, other in zip(pictures[first], pictures[second], strict=True):
            assert np.any(one != other)


@pytest.fixture
def late(exact):
    """The exact camera, told of a delay of 0.05 s."""
    exact.delay = 0.05
    return exact


def test_pictures_come_late_by_simulated_time(late):
    late.send(late.scene(0))
    late.send(late.scene(1))  # 0.033 s: the first is not due yet
    assert late.stamps() == []
    late.send(late.scene(2))
    late.picture(0)
    assert late.stamps() == [0.0]
    # A fault: one more second. When it is over, what it held back comes at once.
    late.send(late.scene(3, camera_delay=1.05))
    late.send(late.scene(20, camera_delay=1.05))
    assert late.stamps() == [0.0]
    late.send(late.scene(22))
    late.picture(4)
    assert len(late.stamps()) == 5


def test_the_clock_makes_pictures_due_at_their_moment(late):
    clock = late.ros.publisher(Clock, '/clock', 1)
    late.send(late.scene(0))
    assert late.stamps() == []
    message = Clock()
    message.clock.nanosec = 49_000_000
    clock.publish(message)
    assert late.stamps() == []
    message.clock.nanosec = 50_000_000
    clock.publish(message)
    late.picture(0)


def test_a_simulator_that_begins_anew_gets_its_pictures(late):
    for frame in (50, 0, 1, 2):
        late.send(late.scene(frame))
    late.picture(0)
    assert late.stamps() == [0.0]


def test_a_repeated_scene_is_answered_again_and_not_drawn(exact):
    for frame in (0, 0, 1):
        exact.send(exact.scene(frame))
    exact.picture(1)
    assert exact.stamps() == pytest.approx([0.0, PERIOD])


def test_blank_camera(noisy):
    noisy.send(noisy.scene(0, camera_blank=True))
    rgb, depth = noisy.picture(0)
    assert not rgb.any()
    assert not depth.any()


def test_objects_change_and_go(exact):
    for frame, name in enumerate(('box', 'ball', '', 'box')):
        exact.send(exact.scene(frame, object=name))
    box, ball, none, again = (exact.picture(i)[1] for i in range(4))
    np.testing.assert_array_equal(box, again)
    assert np.any(box != ball)
    # Nothing stands on the table: what is seen there is farther away than the box, or as far.
    seen = none > 0.0
    assert np.all(none[seen] >= box[seen] - 1e-6)
    assert np.sum(none > box + 0.01) > 100


def test_bad_scenes_are_named_and_answered(exact, processes):
    process = processes['/exact']
    diagnostics = exact.ros.diagnostics()
    exact.send(exact.scene(0, object='unicorn'))
    process.wait_for_line('frame 0 not drawn: .*unicorn')
    exact.send(exact.scene(1, object='unicorn'))
    status = exact.ros.spin_until(
        lambda: (found := diagnostics.get(exact.node)) and 'unicorn' in found.message and found,
        what='a warning',
    )
    assert status.level == b'\x01'
    wrong = exact.scene(2)
    wrong.joint_position[3] = np.nan
    exact.send(wrong)
    process.wait_for_line('frame 2 not drawn: joint positions must be 23 finite numbers')
    wrong = exact.scene(3)
    wrong.object_pose.orientation.w = 0.0
    exact.send(wrong)
    process.wait_for_line('frame 3 not drawn: object pose')
    exact.send(exact.scene(4))
    exact.picture(0)
    assert exact.stamps() == pytest.approx([4 * PERIOD])
    assert len([line for line in process.stderr if 'unicorn' in line]) == 1


@pytest.mark.parametrize(
    ('params', 'words'),
    [
        ({'scene': 'moon'}, "no scene 'moon'"),
        ({'depth_format': '8UC1'}, 'must be one of 16UC1, 32FC1'),
    ],
)
def test_wrong_parameters_end_it(start, params, words):
    process = start(command('/wrong', **params), env=node_environment())
    assert process.wait() == 2
    process.wait_for_line(words)


def test_no_frame_is_lost(noisy, processes, start):
    """At 30 Hz, into two other processes, one of which reads best effort and one reliably."""
    there = ('--ros-args', '-r', '__ns:=/noisy')
    readers = [
        start([sys.executable, READER, kind, '10.0', '90', *there], env=node_environment())
        for kind in ('best_effort', 'reliable')
    ]
    for frame in range(300):  # until everyone knows everyone
        noisy.send(noisy.scene(frame))
        if all('connected' in reader.stdout for reader in readers):
            break
    else:
        raise AssertionError('the readers got no picture')
    segments = mapped_segments(processes['/noisy'].pid)
    # Those of readers that are gone are mapped still, but no longer files.
    files = [path for name in segments if (path := Path('/dev/shm', name)).exists()]
    assert max(path.stat().st_size for path in files) > 30e6
    begin = time.monotonic()
    for number in range(90):
        noisy.send(noisy.scene(300 + number))
        noisy.ros.spin(max(begin + number * PERIOD - time.monotonic(), 0.0))
    for reader in readers:
        assert reader.wait() == 0
        for topic in (COLOUR, DEPTH):
            reader.wait_for_line(f'{topic}/image_raw: 90 of 90')
