# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Finding an object on the table: where it is, that it is not there, that there are two."""

from __future__ import annotations

import numpy as np
import pytest
from rendered import CAMERA, at, both, frame_of, noisy, off, thing, view

from drex_ros.perception.detector import Detector
from drex_ros.perception.estimate import Detection
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.hypotheses import GOOD, looks_alike
from drex_ros.perception.object_tracker import ObjectTracker
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import TrackedMesh
from drex_ros.robot.rotations import matrix_from_vector

PLACE = at(0.5, 0.0, 0.3)


def detected(name: str, frame: RgbdFrame) -> Detection:
    return ObjectTracker(thing(name), CAMERA).detect(frame)


@pytest.mark.parametrize('name', ['box', 'can', 'mug'])
@pytest.mark.parametrize('place', [PLACE, at(0.42, 0.1, 1.2), at(0.58, -0.12, -2.0)])
def test_finds_an_object_wherever_it_stands(name: str, place: tuple[float, ...]) -> None:
    result = detected(name, noisy(name, place))
    assert result.found
    assert result.message.startswith('found, ')
    assert GOOD <= result.score <= 1.0
    assert result.candidates == 1
    assert result.state is not None
    moved, turned = off(name, result.state, place)
    assert moved < 2.0
    assert turned < 2.5
    assert np.linalg.eigvalsh(result.state.covariance).min() > 0.0


def test_finds_a_box_on_another_side() -> None:
    place = at(0.5, 0.0, 0.3, 0.0, np.pi / 2)
    result = detected('box', noisy('box', place))
    assert result.found
    assert result.state is not None
    moved, turned = off('box', result.state, place)
    assert moved < 2.0
    assert turned < 2.0


def test_an_empty_table_holds_nothing() -> None:
    result = detected('box', noisy('', PLACE))
    assert not result.found
    assert 'box is not there' in result.message
    assert 0.0 <= result.score < GOOD


def test_another_object_is_not_taken_for_it() -> None:
    for name, shown in (('box', 'mug'), ('mug', 'box'), ('can', 'box')):
        result = detected(name, noisy(shown, PLACE))
        assert not result.found
        assert f'{name} is not there' in result.message
        assert 0.0 < result.score < GOOD


def test_two_that_look_the_same_are_ambiguous() -> None:
    first, second = view('box', at(0.42, -0.1, 0.3)), view('box', at(0.55, 0.12, -0.5))
    tracker = ObjectTracker(thing('box'), CAMERA)
    result = tracker.detect(frame_of(both(first, second), 0))
    assert not result.found
    assert result.message == 'ambiguous: 2 things on the table look like box'
    assert result.candidates == 2
    assert result.score > GOOD
    assert result.state is not None
    # Nor does the tracker choose one.
    estimate = tracker.update(frame_of(both(first, second), 1))
    assert estimate.state is None
    assert 'ambiguous' in estimate.reason


def test_of_two_different_things_the_right_one_is_found() -> None:
    place, other = at(0.42, -0.1, 0.3), at(0.55, 0.12, -0.5)
    frame = frame_of(both(view('box', place), view('can', other)), 0)
    for name, where in (('box', place), ('can', other)):
        result = detected(name, frame)
        assert result.found, result.message
        assert off(name, result.state, where)[0] < 2.0


def test_pieces_are_counted_without_the_robot_that_is_known() -> None:
    detector = Detector(thing('box'), TrackedMesh.of(thing('box')), CAMERA)
    frame = noisy('box', PLACE)
    robot = np.full(frame.depth.shape, np.float32(1e9))
    # The arm is at the upper left; all there is hidden by what is said to be the robot.
    robot[:, :240] = 0.1
    found = detector.detect(frame, robot=robot)
    assert found.pieces == 1
    assert found.best is not None
    assert found.best.score > GOOD
    robot[:] = 0.1
    assert detector.detect(frame, robot=robot).best is None


def test_colours_that_are_known_rule_out_the_rest() -> None:
    detector = Detector(thing('box'), TrackedMesh.of(thing('box')), CAMERA)
    frame = noisy('box', PLACE)
    assert detector.detect(frame, likely=np.zeros_like(frame.depth)).best is None
    assert detector.detect(frame, likely=np.ones_like(frame.depth)).best is not None


def test_a_wanted_side_is_kept_to() -> None:
    mesh = TrackedMesh.of(thing('box'))
    detector = Detector(thing('box'), mesh, CAMERA)
    down = [side for side in mesh.resting_faces if abs(side.up[2]) > 0.9]
    wrong = [side for side in mesh.resting_faces if abs(side.up[0]) > 0.9]
    right = detector.detect(noisy('box', PLACE), side=down[0]).best
    assert right is not None
    assert right.side is down[0]
    assert right.score > GOOD
    upright = detector.detect(noisy('box', PLACE), side=wrong[0]).best
    assert upright is None or upright.score < GOOD


def test_equal_poses_look_alike() -> None:
    mesh = TrackedMesh.of(thing('box'))
    place = np.array((0.0, 0.0, 0.8))
    pose = Pose(place, matrix_from_vector((0.2, 0.4, 0.1)))
    half = Pose(place, pose.rotation @ matrix_from_vector((0.0, 0.0, np.pi)))
    quarter = Pose(place, pose.rotation @ matrix_from_vector((0.0, 0.0, np.pi / 2)))
    assert looks_alike(mesh, pose, half)
    assert not looks_alike(mesh, pose, quarter)
    assert not looks_alike(mesh, pose, Pose(place + 0.01, pose.rotation))
