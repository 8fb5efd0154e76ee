# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A first pose of the camera from a rough one: the table's plane, then a search along it.

The table gives tilt and height. What it leaves open, two shifts along it and a turn about the
vertical, is searched for: the place from which the drawn robot and measured depth agree best.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from drex_ros.perception.frame import Depth
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.table_watch import Extent, TableWatch
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import (
    matrix_from_vector,
    quaternion_from_vector,
    quaternion_product,
)

_SMALLER = 4  # the pictures of the search have so many times fewer rows and columns
_REACH = (0.12, 0.12, np.radians(6.0))  # [m, m, rad] of the search to each side
_FIRST = (0.03, 0.03, np.radians(3.0))  # its first steps
_ROUNDS = 3  # in which the steps are halved
_AGREES = 0.06  # [1/m]
_MOST_VIEWS = 6


def moved(camera: CameraModel, step: Array) -> CameraModel:
    """A camera moved and turned on its spot, in world. Shape (6,)."""
    return CameraModel(
        camera.width,
        camera.height,
        *(camera.fx, camera.fy, camera.cx, camera.cy),
        position=camera.position + step[:3],
        quaternion=quaternion_product(quaternion_from_vector(step[3:]), camera.quaternion),
    )


def levelled(camera: CameraModel, depths: Sequence[Depth], extent: Extent | None) -> CameraModel:
    """The camera with the tilt and height at which the table is z = 0."""
    watch = TableWatch(camera, extent, most_scale=0.5)
    for depth in depths:
        view = watch.update(depth)
    rise = float(camera.position[2]) * (1.0 / view.scale - 1.0)
    return moved(camera, np.array((0.0, 0.0, rise, *-view.tilt, 0.0)))


def search_along_table(
    silhouette: RobotSilhouette,
    camera: CameraModel,
    postures: Sequence[Array],
    depths: Sequence[Depth],
) -> CameraModel:
    """The camera shifted along the table and turned about the vertical to where the robot fits.

    Args:
        silhouette: draws the robot.
        camera: with right tilt and height.
        postures: joint positions [rad], shape (23,) each.
        depths: what was measured in them [m].
    """
    small = _reduced(camera)
    chosen = range(0, len(postures), 1 + (len(postures) - 1) // _MOST_VIEWS)
    first = _SMALLER // 2
    images = [_inverse(depths[i][first::_SMALLER, first::_SMALLER]) for i in chosen]
    robot = [postures[i] for i in chosen]
    pivot = _looked_at(camera)

    def score(shift: Array) -> float:
        silhouette.aim(_shifted(small, pivot, shift))
        total = 0.0
        for posture, image in zip(robot, images, strict=True):
            drawn = silhouette.picture(posture).astype(np.float64)
            total += _agreement(1.0 / drawn, image)
        return total

    steps = np.array(_FIRST)
    counts = [round(reach / step) for reach, step in zip(_REACH, _FIRST, strict=True)]
    grid = product(*(range(-count, count + 1) for count in counts))
    best = max((steps * place for place in grid), key=score)
    for _ in range(_ROUNDS):
        steps = 0.5 * steps
        around = (best + steps * place for place in product((-1, 0, 1), repeat=3))
        best = max(around, key=score)
    return _shifted(camera, pivot, best)


def _inverse(depth: Depth) -> Array:
    """1 / depth [1/m]; 0 where there is no value."""
    known = (depth > 0.0) & np.isfinite(depth)
    return np.where(known, 1.0 / np.where(known, depth, 1.0).astype(np.float64), 0.0)


def _agreement(drawn: Array, measured: Array) -> float:
    """Pixels where robot and depth agree, less those where the robot should hide the depth."""
    seen = (drawn > 0.0) & (measured > 0.0)
    error = measured[seen] - drawn[seen]
    return float((np.abs(error) < _AGREES).sum() - (error < -_AGREES).sum())


def _shifted(camera: CameraModel, pivot: Array, shift: Array) -> CameraModel:
    """A camera moved by x, y and turned about the vertical through a point. Shape (3,)."""
    turn = np.array((0.0, 0.0, shift[2]))
    position = pivot + matrix_from_vector(turn) @ (camera.position - pivot)
    step = np.concatenate((position - camera.position, turn))
    step[:2] += shift[:2]
    return moved(camera, step)


def _looked_at(camera: CameraModel) -> Array:
    """Where the optical axis meets the table, or 1 m ahead where it does not."""
    axis = camera.rotation[:, 2]
    away = -camera.position[2] / axis[2] if axis[2] < -0.1 else 1.0
    point: Array = camera.position + away * axis
    return point


def _reduced(camera: CameraModel) -> CameraModel:
    """A camera whose pixels are those of the other in the middle of each block."""
    offset = _SMALLER // 2
    height = len(range(offset, camera.height, _SMALLER))
    width = len(range(offset, camera.width, _SMALLER))
    return CameraModel(
        width,
        height,
        fx=camera.fx / _SMALLER,
        fy=camera.fy / _SMALLER,
        cx=(camera.cx - offset) / _SMALLER,
        cy=(camera.cy - offset) / _SMALLER,
        position=camera.position,
        quaternion=camera.quaternion,
    )
