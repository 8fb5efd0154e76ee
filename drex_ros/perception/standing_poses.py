# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ways in which an object may lie on a table, from which a search begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.objects import ObjectModel, Symmetry
from drex_ros.objects.mass import solid
from drex_ros.objects.solids import body_of, mesh_of
from drex_ros.perception.tracked_mesh import RestingFace, TrackedMesh
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import matrix_from_vector, rotation_matrix

_SAME = 0.12  # [rad] sides whose normals differ by less are one
_USUAL = 0.98  # cosine between the usual upward direction and one that counts as it
_MOST_WAYS = 10


@dataclass(frozen=True, eq=False)
class StandingPose:
    """An orientation on the table."""

    rotation: Array
    """Object to a frame whose z is the table's normal. Shape (3, 3)."""
    height: float
    """Of the object's origin above the table [m]."""
    side: RestingFace | None
    """The side it stands on; None: it rolls."""


def standing_poses(
    model: ObjectModel, mesh: TrackedMesh, turns: int, side: RestingFace | None = None
) -> tuple[StandingPose, ...]:
    """Orientations that look different, `turns` about the vertical for each way to lie.

    With `side`, only those that stand on it.
    """
    ways = _ways(model, mesh) if side is None else [(side.up, side.height, side)]
    found = []
    for up, height, face in ways:
        upright = shortest_turn(up, np.array((0.0, 0.0, 1.0)))
        round_ = any(each.angle == 0.0 and abs(each.axis @ up) > 0.999 for each in model.symmetry)
        for turn in range(1 if round_ or len(mesh.free_axes) > 1 else turns):
            angle = 2.0 * np.pi * turn / turns
            rotation = matrix_from_vector((0.0, 0.0, angle)) @ upright
            found.append(StandingPose(rotation, height, face))
    return tuple(found)


def _ways(
    model: ObjectModel, mesh: TrackedMesh
) -> list[tuple[Array, float, RestingFace | None]]:
    """Directions that may point up, without those that a symmetry makes the same."""
    if len(mesh.free_axes) > 1:
        height = float(-mesh.vertices[:, 2].min())
        return [(np.array((0.0, 0.0, 1.0)), height, None)]
    ways: list[tuple[Array, float, RestingFace | None]] = []
    usual = rotation_matrix(model.rest_quaternion)[2]
    # The usual way first: of those that look the same the first one stays.
    for face in sorted(mesh.resting_faces, key=lambda face: float(face.up @ usual) < _USUAL):
        if not any(_alike(model.symmetry, face.up, up) for up, _, _ in ways):
            ways.append((face.up, face.height, face))
    for up, height in _rolling(model, mesh):
        if not any(_alike(model.symmetry, up, other) for other, _, _ in ways):
            ways.append((up, height, None))
    return ways[:_MOST_WAYS]


def _rolling(model: ObjectModel, mesh: TrackedMesh) -> list[tuple[Array, float]]:
    """Ways to lie on a round side: narrow sides of the hull below the centre."""
    hull = mesh_of(body_of(model.mesh).hull())
    triangles = hull.vertices[hull.faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals = normals / np.maximum(areas, 1e-12)[:, None]
    centre = solid(model.mesh).centroid
    found: list[tuple[float, Array, float]] = []
    for axis in mesh.free_axes:
        # All sides that are as steep to a free axis look the same: the one below the centre.
        steep = np.round(normals @ axis, 1)
        for value in np.unique(steep):
            chosen = np.flatnonzero(steep == value)
            best = chosen[np.argmax(areas[chosen])]
            corners = triangles[chosen].reshape(-1, 3) @ axis
            if corners.min() < centre @ axis < corners.max() and abs(value) < 0.5:
                height = float((hull.vertices @ normals[best]).max())
                found.append((float(areas[chosen].sum()), -normals[best], height))
    found.sort(key=lambda each: -each[0])
    return [(up, height) for _, up, height in found[:2]]


def _alike(symmetry: tuple[Symmetry, ...], first: Array, second: Array) -> bool:
    """Whether two directions differ by a symmetry only."""
    if first @ second > np.cos(_SAME):
        return True
    for each in symmetry:
        if each.angle == 0.0:
            if abs(each.axis @ first - each.axis @ second) < np.sin(_SAME):
                return True
            continue
        for k in range(1, round(2.0 * np.pi / each.angle)):
            if matrix_from_vector(k * each.angle * each.axis) @ first @ second > np.cos(_SAME):
                return True
    return False


def shortest_turn(first: Array, second: Array) -> Array:
    """The shortest turn that brings one direction to another. Shape (3, 3)."""
    axis = np.cross(first, second)
    length = float(np.linalg.norm(axis))
    if length > 1e-9:
        return matrix_from_vector(axis / length * np.arctan2(length, float(first @ second)))
    if first @ second > 0.0:
        return np.eye(3)
    # Half a turn about anything square to it.
    across = np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))])
    return matrix_from_vector(np.pi * across / np.linalg.norm(across))
