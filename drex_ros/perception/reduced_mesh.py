# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Surfaces with few triangles: what a mesh looks like from a metre away, quick to draw.

Vertices in one cell of a grid become one, at the place that is nearest to the planes of all
triangles that meet in the cell: flat faces stay flat, edges stay edges, round ones keep their
size.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from drex_ros.objects.solids import depth, hull, mesh_of
from drex_ros.robot.joints import Array

Faces = npt.NDArray[np.int64]

_NEARLY_CONVEX = 5e-3  # [m] a surface nowhere deeper below its hull is drawn as the hull
_CHECKED = 500  # vertices that are compared with the hull
_FINER = 0.85  # factor between the cell sizes that are tried
_COARSE = 2.0  # first cell: so many times the side of a square with the area of two triangles
_LEAST_CELL = 1e-4  # [m] vertices this close are always one
_PULL = 1e-3  # towards the middle of the cell's vertices, where planes leave a direction free


def reduce_surface(vertices: Array, faces: Faces, most: int) -> tuple[Array, Faces]:
    """A surface like this one with at most `most` triangles, as fine as they allow.

    Args:
        vertices: [m], shape (n, 3).
        faces: indices of vertices, anticlockwise seen from outside. Shape (m, 3).
        most: triangles of the result.
    """
    outside = hull(vertices)
    if depth(outside, vertices[:: 1 + len(vertices) // _CHECKED]) < _NEARLY_CONVEX:
        mesh = mesh_of(outside)
        vertices, faces = mesh.vertices, mesh.faces.astype(np.int64)
        if len(faces) <= most:
            return vertices, faces
    corners = vertices[faces]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = 0.5 * float(np.linalg.norm(sides, axis=1).sum())
    cell = _COARSE * (2.0 * area / most) ** 0.5
    best = cluster(vertices, faces, cell)
    while cell > _LEAST_CELL:
        cell *= _FINER
        finer = cluster(vertices, faces, cell)
        if len(finer[1]) > most:
            break
        best = finer
    return best


def cluster(vertices: Array, faces: Faces, cell: float) -> tuple[Array, Faces]:
    """A surface with one vertex in each cell of a grid of this size [m]."""
    low = vertices.min(axis=0)
    keys = np.floor((vertices - low) / cell).astype(np.int64)
    code = (keys[:, 0] << 42) + (keys[:, 1] << 21) + keys[:, 2]
    _, place = np.unique(code, return_inverse=True)
    place = place.reshape(-1)
    count = int(place.max()) + 1
    middle = _sums(place, vertices, count) / np.bincount(place, minlength=count)[:, None]

    corners = vertices[faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    normal, size = normal[size > 0.0] / size[size > 0.0, None], size
    weight, kept = size[size > 0.0], faces[size > 0.0]
    owner = place[kept].T.reshape(-1)
    # Sum of squared distances to planes: x' A x - 2 b' x, with x from the cell's middle.
    outer = (weight[:, None, None] * normal[:, :, None] * normal[:, None, :]).reshape(-1, 9)
    a = _sums(owner, np.tile(outer, (3, 1)), count).reshape(-1, 3, 3)
    start = vertices[kept[:, 0]]
    offset = np.einsum('mi,kmi->km', normal, start - middle[place[kept].T])
    pulls = (weight * offset)[..., None] * normal
    b = _sums(owner, pulls.reshape(-1, 3), count)
    trace = np.trace(a, axis1=1, axis2=2) + 1e-30
    a += (_PULL * trace)[:, None, None] * np.eye(3)
    moved = np.linalg.solve(a, b[..., None])[..., 0]
    moved = np.clip(moved, -0.5 * cell, 0.5 * cell)  # planes that hardly cross meet far away
    return middle + moved, _distinct(place[faces])


def _distinct(faces: Faces) -> Faces:
    """The triangles of three different corners, each once."""
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    # The smallest corner first keeps which side is outside.
    first = faces.argmin(axis=1)
    turned = np.take_along_axis(faces, (first[:, None] + np.arange(3)) % 3, axis=1)
    return np.unique(turned, axis=0)


def _sums(place: Faces, values: Array, count: int) -> Array:
    """Sums of the rows that have the same place. Shape (count, columns)."""
    columns = [np.bincount(place, column, minlength=count) for column in values.T]
    return np.stack(columns, axis=1)
