# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Convex parts of an object, as contacts need them.

Shapes made by this package know theirs. Other meshes are cut by CoACD, which takes seconds, so
the result is kept in the cache folder under the hash of all that it depends on.
"""

from __future__ import annotations

import hashlib
import logging
import time
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from drex_ros.objects.model import Mesh, ObjectModel, Part, convex_part
from drex_ros.objects.solids import body_of, depth, hull, mesh_of, part_of
from drex_ros.resources import cache_folder, write_arrays

CONVEX_TOLERANCE = 5e-4
"""A mesh that is nowhere deeper below its hull is convex [m]."""
SIMPLIFY_TOLERANCE = 3e-4
"""Detail that is dropped before the mesh is cut [m]."""
SETTINGS: dict[str, Any] = {
    'threshold': 0.0025,  # [m] with real_metric; less makes many parts and takes minutes
    'real_metric': True,
    'max_convex_hull': 48,
    'preprocess_mode': 'off',  # the mesh is known to be a solid
    'mcts_nodes': 10,
    'mcts_iterations': 40,
    'resolution': 1000,
    'seed': 1,
}
FORMAT = 1

_log = logging.getLogger(__name__)


def collision_parts(model: ObjectModel) -> tuple[Part, ...]:
    """Convex parts that together fill the object."""
    return model.exact_parts or decompose(model.mesh)


def decompose(mesh: Mesh) -> tuple[Part, ...]:
    """Convex parts of any closed mesh; the slow ones come from the cache the next time."""
    outside = hull(mesh.vertices)
    if depth(outside, mesh.vertices) < CONVEX_TOLERANCE:
        return (part_of(outside),)
    path = _cache_file(mesh)
    kept = _read(path) if path is not None else None
    if kept is None:
        kept = _cut(mesh)
        if path is not None:
            _write(path, kept)
    return tuple(convex_part(each) for each in kept)


def _cut(mesh: Mesh) -> list[Mesh]:
    import coacd

    _log.info('cutting a mesh of %d triangles into convex parts', len(mesh.faces))
    start = time.monotonic()
    coacd.set_log_level('error')
    coarse = mesh_of(body_of(mesh).simplify(SIMPLIFY_TOLERANCE))
    surface = coacd.Mesh(np.array(coarse.vertices), np.array(coarse.faces))
    parts = [mesh_of(hull(vertices)) for vertices, _ in coacd.run_coacd(surface, **SETTINGS)]
    # Slivers of the cuts have no volume and so no hull.
    parts = [part for part in parts if len(part.faces) >= 4]
    _log.info('%d convex parts after %.1f s', len(parts), time.monotonic() - start)
    return parts


def _cache_file(mesh: Mesh) -> Path | None:
    """Where the parts of a mesh are kept; None where there is no place to keep them."""
    digest = hashlib.sha256()
    settings = (FORMAT, SIMPLIFY_TOLERANCE, sorted(SETTINGS.items()))
    digest.update(repr((settings, metadata.version('coacd'))).encode())
    digest.update(mesh.vertices.tobytes())
    digest.update(mesh.faces.tobytes())
    try:
        return cache_folder('convex') / f'{digest.hexdigest()[:32]}.npz'
    except OSError as error:
        _log.warning('convex parts are not kept: %s', error)
        return None


def _read(path: Path) -> list[Mesh] | None:
    """Parts from the cache; None when there are none, or they are damaged."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            count = int(file['count'])
            parts = [Mesh.of(file[f'vertices_{i}'], file[f'faces_{i}']) for i in range(count)]
        if not parts or any(len(p.faces) < 4 or p.faces.max() >= len(p.vertices) for p in parts):
            raise ValueError('no parts in it')
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        _log.warning('%s is damaged and made again: %s', path, error)
        return None
    return parts


def _write(path: Path, parts: list[Mesh]) -> None:
    arrays: dict[str, Any] = {'count': np.array(len(parts))}
    for i, part in enumerate(parts):
        arrays[f'vertices_{i}'], arrays[f'faces_{i}'] = part.vertices, part.faces
    try:
        write_arrays(path, arrays)
    except OSError as error:
        _log.warning('convex parts are not kept: %s', error)
