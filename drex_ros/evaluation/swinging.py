# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An object that swings over the table and turns, fast, without anything that moves it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drex_ros.evaluation.motion import ATTEMPTS, FPS, Motion, choose, smooth
from drex_ros.evaluation.placing import in_picture, resting
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import HOME, Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

_REST = 0.2  # [s]
_RISE = 0.5  # [s] until the swing has its full width
_FINE = 1e-4  # [s] for derivatives


def swings(
    scene: Scene, thing: ObjectModel, frames: int, random: np.random.Generator
) -> Iterator[Motion]:
    """Motions with up to 0.6 m/s and 4 rad/s that stay in the picture."""
    for _ in range(ATTEMPTS):
        course = _Course(thing, random)
        time = np.arange(frames) / FPS
        pose = np.array([course.pose(t) for t in time])
        twist = np.array([course.twist(t) for t in time])
        fastest = np.linalg.norm(twist[:, :3], axis=1).max()
        quickest = np.abs(twist[:, 5]).max()
        if not (0.45 < fastest < 0.6 and 2.5 < quickest < 4.0):
            continue
        if in_picture(scene, thing, pose):
            yield Motion(np.repeat(HOME[None], frames, axis=0), pose, twist)


class _Course:
    """Sinusoids in x, y and yaw that begin at rest."""

    def __init__(self, thing: ObjectModel, random: np.random.Generator) -> None:
        self._place = resting(
            thing,
            np.array((random.uniform(0.44, 0.56), random.uniform(-0.08, 0.08))),
            random.uniform(-np.pi, np.pi),
        )
        heading = random.uniform(-np.pi, np.pi)
        along = np.array((np.cos(heading), np.sin(heading)))
        self._axes = np.stack((along, (-along[1], along[0])), axis=1)
        self._width = np.array((random.uniform(0.08, 0.12), random.uniform(0.01, 0.04)))
        self._waves = 2 * np.pi * np.array((random.uniform(0.6, 0.9), random.uniform(0.4, 0.9)))
        self._turn = random.uniform(0.6, 1.2) * choose(random, (-1.0, 1.0))
        self._turn_waves = 2 * np.pi * random.uniform(0.4, 0.8)

    def pose(self, time: float) -> Array:
        """Position [m] and quaternion at a time [s]. Shape (7,)."""
        since = max(time - _REST, 0.0)
        grown = float(smooth(since / _RISE))
        xy = self._axes @ (grown * self._width * np.sin(self._waves * since))
        yaw = grown * self._turn * np.sin(self._turn_waves * since)
        pose = self._place.copy()
        pose[:2] += xy
        pose[3:] = quaternion_product(quaternion_from_vector((0.0, 0.0, yaw)), pose[3:])
        return pose

    def twist(self, time: float) -> Array:
        """Velocities at a time [s]. Shape (6,)."""
        before, after = self.pose(time - _FINE), self.pose(time + _FINE)
        twist = np.zeros(6)
        twist[:3] = (after[:3] - before[:3]) / (2.0 * _FINE)
        step = quaternion_product(after[3:], before[3:] * (-1.0, -1.0, -1.0, 1.0))
        twist[3:] = step[:3] * np.sign(step[3]) / _FINE
        return twist
