# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracker in the whole stack, through the Python client, against the simulator's truth."""

from __future__ import annotations

from collections.abc import Iterator

import launchers
import numpy as np
import pytest
from ros_harness import Domain, NodeProcess, wait_until

from drex_ros.client import Drex, DrexTimeoutError, Simulator
from drex_ros.objects import load_object
from drex_ros.perception.estimate import ObjectState, TrackStatus
from drex_ros.robot.rotations import rotation_matrix, vector_from_matrix

NAMESPACE = '/seen'
COMPILED = 600.0  # [s] the first tracker on a machine has its kernels compiled


@pytest.fixture(scope='module')
def stack(ros_domain: Domain) -> Iterator[NodeProcess]:
    command = launchers.launch_command('drex', f'namespace:={NAMESPACE}', 'object:=mug')
    with NodeProcess(command) as process:
        yield process


@pytest.fixture(scope='module')
def drex(stack: NodeProcess) -> Iterator[Drex]:
    with Drex(NAMESPACE) as drex:
        drex.wait_until_ready(COMPILED)
        drex.object_track(COMPILED)
        yield drex


@pytest.fixture(scope='module')
def simulator(drex: Drex) -> Iterator[Simulator]:
    with Simulator(NAMESPACE) as simulator:
        yield simulator


def tracked(drex: Drex) -> ObjectState:
    """The object's state as soon as the tracker is sure of it."""
    state: ObjectState | None = None

    def sure() -> bool:
        nonlocal state
        track = drex.object_track()
        state = track.state if track.status is TrackStatus.TRACKING else None
        return state is not None

    wait_until(sure, what='the object to be tracked')
    assert state is not None
    return state


def errors(state: ObjectState, simulator: Simulator) -> tuple[float, float]:
    """How far a state is from the truth: [m], [rad]."""
    pose = simulator.truth().object_pose
    place, turn = pose.position, pose.orientation
    true = rotation_matrix(np.array((turn.x, turn.y, turn.z, turn.w)))
    metres = np.linalg.norm(state.position - (place.x, place.y, place.z))
    radians = np.linalg.norm(vector_from_matrix(rotation_matrix(state.quaternion) @ true.T))
    return float(metres), float(radians)


def check(state: ObjectState | None, simulator: Simulator) -> None:
    assert state is not None
    metres, radians = errors(state, simulator)
    assert metres < 0.002
    assert radians < np.radians(2.0)


def test_tracks_what_stands_on_the_table(drex: Drex, simulator: Simulator) -> None:
    check(tracked(drex), simulator)
    answer = drex.detect()
    assert answer.score > 0.65
    assert answer.message


def test_finds_it_at_another_place_and_says_when_it_is_gone(
    drex: Drex, simulator: Simulator
) -> None:
    mug = load_object('mug')
    # Turned by 22 deg, so that the camera still sees the handle.
    turn = (0.0, 0.0, 0.19, 0.98178)
    simulator.reset(thing='mug', position=(0.56, 0.08, mug.rest_height), quaternion=turn)
    wait_until(lambda: drex.detect().found, what='the mug to be found')
    check(tracked(drex), simulator)
    simulator.reset(thing='')
    gone = drex.detect()
    assert not gone.found
    assert gone.message.startswith('mug is not there')
    assert gone.track.state is None
    assert drex.object_track().state is None


def test_another_object_on_request(drex: Drex, simulator: Simulator) -> None:
    simulator.reset(thing='banana')
    wait_until(lambda: drex.detect('banana').found, what='the banana to be found')
    check(tracked(drex), simulator)
    unknown = drex.detect('unicorn')
    assert not unknown.found
    assert unknown.message.startswith("no object 'unicorn'")
    check(tracked(drex), simulator)


def test_nobody_tracks_without_a_stack(ros_domain: Domain) -> None:
    with Drex('/empty') as nobody:
        with pytest.raises(DrexTimeoutError, match='nobody serves /empty/object/track'):
            nobody.object_track(timeout=0.2)
        with pytest.raises(DrexTimeoutError, match='nobody serves /empty/tracker/detect'):
            nobody.detect(timeout=0.2)
