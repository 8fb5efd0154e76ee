# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A mug with its handle in sight, hidden, and in sight again."""

from __future__ import annotations

import numpy as np
import pytest
from rendered import CAMERA, PERIOD, Place, at, mesh_of, noisy, off, seen_pose

from drex_ros.perception.belief import ANY_TURN, START, Belief
from drex_ros.perception.hidden_turn import HiddenTurns, sharpened
from drex_ros.perception.mesh_tracker import MeshTracker
from drex_ros.perception.model_fit import about
from drex_ros.perception.turn_profile import TurnProfile, turn_profile, turned

SHOWN, HIDDEN = at(0.5, 0.0, 1.2), at(0.5, 0.0, 2.3)  # the camera is where the handle is not
(AXIS,) = mesh_of('mug').round_axes


def following(place: Place) -> MeshTracker:
    tracker = MeshTracker(mesh_of('mug'), CAMERA)
    assert tracker.begin(noisy('mug', place, 0), seen_pose('mug', place))
    return tracker


def profile(place: Place, wrong: float, before: float) -> TurnProfile:
    """What a frame says to a mug that is believed to be turned by this much more [rad]."""
    fitter = following(place).fitter
    pose = turned(seen_pose('mug', place), AXIS, wrong)
    found = turn_profile(fitter, noisy('mug', place, 0), pose, AXIS, before)
    assert found is not None
    return found


def test_a_turn_about_the_body_leaves_the_body() -> None:
    pose = seen_pose('mug', SHOWN)
    other = turned(pose, AXIS, 0.7)
    assert other.rotation @ AXIS.direction == pytest.approx(pose.rotation @ AXIS.direction)
    line = [each.position + each.rotation @ AXIS.point for each in (pose, other)]
    assert line[1] == pytest.approx(line[0])
    assert np.linalg.norm(other.position - pose.position) > 0.005
    small = pose.step_to(turned(pose, AXIS, 1e-4))
    assert small == pytest.approx(1e-4 * about(pose, AXIS), abs=1e-7)


@pytest.mark.parametrize('wrong', [0.0, 0.5, -1.3, 3.0])
def test_a_handle_in_sight_is_found_from_any_turn(wrong: float) -> None:
    found = profile(SHOWN, wrong, ANY_TURN)
    assert found.found
    left = (found.change + wrong + np.pi) % (2.0 * np.pi) - np.pi
    assert abs(left) < np.radians(15.0)


def test_a_hidden_handle_is_where_it_is_not_seen() -> None:
    found = profile(HIDDEN, 0.0, ANY_TURN)
    assert not found.found
    assert np.sqrt(found.variance) > np.radians(12.0)
    # A turn that would show it is left.
    assert abs(profile(HIDDEN, 2.0, 0.3).change + 2.0) < 1.0
    # One that would not stays as it is, and is as sure as it was.
    kept = profile(HIDDEN, 0.2, 0.15)
    assert kept.change == 0.0
    assert np.sqrt(kept.variance) < 0.2


def test_a_hidden_handle_stays_where_it_was() -> None:
    """Nothing spins: the turn is that of the last frame that showed it, and less sure."""
    tracker = following(HIDDEN)
    doubts, turns = [], []
    for number in range(1, 12):
        assert tracker.advance(noisy('mug', HIDDEN, number), PERIOD)
        assert tracker.belief is not None
        turns.append(tracker.belief.pose)
        doubts.append(tracker.turn_doubt())
    changes = [np.linalg.norm(turns[2].step_to(each)[3:]) for each in turns[3:]]
    assert max(changes) < np.radians(1.0)
    assert min(doubts) > np.radians(12.0)


def test_a_handle_that_comes_into_sight_is_found_again() -> None:
    tracker = following(HIDDEN)
    for number in range(1, 6):
        assert tracker.advance(noisy('mug', HIDDEN, number), PERIOD)
    for number in range(6, 9):
        assert tracker.advance(noisy('mug', SHOWN, number), PERIOD)
    assert tracker.belief is not None
    place, turn = off('mug', tracker.belief.pose, SHOWN)
    assert place < 1.0
    assert turn < 1.5
    assert tracker.turn_doubt() < np.radians(3.0)


def test_doubt_grows_on_the_way_and_not_in_the_hand() -> None:
    unsure = Belief(seen_pose('mug', SHOWN), np.zeros(6), START)
    sure = Belief(unsure.pose, np.zeros(6), 1e-4 * START)

    def doubt(moved: float, held: bool) -> float:
        turns = HiddenTurns((AXIS,))
        turns.begin(sure)
        assert turns.expect(sure, held=held) == []
        start = turns.deviation(AXIS)
        turns.begin(sure)
        there = Belief(unsure.pose.moved(np.array((moved, 0, 0, 0, 0, 0))), np.zeros(6), START)
        assert turns.expect(there, held=held) == [AXIS]
        return turns.deviation(AXIS) - start

    assert 0.0 < doubt(0.0, False) < 0.01
    assert doubt(0.02, False) > 5.0 * doubt(0.0, False)
    assert doubt(0.02, True) == pytest.approx(doubt(0.0, True))
    assert HiddenTurns((AXIS,)).deviation(AXIS) == ANY_TURN


def test_a_turn_that_is_known_better_makes_all_better_that_goes_with_it() -> None:
    covariance = np.eye(12)
    covariance[0, 5] = covariance[5, 0] = 0.9
    axis = np.array((0.0, 0.0, 1.0))
    better = sharpened(covariance, axis, 0.1)
    assert better[5, 5] == pytest.approx(0.1)
    assert better[0, 0] < 0.5
    assert np.linalg.eigvalsh(better)[0] > 0.0
    worse = sharpened(covariance, axis, 3.0)
    assert worse[5, 5] == pytest.approx(3.0)
    assert worse[0, 0] == 1.0
