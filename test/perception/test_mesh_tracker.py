# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The filter: predictions, what it learns from frames, and turns that nobody can see."""

from __future__ import annotations

import numpy as np
import pytest
from rendered import CAMERA, PERIOD, at, mesh_of, noisy, off, seen_pose, sliding

from drex_ros.perception.belief import START, Belief
from drex_ros.perception.estimate import Evidence, TrackStatus
from drex_ros.perception.judgement import Finding, Judge
from drex_ros.perception.mesh_tracker import MeshTracker
from drex_ros.perception.poses import Pose
from drex_ros.robot.rotations import matrix_from_vector, vector_from_matrix

CAN = at(0.5, 0.02, 0.0)


def test_a_prediction_moves_with_the_velocity_and_is_less_sure() -> None:
    pose = Pose(np.array((0.1, 0.0, 0.8)), np.eye(3))
    belief = Belief(pose, np.array((0.3, 0.0, 0.0, 0.0, 0.0, 2.0)), START)
    later = belief.predicted(0.1, np.repeat((16.0, 3600.0), 3))
    np.testing.assert_allclose(later.pose.position, (0.13, 0.0, 0.8))
    np.testing.assert_allclose(later.pose.rotation, matrix_from_vector((0.0, 0.0, 0.2)))
    # Position: start, velocity over 0.1 s, white acceleration over it.
    expected = 0.02**2 + (0.1 * 0.03) ** 2 + (0.1**2 * 4.0) ** 2 / 3.0
    assert later.covariance[0, 0] == pytest.approx(expected)
    assert later.covariance[0, 6] == pytest.approx(0.1 * 0.03**2 + 0.5 * 0.1**3 * 16.0)
    assert belief.slowed(0.5).velocity[0] == pytest.approx(0.15)


def test_an_object_that_is_farther_on_is_faster() -> None:
    pose = Pose(np.array((0.1, 0.0, 0.8)), np.eye(3))
    belief = Belief(pose, np.zeros(6), START).predicted(0.1, np.repeat((16.0, 3600.0), 3))
    ahead = belief.pose.moved(np.array((0.01, 0.0, 0.0, 0.0, 0.0, 0.0)))
    faster = belief.course.velocity_at(ahead)
    ratio = belief.covariance[0, 6] / belief.covariance[0, 0]
    np.testing.assert_allclose(faster, (0.01 * ratio, 0, 0, 0, 0, 0), atol=1e-9)


def test_begins_from_a_pose_that_is_off() -> None:
    tracker, place = MeshTracker(mesh_of('box'), CAMERA), at(0.5, 0.0, 0.3)
    start = seen_pose('box', place).moved(np.array((0.004, -0.002, 0.003, 0.05, -0.04, 0.06)))
    assert tracker.begin(noisy('box', place, 0), start)
    assert tracker.belief is not None
    assert tracker.fit is not None
    moved, turned = off('box', tracker.belief.pose, place)
    assert moved < 1.0
    assert turned < 1.0
    assert tracker.contact.active
    assert tracker.fitter.colours.known
    assert tracker.place_doubt() < 0.0025
    away = Pose(np.array((3.0, 0.0, 0.8)), np.eye(3))
    assert not MeshTracker(mesh_of('box'), CAMERA).begin(noisy('box', place, 0), away)


def test_learns_the_velocity_of_what_slides() -> None:
    tracker = MeshTracker(mesh_of('box'), CAMERA)
    assert tracker.begin(noisy('box', sliding(0), 0), seen_pose('box', sliding(0)))
    errors, speeds = [], []
    for number in range(1, 36):
        assert tracker.advance(noisy('box', sliding(number), number), PERIOD)
        belief = tracker.belief
        assert belief is not None
        ahead = seen_pose('box', sliding(number + 1)).position
        behind = seen_pose('box', sliding(number - 1)).position
        speed = (ahead - behind) / (2.0 * PERIOD)
        errors.append(np.linalg.norm(belief.velocity[:3] - speed))
        speeds.append(np.linalg.norm(speed))
    assert max(speeds[10:]) > 0.3
    assert np.median(errors[10:]) < 0.08
    assert np.median(errors[2:5]) < 0.05


def test_a_turn_that_nobody_sees_does_not_spin() -> None:
    tracker, mesh = MeshTracker(mesh_of('can'), CAMERA), mesh_of('can')
    (axis,) = mesh.free_axes
    assert tracker.begin(noisy('can', CAN, 0), seen_pose('can', CAN))
    assert tracker.belief is not None
    first, spreads = tracker.belief.pose, []
    for number in range(1, 21):
        assert tracker.advance(noisy('can', CAN, number), PERIOD)
        free = tracker.belief.pose.rotation @ axis
        spreads.append(float(free @ tracker.belief.covariance[3:6, 3:6] @ free))
        turn = vector_from_matrix(first.rotation.T @ tracker.belief.pose.rotation)
        assert abs(np.degrees(turn @ axis)) < 2.0
        assert np.linalg.eigvalsh(tracker.belief.covariance).min() > 0.0
        # Turns that can be seen are known all the same.
        assert tracker.turn_doubt() < 0.05
    moved, turned = off('can', tracker.belief.pose, CAN)
    assert moved < 1.5
    assert turned < 1.5
    assert spreads[9] > spreads[0] > 0.5
    # Not knowing at all is about 2 rad; a variance beyond says no more.
    assert max(spreads) < 4.0**2


def test_variance_of_a_free_turn_stays_bounded_for_long() -> None:
    tracker = MeshTracker(mesh_of('can'), CAMERA)
    assert tracker.begin(noisy('can', CAN, 0), seen_pose('can', CAN))
    for number in range(120):
        # The same twenty frames again: the filter does not know.
        assert tracker.advance(noisy('can', CAN, 1 + number % 20), PERIOD)
    assert tracker.belief is not None
    free = tracker.belief.pose.rotation @ mesh_of('can').free_axes[0]
    covariance = tracker.belief.covariance
    assert free @ covariance[3:6, 3:6] @ free < 5.0**2
    assert np.isfinite(covariance).all()
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert abs(free @ tracker.belief.velocity[3:]) < 0.1


def test_evidence_that_stays_bad_ends_in_lost() -> None:
    good, weak = Finding(0, '', Evidence()), Finding(1, 'weak', Evidence())
    bad, hopeless = Finding(2, 'bad', Evidence()), Finding(3, 'gone', Evidence())
    covered = Finding(2, 'covered', Evidence(), covered=True)
    judge = Judge()

    def statuses(*findings: Finding) -> list[str]:
        judge.forget()
        return [judge.judge(each).name for each in findings]

    assert statuses(good, weak, weak, weak, weak, good) == [
        'TRACKING', *['UNCERTAIN'] * 4, 'TRACKING'
    ]  # fmt: skip
    assert statuses(bad, bad, bad) == ['UNCERTAIN', 'UNCERTAIN', 'LOST']
    # A good frame between makes it patient again.
    assert 'LOST' not in statuses(bad, bad, good, bad, bad, good)
    assert statuses(good, hopeless) == ['TRACKING', 'LOST']
    hidden = statuses(*[covered] * 14)
    assert 'LOST' not in hidden[:9]
    assert hidden[-1] == 'LOST'
    assert judge.judge(good) is TrackStatus.TRACKING


def test_a_hidden_handle_is_not_found_by_looking_long() -> None:
    """Frame after frame says a little about its turn, and errs alike: that does not add up."""
    place = at(0.5, 0.0, 2.3)  # the handle points away from the camera
    tracker = MeshTracker(mesh_of('mug'), CAMERA)
    assert tracker.begin(noisy('mug', place, 0), seen_pose('mug', place))
    for number in range(1, 15):
        assert tracker.advance(noisy('mug', place, number), PERIOD)
    assert tracker.turn_doubt() > 0.3
    shown = at(0.5, 0.0, 1.2)
    tracker = MeshTracker(mesh_of('mug'), CAMERA)
    assert tracker.begin(noisy('mug', shown, 0), seen_pose('mug', shown))
    for number in range(1, 15):
        assert tracker.advance(noisy('mug', shown, number), PERIOD)
    assert tracker.turn_doubt() < 0.03
