# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An object's YAML file: keys, types and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from drex_ros.objects.model import NO_ROTATION, Array, ObjectError, Symmetry, constant

KEYS = (
    'name', 'description', 'shape', 'mesh', 'units', 'scale', 'mass', 'uniform', 'centre_of_mass',
    'inertia', 'friction', 'finger_friction', 'colour', 'crush_force', 'symmetry', 'rest',
)  # fmt: skip
UNITS = {'m': 1.0, 'cm': 1e-2, 'mm': 1e-3, 'inch': 0.0254}
INERTIA_KEYS = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
MAX_MASS = 20.0  # [kg] far beyond what the robot lifts
MAX_FRICTION = 2.0
GREY = constant((0.6, 0.6, 0.62, 1.0))


@dataclass(frozen=True, eq=False)
class Definition:
    """What a file says, checked key by key."""

    description: str
    shape: Mapping[str, Any] | None
    """Kind and dimensions [m]."""
    mesh: str | None
    """Mesh file, relative to the YAML file."""
    scale: float
    """From the mesh file's units to m."""
    mass: float
    uniform: bool
    """The file claims centre of mass and inertia of the mesh filled evenly."""
    centre_of_mass: Array | None
    inertia: Array | None
    friction: float
    finger_friction: float
    rgba: Array
    crush_force: float
    symmetry: tuple[Symmetry, ...]
    rest: Array


def read_definition(path: Path) -> Definition:
    """Read and check a file."""
    try:
        content = yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise ObjectError(f'cannot be read: {error.strerror}') from None
    except UnicodeDecodeError:
        raise ObjectError('is not YAML: not a text file') from None
    except yaml.YAMLError as error:
        raise ObjectError(f'is not YAML: {" ".join(str(error).split())}') from None
    if not isinstance(content, dict):
        raise ObjectError(f'must be a list of "key: value"; the keys are: {", ".join(KEYS)}')
    unknown = [str(key) for key in content if key not in KEYS]
    if unknown:
        raise ObjectError(f'unknown key {", ".join(unknown)}; the keys are: {", ".join(KEYS)}')
    values = {key: value for key, value in content.items() if value is not None}
    name = str(values.get('name', path.stem))
    if name != path.stem:
        raise ObjectError(f'name: is {name!r}, must be {path.stem!r} as the file')
    if ('shape' in values) == ('mesh' in values):
        raise ObjectError('needs either shape (kind and dimensions) or mesh (a file)')
    for key in ('mass', 'friction'):
        if key not in values:
            raise ObjectError(f'{key}: is missing')
    friction = number(values, 'friction', 0.0, MAX_FRICTION)
    return Definition(
        description=str(values.get('description', '')).strip(),
        shape=_mapping(values, 'shape') if 'shape' in values else None,
        mesh=str(values['mesh']) if 'mesh' in values else None,
        scale=_scale(values),
        mass=number(values, 'mass', 0.0, MAX_MASS, positive=True, unit=' kg'),
        uniform=_flag(values, 'uniform'),
        centre_of_mass=vector(values, 'centre_of_mass') if 'centre_of_mass' in values else None,
        inertia=_inertia(values) if 'inertia' in values else None,
        friction=friction,
        finger_friction=number(values, 'finger_friction', 0.0, MAX_FRICTION, default=friction),
        rgba=_colour(values),
        crush_force=number(
            values, 'crush_force', 0.0, np.inf, default=np.inf, positive=True, unit=' N'
        ),
        symmetry=_symmetry(values),
        rest=_rest(values),
    )


def to_float(value: object, key: str) -> float:
    """A number; YAML takes 1e-4 for text, which is meant as a number."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        return float(value)
    except (ValueError, OverflowError):
        raise ObjectError(f'{key}: is {repr(value)[:60]}, must be a number') from None


def number(
    values: Mapping[str, Any],
    key: str,
    low: float,
    high: float,
    *,
    default: float | None = None,
    positive: bool = False,
    unit: str = '',
) -> float:
    """A number in a range; `positive` leaves out the lower end."""
    if key not in values and default is not None:
        return default
    value = to_float(values[key], key)
    if not low <= value <= high or (positive and value <= low):  # false for NaN too
        least = f'over {low:g}' if positive else f'at least {low:g}'
        most = '' if np.isinf(high) else f' and at most {high:g}{unit}'
        raise ObjectError(f'{key}: is {value:g}{unit}, must be {least}{most}')
    return value


def vector(values: Mapping[str, Any], key: str, size: int = 3) -> Array:
    """Numbers in a list."""
    given = values[key]
    if not isinstance(given, list) or len(given) != size:
        raise ObjectError(f'{key}: is {given!r}, must be a list of {size} numbers')
    array = constant([to_float(each, key) for each in given])
    if not np.isfinite(array).all():
        raise ObjectError(f'{key}: is {given!r}, must be finite numbers')
    return array


def _mapping(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    given = values[key]
    if not isinstance(given, dict):
        raise ObjectError(f'{key}: is {given!r}, must be names with values')
    return given


def _flag(values: Mapping[str, Any], key: str) -> bool:
    given = values.get(key, False)
    if not isinstance(given, bool):
        raise ObjectError(f'{key}: is {given!r}, must be true or false')
    return given


def _scale(values: Mapping[str, Any]) -> float:
    if 'mesh' not in values:
        for key in ('units', 'scale'):
            if key in values:
                raise ObjectError(f'{key}: is for mesh files, a shape is in m')
    units = values.get('units', 'm')
    if not isinstance(units, str) or units not in UNITS:
        raise ObjectError(f'units: is {units!r}, must be one of {", ".join(UNITS)}')
    return UNITS[units] * number(values, 'scale', 0.0, 1e6, default=1.0, positive=True)


def _inertia(values: Mapping[str, Any]) -> Array:
    given = _mapping(values, 'inertia')
    wrong = [str(key) for key in given if key not in INERTIA_KEYS]
    missing = [key for key in INERTIA_KEYS[:3] if key not in given]
    if wrong or missing:
        raise ObjectError(
            f'inertia: has {", ".join(map(str, given))}; must have {", ".join(INERTIA_KEYS)} '
            '(the last three may be left out)'
        )
    xx, yy, zz, xy, xz, yz = (to_float(given.get(key, 0.0), f'inertia.{key}')
                              for key in INERTIA_KEYS)  # fmt: skip
    tensor = constant([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not np.isfinite(tensor).all():
        raise ObjectError('inertia: must be finite numbers')
    return tensor


def _colour(values: Mapping[str, Any]) -> Array:
    given = values.get('colour')
    if given is None:
        return GREY
    if isinstance(given, str):
        digits = given.removeprefix('#')
        try:
            parts = [int(digits[i : i + 2], 16) / 255.0 for i in range(0, len(digits), 2)]
        except ValueError:
            parts = []
    elif isinstance(given, list):
        parts = [to_float(each, 'colour') for each in given]
    else:
        parts = []
    rgba = [*parts, 1.0][:4]
    if len(parts) not in (3, 4) or not all(0.0 <= each <= 1.0 for each in rgba):
        raise ObjectError(f"colour: is {given!r}, must be like '#c0392b' or [0.75, 0.22, 0.17]")
    return constant(rgba)


def _symmetry(values: Mapping[str, Any]) -> tuple[Symmetry, ...]:
    given = values.get('symmetry', [])
    found = []
    for each in given if isinstance(given, list) else [given]:
        if not isinstance(each, dict) or set(each) != {'axis', 'angle'}:
            example = '{axis: [0, 0, 1], angle: 90}'
            raise ObjectError(f'symmetry: has {each!r}, must be like {example}')
        axis = vector(each, 'axis')
        length = float(np.linalg.norm(axis))
        if length == 0.0:
            raise ObjectError('symmetry: axis is zero, must be a direction')
        angle = number(each, 'angle', 0.0, 180.0, unit=' deg')
        if angle > 0.0 and abs(360.0 / angle - round(360.0 / angle)) > 1e-6:
            raise ObjectError(f'symmetry: angle {angle:g} deg does not divide a full turn')
        found.append(Symmetry(constant(axis / length), float(np.radians(angle))))
    return tuple(found)


def _rest(values: Mapping[str, Any]) -> Array:
    if 'rest' not in values:
        return NO_ROTATION
    quaternion = vector(values, 'rest', 4)
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > 1e-2:
        raise ObjectError(f'rest: has length {length:g}, must be a unit quaternion x y z w')
    return constant(quaternion / length)
