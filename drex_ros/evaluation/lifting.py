# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An object that a hand takes from the table, lifts, carries sideways and tilts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drex_ros.evaluation.grasping import Grasp, Grasper
from drex_ros.evaluation.motion import ATTEMPTS, FPS, Motion, choose, numeric_twist, smooth
from drex_ros.evaluation.physics import PushPhysics
from drex_ros.evaluation.placing import in_picture
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import ARM, LIMITS, Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product, rotation_matrix

FRAMES = 69
"""Frames of a sequence: taking it takes its time."""

_LOWERED = 0.45  # [s] when the hand is around the object
_CLOSED = 0.70  # [s] when the fingers hold it
_FINE = 10  # steps from one frame to the next, for velocities
_MOST_SPEED, _MOST_TURN = 0.3, 1.5  # [m/s], [rad/s]


def lifts(
    scene: Scene, thing: ObjectModel, frames: int, random: np.random.Generator
) -> Iterator[Motion]:
    """Motions of a grasped object that stay in the picture and in reach."""
    grasper = Grasper(PushPhysics(scene, thing), thing)
    for _ in range(ATTEMPTS):
        grasp = grasper.attempt(random)
        if grasp is None:
            continue
        motion = _carry(grasper, grasp, frames, random)
        if motion is not None and in_picture(scene, thing, motion.pose):
            yield motion


def _carry(
    grasper: Grasper, grasp: Grasp, frames: int, random: np.random.Generator
) -> Motion | None:
    """Lower the hand, close it, lift and turn; None: out of reach or too fast."""
    time = np.arange(frames * _FINE) / (FPS * _FINE)
    seconds = frames / FPS
    object_pose = _course(grasp, time, seconds, random)
    twist = numeric_twist(object_pose, time[1])
    if (
        np.linalg.norm(twist[:, :3], axis=1).max() > _MOST_SPEED
        or np.linalg.norm(twist[:, 3:], axis=1).max() > _MOST_TURN
    ):
        return None
    above = random.uniform(0.05, 0.10) * (1.0 - smooth((time - 0.05) / (_LOWERED - 0.05)))
    closed = smooth((time - _LOWERED) / (_CLOSED - _LOWERED))
    held = rotation_matrix(grasp.object_pose[3:])
    offset = held.T @ (grasp.palm_position - grasp.object_pose[:3])
    turn = held.T @ grasp.palm_rotation
    arm, postures = grasp.arm, []
    # Backwards from where the hand was found to be around the object, then forwards.
    begin = int(np.searchsorted(time, _LOWERED))
    for order in (range(begin, -1, -1), range(begin + 1, len(time))):
        arm = grasp.arm
        for i in order:
            rotation = rotation_matrix(object_pose[i, 3:])
            place = object_pose[i, :3] + rotation @ offset + (0.0, 0.0, above[i])
            found = grasper.arm.track(place, rotation @ turn, arm)
            fast = np.abs(found.arm - arm) > LIMITS.velocity[ARM] * time[1]
            if not found.found or (fast.any() and i != begin):
                return None
            arm = found.arm
            hand = grasp.open_hand + closed[i] * (grasp.closed_hand - grasp.open_hand)
            postures.append((i, np.concatenate((arm, hand))))
    posture = np.array([each for _, each in sorted(postures, key=lambda pair: pair[0])])
    kept = slice(None, None, _FINE)
    return Motion(posture[kept], object_pose[kept], twist[kept])


def _course(grasp: Grasp, time: Array, seconds: float, random: np.random.Generator) -> Array:
    """Poses of the object: at rest until it is held, then a lift with a tilt. Shape (n, 7)."""
    lift = random.uniform(0.08, 0.12)
    heading = random.uniform(-np.pi, np.pi)
    side = random.uniform(0.04, 0.10) * np.array((np.cos(heading), np.sin(heading)))
    axis = np.array((random.normal(), random.normal(), 0.6 * random.normal()))
    axis /= np.linalg.norm(axis)
    angle = np.radians(random.uniform(15.0, 30.0)) * choose(random, (-1.0, 1.0))
    up = smooth((time - _CLOSED) / 0.75)
    moved = smooth((time - _CLOSED - 0.25) / (seconds - _CLOSED - 0.35))
    # To one side, through the middle, and a bit to the other.
    since = np.maximum(time - _CLOSED - 0.3, 0.0)
    rocking = np.sin(2 * np.pi * since / 1.6) * smooth(since / 0.4)
    pose = np.tile(grasp.object_pose, (len(time), 1))
    pose[:, 2] += lift * up
    pose[:, :2] += moved[:, None] * side
    for i, share in enumerate(rocking):
        turn = quaternion_from_vector(share * angle * axis)
        pose[i, 3:] = quaternion_product(turn, pose[i, 3:])
    return pose
