# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How late the colour is: learned from objects that move, from those at rest nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rendered import CAMERA, PERIOD, Place, at, mesh_of, noisy, off, seen_pose

from drex_ros.perception.colour_delay import START, ColourDelay, DelayStep, OtherTime
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.judgement import Finding, examine
from drex_ros.perception.mesh_tracker import MeshTracker
from drex_ros.robot.joints import Array

HALF = PERIOD / 2.0
"""A delay of half a frame, as between two unsynchronised cameras [s]."""


def pushed(time: float) -> Place:
    """At rest, then at 0.25 m/s."""
    return at(0.45 + 0.25 * max(0.0, time - 0.2), 0.02, 0.3)


def late(number: int, delay: float, *, stamped: bool) -> RgbdFrame:
    """A frame whose colour is later than its depth."""
    time = PERIOD * number
    depth = noisy('box', pushed(time), number)
    colour = noisy('box', pushed(time + delay), number).colour
    return replace(depth, colour=colour, colour_time=time + delay if stamped else None)


def followed(delay: float, *, stamped: bool) -> tuple[MeshTracker, list[float]]:
    """A tracker after some frames, and its errors [mm]."""
    tracker = MeshTracker(mesh_of('box'), CAMERA)
    assert tracker.begin(late(0, delay, stamped=stamped), seen_pose('box', pushed(0.0)))
    errors = []
    for number in range(1, 28):
        assert tracker.advance(late(number, delay, stamped=stamped), PERIOD)
        assert tracker.belief is not None
        errors.append(off('box', tracker.belief.pose, pushed(PERIOD * number))[0])
    return tracker, errors


@pytest.mark.parametrize('delay', [HALF, -0.01])
def test_a_delay_that_no_stamp_tells_is_learned(delay: float) -> None:
    tracker, errors = followed(delay, stamped=False)
    learned = tracker.fitter.delay
    assert learned.value == pytest.approx(delay, abs=0.003)
    assert learned.deviation < 0.003
    # 0.25 m/s in half a frame are 4 mm.
    assert np.median(errors[14:]) < 1.2


def test_stamps_that_are_right_are_believed() -> None:
    tracker, errors = followed(HALF, stamped=True)
    assert abs(tracker.fitter.delay.value) < 0.003
    assert np.median(errors[14:]) < 1.2


def test_what_rests_says_nothing() -> None:
    tracker = MeshTracker(mesh_of('box'), CAMERA)
    place = at(0.5, 0.02, 0.3)
    assert tracker.begin(noisy('box', place, 0), seen_pose('box', place))
    for number in range(1, 12):
        assert tracker.advance(noisy('box', place, number), PERIOD)
    assert tracker.fitter.delay.value == 0.0
    assert tracker.fitter.delay.deviation == START


def test_frames_add_up_but_not_as_if_each_stood_for_itself() -> None:
    delay = ColourDelay()
    step = DelayStep(0.008, (0.5 * START) ** 2)
    delay.take(step)
    assert 0.0 < delay.value < step.change
    assert 0.5 * START < delay.deviation < START
    for _ in range(1000):
        delay.take(DelayStep(0.0, 0.5 * delay.variance))
    assert delay.deviation == pytest.approx(0.0007)
    # What cannot be a delay is none.
    before = delay.value
    delay.take(DelayStep(0.2, 0.5 * delay.variance))
    assert delay.value == before


def other_time(
    information: Array, gradient: Array, velocity: Array, variance: float, chain: Array
) -> OtherTime:
    return OtherTime(
        information,
        gradient,
        velocity=velocity,
        variance=variance,
        rest=np.zeros((6, 6)),
        chain=chain,
    )


def test_a_delay_that_is_known_changes_no_equations() -> None:
    root = np.random.default_rng(0).normal(size=(6, 9))
    information, gradient, velocity = root @ root.T, np.arange(6.0), np.ones(6)
    same = other_time(information, gradient, velocity, 0.0, np.eye(6))
    np.testing.assert_allclose(same.information, information)
    np.testing.assert_allclose(same.gradient, gradient)


def test_elimination_is_that_of_the_equations_with_one_more_unknown() -> None:
    random = np.random.default_rng(1)
    root = random.normal(size=(6, 9))
    information, gradient, velocity = root @ root.T, random.normal(size=6), random.normal(size=6)
    variance, prior = 0.3, 0.5 * np.eye(6)
    chain = np.eye(6) + 0.3 * random.normal(size=(6, 6))
    less = other_time(information, gradient, velocity, variance, chain)
    covariance = np.linalg.inv(less.information + prior)
    step = covariance @ less.gradient
    # The outline moves by chain @ step and by velocity times the delay.
    both = np.column_stack((chain, velocity))
    joint = both.T @ information @ both
    joint[:6, :6] += prior
    joint[6, 6] += 1.0 / variance
    solved = np.linalg.solve(joint, both.T @ gradient)
    np.testing.assert_allclose(step, solved[:6], atol=1e-9)
    found = less.delay(step, covariance)
    assert found.change == pytest.approx(solved[6])
    assert found.variance == pytest.approx(np.linalg.inv(joint)[6, 6])


def test_what_the_object_did_between_depth_and_colour_is_doubted() -> None:
    def finding(delay: float, doubt: float) -> Finding:
        tracker = MeshTracker(mesh_of('box'), CAMERA)
        frame = late(0, delay, stamped=True)
        assert tracker.begin(frame, seen_pose('box', pushed(0.0)))
        assert tracker.fit is not None
        return examine(tracker.fitter, frame, tracker.fit, doubt, 0.0)

    assert finding(HALF, 0.0003).severity == 0
    assert finding(0.0, 0.001).severity == 0
    unsure = finding(HALF, 0.001)
    assert unsure.severity == 1
    assert unsure.reason == 'colour and depth are 17 ms apart: its place is known to 1.0 mm only'
