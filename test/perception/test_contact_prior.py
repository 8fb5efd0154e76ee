# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table's say: it holds an object that stands, and lets go of one that does not."""

from __future__ import annotations

import numpy as np
import pytest
from rendered import CAMERA, PERIOD, Place, at, mesh_of, noisy, off, seen_pose

from drex_ros.perception.contact_prior import HEIGHT, TILT, ContactPrior
from drex_ros.perception.mesh_tracker import MeshTracker
from drex_ros.perception.model_view import table_plane
from drex_ros.perception.poses import Pose
from drex_ros.robot.joints import Array

STANDING = at(0.5, 0.02, 0.3)
SURE = np.diag(np.repeat((0.0003, 0.003), 3) ** 2)
"""Covariance of a pose by depth and outline that are good."""
NO_STEP = np.zeros(6)


def prior_of(name: str = 'box', place: Place = STANDING) -> ContactPrior:
    prior = ContactPrior(mesh_of(name), table_plane(CAMERA))
    prior.stand(seen_pose(name, place))
    return prior


def settled(prior: ContactPrior, pose: Pose) -> Pose:
    """Where the table's say alone leads from a pose, with next to nothing against it."""
    for _ in range(5):
        information, gradient = prior.added(pose, 1e-3 * np.eye(6), np.zeros(6))
        pose = pose.moved(np.linalg.solve(information, gradient))
    return pose


def away(move: float = 0.0, tilt: float = 0.0) -> Array:
    """A step off the table [m] and out of its plane [rad]."""
    normal = table_plane(CAMERA)[:3]
    level = np.cross(normal, (0.0, 1.0, 0.0))
    return np.concatenate((move * normal, tilt * level / np.linalg.norm(level)))


def test_knows_the_side_that_is_down() -> None:
    prior = prior_of()
    assert prior.active
    assert prior.side is not None
    np.testing.assert_allclose(np.abs(prior.side.up), (0.0, 0.0, 1.0), atol=1e-9)
    # Nothing near the table's height: nothing is said.
    prior.stand(seen_pose('box', at(0.5, 0.0, 0.3, lift=0.05)))
    assert not prior.active
    information, gradient = prior.added(seen_pose('box', STANDING), np.eye(6), np.ones(6))
    np.testing.assert_array_equal(information, np.eye(6))
    np.testing.assert_array_equal(gradient, np.ones(6))


def test_brings_a_box_down_to_the_table_and_level_but_not_along_it() -> None:
    truth, prior = seen_pose('box', STANDING), prior_of()
    normal = prior.table[:3]
    along = np.cross(normal, (1.0, 0.0, 0.0))
    slid = truth.moved(np.concatenate((0.03 * along, 0.2 * normal)))
    pose = settled(prior, slid.moved(away(0.002, 0.03)))
    error = pose.step_to(slid)
    assert abs(normal @ error[:3]) < 1e-5
    assert np.linalg.norm(error[3:] - normal * (normal @ error[3:])) < 1e-4
    # What slides and turns on the table is left where it is.
    np.testing.assert_allclose(error[:3] - normal * (normal @ error[:3]), 0.0, atol=1e-5)
    assert abs(normal @ error[3:]) < 0.01


def test_says_as_much_as_its_deviations() -> None:
    truth, prior = seen_pose('box', STANDING), prior_of()
    information, gradient = prior.added(truth, np.zeros((6, 6)), np.zeros(6))
    lift, tip = away(move=1.0), away(tilt=1.0)
    assert lift @ information @ lift == pytest.approx(HEIGHT**-2.0, rel=1e-6)
    assert tip @ information @ tip == pytest.approx(TILT**-2.0, rel=1e-6)
    np.testing.assert_allclose(gradient, 0.0, atol=1.0)


def test_a_ball_is_held_at_its_height_alone() -> None:
    prior = prior_of('ball')
    assert prior.active
    assert prior.side is None
    information, _ = prior.added(
        seen_pose('ball', STANDING).moved(away(0.001)), np.zeros((6, 6)), np.zeros(6)
    )
    assert np.linalg.matrix_rank(information) == 1
    step = settled(prior, seen_pose('ball', STANDING).moved(away(0.001))).step_to(
        seen_pose('ball', STANDING)
    )
    assert abs(prior.table[:3] @ step[:3]) < 1e-4


@pytest.mark.parametrize('change', [away(move=0.01), away(tilt=np.radians(10.0))])
def test_lets_go_of_what_is_lifted_or_tipped_and_comes_back_after_some_frames(
    change: Array,
) -> None:
    truth, prior = seen_pose('box', STANDING), prior_of()
    assert not prior.check(truth, NO_STEP, SURE, 1.0)
    assert prior.active
    # The fit is held at the table; depth and outline alone would be where the object is.
    assert prior.check(truth, change, SURE, 1.0)
    assert not prior.active
    for _ in range(20):
        assert not prior.check(truth.moved(change), NO_STEP, SURE, 1.0)
        assert not prior.active
    frames = 0
    while not prior.active and frames < 50:
        prior.check(truth, NO_STEP, SURE, 1.0)
        frames += 1
    assert 5 <= frames <= 15
    assert prior.side is not None


def test_one_frame_that_contradicts_a_little_is_not_enough() -> None:
    truth, prior = seen_pose('box', STANDING), prior_of()
    little = away(move=0.0035)
    assert not prior.check(truth, little, SURE, 1.0)
    assert 12.0 < prior.mismatch < 36.0
    assert not prior.check(truth, NO_STEP, SURE, 1.0)
    assert not prior.check(truth, little, SURE, 1.0)
    assert prior.active
    assert prior.check(truth, little, SURE, 1.0)
    assert not prior.active


def test_an_object_that_tips_on_the_table_still_has_about_its_height() -> None:
    truth, prior = seen_pose('box', STANDING), prior_of()
    tipped = away(tilt=np.radians(10.0))
    assert prior.check(truth, tipped, SURE, 1.0)
    assert not prior.active
    assert prior.near
    information, _ = prior.added(truth, np.zeros((6, 6)), np.zeros(6))
    normal = np.append(prior.table[:3], np.zeros(3))
    # Height alone, and far less surely than of one that stands.
    assert np.linalg.matrix_rank(information) == 1
    assert 0.002 < (normal @ information @ normal) ** -0.5 < 0.01
    prior.check(truth.moved(away(move=0.03)), NO_STEP, SURE, 1.0)
    assert not prior.near
    assert not prior.added(truth, np.zeros((6, 6)), np.zeros(6))[0].any()


def test_a_narrow_object_must_tilt_further_to_be_believed() -> None:
    """What depth errs by tilts things more about their long axis."""
    pose, prior = seen_pose('box', STANDING), prior_of()
    found = []
    for axis in (0, 1):  # the box is longer along its x
        about = pose.rotation[:, axis]
        prior.check(pose, np.append(np.zeros(3), np.radians(2.0) * about), SURE, 1.0)
        found.append(prior.mismatch)
    assert found[1] > 1.3 * found[0] > 1.0


def test_what_depth_does_not_know_contradicts_nothing() -> None:
    truth, prior = seen_pose('box', STANDING), prior_of()
    unsure = np.diag(np.repeat((0.02, 0.3), 3) ** 2)
    for _ in range(5):
        assert not prior.check(truth, away(move=0.01), unsure, 1.0)
    assert prior.active


def test_an_object_that_fell_stands_on_its_new_side() -> None:
    prior = prior_of()
    first = prior.side
    assert first is not None
    # On its long side: tilted by a quarter turn.
    fallen = seen_pose('box', at(0.5, 0.02, 0.3, tilt=np.pi / 2))
    prior.check(seen_pose('box', STANDING), away(tilt=0.5), SURE, 1.0)
    for _ in range(25):
        prior.check(fallen, NO_STEP, SURE, 1.0)
    assert prior.active
    assert prior.side is not None
    assert prior.side is not first
    np.testing.assert_allclose(np.abs(prior.side.up), (0.0, 1.0, 0.0), atol=1e-9)


@pytest.mark.parametrize(
    'raised', [at(0.5, 0.02, 0.3, lift=0.01), at(0.5, 0.02, 0.3, tilt=np.radians(10.0))]
)
def test_the_tracker_follows_an_object_off_the_table_and_back(raised: Place) -> None:
    tracker = MeshTracker(mesh_of('box'), CAMERA)
    places = [STANDING] * 5 + [raised] * 10 + [STANDING] * 20
    assert tracker.begin(noisy('box', STANDING, 0), seen_pose('box', STANDING))
    active, errors = [], []
    for number, place in enumerate(places[1:], start=1):
        assert tracker.advance(noisy('box', place, number), PERIOD)
        active.append(tracker.contact.active)
        errors.append(off('box', tracker.belief.pose, place))
    assert all(active[:4])
    assert not any(active[7:14])
    assert all(active[-3:])
    # Three frames after each change it is where the object is.
    for part in (errors[7:14], errors[-5:]):
        place, turn = np.array(part).max(axis=0)
        assert place < 2.0
        assert turn < 2.0
