# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mesh files as triangles with normals and colours, ready to be drawn.

A Collada file is split by colour. The normals in the robot's files are those of the flat
triangles, so normals are made anew: round faces look round, edges stay edges, and there are three
times fewer vertices to draw. That takes two seconds for the whole robot, so it is kept on disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from drex_ros.resources import cache_folder, write_arrays
from drex_ros.robot.description import DescriptionError
from drex_ros.robot.joints import Array

Colour = tuple[float, float, float, float]

_FORMAT = b'1'  # of the stored files; another one makes them anew
_EDGE = np.cos(np.radians(35.0))  # faces that meet at a greater angle than this have an edge
_DIGITS = 6  # vertices are one when they agree to so many decimals: 1 um
_NORMAL_DIGITS = 3
_ARRAYS = ('vertices', 'normals', 'faces')
_LEAST_AREA = 1e-12  # [m^2] triangles of less than half of it are not drawn


class MeshFileError(DescriptionError):
    """A mesh file that cannot be drawn; the message is one readable line."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles of one colour. Read-only arrays, in the file's frame."""

    vertices: Array
    """[m], shape (n, 3)."""
    normals: Array
    """Unit vectors out of the surface, one a vertex. Shape (n, 3)."""
    faces: npt.NDArray[np.int32]
    """Indices of vertices, anticlockwise seen from outside. Shape (m, 3)."""
    rgba: Colour | None
    """The file's colour; None where it has none."""


def read_mesh_file(path: Path) -> tuple[Surface, ...]:
    """The surfaces of a Collada or STL file, one a colour. Raises MeshFileError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MeshFileError(f'{path}: not readable: {error.strerror}') from None
    key = hashlib.sha256(_FORMAT + path.suffix.lower().encode() + content).hexdigest()[:32]
    try:
        return _load(cache_folder('visuals') / f'{key}.npz')
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
        pass  # not there yet, or damaged
    surfaces = _convert(path)
    with contextlib.suppress(OSError):  # a full disk or a home that cannot be written is no error
        _store(cache_folder('visuals') / f'{key}.npz', surfaces)
    return surfaces


def solid_surface(kind: str, size: tuple[float, ...]) -> Surface:
    """A box (sides), cylinder (radius, length along z) or sphere (radius) round the origin [m]."""
    import trimesh

    if kind == 'box':
        mesh = trimesh.creation.box(extents=size)
    elif kind == 'cylinder':
        mesh = trimesh.creation.cylinder(radius=size[0], height=size[1], sections=64)
    elif kind == 'sphere':
        mesh = trimesh.creation.icosphere(subdivisions=3, radius=size[0])
    else:
        raise MeshFileError(f'no shape {kind!r}; the shapes are: box, cylinder, sphere')
    return _shaded(mesh.vertices, mesh.faces, None)


def _convert(path: Path) -> tuple[Surface, ...]:
    # Loaded only when there is something to convert: 0.3 s that a control process can do without.
    import trimesh

    if path.suffix.lower() not in ('.dae', '.stl'):
        raise MeshFileError(f'{path}: is {path.suffix or "without suffix"}, must be .dae or .stl')
    try:
        scene = trimesh.load_scene(path, process=False)
        by_colour: dict[Colour | None, list[Any]] = {}
        for node in scene.graph.nodes_geometry:
            turn, name = scene.graph[node]
            mesh = scene.geometry[name]
            by_colour.setdefault(_colour(mesh), []).append((mesh, turn))
    except Exception as error:  # trimesh and pycollada state no types of errors
        problem = ' '.join(str(error).split()) or type(error).__name__
        raise MeshFileError(f'{path}: not a readable mesh: {problem}') from None
    surfaces = tuple(_joined(meshes, rgba) for rgba, meshes in by_colour.items())
    if not any(len(surface.faces) for surface in surfaces):
        raise MeshFileError(f'{path}: has no triangles')
    return surfaces


def _colour(mesh: Any) -> Colour | None:
    material = getattr(mesh.visual, 'material', None)
    if material is None:
        return None
    red, green, blue, alpha = (float(value) / 255.0 for value in material.main_color)
    return (red, green, blue, alpha)


def _joined(meshes: list[Any], rgba: Colour | None) -> Surface:
    """Meshes at their poses as one surface."""
    vertices, faces, count = [], [], 0
    for mesh, pose in meshes:
        turn, shift = np.asarray(pose)[:3, :3], np.asarray(pose)[:3, 3]
        vertices.append(mesh.vertices @ turn.T + shift)
        order = [0, 1, 2] if np.linalg.det(turn) > 0 else [0, 2, 1]  # a mirror turns faces over
        faces.append(np.asarray(mesh.faces)[:, order] + count)
        count += len(mesh.vertices)
    return _shaded(np.concatenate(vertices), np.concatenate(faces), rgba)


def _shaded(vertices: npt.ArrayLike, faces: npt.ArrayLike, rgba: Colour | None) -> Surface:
    """A surface whose normals are smooth but for edges."""
    points = np.asarray(vertices, dtype=np.float64)
    _, first, place = np.unique(
        points.round(_DIGITS), axis=0, return_index=True, return_inverse=True
    )
    points, triangles = points[first], place.reshape(-1)[np.asarray(faces)]
    a, b, c = (points[triangles[:, i]] for i in range(3))
    area = np.cross(b - a, c - a)  # its direction the normal, its length twice the area
    length = np.linalg.norm(area, axis=1, keepdims=True)
    solid = length[:, 0] > _LEAST_AREA
    triangles, area, flat = triangles[solid], area[solid], area[solid] / length[solid]
    # Corners sorted by vertex; every corner is paired with all corners of its vertex.
    corners = triangles.ravel()
    order = np.argsort(corners, kind='stable')
    starts = np.searchsorted(corners[order], corners)
    counts = np.bincount(corners, minlength=len(points))[corners]
    mine = np.repeat(np.arange(len(corners)), counts)
    within = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = order[np.repeat(starts, counts) + within]
    smooth = np.einsum('ij,ij->i', flat[mine // 3], flat[theirs // 3]) > _EDGE
    smooth |= mine == theirs
    normals = np.zeros((len(corners), 3))
    np.add.at(normals, mine[smooth], area[theirs[smooth] // 3])
    unit = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    # Corners of one vertex with one normal are drawn as one.
    keys = np.column_stack((corners, unit.round(_NORMAL_DIGITS)))
    _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    drawn = place.reshape(-1, 3).astype(np.int32)
    return Surface(_fixed(points[corners[first]]), _fixed(unit[first]), _fixed(drawn), rgba)


def _fixed(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def _load(path: Path) -> tuple[Surface, ...]:
    with np.load(path, allow_pickle=False) as data:
        surfaces = []
        for i in range(int(data['count'])):
            vertices, normals, faces = (_fixed(data[f'{name}{i}']) for name in _ARRAYS)
            rgba = tuple(data[f'rgba{i}'].tolist())
            surfaces.append(Surface(vertices, normals, faces, rgba or None))
    return tuple(surfaces)


def _store(path: Path, surfaces: tuple[Surface, ...]) -> None:
    arrays: dict[str, Any] = {'count': np.array(len(surfaces))}
    for i, surface in enumerate(surfaces):
        for name in _ARRAYS:
            arrays[f'{name}{i}'] = getattr(surface, name)
        arrays[f'rgba{i}'] = np.array(surface.rgba or (), dtype=np.float64)
    write_arrays(path, arrays)
