# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How far a point is from an object's surface, smooth enough for derivatives.

The signed distance of a closed mesh is computed on a grid once, exactly. Between the nodes it is
a cubic B-spline: its value, gradient and curvature are continuous, so a contact that slides over
the surface has no kinks that the mesh does not have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import trimesh
from scipy.ndimage import spline_filter
from scipy.spatial import cKDTree

from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array

_MOST_NODES = 2_000_000
_CANDIDATES = 24  # surface samples whose triangles may be the nearest
_SAMPLES_PER_CELL = 4.0


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Signed distance around a mesh, in the object's frame; positive outside."""

    origin: Array
    """Of the node with index 0 [m]. Shape (3,)."""
    cell: float
    """Distance of two nodes [m]."""
    coefficients: Array
    """Of the cubic B-spline [m]. Shape (nx, ny, nz)."""

    def distance(self, points: Array) -> tuple[Array, Array]:
        """Distance [m] and gradient at points. Shapes (n,) and (n, 3) of (n, 3).

        Points outside the grid are taken to be as far as they are from it, and more.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        value, gradient = np.empty(len(points)), np.empty((len(points), 3))
        for i, point in enumerate(points):
            value[i], *gradient[i] = spline_distance(
                point[0], point[1], point[2], self.origin, self.cell, self.coefficients
            )
        return value, gradient


def distance_field(
    vertices: Array, faces: Array, *, cell: float = 0.002, margin: float = 0.02
) -> DistanceField:
    """Compute the field of a closed mesh.

    Args:
        vertices: of the mesh [m]. Shape (n, 3).
        faces: three vertices each, counter-clockwise from outside. Shape (m, 3).
        cell: distance of two nodes [m].
        margin: how far the grid reaches beyond the mesh [m].
    """
    if not np.isfinite(vertices).all() or len(faces) < 4:
        raise ValueError(f'mesh has {len(faces)} faces, must be closed with finite vertices')
    low, high = vertices.min(axis=0) - margin, vertices.max(axis=0) + margin
    shape = np.ceil((high - low) / cell).astype(int) + 1
    if shape.prod() > _MOST_NODES:
        raise ValueError(
            f'a grid of {1e3 * cell:g} mm around the object has {shape.prod()} nodes, must be at '
            f'most {_MOST_NODES}: is the mesh in metres?'
        )
    axes = [low[i] + cell * np.arange(shape[i]) for i in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing='ij'), axis=-1).reshape(-1, 3)
    triangles = np.ascontiguousarray(vertices[faces], dtype=np.float64)
    samples, owners = _surface_samples(vertices, faces, cell)
    _, near = cKDTree(samples).query(nodes, k=min(_CANDIDATES, len(samples)), workers=-1)
    exact = np.empty(len(nodes))
    _signed_distances(nodes, triangles, owners[near.reshape(len(nodes), -1)], exact)
    values = exact.reshape(shape)
    return DistanceField(low, cell, spline_filter(values, order=3, mode='mirror'))


def _surface_samples(vertices: Array, faces: Array, cell: float) -> tuple[Array, Array]:
    """Points all over the surface, at least one on each triangle, and whose they are."""
    mesh = trimesh.Trimesh(vertices, faces, process=False)
    count = int(_SAMPLES_PER_CELL * mesh.area / cell**2)
    points, owners = trimesh.sample.sample_surface(mesh, count, seed=0)
    every = np.arange(len(faces))
    return (
        np.vstack((np.asarray(points), mesh.triangles_center)),
        np.concatenate((np.asarray(owners, dtype=np.int64), every)),
    )


@kernel
def _dot(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _minus(a, b):  # type: ignore[no-untyped-def]
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def _along(a, direction, share):  # type: ignore[no-untyped-def]
    return (
        a[0] + share * direction[0],
        a[1] + share * direction[1],
        a[2] + share * direction[2],
    )


@kernel
def _cross(a, b):  # type: ignore[no-untyped-def]
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def _nearest_on_triangle(p, a, b, c):  # type: ignore[no-untyped-def]
    """The point of a triangle that is nearest to p: on a corner, an edge, or within."""
    ab, ac = _minus(b, a), _minus(c, a)
    to_a, to_b, to_c = _minus(p, a), _minus(p, b), _minus(p, c)
    ab_a, ac_a = _dot(ab, to_a), _dot(ac, to_a)
    ab_b, ac_b = _dot(ab, to_b), _dot(ac, to_b)
    ab_c, ac_c = _dot(ab, to_c), _dot(ac, to_c)
    if ab_a <= 0.0 and ac_a <= 0.0:
        return a
    if ab_b >= 0.0 and ac_b <= ab_b:
        return b
    if ac_c >= 0.0 and ab_c <= ac_c:
        return c
    # Shares of the three corners, each zero on the edge that is opposite.
    of_c = ab_a * ac_b - ab_b * ac_a
    of_b = ab_c * ac_a - ab_a * ac_c
    of_a = ab_b * ac_c - ab_c * ac_b
    if of_c <= 0.0 and ab_a >= 0.0 and ab_b <= 0.0:
        return _along(a, ab, ab_a / (ab_a - ab_b))
    if of_b <= 0.0 and ac_a >= 0.0 and ac_c <= 0.0:
        return _along(a, ac, ac_a / (ac_a - ac_c))
    if of_a <= 0.0 and ac_b >= ab_b and ab_c >= ac_c:
        share = (ac_b - ab_b) / ((ac_b - ab_b) + (ab_c - ac_c))
        return _along(b, _minus(c, b), share)
    whole = of_a + of_b + of_c
    return _along(_along(a, ab, of_b / whole), ac, of_c / whole)


@kernel
def _signed_distances(nodes, triangles, candidates, out):  # type: ignore[no-untyped-def]
    """The nearest of the candidates; of those that share an edge the one that faces most."""
    for i in range(nodes.shape[0]):
        p = (nodes[i, 0], nodes[i, 1], nodes[i, 2])
        best, facing, sign, last = np.inf, -1.0, 1.0, -1
        for j in range(candidates.shape[1]):
            number = candidates[i, j]
            if number == last:
                continue
            last = number
            t = triangles[number]
            a = (t[0, 0], t[0, 1], t[0, 2])
            b = (t[1, 0], t[1, 1], t[1, 2])
            c = (t[2, 0], t[2, 1], t[2, 2])
            away = _minus(p, _nearest_on_triangle(p, a, b, c))
            distance = np.sqrt(_dot(away, away))
            normal = _cross(_minus(b, a), _minus(c, a))
            length = np.sqrt(_dot(normal, normal))
            if length == 0.0 or distance > best * (1.0 + 1e-9) + 1e-12:
                continue
            along = _dot(away, normal) / length
            if distance < best * (1.0 - 1e-9) - 1e-12 or abs(along) > facing:
                facing, sign = abs(along), 1.0 if along >= 0.0 else -1.0
            best = min(best, distance)
        out[i] = sign * best


@kernel
def _weights(t):  # type: ignore[no-untyped-def]
    """Of the four nodes around a point at t between the two in the middle."""
    s = 1.0 - t
    return (
        s * s * s / 6.0,
        (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
        (3.0 * s * s * s - 6.0 * s * s + 4.0) / 6.0,
        t * t * t / 6.0,
    )


@kernel
def _slopes(t):  # type: ignore[no-untyped-def]
    """Derivatives of `_weights`."""
    s = 1.0 - t
    return (
        -0.5 * s * s,
        0.5 * (3.0 * t * t - 4.0 * t),
        -0.5 * (3.0 * s * s - 4.0 * s),
        0.5 * t * t,
    )


@kernel
def spline_distance(x, y, z, origin, cell, coefficients):  # type: ignore[no-untyped-def]
    """Distance and gradient at a point: four numbers, complex where the point is.

    Outside the grid: far, with no gradient.
    """
    u, v, w = (x - origin[0]) / cell, (y - origin[1]) / cell, (z - origin[2]) / cell
    i, j, k = int(np.floor(u.real)), int(np.floor(v.real)), int(np.floor(w.real))
    nx, ny, nz = coefficients.shape
    zero = 0.0 * u
    if i < 1 or j < 1 or k < 1 or i > nx - 3 or j > ny - 3 or k > nz - 3:
        return zero + 1.0, zero, zero, zero
    a, b, c = _weights(u - i), _weights(v - j), _weights(w - k)
    da, db, dc = _slopes(u - i), _slopes(v - j), _slopes(w - k)
    value, gx, gy, gz = zero, zero, zero, zero
    for p in range(4):
        for q in range(4):
            line, slope = zero, zero
            for r in range(4):
                each = coefficients[i - 1 + p, j - 1 + q, k - 1 + r]
                line += c[r] * each
                slope += dc[r] * each
            value += a[p] * b[q] * line
            gx += da[p] * b[q] * line
            gy += a[p] * db[q] * line
            gz += a[p] * b[q] * slope
    return value, gx / cell, gy / cell, gz / cell
