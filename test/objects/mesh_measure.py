# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Measures between points and surfaces, by other ways than the code under test uses."""

import numpy as np

from drex_ros.objects import Mesh, Part
from drex_ros.objects.library import rotation
from drex_ros.objects.solids import mesh_of, round_box


def surface_points(mesh: Mesh, count: int, seed: int = 0) -> np.ndarray:
    """Points spread evenly over a surface. Shape (count, 3)."""
    random = np.random.default_rng(seed)
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = random.choice(len(area), count, p=area / area.sum())
    u, v = random.random((2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return a[chosen] + u * (b - a)[chosen] + v * (c - a)[chosen]


def distances(points: np.ndarray, mesh: Mesh) -> np.ndarray:
    """From each point to the nearest triangle [m]. Shape (n,)."""
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    kept = length > 1e-13
    a, b, c, normal = a[kept], b[kept], c[kept], normal[kept] / length[kept, None]
    return np.array([_distance(point, a, b, c, normal) for point in points])


def _distance(
    point: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, normal: np.ndarray
) -> float:
    to_edges = []
    above = np.ones(len(a), dtype=bool)
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        along = np.einsum('ni,ni->n', point - start, edge) / np.einsum('ni,ni->n', edge, edge)
        nearest = start + np.clip(along, 0.0, 1.0)[:, None] * edge
        to_edges.append(np.linalg.norm(point - nearest, axis=1))
        above &= np.einsum('ni,ni->n', np.cross(edge, point - start), normal) >= 0.0
    height = np.abs(np.einsum('ni,ni->n', point - a, normal))
    return float(min(np.min(to_edges), np.min(height[above], initial=np.inf)))


def inside(points: np.ndarray, mesh: Mesh) -> np.ndarray:
    """Which points a closed surface winds around. Shape (n,)."""
    turns = []
    for point in points:
        a, b, c = (mesh.vertices[mesh.faces[:, i]] - point for i in range(3))
        la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
        volume = np.einsum('ni,ni->n', a, np.cross(b, c))
        around = (
            la * lb * lc
            + np.einsum('ni,ni->n', a, b) * lc
            + np.einsum('ni,ni->n', b, c) * la
            + np.einsum('ni,ni->n', c, a) * lb
        )
        turns.append(2.0 * np.arctan2(volume, around).sum() / (4.0 * np.pi))
    return np.array(turns) > 0.5


def part_mesh(part: Part) -> Mesh:
    """The surface of a part in the object's frame."""
    if part.mesh is not None:
        return part.mesh
    if part.kind == 'box':
        mesh = mesh_of(round_box(2.0 * part.size, 1e-6))
    else:
        turn = 2.0 * np.pi * np.arange(96) / 96
        if part.kind == 'sphere':
            height = part.size[0] * np.cos(np.linspace(1e-3, np.pi - 1e-3, 48))
            radius = np.sqrt(part.size[0] ** 2 - height**2)
        else:
            height = part.size[1] * np.array([1.0, 1.0, -1.0, -1.0])
            radius = part.size[0] * np.array([1e-3, 1.0, 1.0, 1e-3])
        rings = np.stack([np.outer(radius, np.cos(turn)), np.outer(radius, np.sin(turn)),
                          np.repeat(height[:, None], 96, axis=1)], axis=2)  # fmt: skip
        index = np.arange(len(height) * 96).reshape(len(height), 96)
        a, b = index[:-1], index[1:]
        c, d = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
        faces = np.concatenate([np.stack([a, b, d], axis=2).reshape(-1, 3),
                                np.stack([a, d, c], axis=2).reshape(-1, 3)])  # fmt: skip
        mesh = Mesh.of(rings, faces)
    return Mesh.of(mesh.vertices @ rotation(part.quaternion).T + part.position, mesh.faces)


def depths(points: np.ndarray, part: Part) -> np.ndarray:
    """How far points are below the surface of a part; negative outside [m]. Shape (n,)."""
    local = (points - part.position) @ rotation(part.quaternion)
    if part.kind == 'sphere':
        return part.size[0] - np.linalg.norm(local, axis=1)
    if part.kind == 'box':
        return (part.size - np.abs(local)).min(axis=1)
    if part.kind == 'cylinder':
        across = part.size[0] - np.linalg.norm(local[:, :2], axis=1)
        return np.minimum(across, part.size[1] - np.abs(local[:, 2]))
    a, b, c = (part.mesh.vertices[part.mesh.faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    kept = length > 1e-10
    normal = normal[kept] / length[kept, None]
    return (np.einsum('ni,ni->n', normal, a[kept]) - points @ normal.T).min(axis=1)


def parts_error(mesh: Mesh, parts: tuple[Part, ...], count: int = 200) -> float:
    """Hausdorff distance of a solid and the union of its parts, by sampled points [m]."""
    points = surface_points(mesh, count)
    deep = np.max([depths(points, part) for part in parts], axis=0)
    surfaces = [part_mesh(part) for part in parts]
    missing = [min(distances(point[None], each)[0] for each in surfaces)
               for point in points[deep < -1e-4]]  # fmt: skip
    spots = np.concatenate([surface_points(each, 4 + count // len(parts)) for each in surfaces])
    proud = spots[~inside(spots, mesh)]
    # Where the surface is deep inside a part, something that should be open is closed.
    return max(*missing, *distances(proud, mesh), *deep, 0.0, 0.0)
