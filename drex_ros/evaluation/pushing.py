# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pushes over the table: one stroke after another, each let go into a free slide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drex_ros.evaluation.motion import ATTEMPTS, FPS, Motion, choose
from drex_ros.evaluation.physics import PushPhysics
from drex_ros.evaluation.placing import height, in_picture, resting, tilt
from drex_ros.evaluation.pushers import FingerPusher, OutOfReachError, Pusher, StickPusher
from drex_ros.evaluation.recording import Recording, TimeIsUpError, WrongError
from drex_ros.evaluation.scoring import twist_error
from drex_ros.evaluation.strokes import Stroke, over, plan_stroke
from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import Array

_AREA = ((0.36, 0.58), (-0.16, 0.16))  # [m] x and y that strokes lead to
_SHORTEST = 0.08  # [m] of a first stroke
_REST = (0.30, 0.45)  # [s] before the first stroke
_ROLLING_REST = (0.6, 1.1)  # [s] the same for a ball
_FINGER_ATTEMPTS = 150  # then it is out of the finger's reach, and the stick has its turn
_TALLEST = 0.10  # [m] of what the finger pushes; the hand would be in the way of more
_MOST_TILT = 0.2  # [rad]
_LOW, _MOST_ROLL = 0.06, 0.7  # [m], [rad]: a low thing may roll onto its side, as a banana does
_MOST_TURN = 4.2  # [rad/s]
_OVERSHOOT = 1.1  # of a thing that is hit, over the fastest push
_LEAST_WAY = 0.05  # [m]


@dataclass(frozen=True)
class PushStyle:
    """Ranges of a kind of push."""

    speed: tuple[float, float]
    """[m/s]"""
    turn: tuple[float, float]
    """That a push beside the middle aims at [rad/s]."""
    fingers: float
    """How often the robot's finger pushes, where it can."""


STYLES = {
    'slow': PushStyle((0.10, 0.25), (0.3, 2.0), fingers=0.7),
    'fast': PushStyle((0.40, 0.60), (0.5, 2.5), fingers=0.5),
    'occluded': PushStyle((0.15, 0.30), (0.3, 2.5), fingers=0.0),
}


def pushes(
    scene: Scene, thing: ObjectModel, style: PushStyle, frames: int, random: np.random.Generator
) -> Iterator[Motion]:
    """Motions of pushes that stay on the table and in the picture, one after another."""
    trial = _Trial(PushPhysics(scene, thing), thing, style)
    pusher: Pusher = StickPusher()
    if random.random() < style.fingers and height(thing) < _TALLEST:
        pusher = FingerPusher()
    for number in range(ATTEMPTS):
        if number == _FINGER_ATTEMPTS:
            pusher = StickPusher()
        motion = trial.run(pusher, frames, random)
        if motion is None or not in_picture(scene, thing, motion.pose):
            continue
        fastest = np.linalg.norm(motion.twist[:, :3], axis=1).max()
        moved = np.ptp(motion.pose[:, :2], axis=0).max()
        if fastest > 0.9 * style.speed[0] and moved > _LEAST_WAY:
            yield motion


class _Trial:
    """Pushes one object in one style."""

    def __init__(self, physics: PushPhysics, thing: ObjectModel, style: PushStyle) -> None:
        self._physics, self._thing, self._style = physics, thing, style
        self._group = SymmetryGroup(thing.symmetry)
        self._ball = self._group.observable == 0
        self._tall = height(thing)

    def run(self, pusher: Pusher, frames: int, random: np.random.Generator) -> Motion | None:
        """Push from a place of chance to places of chance; None: that goes wrong."""
        physics, style = self._physics, self._style
        speed = random.uniform(*style.speed)
        place, goal = _place(random), _place(random)
        pose = resting(self._thing, place, random.uniform(-np.pi, np.pi))
        stroke = self._stroke(pose, pusher, goal, speed, random)
        if stroke is None or np.linalg.norm(goal - place) < _SHORTEST:
            return None
        recording = Recording(physics, pusher, frames, self._right)
        try:
            pusher.begin(stroke.begin, stroke.direction)
            physics.reset(pose, pusher.posture, pusher.stick)
            # What rolls away is not stopped: it starts later, so as to stay in the picture.
            recording.wait(random.uniform(*(_ROLLING_REST if self._ball else _REST)))
            while stroke is not None:
                recording.follow(stroke.tips(speed))
                pose = recording.let_slide()
                stroke = self._stroke(pose, pusher, _place(random), speed, random)
                if stroke is not None:
                    recording.follow(over(pusher, stroke.begin, self._tall))
            recording.wait(frames / FPS)
        except (WrongError, OutOfReachError):
            return None
        except TimeIsUpError:
            pass
        return recording.motion()

    def _stroke(
        self, pose: Array, pusher: Pusher, goal: Array, speed: float, random: np.random.Generator
    ) -> Stroke | None:
        turn = random.uniform(*self._style.turn) * choose(random, (-1.0, 1.0))
        return plan_stroke(self._thing, pose, pusher, goal, speed, turn)

    def _right(self, pose: Array, twist: Array) -> bool:
        """Whether the object does not move too fast and does not fall over."""
        turn = twist_error(self._group, pose, twist, np.zeros(6))[3:]
        most_tilt = _MOST_TILT if self._tall > _LOW else _MOST_ROLL
        return bool(
            np.linalg.norm(twist[:3]) < _OVERSHOOT * self._style.speed[1]
            and np.linalg.norm(turn) < _MOST_TURN
            and (self._ball or tilt(self._thing, pose[None]) < most_tilt)
        )


def _place(random: np.random.Generator) -> Array:
    return np.array([random.uniform(*side) for side in _AREA])
