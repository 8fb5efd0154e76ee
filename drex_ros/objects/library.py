# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects by name or file: from YAML to a checked ObjectModel."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from drex_ros.objects.definition import Definition, read_definition, to_float
from drex_ros.objects.mass import Solid, inertia_problem, solid
from drex_ros.objects.mesh_file import check_extents, read_mesh
from drex_ros.objects.model import Array, Mesh, ObjectError, ObjectModel, Part, Symmetry, constant
from drex_ros.objects.shapes import generate
from drex_ros.objects.solids import hull, planes
from drex_ros.resources import share_file

FOLDERS_VARIABLE = 'DREX_OBJECTS'
SUFFIXES = ('.yaml', '.yml')
MIN_DENSITY, MAX_DENSITY = 20.0, 20000.0  # [kg/m^3] foam, gold
UNIFORM_TOLERANCE = 0.01


def object_folders() -> tuple[Path, ...]:
    """Where objects are looked up: folders of $DREX_OBJECTS, then the library."""
    given = os.environ.get(FOLDERS_VARIABLE, '').split(os.pathsep)
    return (*(Path(each).expanduser() for each in given if each), share_file('config/objects'))


def object_names() -> tuple[str, ...]:
    """Names of all objects, in alphabetical order."""
    files = (file for folder in object_folders() if folder.is_dir() for file in folder.iterdir())
    return tuple(sorted({file.stem for file in files if file.suffix in SUFFIXES}))


def find_object(name_or_path: str | os.PathLike[str]) -> Path:
    """The YAML file of an object."""
    given = os.fspath(name_or_path)
    if given.endswith(SUFFIXES) or os.sep in given:
        path = Path(given).expanduser()
        if path.suffix not in SUFFIXES:
            raise ObjectError(f'{given}: must be the name of an object or a .yaml file')
        if not path.is_file():
            raise ObjectError(f'{given}: there is no such file')
        return path
    for folder in object_folders():
        for suffix in SUFFIXES:
            path = folder / f'{given}{suffix}'
            if given and path.is_file():
                return path
    raise ObjectError(f'no object {given!r}; the objects are: {", ".join(object_names())}')


def load_object(name_or_path: str | os.PathLike[str]) -> ObjectModel:
    """An object of the library by its name, or any by its YAML file."""
    path = find_object(name_or_path)
    try:
        return _build(path, read_definition(path))
    except ObjectError as error:
        raise ObjectError(f'{path}: {error}') from None


def _build(path: Path, given: Definition) -> ObjectModel:
    mesh, parts, shift = _geometry(path, given)
    filled = solid(mesh)
    density = given.mass / filled.volume
    if not MIN_DENSITY <= density <= MAX_DENSITY:
        raise ObjectError(
            f'mass: {given.mass:g} kg in {1e6 * filled.volume:.4g} cm^3 is {density:.3g} kg/m^3, '
            f'must be {MIN_DENSITY:g} to {MAX_DENSITY:g}: are mass and units right?'
        )
    centre = filled.centroid
    if given.centre_of_mass is not None:
        centre = given.centre_of_mass + shift
    inertia = density * filled.inertia if given.inertia is None else given.inertia
    _check_mass(given, mesh, filled, centre, inertia)
    for each in given.symmetry:
        _check_symmetry(mesh, each)
    return ObjectModel(
        name=path.stem,
        description=given.description,
        mesh=mesh,
        mass=given.mass,
        centre_of_mass=constant(centre),
        inertia=constant(inertia),
        friction=given.friction,
        finger_friction=given.finger_friction,
        rgba=given.rgba,
        crush_force=given.crush_force,
        symmetry=given.symmetry,
        rest_quaternion=given.rest,
        rest_height=-float((mesh.vertices @ rotation(given.rest)[2]).min()),
        source=path,
        exact_parts=parts,
    )


def _geometry(path: Path, given: Definition) -> tuple[Mesh, tuple[Part, ...], Array]:
    """Mesh and known parts about the origin, and how far the mesh was shifted there [m]."""
    if given.mesh is not None:
        mesh = read_mesh(path.parent / Path(given.mesh).expanduser(), given.scale)
        lower, upper = mesh.bounds
        shift = -0.5 * (lower + upper)
        return mesh.moved(shift), (), shift
    assert given.shape is not None
    values = dict(given.shape)
    if 'kind' not in values:
        raise ObjectError('shape: kind is missing')
    kind = str(values.pop('kind'))
    try:
        sizes = {str(key): to_float(value, str(key)) for key, value in values.items()}
        mesh, parts = generate(kind, sizes)
        check_extents(mesh, given.scale)
    except ObjectError as error:
        raise ObjectError(f'shape: {error}') from None
    return mesh, parts, np.zeros(3)


def _check_mass(
    given: Definition, mesh: Mesh, filled: Solid, centre: Array, inertia: Array
) -> None:
    """Raise ObjectError for a mass distribution that this object cannot have."""
    normal, offset = planes(hull(mesh.vertices))
    outside = float((normal @ centre - offset).max())
    if outside > 0.0:
        raise ObjectError(
            f'centre_of_mass: is {1e3 * outside:.3g} mm outside the object; is it in m?'
        )
    lower, upper = mesh.bounds
    problem = inertia_problem(inertia, given.mass, lower - centre, upper - centre)
    if problem:
        raise ObjectError(f'inertia: {problem}')
    if not given.uniform:
        return
    away = float(np.linalg.norm(centre - filled.centroid) / np.linalg.norm(mesh.extents))
    if away > UNIFORM_TOLERANCE:
        place = ', '.join(f'{value:.5f}' for value in filled.centroid)
        raise ObjectError(f'centre_of_mass: is not that of the mesh filled evenly, [{place}] m')
    even = given.mass / filled.volume * filled.inertia
    wrong = float(np.abs(inertia - even).max() / np.abs(even).max())
    if wrong > UNIFORM_TOLERANCE:
        raise ObjectError(f'inertia: is {100 * wrong:.3g} % off that of the mesh filled evenly')


def _check_symmetry(mesh: Mesh, given: Symmetry) -> None:
    """Raise ObjectError when the hull of the object is not the same after the turn."""
    turn = given.angle or 2.0 * np.pi / 7.0
    x, y, z = given.axis * np.sin(0.5 * turn)
    matrix = rotation(np.array([x, y, z, np.cos(0.5 * turn)]))
    # A spiral of directions over the sphere.
    index = np.arange(200) + 0.5
    height = 1.0 - 2.0 * index / 200
    around = np.pi * (1.0 + np.sqrt(5.0)) * index
    radius = np.sqrt(1.0 - height**2)
    direction = np.stack([radius * np.cos(around), radius * np.sin(around), height], axis=1)
    before = (direction @ mesh.vertices.T).max(axis=1)
    after = (direction @ matrix @ mesh.vertices.T).max(axis=1)
    change = float(np.abs(after - before).max())
    if change > 0.01 * float(np.linalg.norm(mesh.extents)):
        axis = ', '.join(f'{value:g}' for value in given.axis)
        raise ObjectError(
            f'symmetry: a turn of {np.degrees(turn):.4g} deg about [{axis}] changes the outline '
            f'by {1e3 * change:.2g} mm'
        )


def rotation(quaternion: Array) -> Array:
    """Rotation matrix of a unit quaternion x y z w. Shape (3, 3)."""
    x, y, z, w = quaternion
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip
