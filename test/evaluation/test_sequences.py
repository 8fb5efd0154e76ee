# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences of the benchmark: what there is, and what is in their pictures."""

from dataclasses import replace

import numpy as np
import pytest
import yaml

from drex_ros.evaluation.losses import LOSSES
from drex_ros.evaluation.motion import DARK, EvaluationError, Motion, Prop
from drex_ros.evaluation.placing import resting
from drex_ros.evaluation.sequence import Sequence, SequenceSpec
from drex_ros.evaluation.sequences import (
    KINDS,
    benchmark,
    events,
    make_event,
    make_late_colour,
    make_sequence,
)
from drex_ros.evaluation.stage import COLOUR_NOISE, Stage
from drex_ros.hardware.depth_noise import StereoNoise
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import load_object, object_names
from drex_ros.resources import share_file
from drex_ros.robot.joints import HOME

SHORT = 36


@pytest.fixture(scope='module')
def covered() -> Sequence:
    spec = SequenceSpec('lego', 'covered', 3, 'tuning')
    return make_event(spec, frames=SHORT)


def test_every_object_with_every_kind_and_no_seed_in_both_splits() -> None:
    for make, kinds in ((benchmark, KINDS), (events, LOSSES)):
        pairs = {(spec.thing, spec.kind) for spec in make('tuning')}
        assert pairs == {(thing, kind) for thing in object_names() for kind in kinds}
        assert len(pairs) == len(make('tuning')) == len(make('scored'))
        tuning, scored = ({spec.seed for spec in make(split)} for split in ('tuning', 'scored'))
        assert not tuning & scored
    assert len(object_names()) >= 12


def test_same_spec_gives_the_same_pictures_and_another_seed_others(covered: Sequence) -> None:
    again = make_event(covered.spec, frames=SHORT)
    for name in ('colour', 'depth', 'pose', 'twist', 'visible'):
        assert np.array_equal(getattr(covered, name), getattr(again, name)), name
    other = make_event(replace(covered.spec, seed=4), frames=SHORT)
    assert not np.array_equal(covered.pose, other.pose)


def test_arrays_are_as_the_camera_publishes_them(covered: Sequence) -> None:
    assert covered.colour.shape == (SHORT, 480, 640, 3)
    assert covered.colour.dtype == np.uint8
    assert covered.depth.shape == (SHORT, 480, 640)
    assert covered.depth.dtype == np.uint16
    assert np.allclose(np.diff(covered.time), 1.0 / 30.0)
    assert covered.joint_position.shape == (SHORT, 23)
    middle = np.median(covered.depth[covered.depth > 0])
    assert 500 < middle < 1500


def test_noise_differs_from_frame_to_frame(covered: Sequence) -> None:
    assert not np.array_equal(covered.depth[0], covered.depth[1])
    assert not np.array_equal(covered.colour[0], covered.colour[1])


def test_covered_object_is_hidden_from_event_to_back(covered: Sequence) -> None:
    assert covered.event is not None
    assert covered.back is not None
    hidden = slice(covered.event, covered.back)
    assert covered.visible[hidden].max() == 0.0
    assert np.delete(covered.visible, hidden).min() > 0.99
    assert not covered.present[hidden].any()
    assert np.delete(covered.present, hidden).all()


def test_object_is_drawn_where_the_truth_says(covered: Sequence) -> None:
    """The pixel of a yellow brick's middle is yellow, and as far away as it is."""
    column, row = (round(float(each)) for each in covered.camera.project(covered.pose[0, :3]))
    red, _, blue = covered.colour[0, row, column].astype(int)
    assert red > 2 * blue
    patch = covered.depth[0, row - 2 : row + 3, column - 2 : column + 3]
    depth = covered.camera.to_optical(covered.pose[0, :3])[2]
    assert abs(np.median(patch[patch > 0]) * 1e-3 - depth) < 0.02


def test_visible_share_is_what_a_plate_leaves() -> None:
    """A plate on the left or the right half of a ball, seen from the camera."""
    scene, ball = load_scene(), load_object('ball')
    pose = resting(ball, np.array((0.5, 0.0)), 0.0)
    camera = scene.camera
    plate = Prop('box', (0.1, 0.1, 0.001), DARK)
    nearer = camera.position + 0.7 * (pose[:3] - camera.position)
    places = [
        np.append(nearer + shift * camera.rotation[:, 0], camera.quaternion)
        for shift in (-0.1, 0.1, 0.3)
    ]
    motion = Motion(np.tile(HOME, (3, 1)), np.tile(pose, (3, 1)), np.zeros((3, 6)))
    motion = motion.with_props((plate,), np.array(places)[:, None])
    with Stage(scene, ball, motion.props) as stage:
        left, right, aside = (stage.visible(motion, i, stage.draw(motion, i)) for i in range(3))
    assert left == pytest.approx(0.5, abs=0.02)
    assert left + right == pytest.approx(1.0, abs=0.02)
    assert aside == 1.0


def test_late_colours_are_those_of_half_a_frame_later() -> None:
    spec = SequenceSpec('lego', 'spin', 7, 'tuning')
    plain, late = make_sequence(spec, frames=45), make_late_colour(spec, frames=45)
    assert late.shape == (44, *plain.colour.shape[1:])

    def middle(colour: np.ndarray) -> np.ndarray:
        red, green, blue = (colour[..., k].astype(float) for k in range(3))
        rows, columns = np.nonzero((red > 150) & (green > 100) & (blue < 80))
        return np.array((columns.mean(), rows.mean()))

    fastest = int(np.argmax(np.linalg.norm(plain.twist[:-1, :3], axis=1)))
    before, after = middle(plain.colour[fastest]), middle(plain.colour[fastest + 1])
    assert np.linalg.norm(after - before) > 8.0
    assert middle(late[fastest]) == pytest.approx(0.5 * (before + after), abs=1.0)


def test_noise_is_the_mock_cameras_default() -> None:
    document = yaml.safe_load(share_file('config/mock_camera.yaml').read_text())
    parameters = document['/**']['ros__parameters']
    assert parameters['noise'] is True
    assert parameters['depth_format'] == '16UC1'
    assert parameters['colour_noise'] == COLOUR_NOISE
    assert parameters['depth_sigma'] == StereoNoise().sigma
    assert parameters['motion_blur'] is False


def test_wrong_specs_say_what_would_be_right() -> None:
    spec = SequenceSpec('mug', 'slow', 1, 'tuning')
    with pytest.raises(EvaluationError, match="no kind 'covered' here; there are: slow, fast"):
        make_sequence(replace(spec, kind='covered'))
    with pytest.raises(EvaluationError, match="no kind 'slow' here; there are: covered, removed"):
        make_event(spec)
    with pytest.raises(EvaluationError, match='fps is 60, must be 30'):
        make_sequence(replace(spec, fps=60.0))
    with pytest.raises(EvaluationError, match='10 frames, must be 45 or more'):
        make_sequence(spec, frames=10)
    with pytest.raises(EvaluationError, match="no split 'test'; there are: tuning, scored"):
        benchmark('test')
