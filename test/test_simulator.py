# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The blocking calls to the simulator, against the real node; and the camera in its step."""

import threading
from functools import partial

import numpy as np
import pytest
from sensor_msgs.msg import Image
from stack_harness import node_command, node_environment

from drex_interfaces.msg import MockScene
from drex_ros.client import DrexError, Fault, Simulator
from drex_ros.nodes.conversions import QUEUED, seconds


@pytest.fixture
def simulator(start, ros):
    start(node_command('mock_hardware', params={'object': 'box'}), env=node_environment())
    with Simulator() as made:
        yield made


def test_reset_pause_step_and_truth(simulator):
    assert simulator.truth().object == 'box'
    simulator.reset(thing='ball', position=(0.4, 0.1, 0.2), mass=0.1, seed=3)
    simulator.pause()
    simulator.truth()  # the last one
    with pytest.raises(DrexError, match=r'waited 0\.3 s for mock/ground_truth'):
        simulator.truth(timeout=0.3)  # time stands: no new one comes
    before = simulator.step(1)
    after = simulator.step(250)
    assert after - before == pytest.approx(0.5)
    simulator.pause(False)
    place = simulator.object_position()
    assert simulator.truth().object_mass == 0.1
    assert np.hypot(place[0] - 0.4, place[1] - 0.1) < 0.05
    assert place[2] < 0.06  # it fell on the table


def test_truth_while_paused(simulator):
    """Each step and each reset gives one truth, also while time stands."""
    simulator.pause()
    simulator.reset(thing='can', position=(0.5, 0.1, 0.3))
    assert simulator.truth().object == 'can'
    time = simulator.step(7)
    truth = simulator.truth()
    assert seconds(truth.header.stamp) == pytest.approx(time)
    assert truth.object_pose.position.z < 0.3
    with pytest.raises(DrexError, match='is the simulator paused'):
        simulator.truth(timeout=0.3)


def test_errors_say_why(simulator):
    with pytest.raises(DrexError, match=r"mock/reset: .*'unicorn'"):
        simulator.reset(thing='unicorn')
    with pytest.raises(DrexError, match='mock/step: not paused'):
        simulator.step(1)
    with pytest.raises(DrexError, match=r"mock/inject_fault: FREEZE_JOINT: no joint 'elbow'"):
        simulator.inject_fault(Fault.FREEZE_JOINT, joint='elbow')
    with pytest.raises(DrexError, match='0 in colour and 0 of depth came'):
        simulator.pictures(1, timeout=0.3)
    for call, message in (
        (lambda: simulator.reset(seed=-1), 'seed is -1, must be in 0'),
        (lambda: simulator.reset(thing='box', position=(0.0, 1.0)), 'position has 2 numbers'),
        (lambda: simulator.step(-1), 'cycles is -1, must be in 1'),
        (lambda: simulator.inject_fault(263), 'no fault 263; there are: NONE, DROP_COMMANDS'),
    ):
        with pytest.raises(DrexError, match=message):
            call()
    simulator.inject_fault(Fault.FRICTION, magnitude=0.05)
    # One that was under way when the fault came may be given first.
    assert 0.05 in [simulator.truth().object_friction for _ in range(2)]


def test_topics_are_left_by_the_thread_that_listens(simulator, monkeypatch):
    """Taken from under that thread, one now and then ended it, and all later calls with it."""
    threads = []
    node = simulator._node
    leave = node.destroy_subscription

    def destroy(subscription):
        threads.append(threading.current_thread())
        return leave(subscription)

    monkeypatch.setattr(node, 'destroy_subscription', destroy)
    for _ in range(20):
        with pytest.raises(DrexError, match='waited'):
            simulator.pictures(1, timeout=0.0)
    assert len(threads) == 40
    assert set(threads) == {simulator._thread}
    simulator.inject_fault(Fault.NONE)
    assert simulator.truth().object == 'box'


def test_in_lockstep_no_picture_is_left_out(simulator, start):
    """As fast as it can, the physics waits for the camera: every frame is drawn, 30 a second."""
    start(node_command('mock_camera', params={'use_sim_time': 'true'}), env=node_environment())
    simulator.pictures(3)  # the camera is there
    pictures = simulator.pictures(20)
    for images in (pictures.colour, pictures.depth):
        times = np.array([seconds(image.header.stamp) for image in images])
        steps = np.diff(times)
        assert steps.max() < 0.036, times
        assert steps.min() > 0.030, times
    image = pictures.colour[-1]
    assert (image.width, image.height, image.encoding) == (640, 480, 'rgb8')
    assert image.header.frame_id == 'camera_color_optical_frame'
    assert len(np.unique(np.frombuffer(image.data, np.uint8))) > 50


def test_in_lockstep_a_picture_comes_at_its_moment(simulator, start, ros):
    """Not before its delay is over, and time does not go on beyond that without it."""
    params = {'use_sim_time': 'true', 'noise': 'false'}
    start(node_command('mock_camera', params=params), env=node_environment())
    scenes = ros.collect(MockScene, 'mock/scene', QUEUED)
    images = ros.collect(Image, 'camera/color/image_raw', QUEUED)
    ros.spin_until(lambda: len(images) > 3 and len(scenes) > 3, what='pictures')
    simulator.pause()
    ros.spin(0.3)
    first = seconds(images[-1].header.stamp)

    def later(messages, until=np.inf):
        times = [seconds(message.header.stamp) for message in messages]
        return [time for time in times if first < time < until]

    for _ in range(12):
        due = simulator.step(7) - 0.02 + 1e-6
        ros.spin(0.05)
        ros.spin_until(
            partial(lambda due: later(images) == later(scenes, due), due), what='what is due'
        )
    assert len(later(images)) >= 4


def test_the_first_picture_after_a_reset_shows_the_new_scene(simulator, start):
    params = {'use_sim_time': 'true', 'noise': 'false'}
    start(node_command('mock_camera', params=params), env=node_environment())

    def look(count):
        image = simulator.pictures(count).colour[-1]
        return np.frombuffer(image.data, np.uint8).astype(int)

    scenes = {}
    for name in ('', 'ketchup'):
        simulator.reset(thing=name)
        scenes[name] = look(3)
    for name in ('', 'ketchup', '', 'ketchup'):
        simulator.reset(thing=name)
        seen = look(1)
        distance = {each: np.abs(scenes[each] - seen).sum() for each in scenes}
        assert min(distance, key=distance.get) == name, distance
