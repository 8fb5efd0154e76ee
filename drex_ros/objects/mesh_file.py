# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mesh files of others: read, mended where that is safe, refused with a reason where not."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np

from drex_ros.objects.mass import solid
from drex_ros.objects.model import Mesh, ObjectError
from drex_ros.objects.solids import body_of, mesh_of, union
from drex_ros.objects.surface import check_closed, clean, orient, shells

FORMATS = ('.stl', '.obj', '.ply')
MAX_TRIANGLES = 100_000  # far beyond what the camera sees
MIN_VOLUME = 1e-9  # [m^3] a cube of 1 mm
MIN_EXTENT, MAX_EXTENT = 0.005, 1.0  # [m] longest side that a hand can do something with

_log = logging.getLogger(__name__)


def read_mesh(path: Path, scale: float) -> Mesh:
    """One closed body from a file; `scale` takes its lengths to m."""
    if path.suffix.lower() not in FORMATS:
        raise ObjectError(f'mesh: {path.name} must be one of *{", *".join(FORMATS)}')
    if not path.is_file():
        raise ObjectError(f'mesh: there is no file {path}')
    try:
        mesh = _load(path)
        if len(mesh.faces) > MAX_TRIANGLES:
            raise ObjectError(
                f'has {len(mesh.faces)} triangles, must have at most {MAX_TRIANGLES}: simplify it'
            )
        if not np.isfinite(mesh.vertices).all():
            raise ObjectError('has vertices that are not finite numbers')
        mesh = clean(Mesh.of(scale * mesh.vertices, mesh.faces))
        if len(mesh.faces) < 4:
            raise ObjectError(f'has {len(mesh.faces)} triangles with an area: no solid')
        check_extents(mesh, scale)
        return _one_body(mesh, path.name)
    except ObjectError as error:
        raise ObjectError(f'mesh: {path.name} {error}') from None


def write_mesh(mesh: Mesh, path: Path) -> None:
    """Write a mesh [m]; the name of the file says in which format."""
    import trimesh

    if path.suffix.lower() not in FORMATS:
        raise ObjectError(f'{path.name} must be one of *{", *".join(FORMATS)}')
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(path)


def check_extents(mesh: Mesh, scale: float) -> None:
    """Raise ObjectError for a size that speaks of wrong units."""
    longest = float(mesh.extents.max())
    if MIN_EXTENT <= longest <= MAX_EXTENT:
        return
    size = f'{longest:.3g} m' if longest > MAX_EXTENT else f'{1e3 * longest:.3g} mm'
    hint = ''
    for units, factor in (('mm', 1e-3), ('cm', 1e-2), ('m', 1.0)):
        if MIN_EXTENT <= longest / scale * factor <= MAX_EXTENT:
            hint = f': are its units {units}? write `units: {units}`'
            break
    limits = f'must be {1e3 * MIN_EXTENT:g} mm to {MAX_EXTENT:g} m'
    raise ObjectError(f'is {size} long, {limits}{hint}')


def _load(path: Path) -> Mesh:
    import trimesh

    try:
        loaded = trimesh.load_mesh(path, process=False)
    except ImportError:
        # A reader that fails at one format tries the next, for which it may lack a package.
        raise ObjectError('cannot be read: the file is broken or of another format') from None
    except Exception as error:  # the readers raise whatever a broken file leads them to
        raise ObjectError(f'cannot be read: {_one_line(error)}') from None
    if not isinstance(loaded, trimesh.Trimesh) or len(loaded.faces) == 0:
        raise ObjectError('has no triangles')
    return Mesh.of(loaded.vertices, loaded.faces)


def _one_body(mesh: Mesh, name: str) -> Mesh:
    """The surface of the one solid that the triangles enclose."""
    check_closed(mesh)
    bodies, inverted = [], []
    for shell in shells(mesh):
        outwards, wrong = orient(shell)
        body = body_of(outwards)
        if body.is_empty():
            raise ObjectError(f'is not a solid ({body.status().name}): repair it')
        inverted.append(2 * wrong > len(shell.faces))
        if 0 < wrong < len(shell.faces) or len(mesh.faces) == wrong:
            _log.warning('%s: %d inverted triangles turned round', name, wrong)
        bodies.append(body)
    if all(inverted):  # the whole file is inside out
        inverted = [False] * len(inverted)
    whole = union(body for body, inside in zip(bodies, inverted, strict=True) if not inside)
    for body, inside in zip(bodies, inverted, strict=True):
        # A surface that faces inwards bounds a cavity where there is something around it.
        if inside:
            around = (whole ^ body).volume() > 0.5 * body.volume()
            whole = whole - body if around else whole + body
    pieces = sum(piece.volume() > 0.0 for piece in whole.decompose())
    if pieces > 1:
        raise ObjectError(f'has {pieces} bodies that do not touch: an object must be one piece')
    if len(bodies) > 1:
        _log.warning('%s: %d closed surfaces made one body', name, len(bodies))
    result = mesh_of(whole)
    if solid(result).volume < MIN_VOLUME:
        raise ObjectError('is flat: it encloses no volume')
    return result


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
