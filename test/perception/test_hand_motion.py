# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the hand carries the object: by where it goes when the hand goes."""

from __future__ import annotations

import numpy as np
from rendered import CAMERA, PERIOD, at, mesh_of, noisy, off, seen_pose

from drex_ros.perception.hand_motion import Expectation, HandMotion, HandPlace
from drex_ros.perception.mesh_tracker import MeshTracker
from drex_ros.perception.poses import Pose
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, Array

SURE = np.diag(np.repeat((0.0005, 0.01), 3) ** 2)
STANDING = at(0.5, 0.02, 0.3)


def hand_at(pose: Pose, gap: float = 0.01) -> HandPlace:
    """A hand whose tips are beside an object, on both sides [m]."""
    reach = 0.5 * np.ptp(mesh_of('box').vertices, axis=0)[0] + gap
    sides = np.array(((1.0, 0.0, 0.0), (1.0, 0.3, 0.0), (1.0, -0.3, 0.0), (-1.0, 0.0, 0.0)))
    tips = pose.position + (reach * sides) @ pose.rotation.T
    return HandPlace(Pose(pose.position - 0.1 * np.eye(3)[2], np.eye(3)), tips)


def up(distance: float) -> Array:
    """A step along the table's normal [m]."""
    return np.append(distance * CAMERA.rotation[2], np.zeros(3))


def moved(hand: HandPlace, step: Array) -> HandPlace:
    return HandPlace(hand.palm.moved(step), hand.tips + step[:3])


def weighed(follows: bool, frames: int = 6) -> HandMotion:
    """What is believed after the hand went up, and the object with it or not."""
    pose, motion = seen_pose('box', STANDING), HandMotion(mesh_of('box').vertices)
    hand = hand_at(pose)
    motion.advance(hand, pose)
    for _ in range(frames):
        hand = moved(hand, up(0.003))
        motion.advance(hand, pose)
        assert motion.carry is not None
        found = motion.carry if follows else np.zeros(6)
        spread = SURE + np.diag(motion.noise)
        held, alone = Expectation(motion.carry, spread), Expectation(np.zeros(6), SURE)
        motion.weigh(held, alone, found, SURE)
        pose = pose.moved(found)
    return motion


def test_what_goes_with_the_hand_is_held_and_what_stays_is_not() -> None:
    assert weighed(follows=True).holds
    assert not weighed(follows=False).holds


def test_a_hand_that_is_not_around_the_object_carries_nothing() -> None:
    pose, motion = seen_pose('box', STANDING), HandMotion(mesh_of('box').vertices)
    for hand in (None, hand_at(pose, gap=0.08)):
        for _ in range(3):
            motion.advance(hand, pose)
            assert motion.carry is None
            assert not motion.holds
    # One finger alone, as when it pushes, holds nothing either.
    near = hand_at(pose)
    pushing = HandPlace(near.palm, near.tips.copy())
    pushing.tips[3] += up(0.2)[:3]
    motion.advance(pushing, pose)
    motion.advance(pushing, pose)
    assert motion.carry is None


def test_a_hand_at_rest_tells_nothing() -> None:
    pose, motion = seen_pose('box', STANDING), HandMotion(mesh_of('box').vertices)
    for _ in range(20):
        motion.advance(hand_at(pose), pose)
        assert not motion.moves
        if motion.carry is not None:
            sure = Expectation(np.zeros(6), 0.1 * SURE)
            motion.weigh(sure, Expectation(np.zeros(6), 100.0 * SURE), np.zeros(6), SURE)
        assert not motion.holds


def test_a_turn_of_the_hand_turns_the_object_about_the_palm() -> None:
    pose, motion = seen_pose('box', STANDING), HandMotion(mesh_of('box').vertices)
    hand = hand_at(pose)
    motion.advance(hand, pose)
    turn = np.array((0.0, 0.0, 0.0, 0.0, 0.1, 0.0))
    motion.advance(HandPlace(hand.palm.moved(turn), hand.tips), pose)
    assert motion.carry is not None
    np.testing.assert_allclose(motion.carry[3:], turn[3:], atol=1e-12)
    lever = pose.position - hand.palm.position
    expected = np.array((np.sin(0.1) * lever[2], 0.0, (np.cos(0.1) - 1.0) * lever[2]))
    np.testing.assert_allclose(motion.carry[:3], expected, atol=1e-12)


def test_a_lifted_box_is_followed_with_the_hand_that_lifts_it() -> None:
    tracker = MeshTracker(mesh_of('box'), CAMERA)
    assert tracker.begin(noisy('box', STANDING, 0), seen_pose('box', STANDING))
    hand = hand_at(seen_pose('box', STANDING))
    for number in range(1, 16):
        lift = 0.004 * max(0, number - 3)
        place = at(*STANDING[:3], lift=lift)
        frame = noisy('box', place, number)
        assert tracker.advance(frame, PERIOD, moved(hand, up(lift)))
        assert tracker.belief is not None
        assert off('box', tracker.belief.pose, place)[0] < 1.5
    assert tracker.hand.holds
    assert not tracker.contact.active
    np.testing.assert_allclose(tracker.belief.velocity[:3], up(0.004 / PERIOD)[:3], atol=1e-9)


def test_palm_and_tips_are_where_the_joints_put_them() -> None:
    posture, dynamics = HOME + 0.1, Dynamics()
    hand = RobotSilhouette(CAMERA).hand(posture)
    tips = CAMERA.to_world(hand.tips)
    np.testing.assert_allclose(tips, dynamics.fingertip_positions(posture), atol=1e-9)
