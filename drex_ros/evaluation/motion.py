# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What happens in a sequence, frame by frame, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from drex_ros.objects import Mesh
from drex_ros.robot.joints import Array, constant
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

FPS = 30.0
"""Pictures a second."""
ATTEMPTS = 4000
"""At a motion that fits, before one gives up."""
AWAY = constant((0.0, 0.0, -40.0, 0.0, 0.0, 0.0, 1.0))
"""A pose that no picture shows: beyond what is drawn."""

_CONJUGATE = constant((-1.0, -1.0, -1.0, 1.0))  # of a quaternion x y z w

DARK = constant((0.16, 0.16, 0.18, 1.0))
"""Colour of bars and plates."""


class EvaluationError(RuntimeError):
    """A sequence cannot be made, read or written; the message is one readable line."""


@dataclass(frozen=True, eq=False)
class Prop:
    """A thing in the picture beside robot, table and object; it is seen, but not tracked."""

    kind: Literal['box', 'capsule', 'mesh', 'sheet']
    size: tuple[float, ...]
    """Box: half sizes; capsule: radius and half length along its z; sheet: half its side [m];
    mesh: nothing."""
    rgba: Array
    """Shape (4,)."""
    mesh: Mesh | None = None
    picture: npt.NDArray[np.uint8] | None = None
    """Grey, printed on a sheet and seen from its z. Shape (n, n)."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Robot, object and props at each frame; arrays by frame, `FPS` of them a second."""

    joint_position: Array
    """[rad], shape (n, 23)."""
    pose: Array
    """Of the object in world: position [m], quaternion x y z w. Shape (n, 7)."""
    twist: Array
    """Of its origin [m/s] and its turn [rad/s], world axes. Shape (n, 6)."""
    props: tuple[Prop, ...] = ()
    prop_pose: Array | None = None
    """Position and quaternion of each prop in world. Shape (n, props, 7)."""
    shown: Array | None = None
    """Where the object is drawn if not at `pose`: for one that is away. Shape (n, 7)."""

    def __len__(self) -> int:
        return len(self.pose)

    def between(self) -> Motion:
        """The same half a frame later, by the velocities at both ends; one frame less."""
        step = (self.twist[:-1] - self.twist[1:]) / (8.0 * FPS)
        return Motion(
            0.5 * (self.joint_position[:-1] + self.joint_position[1:]),
            _middle(self.pose, step),
            0.5 * (self.twist[:-1] + self.twist[1:]),
            self.props,
            None
            if self.prop_pose is None
            else np.stack([_middle(each) for each in np.moveaxis(self.prop_pose, 1, 0)], axis=1),
            None if self.shown is None else self.shown[:-1],
        )

    def with_props(self, props: tuple[Prop, ...], prop_pose: Array) -> Motion:
        """The same with more props, at poses of shape (n, props, 7)."""
        before = () if self.prop_pose is None else (self.prop_pose,)
        return Motion(
            self.joint_position,
            self.pose,
            self.twist,
            (*self.props, *props),
            np.concatenate((*before, prop_pose), axis=1),
            self.shown,
        )


def _middle(pose: Array, step: Array | None = None) -> Array:
    """Between each two poses of shape (n, 7), moved and turned by steps of shape (n - 1, 6)."""
    first, second = pose[:-1], pose[1:]
    middle = 0.5 * (first + second)
    for i in range(len(middle)):
        turn = rotation_vector(quaternion_product(second[i, 3:], first[i, 3:] * _CONJUGATE))
        turn = 0.5 * turn if step is None else 0.5 * turn + step[i, 3:]
        middle[i, 3:] = quaternion_product(quaternion_from_vector(turn), first[i, 3:])
    if step is not None:
        middle[:, :3] += step[:, :3]
    return np.asarray(middle)


def smooth(share: npt.ArrayLike) -> Array:
    """From 0 to 1 with no speed and no acceleration at both ends; outside: 0 and 1."""
    s = np.clip(np.asarray(share, dtype=np.float64), 0.0, 1.0)
    return np.asarray(s**3 * (10.0 - 15.0 * s + 6.0 * s * s))


def numeric_twist(pose: Array, step: float) -> Array:
    """Twist by central differences of poses (n, 7) that are `step` [s] apart. Shape (n, 6)."""
    before, after = np.vstack((pose[:1], pose[:-1])), np.vstack((pose[1:], pose[-1:]))
    span = np.full(len(pose), 2.0 * step)
    span[[0, -1]] = step
    twist = np.zeros((len(pose), 6))
    twist[:, :3] = (after[:, :3] - before[:, :3]) / span[:, None]
    for i in range(len(pose)):
        turn = quaternion_product(after[i, 3:], before[i, 3:] * _CONJUGATE)
        twist[i, 3:] = rotation_vector(turn) / span[i]
    return twist


def rotation_vector(quaternion: Array) -> Array:
    """Axis times angle [rad], the shorter way, of a unit quaternion x y z w. Shape (3,)."""
    x, y, z, w = quaternion if quaternion[3] >= 0.0 else -quaternion
    sine = float(np.linalg.norm((x, y, z)))
    if sine < 1e-12:
        return np.zeros(3)
    return 2.0 * float(np.arctan2(sine, w)) / sine * np.array((x, y, z))


def choose(random: np.random.Generator, among: Iterable[float]) -> float:
    """One of the values."""
    values = tuple(among)
    return values[int(random.integers(len(values)))]
