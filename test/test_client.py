# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Python client against the real stack, launched in a namespace, and against no stack."""

import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from ros_harness import Domain, NodeProcess, wait_until
from stack_harness import node_command, node_environment

from drex_interfaces.msg import SystemStatus
from drex_ros.client import Drex, DrexError, DrexTimeoutError, Hand, TipForce
from drex_ros.launching.packages import package_share
from drex_ros.robot.joints import ARM, FINGERS, HAND, HOME, LIMITS

NAMESPACE = '/lab'
COMPILED = 600.0  # [s] the first controller on a machine has its laws compiled


@pytest.fixture(scope='module')
def stack(ros_domain: Domain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    """The whole stack, as `drex launch` starts it."""
    config = tmp_path_factory.mktemp('client') / 'config'
    shutil.copytree(package_share('drex_ros', os.environ) / 'config', config)
    file = config / 'hybrid_impedance_controller.yaml'
    # Long enough that a slow machine cannot make a second source welcome.
    text, count = re.subn(r'source_timeout: [\d.]+', 'source_timeout: 5.0', file.read_text())
    assert count == 1
    file.write_text(text)
    command = [sys.executable, '-m', 'drex_ros.launching', '--native', 'drex.launch.yaml']
    words = [f'namespace:={NAMESPACE}', f'config:={config}']
    with NodeProcess([*command, *words], env=node_environment()) as process:
        yield process


@pytest.fixture(scope='module')
def client(stack: NodeProcess) -> Iterator[Drex]:
    """One client for all tests, because finding each other takes DDS its time."""
    with Drex(NAMESPACE) as drex:
        drex.wait_until_ready(COMPILED)
        yield drex


@pytest.fixture
def drex(client: Drex) -> Drex:
    """A client, and a robot that is at home and follows nobody."""
    client.recover()
    client.move_to(arm=HOME[ARM], hand=HOME[HAND])
    client.recover()
    return client


def bent() -> np.ndarray:
    """Positions of the hand with the index finger bent [rad]."""
    posture = HOME.copy()
    posture[FINGERS['index']] += (0.0, 0.5, 0.4, 0.3)
    return posture[HAND]


def near(position: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether joints are where they shall be [rad]."""
    return bool(np.abs(position - wanted).max() < 0.05)


def in_thread(call: Callable[[], object]) -> tuple[threading.Thread, list[Exception]]:
    """Make a call in a thread of its own; the thread, and the error that ended it."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            call()
        except DrexError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, errors


def test_sees_the_stack_in_its_namespace(drex: Drex) -> None:
    system = drex.wait_until_ready()
    assert sorted(node.name for node in system.nodes) == [
        '/lab/hybrid_impedance_controller',
        '/lab/mock_camera',
        '/lab/mock_hardware',
        '/lab/pose_tracker',
        '/lab/system_monitor',
    ]
    assert drex.system() is not None
    first, second = drex.state(), drex.state()
    assert second.sequence > first.sequence
    assert second.time > first.time
    np.testing.assert_allclose(first.position, HOME, atol=0.05)
    # The caller may reckon with what it got.
    first.position[0] += 1.0
    assert abs(drex.state().position[0] - HOME[0]) < 0.05


def test_sets_what_it_is_told_and_nothing_else(drex: Drex) -> None:
    drex.set_target(hand=bent())
    wait_until(lambda: near(drex.state().position[HAND], bent()), what='the hand to be bent')
    arm = HOME[ARM] + (0, 0, 0, 0, 0, 0, 0.2)
    drex.set_target(arm=list(arm), confirm=False)
    wait_until(lambda: near(drex.state().position[ARM], arm), what='the arm to be turned')
    assert near(drex.state().position[HAND], bent())


def test_a_new_client_is_heard_at_once(drex: Drex) -> None:
    for _ in range(3):
        with Drex(NAMESPACE, name='newcomer') as newcomer:
            newcomer.set_target(hand=bent())
            newcomer.recover()


@pytest.mark.parametrize(
    ('call', 'fields', 'message'),
    [
        ('move_to', {'arm': [0.0, 0.0, 0.0]}, 'arm has 3 numbers, must have 7'),
        ('move_to', {'hand': np.zeros(7)}, 'hand has 7 numbers, must have 16'),
        ('move_to', {'hand': np.full(16, np.nan)}, 'hand[0] is nan, must be finite'),
        ('move_to', {}, 'no goal: give arm, hand, or a pose of the palm'),
        ('move_to', {'arm': HOME[ARM], 'position': (0, 0, 0)}, 'arm and a pose of the palm are'),
        ('move_to', {'arm': HOME[ARM], 'straight': True}, 'straight is for a pose of the palm'),
        ('move_to', {'position': (0.4, 0.0)}, 'position has 2 numbers, must have 3'),
        ('move_to', {'position': (0.4, 0, 0.3), 'frame': 'tool'}, "frame is 'tool', must be one"),
        ('move_to', {'quaternion': (0, 0, 0, 2)}, 'quaternion has the length 2, must have 1'),
        ('move_to', {'rotation': np.ones((3, 3))}, 'rotation is no rotation matrix'),
        ('move_to', {'rotation': -np.eye(3)}, 'rotation is no rotation matrix'),
        ('move_to', {'hand': bent(), 'speed': 2}, 'speed is 2, must be a finite number in 0.01'),
        ('set_target', {'arm': np.zeros((1, 7))}, 'arm has the shape (1, 7), must have (7,)'),
        ('set_target', {'arm': 'home'}, "arm is 'home', must be 7 numbers"),
        ('set_target', {'hand_stiffnes': 16 * [1]}, "no field 'hand_stiffnes' of a target; there"),
        ('set_target', {'arm_effort': 7 * [0], 'arm': 7 * [0]}, 'arm_effort and arm are both'),
        ('set_target', {'hand_effort': 16 * [0], 'fingertips': {}}, 'hand_effort and fingertips'),
        ('set_target', {'frame': 'palm_link'}, 'frame is given, but nothing that is in a frame'),
        ('set_target', {'fingertips': {'pinky': 1.0}}, "no finger 'pinky'; there are: index, mid"),
        ('set_target', {'fingertips': {'thumb': -1.0}}, 'force of thumb is -1, must be a finite'),
        ('set_target', {'fingertips': {'thumb': TipForce((0, 0, 0))}}, 'the force of thumb is 0'),
        ('set_target', {'payload': 0.3}, 'payload is 0.3, must be (mass [kg], place [m])'),
        ('set_target', {'lifetime': 0.0}, 'lifetime is 0, must be above 0'),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(
    ros_domain: Domain, call: str, fields: dict[str, Any], message: str
) -> None:
    with Drex('nowhere') as drex:
        with pytest.raises(DrexError) as error:
            getattr(drex, call)(**fields)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ('call', 'message'),
    [
        (lambda hand: hand.close(-1.0), 'force is -1, must be above 0'),
        (lambda hand: hand.close(float('nan')), 'force is nan, must be a finite number'),
        (lambda hand: hand.close(fingers=('thumb', 'toe')), "no finger 'toe'; there are: index"),
        (lambda hand: hand.close(fingers=('thumb',)), "fingers is ('thumb',), must name two or"),
        (lambda hand: hand.close(fingers=('thumb', 'thumb')), "fingers is ('thumb', 'thumb')"),
        (lambda hand: hand.open(HOME), 'posture has 23 numbers, must have 16'),
        (lambda hand: hand.relax(0.0), 'stiffness is 0, must be above 0'),
    ],
)
def test_the_hand_says_so_too(
    ros_domain: Domain, call: Callable[[Hand], object], message: str
) -> None:
    with Drex('nowhere') as drex:
        with pytest.raises(DrexError) as error:
            call(drex.hand)
    assert str(error.value).startswith(message)


def test_what_the_controller_refuses_is_said_in_its_words(drex: Drex) -> None:
    arm = HOME[ARM].copy()
    arm[1] = LIMITS.upper[1] + 0.5
    reason = r"^target of 'drex_client' refused: arm_position of \S+ is [\d.]+ rad, must be in "
    with pytest.raises(DrexError, match=reason):
        drex.set_target(arm=arm)
    with pytest.raises(DrexError, match=r'^move: panda_joint2 is [\d.]+ rad, must be in '):
        drex.move_to(arm=arm)
    np.testing.assert_allclose(drex.state().position, HOME, atol=0.05)


def test_a_second_source_is_refused_until_the_first_is_gone(drex: Drex) -> None:
    with Drex(NAMESPACE, name='other') as other:
        drex.set_target(hand=bent())
        with pytest.raises(DrexError, match="target of 'other' refused: 'drex_client' commands"):
            other.set_target(hand=HOME[HAND])
        drex.set_target(hand=bent())  # and the first is not disturbed
        drex.recover()
        other.set_target(hand=HOME[HAND])
        wait_until(lambda: drex.status().source == 'other', what='the other to command')


def test_stop_ends_a_move_and_recover_lets_it_move_again(drex: Drex) -> None:
    arm = HOME[ARM] + (0.8, 0, 0, 0, 0, 0, 0)
    thread, errors = in_thread(lambda: drex.move_to(arm=arm))
    while drex.state().position[0] < HOME[0] + 0.1:
        assert thread.is_alive()
    assert drex.stop() == 'stopped: the robot holds until controller/recover'
    thread.join(30.0)
    assert [str(error) for error in errors] == ['move: stopped by controller/stop']
    with pytest.raises(DrexError, match='the controller is stopped: call controller/recover'):
        drex.set_target(hand=bent())
    held = drex.state().position[0]
    assert held < arm[0] - 0.05
    assert drex.recover() == 'holds the present posture and takes targets'
    drex.move_to(hand=bent())
    assert abs(drex.state().position[0] - held) < 0.1  # recovering moved nothing


@pytest.mark.parametrize(
    ('call', 'topic'),
    [
        (lambda drex: drex.wait_until_ready(timeout=0.2), 'system/status'),
        (lambda drex: drex.state(timeout=0.2), 'robot/state'),
        (lambda drex: drex.status(timeout=0.2), 'controller/status'),
        (lambda drex: drex.set_target(arm=HOME[ARM], timeout=0.2), 'controller/status'),
        (lambda drex: drex.move_to(arm=HOME[ARM], timeout=0.2), 'controller/status'),
        (lambda drex: drex.stop(timeout=0.2), 'controller/stop'),
        (lambda drex: drex.recover(timeout=0.2), 'controller/recover'),
        (lambda drex: drex.tare(timeout=0.2), 'controller/tare'),
        (lambda drex: drex.payload(timeout=0.2), 'controller/status'),
        (lambda drex: drex.hand.forces(timeout=0.2), 'controller/status'),
    ],
    ids=[
        *('wait_until_ready', 'state', 'status', 'set_target', 'move_to'),
        *('stop', 'recover', 'tare', 'payload', 'forces'),
    ],
)
def test_without_a_stack_it_says_what_to_check(
    ros_domain: Domain, call: Callable[[Drex], object], topic: str
) -> None:
    with Drex('nowhere') as drex:
        with pytest.raises(DrexTimeoutError) as error:
            call(drex)
    text = str(error.value)
    assert text.startswith('waited 0.2 s for ')
    assert f'nobody serves /nowhere/{topic} in ROS domain {ros_domain.number}' in text
    assert text.endswith('is the stack running, in this namespace and domain?')


def test_a_controller_that_hears_no_robot_is_not_ready(
    start: Callable[..., NodeProcess], ros_domain: Domain
) -> None:
    params = {'expected_nodes': '[hybrid_impedance_controller]'}
    start(node_command('system_monitor', namespace='/half', params=params), env=node_environment())
    command = node_command('hybrid_impedance_controller', namespace='/half')
    start(command, env=node_environment())
    usable = (SystemStatus.LEVEL_OK, SystemStatus.LEVEL_DEGRADED)
    with Drex('half') as drex:
        wait_until(
            lambda: (system := drex.system()) is not None and system.level in usable,
            timeout=COMPILED,
            what='the monitor to be content',
        )
        drex.status(30.0)
        with pytest.raises(DrexTimeoutError, match='to be ready: no robot/state yet'):
            drex.wait_until_ready(0.2)


def test_leaves_no_thread(ros_domain: Domain) -> None:
    before = set(threading.enumerate())
    with Drex('nowhere') as drex:
        assert set(threading.enumerate()) > before
    drex.close()  # once more does no harm
    assert set(threading.enumerate()) == before
    with pytest.raises(DrexError, match='the client was closed'):
        drex.state()


@pytest.mark.parametrize('call', ['wait_until_ready', 'state', 'stop'])
def test_closing_ends_a_call_that_waits(ros_domain: Domain, call: str) -> None:
    drex = Drex('nowhere')
    thread, errors = in_thread(lambda: getattr(drex, call)(timeout=600.0))
    drex.close()
    thread.join(30.0)
    assert not thread.is_alive()
    assert len(errors) == 1
    assert str(errors[0]).startswith('the client was closed while it waited for ')


@pytest.mark.parametrize(('namespace', 'name'), [('my lab', 'client'), ('', 'my client')])
def test_a_name_that_ros_does_not_allow(ros_domain: Domain, namespace: str, name: str) -> None:
    with pytest.raises(DrexError) as error:
        Drex(namespace, name=name)
    text = str(error.value)
    assert text.startswith('Invalid ')
    assert 'alphanumerics' in text
    assert '\n' not in text


def test_a_stack_that_has_ended_is_noticed(stack: NodeProcess, client: Drex) -> None:
    """The last test of this file: it ends the stack that the others share."""
    client.recover()
    far = HOME[ARM].copy()
    far[0] += 1.5
    thread, errors = in_thread(lambda: client.move_to(arm=far))
    wait_until(lambda: np.abs(client.state().velocity[ARM]).max() > 0.1, what='a moving arm')
    stack.terminate()
    thread.join(20.0)
    assert len(errors) == 1
    assert str(errors[0]).startswith('move ended on its way: ')
    with pytest.raises(DrexError, match=r'is silent for .* has the stack ended'):
        client.wait_until_ready(4.0)
