# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Straight pushes: where one begins, where it leads, and the way to the next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from drex_ros.evaluation.motion import smooth
from drex_ros.evaluation.physics import TIMESTEP
from drex_ros.evaluation.placing import height, way_to_surface
from drex_ros.evaluation.pushers import Pusher
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import rotation_matrix

_GAP = 0.008  # [m] between pusher and object before a stroke
_FROM = 0.30  # [m] from where the way to the object's surface is measured
_ACCELERATION = 8.0  # [m/s^2]


@dataclass(frozen=True)
class Stroke:
    """A straight push."""

    begin: Array
    """Place of the pusher's tip [m], shape (3,)."""
    direction: Array
    """Unit vector, level. Shape (3,)."""
    length: float
    """[m]"""

    def tips(self, speed: float) -> Array:
        """Places of the tip a time step apart, at a speed [m/s]. Shape (k, 3)."""
        # Speeds up and brakes at the same rate; a short stroke never gets to its speed.
        top = min(speed, float(np.sqrt(_ACCELERATION * self.length)))
        ramp = top / _ACCELERATION
        total = self.length / top + ramp
        time = np.arange(1, int(total / TIMESTEP) + 1) * TIMESTEP
        way = np.where(time < ramp, 0.5 * _ACCELERATION * time**2, top * (time - 0.5 * ramp))
        rest = np.maximum(total - time, 0.0)
        way = np.where(rest < ramp, self.length - 0.5 * _ACCELERATION * rest**2, way)
        return np.asarray(self.begin + way[:, None] * self.direction)


def plan_stroke(
    thing: ObjectModel,
    pose: Array,
    pusher: Pusher,
    goal: Array,
    speed: float,
    turn: float,
) -> Stroke | None:
    """A stroke that pushes the object towards a place; None: there is none.

    Args:
        thing: the object.
        pose: where it is, shape (7,).
        pusher: what pushes it.
        goal: x and y to push it to [m], shape (2,).
        speed: of the push [m/s].
        turn: that the object shall make meanwhile, about [rad/s].
    """
    way = goal - pose[:2]
    length = float(np.linalg.norm(way))
    if length < 0.02:
        return None
    direction = np.array((*way, 0.0)) / length
    aside = np.array((-direction[1], direction[0], 0.0))
    centre = rotation_matrix(pose[3:]) @ thing.centre_of_mass + pose[:3]
    middle = np.array((*centre[:2], pusher.height(height(thing))))
    # A thing that slides turns about a point beside it: turn = speed offset / radius^2, about.
    offset = turn * _friction_radius(thing) ** 2 / speed
    most = 0.6 * _half_width(thing, pose, aside, middle)
    offset = min(max(offset, -most), most)
    ways = [
        way_to_surface(thing, pose, middle - _FROM * direction + across * aside, direction)
        for across in (offset - 0.8 * pusher.radius, offset, offset + 0.8 * pusher.radius)
    ]
    free = min(ways) - pusher.radius - _GAP
    if not np.isfinite(free):
        return None
    begin = middle + (free - _FROM) * direction + offset * aside
    return Stroke(begin, direction, length + _GAP)


def _friction_radius(thing: ObjectModel) -> float:
    """Torque of friction over its force, for a foot as large as the object [m]."""
    turned = thing.mesh.vertices @ rotation_matrix(thing.rest_quaternion).T
    return 0.6 * float(np.linalg.norm(np.ptp(turned[:, :2], axis=0))) / 2


def _half_width(thing: ObjectModel, pose: Array, aside: Array, middle: Array) -> float:
    """Half the object's width across the push, at the height of the pusher [m]."""
    ways = [way_to_surface(thing, pose, middle + s * _FROM * aside, -s * aside) for s in (1, -1)]
    return float(np.clip(_FROM - max(ways), 0.005, 0.05))


def over(pusher: Pusher, end: Array, tall: float) -> Array:
    """Places of the tip a time step apart: up, over the object, down. Shape (k, 3)."""
    start, clear = pusher.tip, tall + 0.02
    corners = (start, np.array((*start[:2], clear)), np.array((*end[:2], clear)), end)
    parts = []
    for a, b in pairwise(corners):
        # A smooth way is faster in its middle than on the whole, by this much.
        seconds = max(1.875 * float(np.linalg.norm(b - a)) / pusher.hurry, 0.05)
        share = smooth(np.arange(1, int(seconds / TIMESTEP) + 1) * TIMESTEP / seconds)
        parts.append(a + share[:, None] * (b - a))
    return np.concatenate(parts)
