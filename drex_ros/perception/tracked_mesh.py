# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An object's surface as a tracker needs it: triangles, their edges, how it can stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drex_ros.objects import Mesh, ObjectModel
from drex_ros.objects.mass import solid
from drex_ros.objects.model import constant
from drex_ros.objects.solids import body_of, mesh_of
from drex_ros.perception.smooth_normals import corner_normals, edge_normals
from drex_ros.robot.joints import Array

Indices = npt.NDArray[np.int32]

TOLERANCE = 1e-4
"""A mesh of too many triangles is made coarser by at most this [m] at first."""
MOST_FACES = 6000
"""Triangles that are drawn in a frame; more cost more time than they are worth."""

_FLAT = np.cos(np.radians(1.0))  # of one side's normals among each other
_ROUND = 0.001  # [m] from the axis at which normals of a round surface may pass
_MOSTLY = 0.7  # share of the sides that must be round
_LEAST_SIDES = 0.3  # of the surface: of a flat disc the rim says little
_SMALLEST_FOOT = 0.003  # [m] from the mass's centre to the nearest edge of a side it stands on


@dataclass(frozen=True, eq=False)
class RestingFace:
    """A side on which the object can stand."""

    up: Array
    """Direction of the object's frame that then points up. Shape (3,)."""
    height: float
    """Of the object's origin above the table then [m]."""
    margin: float
    """From the centre's foot to the nearest edge of the side [m]: how safely it stands."""


@dataclass(frozen=True, eq=False)
class RoundAxis:
    """A line about which the object is round but for a part such as a handle."""

    direction: Array
    """Unit vector, shape (3,)."""
    point: Array
    """On it [m], shape (3,)."""


@dataclass(frozen=True, eq=False)
class TrackedMesh:
    """Arrays for the kernels, in the object's frame."""

    vertices: Array
    """[m], shape (n, 3)."""
    faces: Indices
    """Counter-clockwise seen from outside. Shape (m, 3)."""
    edges: Indices
    """Two vertices each. Shape (k, 2)."""
    edge_faces: Indices
    """The faces left and right of each edge. Shape (k, 2)."""
    edge_opposite: Indices
    """The third vertices of those faces. Shape (k, 2)."""
    corner_normals: Array
    """Of the round surface, at the corners of the faces. Shape (m, 3, 3)."""
    edge_normals: Array
    """The same at both ends of the edges; zeros at a crease. Shape (k, 2, 3)."""
    radius: float
    """Of the sphere about the origin that holds all [m]."""
    free_axes: Array
    """Axes about which any turn looks the same. Shape (0 to 3, 3)."""
    round_axes: tuple[RoundAxis, ...]
    """At most three."""
    resting_faces: tuple[RestingFace, ...]
    """Safest first."""

    @staticmethod
    def of(model: ObjectModel) -> TrackedMesh:
        """From an object of the library. Uses its shape and symmetry, not its mass."""
        mesh = _coarser(model.mesh)
        edges, edge_faces, edge_opposite = _edges(np.asarray(mesh.faces))
        vertices, faces = np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int32)
        normals = corner_normals(vertices, faces)
        free = [each.axis for each in model.symmetry if each.angle == 0.0]
        # Free about two axes is free about all.
        axes = np.eye(3) if len(free) > 1 else np.reshape(free, (-1, 3))
        return TrackedMesh(
            vertices=vertices,
            faces=faces,
            edges=edges,
            edge_faces=edge_faces,
            edge_opposite=edge_opposite,
            corner_normals=normals,
            edge_normals=edge_normals(vertices, faces, normals, edges, edge_faces),
            radius=float(np.linalg.norm(mesh.vertices, axis=1).max()),
            free_axes=constant(axes),
            round_axes=_without(_round_axes(vertices, faces), axes),
            resting_faces=_resting_faces(model.mesh),
        )


def _coarser(mesh: Mesh) -> Mesh:
    """The mesh, with fewer triangles when it has too many."""
    tolerance = TOLERANCE
    while len(mesh.faces) > MOST_FACES and tolerance < 1e-2:
        mesh = mesh_of(body_of(mesh).simplify(tolerance))
        tolerance *= 1.5
    return mesh


def _without(axes: list[RoundAxis], others: Array) -> tuple[RoundAxis, ...]:
    """Those axes whose directions are none of the others, shape (n, 3)."""
    return tuple(
        each for each in axes if not any(abs(each.direction @ other) > _FLAT for other in others)
    )


def _round_axes(vertices: Array, faces: Indices) -> list[RoundAxis]:
    """Axes along those of the object's frame about which most of the surface is round.

    The normals of what is round about an axis all meet it.
    """
    corners = vertices[faces]
    middle = corners.mean(axis=1)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals = normals / np.maximum(areas, 1e-15)[:, None]
    found = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        across = np.stack((-normals[:, j], normals[:, i]), axis=1)  # square to the normal
        size = np.linalg.norm(across, axis=1)
        sides = size > 0.1
        if areas[sides].sum() < _LEAST_SIDES * areas.sum():
            continue
        rows = across[sides] / size[sides, None]
        right, area = (rows * middle[sides][:, (i, j)]).sum(axis=1), areas[sides]
        weight = area
        for _ in range(10):  # the more a part is off, the less it says where the axis is
            near = np.linalg.lstsq(
                (rows.T * weight) @ rows + 1e-12 * np.eye(2), (rows.T * weight) @ right, rcond=None
            )[0]
            off = np.abs(rows @ near - right)
            weight = area / (1.0 + (off / _ROUND) ** 2)
        # As many directions as there are sides: two flat sides do not make a thing round.
        turned = np.abs(rows[:, 0]) > 0.7
        shares = [area[mask & (off < _ROUND)].sum() / area.sum() for mask in (turned, ~turned)]
        if sum(shares) > _MOSTLY and min(shares) > 0.2:
            point = np.zeros(3)
            point[[i, j]] = near
            found.append(RoundAxis(constant(np.eye(3)[k]), constant(point)))
    return found


def _edges(faces: npt.NDArray[np.int32]) -> tuple[Indices, Indices, Indices]:
    """Edges between two faces, their faces, and the vertices across."""
    corners = np.concatenate([faces[:, (i, (i + 1) % 3, (i + 2) % 3)] for i in range(3)])
    owner = np.tile(np.arange(len(faces)), 3)
    key = np.sort(corners[:, :2], axis=1)
    order = np.lexsort((key[:, 1], key[:, 0]))
    key, corners, owner = key[order], corners[order], owner[order]
    same = np.flatnonzero((key[1:] == key[:-1]).all(axis=1))
    first, second = same, same + 1
    return (
        np.ascontiguousarray(key[first], dtype=np.int32),
        np.stack((owner[first], owner[second]), axis=1).astype(np.int32),
        np.stack((corners[first, 2], corners[second, 2]), axis=1).astype(np.int32),
    )


def _resting_faces(mesh: Mesh) -> tuple[RestingFace, ...]:
    """Sides of the convex hull that carry the centre of the volume."""
    centre = solid(mesh).centroid
    hull = mesh_of(body_of(mesh).hull())
    triangles = hull.vertices[hull.faces]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    normals /= np.maximum(areas, 1e-12)[:, None]
    found: list[RestingFace] = []
    for i in np.argsort(-areas):
        normal = normals[i]
        if areas[i] < 1e-8 or any(-face.up @ normal > _FLAT for face in found):
            continue
        side = triangles[(normals @ normal > _FLAT)].reshape(-1, 3)
        margin = _margin(side, normal, centre)
        if margin > _SMALLEST_FOOT:
            height = float((hull.vertices @ normal).max())
            found.append(RestingFace(constant(-normal), height, margin))
    return tuple(sorted(found, key=lambda face: -face.margin))


def _margin(side: Array, normal: Array, centre: Array) -> float:
    """From the foot of the centre to the nearest edge of a side; negative: outside."""
    across = np.cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 1.0, 0.0))
    across /= np.linalg.norm(across)
    plane = np.stack((across, np.cross(normal, across)), axis=1)
    points = (side - centre) @ plane
    angle = np.linspace(0.0, 2.0 * np.pi, 180, endpoint=False)
    directions = np.stack((np.cos(angle), np.sin(angle)))
    # The least reach of the side over all directions.
    return float((points @ directions).max(axis=0).min())
