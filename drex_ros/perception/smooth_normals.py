# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Normals of the surface that a mesh stands for: round where its facets are, sharp at its creases.

The facets of a round thing would else tell how far it is turned about its axis, which no camera
can see.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array

CREASE = np.radians(35.0)
"""Faces that meet at a greater angle have an edge between them."""


def corner_normals(vertices: Array, faces: npt.NDArray[np.int32]) -> Array:
    """Unit normals at the three corners of every face. Shape (m, 3, 3)."""
    corners = vertices[faces]
    weighted = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(weighted, axis=1)
    flat = weighted / np.maximum(areas, 1e-15)[:, None]
    owner = np.argsort(faces.ravel(), kind='stable')
    first = np.searchsorted(faces.ravel()[owner], np.arange(len(vertices) + 1))
    out = np.empty((len(faces), 3, 3))
    _average(faces, flat, weighted, owner // 3, first, np.cos(CREASE), out)
    return out


@kernel
def _average(faces, flat, weighted, owner, first, most, out):  # type: ignore[no-untyped-def]
    for f in range(faces.shape[0]):
        for corner in range(3):
            vertex = faces[f, corner]
            x, y, z = 0.0, 0.0, 0.0
            for k in range(first[vertex], first[vertex + 1]):
                g = owner[k]
                alike = flat[f, 0] * flat[g, 0] + flat[f, 1] * flat[g, 1] + flat[f, 2] * flat[g, 2]
                if alike >= most:
                    x += weighted[g, 0]
                    y += weighted[g, 1]
                    z += weighted[g, 2]
            length = np.sqrt(x * x + y * y + z * z)
            if length < 1e-15:
                out[f, corner] = flat[f]
            else:
                out[f, corner, 0], out[f, corner, 1] = x / length, y / length
                out[f, corner, 2] = z / length


def edge_normals(
    vertices: Array,
    faces: npt.NDArray[np.int32],
    normals: Array,
    edges: npt.NDArray[np.int32],
    edge_faces: npt.NDArray[np.int32],
) -> Array:
    """Normals at both ends of every edge; zeros at a crease. Shape (k, 2, 3)."""
    corners = vertices[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat /= np.maximum(np.linalg.norm(flat, axis=1), 1e-15)[:, None]
    one, other = edge_faces[:, 0], edge_faces[:, 1]
    round_ = np.einsum('ij,ij->i', flat[one], flat[other]) >= np.cos(CREASE)
    out = np.zeros((len(edges), 2, 3))
    for end in range(2):
        corner = np.argmax(faces[one] == edges[:, end, None], axis=1)
        out[:, end] = normals[one, corner]
    out[~round_] = 0.0
    return out


@kernel
def normal_at(px, py, pz, points, faces, normals, f, rotation):  # type: ignore[no-untyped-def]
    """The smooth normal at a point of a face, in the optical frame.

    Args:
        px: the point, in the optical frame [m].
        py: likewise.
        pz: likewise.
        points: vertices in the optical frame [m].
        faces: shape (m, 3).
        normals: of `corner_normals`, in the object's frame.
        f: the face.
        rotation: of the object.
    """
    a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
    ax, ay, az = points[a, 0], points[a, 1], points[a, 2]
    ux, uy, uz = points[b, 0] - ax, points[b, 1] - ay, points[b, 2] - az
    vx, vy, vz = points[c, 0] - ax, points[c, 1] - ay, points[c, 2] - az
    wx, wy, wz = px - ax, py - ay, pz - az
    uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    wu, wv = wx * ux + wy * uy + wz * uz, wx * vx + wy * vy + wz * vz
    scale = 1.0 / max(uu * vv - uv * uv, 1e-30)
    second = min(max((vv * wu - uv * wv) * scale, 0.0), 1.0)
    third = min(max((uu * wv - uv * wu) * scale, 0.0), 1.0)
    rest = 1.0 - second - third
    x = rest * normals[f, 0, 0] + second * normals[f, 1, 0] + third * normals[f, 2, 0]
    y = rest * normals[f, 0, 1] + second * normals[f, 1, 1] + third * normals[f, 2, 1]
    z = rest * normals[f, 0, 2] + second * normals[f, 1, 2] + third * normals[f, 2, 2]
    return turned(x, y, z, rotation)


@kernel
def turned(x, y, z, rotation):  # type: ignore[no-untyped-def]
    """A direction of the object's frame as a unit vector of the optical frame."""
    scale = 1.0 / (np.sqrt(x * x + y * y + z * z) + 1e-15)
    return (
        (rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z) * scale,
        (rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z) * scale,
        (rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z) * scale,
    )
