# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a script can have the robot do: moves, palm targets, a grip, a weighing. Real stack."""

import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from ros_harness import Domain, NodeProcess, wait_until
from stack_harness import node_environment

from drex_interfaces.msg import ControllerStatus, ControllerTarget
from drex_ros.client import Drex, DrexError, DrexTimeoutError, Simulator, TipForce
from drex_ros.launching.packages import package_share
from drex_ros.robot.joints import ARM, FINGERS, HAND, HOME
from drex_ros.robot.rotations import quaternion_from_vector, rotation_matrix

CAN = (0.45, 0.0, 0.041)  # [m]
CAN_MASS = 0.4  # [kg]
FINGERS_DOWN = np.array([[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])
AROUND_CAN = np.array((0.4647, 0.0226, 0.1436))  # [m] the palm, with the fingers around the can
ABOVE_CAN = AROUND_CAN + np.array((0.0, 0.0, 0.15))
OPEN_HAND = np.array(
    (
        *(-0.036, 0.373, 0.708, 0.833, -0.012, 0.379, 0.729, 0.849),
        *(0.0, -0.1, 0.0, 0.0, 0.907, 0.985, 0.455, 1.226),
    )
)  # [rad]


@pytest.fixture(scope='module')
def client(ros_domain: Domain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drex]:
    """A client of a stack without camera, for all tests of this file."""
    config = tmp_path_factory.mktemp('moves') / 'config'
    shutil.copytree(package_share('drex_ros', os.environ) / 'config', config)
    file = config / 'mock_hardware.yaml'
    # Long enough that a slow machine cannot make the robot hold by itself.
    text, count = re.subn(
        r'lockstep_patience: [\d.]+', 'lockstep_patience: 10.0', file.read_text()
    )
    assert count == 1
    file.write_text(text)
    command = [sys.executable, '-m', 'drex_ros.launching', '--native', 'drex.launch.yaml']
    words = ['object:=can', 'camera:=false', 'real_time_factor:=0.0', f'config:={config}']
    with NodeProcess([*command, *words], env=node_environment()):
        with Drex() as drex:
            # The first controller on a machine has its laws compiled.
            drex.wait_until_ready(600.0)
            yield drex


@pytest.fixture(scope='module')
def simulator(client: Drex) -> Iterator[Simulator]:
    with Simulator() as made:
        yield made


@pytest.fixture
def drex(client: Drex, simulator: Simulator) -> Drex:
    """A client, a robot at home that follows nobody, and a can on the table."""
    simulator.reset(thing='can', position=CAN)
    client.recover()
    return client


def palm(status: ControllerStatus) -> tuple[np.ndarray, np.ndarray]:
    """Where the palm is: position [m], rotation."""
    place, turn = status.palm_pose.position, status.palm_pose.orientation
    return np.array((place.x, place.y, place.z)), rotation_matrix((turn.x, turn.y, turn.z, turn.w))


def rest(drex: Drex) -> np.ndarray:
    """Wait until nothing moves; the posture then [rad]."""
    wait_until(lambda: np.abs(drex.state().velocity).max() < 0.02, what='a robot at rest')
    return drex.state().position


def test_moves_to_a_posture_and_tells_how_far_it_is(drex: Drex) -> None:
    goal = HOME.copy()
    goal[0] += 0.4
    goal[FINGERS['index']] += (0.0, 0.4, 0.3, 0.2)
    told: list[tuple[float, float, threading.Thread]] = []
    result = drex.move_to(
        arm=goal[ARM],
        hand=goal[HAND],
        on_progress=lambda done, left: told.append((done, left, threading.current_thread())),
    )
    np.testing.assert_allclose(rest(drex), goal, atol=0.05)
    assert 0.0 <= result.position_error < 0.01
    assert 0.2 < result.duration < 10.0
    done, left, threads = zip(*told, strict=True)
    assert list(done) == sorted(done)
    assert list(left) == sorted(left, reverse=True)
    assert set(threads) == {threading.current_thread()}
    drex.move_to(hand=HOME[HAND], speed=1.0)
    np.testing.assert_allclose(rest(drex)[ARM], goal[ARM], atol=0.02)  # which was not named


def test_moves_the_palm(drex: Drex) -> None:
    _, before = palm(drex.status())
    drex.move_to(position=(0.45, 0.1, 0.4))
    place, turn = palm(drex.status())
    np.testing.assert_allclose(place, (0.45, 0.1, 0.4), atol=0.005)
    np.testing.assert_allclose(turn, before, atol=0.03)  # it was not told to turn
    drex.move_to(position=(0.0, 0.0, 0.05), frame='palm_link', straight=True)
    np.testing.assert_allclose(palm(drex.status())[0], place + turn @ (0.0, 0.0, 0.05), atol=0.005)
    wanted = turn @ rotation_matrix(quaternion_from_vector((0.0, 0.0, 0.3)))
    drex.move_to(rotation=wanted)
    np.testing.assert_allclose(palm(drex.status())[1], wanted, atol=0.03)
    drex.move_to(quaternion=quaternion_from_vector((0.0, 0.0, -0.3)), frame='palm_link')
    np.testing.assert_allclose(palm(drex.status())[1], turn, atol=0.03)


@pytest.mark.parametrize(
    ('place', 'reason'),
    [((2.0, 0.0, 0.4), 'outside of the workspace'), ((0.5, 0.0, 0.01), 'collision|out of reach')],
)
def test_a_goal_that_is_refused_moves_nothing(
    drex: Drex, place: tuple[float, float, float], reason: str
) -> None:
    before = rest(drex)
    with pytest.raises(DrexError, match=f'^move: .*({reason})'):
        drex.move_to(position=place)
    np.testing.assert_allclose(drex.state().position, before, atol=0.01)


def interrupt(done: float, left: float) -> None:
    if done > 0.3:
        raise KeyboardInterrupt


def test_an_interrupt_cancels_the_move(drex: Drex) -> None:
    goal = HOME[ARM] + (1.0, 0, 0, 0, 0, 0, 0)
    with pytest.raises(KeyboardInterrupt):
        drex.move_to(arm=goal, on_progress=interrupt)
    status = drex.wait_for_status(lambda status: status, 'a status')
    assert status.state == ControllerStatus.STATE_HOLDING
    assert 0.1 < rest(drex)[0] < 0.9
    drex.move_to(arm=HOME[ARM])


def test_a_timeout_cancels_the_move(drex: Drex) -> None:
    goal = HOME[ARM] + (1.0, 0, 0, 0, 0, 0, 0)
    with pytest.raises(DrexTimeoutError, match=r'^waited 1\.5 s for move to end: it is cancelled'):
        drex.move_to(arm=goal, speed=0.01, timeout=1.5)
    assert rest(drex)[0] < 0.5


def test_another_move_takes_its_place_but_not_that_of_another_source(drex: Drex) -> None:
    goal = HOME[ARM] + (1.2, 0, 0, 0, 0, 0, 0)
    errors: list[str] = []
    started = threading.Event()

    def go() -> None:
        try:
            drex.move_to(arm=goal, speed=0.1, on_progress=lambda done, left: started.set())
        except DrexError as error:
            errors.append(str(error))

    thread = threading.Thread(target=go)
    thread.start()
    assert started.wait(30.0)
    with Drex(name='other') as other:
        with pytest.raises(DrexError, match=r"^move: 'drex_client' commands"):
            other.move_to(arm=HOME[ARM])
    drex.move_to(arm=HOME[ARM])
    thread.join(30.0)
    assert errors == ['move: another move took its place']
    np.testing.assert_allclose(rest(drex)[ARM], HOME[ARM], atol=0.03)


def test_the_palm_is_a_spring_and_the_stream_needs_no_answers(drex: Drex) -> None:
    place, _ = palm(drex.status())
    way = np.array((0.0, 0.06, 0.0))
    drex.set_target(cartesian_stiffness=(600, 600, 600, 40, 40, 40), arm_damping_ratio=1.0)
    assert drex.status().arm_mode == ControllerTarget.MODE_CARTESIAN_IMPEDANCE
    accepted = drex.status().targets_accepted
    for step in range(20):
        drex.set_target(position=place + way * (step + 1) / 20, confirm=False)
        drex.state()
    wait_until(
        lambda: np.abs(palm(drex.status())[0] - place - way).max() < 0.005,
        what='the palm to be there',
    )
    assert drex.status().targets_accepted > accepted
    drex.set_target(arm_stiffness=7 * [15.0])  # of its posture: it stays a spring at the palm
    assert drex.status().arm_mode == ControllerTarget.MODE_CARTESIAN_IMPEDANCE
    drex.set_target(arm=HOME[ARM])
    assert drex.status().arm_mode == ControllerTarget.MODE_JOINT_IMPEDANCE


def test_a_target_has_a_lifetime(drex: Drex) -> None:
    drex.set_target(hand=HOME[HAND], lifetime=0.1)
    reason = drex.wait_for_status(
        lambda status: status.reason if status.state == ControllerStatus.STATE_STOPPED else None,
        'a stop',
        30.0,
    )
    assert reason.startswith("no target of 'drex_client' for ")
    drex.recover()


def test_the_hand_grips_lifts_and_puts_back_and_the_arm_weighs(
    drex: Drex, simulator: Simulator
) -> None:
    with pytest.raises(DrexError, match=r'^nothing to compare the payload with: call tare\(\)'):
        drex.payload()
    drex.move_to(position=ABOVE_CAN, rotation=FINGERS_DOWN, hand=OPEN_HAND)
    drex.tare()
    empty = drex.payload()
    assert abs(empty.mass) < 0.03
    drex.move_to(position=AROUND_CAN, straight=True)
    with pytest.raises(DrexTimeoutError, match='the arm moves, or is at another posture than at'):
        drex.payload(timeout=0.5)

    felt = drex.hand.close(6.0)
    true = {
        name: np.linalg.norm((tip.force.x, tip.force.y, tip.force.z))
        for name, tip in zip(FINGERS, simulator.truth().fingertips, strict=True)
    }
    assert set(felt) == {'index', 'middle', 'thumb'}
    for name, touch in felt.items():
        assert touch.in_contact
        assert np.linalg.norm(touch.force) == pytest.approx(true[name], abs=0.5)
    assert np.linalg.norm(felt['thumb'].force) == pytest.approx(6.0, abs=0.6)
    assert np.linalg.norm(sum(touch.force for touch in felt.values())) < 1.0  # in balance

    start = simulator.object_position()
    drex.move_to(position=ABOVE_CAN, straight=True)
    assert simulator.object_position()[2] > start[2] + 0.12
    weighed = drex.payload()
    assert weighed.mass == pytest.approx(CAN_MASS, abs=0.03)
    assert 0.0 < weighed.sigma < 0.03
    assert all(drex.hand.forces()[name].in_contact for name in felt)

    drex.move_to(position=AROUND_CAN, straight=True, speed=0.1)
    drex.hand.open(OPEN_HAND)
    assert not any(touch.in_contact for touch in drex.hand.forces().values())
    np.testing.assert_allclose(simulator.object_position(), start, atol=0.01)
    assert drex.status().hand_mode == ControllerTarget.MODE_JOINT_IMPEDANCE


def test_a_finger_that_touches_nothing_is_named(drex: Drex) -> None:
    """The middle finger stands between the two others: they cannot come so near."""
    with pytest.raises(DrexError, match='middle'):
        drex.hand.close(1.0, ('index', 'middle', 'ring'), timeout=5.0)
    status = drex.status()
    assert status.hand_mode == ControllerTarget.MODE_JOINT_IMPEDANCE  # and presses with nothing
    assert status.state == ControllerStatus.STATE_TRACKING


def test_a_grip_is_told_that_it_was_stopped(drex: Drex) -> None:
    threading.Timer(0.5, drex.stop).start()
    with pytest.raises(DrexError, match=r'^the grip ended on its way: stopped by controller/stop'):
        drex.hand.close(5.0, ('index', 'middle', 'ring'))
    drex.recover()


def test_too_much_force_is_not_tried(drex: Drex) -> None:
    drex.set_target(finger_force_limit=3.0)
    with pytest.raises(DrexError, match=r'^force is 4 N, the limit of the fingertips is 3 N'):
        drex.hand.close(4.0)
    drex.set_target(finger_force_limit=10.0)
    push = TipForce((0.0, 0.0, 20.0), 'palm_link')
    with pytest.raises(DrexError, match=r'the force of index is 20 N, its limit is 10 N'):
        drex.set_target(fingertips={'index': push})
