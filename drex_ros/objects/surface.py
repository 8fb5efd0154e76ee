# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Triangle surfaces as found in files: merged, closed, turned the right way, taken apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from drex_ros.objects.mass import solid
from drex_ros.objects.model import Mesh, ObjectError

Indices = npt.NDArray[np.int64]


def clean(mesh: Mesh) -> Mesh:
    """Equal vertices merged, triangles without an area and repeated ones dropped."""
    size = float(mesh.extents.max()) or 1.0
    grid = np.round(mesh.vertices / (1e-7 * size)).astype(np.int64)
    _, first, place = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    faces = place.reshape(-1)[mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    _, kept = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    faces = faces[np.sort(kept)]
    used, renamed = np.unique(faces, return_inverse=True)
    return Mesh.of(mesh.vertices[first][used], renamed.reshape(-1, 3))


def check_closed(mesh: Mesh) -> None:
    """Raise ObjectError unless every edge belongs to two triangles."""
    edges, _ = _edges(mesh)
    _, count = np.unique(edges, axis=0, return_counts=True)
    open_edges = int((count == 1).sum())
    if open_edges:
        raise ObjectError(f'is not watertight: {open_edges} open edges; close its holes')
    if (count % 2).any() or (count > 2).any():
        raise ObjectError(
            f'is not a surface: {int((count > 2).sum())} edges have more than two triangles'
        )


def neighbours(mesh: Mesh) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """The three neighbours of each triangle, shape (m, 3), and which run the same way."""
    edges, forward = _edges(mesh)
    order = np.lexsort(edges.T)
    left, right = order[0::2], order[1::2]
    other = np.empty(len(edges), dtype=np.int64)
    other[left], other[right] = right, left
    agrees = forward != forward[other]
    # Edge k of all triangles stand together: its triangle is the remainder.
    count = len(mesh.faces)
    return (other % count).reshape(3, count).T, agrees.reshape(3, count).T


def orient(shell: Mesh) -> tuple[Mesh, int]:
    """A connected closed surface with all triangles turned outwards, and how many were not."""
    near, agrees = neighbours(shell)
    turned = np.zeros(len(shell.faces), dtype=bool)
    seen = np.zeros(len(shell.faces), dtype=bool)
    seen[0] = True
    pending = [] if agrees.all() else [0]
    while pending:
        face = pending.pop()
        for other, same in zip(near[face].tolist(), agrees[face].tolist(), strict=True):
            if not seen[other]:
                seen[other] = True
                turned[other] = turned[face] ^ (not same)
                pending.append(other)
    if ((turned[:, None] ^ turned[near]) == agrees).any():
        raise ObjectError('has one side only, like a Moebius strip')
    faces = shell.faces.copy()
    faces[turned] = faces[turned][:, ::-1]
    result = Mesh.of(shell.vertices, faces)
    if solid(result).volume < 0.0:
        turned = ~turned
        result = Mesh.of(shell.vertices, faces[:, ::-1])
    return result, int(turned.sum())


def shells(mesh: Mesh) -> list[Mesh]:
    """The connected pieces of a closed surface."""
    near, _ = neighbours(mesh)
    found = []
    for members in _connected(near):
        used, renamed = np.unique(mesh.faces[members], return_inverse=True)
        found.append(Mesh.of(mesh.vertices[used], renamed.reshape(-1, 3)))
    return found


def _edges(mesh: Mesh) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """Edges with the lower vertex first, shape (3 m, 2), and whether that is their direction."""
    a, b, c = mesh.faces.T
    start, end = np.concatenate([a, b, c]), np.concatenate([b, c, a])
    edges = np.stack([np.minimum(start, end), np.maximum(start, end)], axis=1)
    return edges.astype(np.int64), start < end


def _connected(near: Indices) -> list[list[int]]:
    """Groups of triangles that hang together."""
    label = np.full(len(near), -1)
    groups: list[list[int]] = []
    for seed in range(len(near)):
        if label[seed] >= 0:
            continue
        members = [seed]
        label[seed] = len(groups)
        for face in members:  # grows while it is walked
            for other in near[face]:
                if label[other] < 0:
                    label[other] = len(groups)
                    members.append(int(other))
        groups.append(members)
    return groups
