# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Dark bars and plates between camera and object."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from drex_ros.evaluation.motion import DARK, FPS, Motion, Prop, choose
from drex_ros.evaluation.placing import corners
from drex_ros.objects import ObjectModel
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product, rotation_matrix

_LONG = 0.16  # [m] half the length of a bar
_THIN = 0.002  # [m] half the thickness of bars and plates
_CLEAR = 0.35  # [s] at first, in which nothing is hidden
_CROSSING = (0.6, 1.0)  # [s] for a way from one side of the object to the other


def swept(
    camera: CameraModel, thing: ObjectModel, motion: Motion, random: np.random.Generator
) -> Iterator[Motion]:
    """A motion with bars that sweep over the object, narrower ones each time."""
    count = int(choose(random, (1, 2, 3)))
    near = random.uniform(0.45, 0.65)
    roll = choose(random, (0.0, np.pi / 2)) + random.uniform(-0.4, 0.4)
    cover = random.uniform(0.62, 0.75)
    crossings = [random.uniform(*_CROSSING) for _ in range(12)]
    while True:
        yield _sweep(camera, thing, motion, count, near, roll, cover, crossings)
        cover *= 0.85


def _sweep(
    camera: CameraModel,
    thing: ObjectModel,
    motion: Motion,
    count: int,
    near: float,
    roll: float,
    cover: float,
    crossings: list[float],
) -> Motion:
    """Bars that hide a share `cover` of the object's width together.

    They are at `near` of the way from the camera to the object, turned by `roll` [rad] in the
    picture, and go to and fro.
    """
    wide = _apparent_width(camera, thing, motion.pose[0], roll) * near
    half = 0.5 * cover * wide / count
    spacing = wide / count
    props = tuple(Prop('box', (half, _LONG, _THIN), DARK) for _ in range(count))
    turn = quaternion_product(camera.quaternion, quaternion_from_vector((0.0, 0.0, roll)))
    axes = rotation_matrix(turn)
    outside = 0.5 * (wide + count * spacing) + 0.01
    offsets = (np.arange(count) - 0.5 * (count - 1)) * spacing
    poses = np.zeros((len(motion), count, 7))
    poses[..., 3:] = turn
    # A bar follows the object slowly, as it sweeps over where the object is on the whole.
    target = _slow(motion.pose[:, :3])
    for i in range(len(motion)):
        place = camera.position + near * (target[i] - camera.position)
        across = outside * _to_and_fro(i / FPS, crossings)
        for k, offset in enumerate(offsets):
            poses[i, k, :3] = place + (across + offset) * axes[:, 0]
    return motion.with_props(props, poses)


def _to_and_fro(time: float, crossings: list[float]) -> float:
    """Steadily from -1 to 0.8, to -0.8 and so on, each way in its own time [s], after a rest."""
    begin, end, since = -1.0, 0.8, time - _CLEAR
    for seconds in crossings:
        if since < seconds:
            break
        since -= seconds
        begin, end = end, -end
    return begin + (end - begin) * max(since, 0.0) / seconds


def cover(
    camera: CameraModel, thing: ObjectModel, pose: Array, near: float, roll: float
) -> tuple[Prop, Array]:
    """A plate that hides the whole object from the camera, and its pose (7,)."""
    turn = quaternion_product(camera.quaternion, quaternion_from_vector((0.0, 0.0, roll)))
    axes = rotation_matrix(turn)
    points = corners(thing) @ rotation_matrix(pose[3:]).T + pose[:3]
    seen = points - camera.position
    # Onto the plane through the plate, which faces the camera.
    depth = seen @ axes[:, 2]
    plane = near * float(depth.min())
    flat = seen * (plane / depth)[:, None] @ axes[:, :2]
    lower, upper = flat.min(axis=0), flat.max(axis=0)
    half = 0.5 * (upper - lower) + 0.012
    middle = axes @ np.append(0.5 * (lower + upper), plane)
    prop = Prop('box', (float(half[0]), float(half[1]), _THIN), DARK)
    return prop, np.concatenate((camera.position + middle, turn))


def _apparent_width(camera: CameraModel, thing: ObjectModel, pose: Array, roll: float) -> float:
    """How wide the object is across the bars, seen from the camera [m]."""
    turn = quaternion_product(camera.quaternion, quaternion_from_vector((0.0, 0.0, roll)))
    across = rotation_matrix(turn)[:, 0]
    vertices = thing.mesh.vertices @ rotation_matrix(pose[3:]).T
    return float(np.ptp(vertices @ across))


def _slow(places: Array) -> Array:
    """Places without their quick changes: means over half a second. Shape (n, 3)."""
    half = round(0.25 * FPS)
    padded = np.vstack((np.repeat(places[:1], half, 0), places, np.repeat(places[-1:], half, 0)))
    window = np.ones(2 * half + 1) / (2 * half + 1)
    return np.stack([np.convolve(padded[:, k], window, 'valid') for k in range(3)], axis=1)
