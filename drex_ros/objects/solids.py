# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Closed solids made of hulls, lofts and Booleans, and the convex parts they consist of.

Lengths in m. A ring is a closed curve of points, shape (n, 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from manifold3d import Manifold, Mesh64, OpType

from drex_ros.objects.mass import solid
from drex_ros.objects.model import Array, Mesh, ObjectError, Part, convex_part

SEGMENTS = 48
"""Corners of a full circle."""
PART_TOLERANCE = 6e-4
"""How far the parts of a loft may stand out over it [m]."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid and its convex parts, in the same frame."""

    body: Manifold
    parts: tuple[Part, ...]


def shape_of(pieces: Sequence[Manifold]) -> Shape:
    """The union of convex pieces, which are its parts."""
    return Shape(union(pieces), tuple(part_of(piece) for piece in pieces))


def mesh_of(body: Manifold) -> Mesh:
    """The surface of a solid."""
    mesh = body.to_mesh64()
    return Mesh.of(mesh.vert_properties[:, :3], mesh.tri_verts)


def body_of(mesh: Mesh) -> Manifold:
    """The solid inside a closed surface; empty when it is not one."""
    # Copies: the library takes no read-only arrays.
    return Manifold(Mesh64(np.array(mesh.vertices), np.array(mesh.faces, dtype=np.uint64)))


def part_of(piece: Manifold) -> Part:
    """The convex part that is a convex solid."""
    return convex_part(mesh_of(piece))


def union(bodies: Iterable[Manifold]) -> Manifold:
    """All that is inside any of the solids."""
    return Manifold.batch_boolean(list(bodies), OpType.Add)


def hull(points: npt.ArrayLike) -> Manifold:
    """The convex hull of points, any shape (..., 3)."""
    return Manifold.hull_points(np.ascontiguousarray(np.reshape(points, (-1, 3)), dtype=float))


def ball_points(radius: float, segments: int = 16) -> Array:
    """Corners of a sphere about the origin. Shape (n, 3)."""
    return mesh_of(Manifold.sphere(radius, segments)).vertices


def round_hull(points: npt.ArrayLike, radius: float, segments: int = 16) -> Manifold:
    """The convex hull of equal balls about points: a polyhedron with round edges."""
    balls = np.reshape(points, (-1, 1, 3)) + ball_points(radius, segments)
    return hull(balls)


def round_box(size: npt.ArrayLike, radius: float, segments: int = 16) -> Manifold:
    """A box about the origin with round edges; `size` is its full size. Shape (3,)."""
    half = 0.5 * np.asarray(size, dtype=float) - radius
    if (half <= 0.0).any():
        raise ObjectError(f'an edge radius of {radius:g} m does not fit its size')
    return round_hull(half * corners(3), radius, segments)


def round_prism(
    polygon: npt.ArrayLike, height: float, radius: float, segments: int = 16
) -> Manifold:
    """A convex polygon, shape (n, 2), drawn up and down by half the height, with round edges."""
    inner = inset(np.asarray(polygon, dtype=float), radius)
    half = 0.5 * height - radius
    points = [(x, y, z) for x, y in inner for z in (-half, half)]
    return round_hull(points, radius, segments)


def corners(dimensions: int) -> Array:
    """Corners of the cube from -1 to 1. Shape (2^d, d)."""
    return np.stack(np.meshgrid(*dimensions * [(-1.0, 1.0)]), axis=-1).reshape(-1, dimensions)


def inset(polygon: Array, distance: float) -> Array:
    """A convex, counter-clockwise polygon with its edges moved inwards. Shape (n, 2)."""
    edge = np.roll(polygon, -1, axis=0) - polygon
    direction = edge / np.linalg.norm(edge, axis=1, keepdims=True)
    normal = np.stack([direction[:, 1], -direction[:, 0]], axis=1)
    offset = np.einsum('ni,ni->n', normal, polygon) - distance
    moved = [
        np.linalg.solve(normal[[i - 1, i]], offset[[i - 1, i]]) for i in range(len(polygon))
    ]
    return np.array(moved)


def circle(radius: float, z: float, segments: int = SEGMENTS) -> Array:
    """A level ring about the z axis."""
    return ellipse(radius, radius, z, segments)


def ellipse(a: float, b: float, z: float, segments: int = SEGMENTS, power: float = 2.0) -> Array:
    """A level ring with half axes along x and y; more power makes it more of a rectangle."""
    angle = 2.0 * np.pi * np.arange(segments) / segments
    cosine, sine = np.cos(angle), np.sin(angle)
    x = a * np.sign(cosine) * np.abs(cosine) ** (2.0 / power)
    y = b * np.sign(sine) * np.abs(sine) ** (2.0 / power)
    return np.stack([x, y, np.full(segments, z)], axis=1)


def loft(rings: Sequence[Array]) -> Manifold:
    """The solid through rings of equally many points, closed at both ends."""
    count, size = len(rings), len(rings[0])
    ends = np.stack([rings[0].mean(axis=0), rings[-1].mean(axis=0)])
    vertices = np.concatenate([*rings, ends])
    here = np.arange(size)
    ahead = (here + 1) % size
    faces = []
    for i in range(count - 1):
        low, high = i * size, (i + 1) * size
        faces.append(np.stack([low + here, low + ahead, high + ahead], axis=1))
        faces.append(np.stack([low + here, high + ahead, high + here], axis=1))
    top = (count - 1) * size
    faces.append(np.stack([ahead, here, np.full(size, count * size)], axis=1))
    faces.append(np.stack([top + here, top + ahead, np.full(size, count * size + 1)], axis=1))
    mesh = Mesh.of(vertices, np.concatenate(faces))
    if solid(mesh).volume < 0.0:  # the rings run clockwise
        mesh = Mesh.of(vertices, mesh.faces[:, ::-1])
    body = body_of(mesh)
    if body.is_empty():
        raise ObjectError('these dimensions make no solid')
    return body


def loft_parts(rings: Sequence[Array], tolerance: float = PART_TOLERANCE) -> list[Manifold]:
    """Few convex pieces along a loft that stand out over it by no more than the tolerance [m]."""
    pieces = []
    start = 0
    while start < len(rings) - 1:
        end = start + 1
        piece = hull(rings[start : end + 1])
        while end + 1 < len(rings):
            longer = hull(rings[start : end + 2])
            if depth(longer, np.concatenate(rings[start + 1 : end + 1])) > tolerance:
                break
            piece, end = longer, end + 1
        pieces.append(piece)
        start = end
    return pieces


def loft_shape(rings: Sequence[Array], tolerance: float = PART_TOLERANCE) -> Shape:
    """A loft with its parts."""
    return Shape(loft(rings), tuple(part_of(piece) for piece in loft_parts(rings, tolerance)))


def revolve(profile: Sequence[tuple[float, float]], segments: int = SEGMENTS) -> list[Array]:
    """Rings of a solid about the z axis, from (radius, z) pairs upwards."""
    return [circle(radius, z, segments) for radius, z in profile]


def planes(piece: Manifold) -> tuple[Array, Array]:
    """Outward unit normals, shape (m, 3), and offsets, shape (m,), of a convex solid's faces."""
    mesh = mesh_of(piece)
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    # The direction of a sliver is noise, and its neighbours bound the solid as well.
    large = length > 1e-10
    normal = normal[large] / length[large, None]
    return normal, np.einsum('mi,mi->m', normal, a[large])


def depth(piece: Manifold, points: Array) -> float:
    """How far the deepest of points, shape (n, 3), is below the surface of a convex solid."""
    normal, offset = planes(piece)
    return float((offset - points @ normal.T).min(axis=1).max())
