# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What stands around the robot, read from a file of config/scenes/."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from drex_ros.resources import ResourceError, share_file
from drex_ros.robot.camera import CameraModel

_NUMBERS = {
    'table': {'position': 2, 'size': 2, 'height': 1},
    'camera': {
        'position': 3,
        'rpy': 3,
        'width': 1,
        'height': 1,
        'fx': 1,
        'fy': 1,
        'cx': 1,
        'cy': 1,
    },
    'object': {'position': 2, 'yaw': 1},
}
_MOST_PIXELS = 4096
_POSITIVE = {('table', 'size'), ('table', 'height')} | {
    ('camera', key) for key in ('width', 'height', 'fx', 'fy')
}


class SceneError(ValueError):
    """A scene file is wrong; the message is one readable line."""


@dataclass(frozen=True)
class Scene:
    """Table, camera and the object's place. Lengths in metres, world frame."""

    table_position: tuple[float, float]
    table_size: tuple[float, float]
    table_height: float
    """Of its top above the floor."""
    camera: CameraModel
    object_position: tuple[float, float]
    object_yaw: float
    """[rad]"""
    source: Path


def load_scene(name: str = 'table') -> Scene:
    """Read a scene by the name of a file in config/scenes/, or by its path. Raises SceneError."""
    path = _find(name)
    try:
        document = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SceneError(
            f'{path}: not a readable YAML file: {" ".join(str(error).split())}'
        ) from None
    if not isinstance(document, dict):
        raise SceneError(f'{path}: must hold {", ".join(_NUMBERS)}')
    _only(path, '', document, set(_NUMBERS))
    values = {section: _section(path, section, document.get(section)) for section in _NUMBERS}
    table, camera, place = values['table'], values['camera'], values['object']
    try:
        model = CameraModel.from_pose(
            width=_whole(path, 'camera.width', camera['width']),
            height=_whole(path, 'camera.height', camera['height']),
            xyz=camera['position'],
            **{key: camera[key] for key in ('rpy', 'fx', 'fy', 'cx', 'cy')},
        )
    except ValueError as error:
        raise SceneError(f'{path}: camera: {error}') from None
    return Scene(
        table_position=table['position'],
        table_size=table['size'],
        table_height=table['height'],
        camera=model,
        object_position=place['position'],
        object_yaw=place['yaw'],
        source=path,
    )


def _find(name: str) -> Path:
    if name.endswith(('.yaml', '.yml')):
        path = Path(name).expanduser()
        if not path.is_file():
            raise SceneError(f'scene file {name} not found')
        return path
    try:
        folder = share_file('config/scenes')
    except ResourceError as error:
        raise SceneError(str(error)) from None
    path = folder / f'{name}.yaml'
    if not path.is_file():
        known = ', '.join(sorted(p.stem for p in folder.glob('*.yaml')))
        raise SceneError(
            f'no scene {name!r}; there are: {known}, or give the path of a .yaml file'
        )
    return path


def _only(path: Path, prefix: str, given: dict[Any, Any], valid: set[str]) -> None:
    for key in given:
        if key not in valid:
            keys = ', '.join(sorted(valid))
            raise SceneError(f'{path}: unknown key {prefix}{key}; valid: {keys}')


def _section(path: Path, section: str, given: Any) -> dict[str, Any]:
    sizes = _NUMBERS[section]
    if not isinstance(given, dict):
        raise SceneError(f'{path}: {section} must hold {", ".join(sizes)}')
    _only(path, f'{section}.', given, set(sizes))
    values: dict[str, Any] = {}
    for key, size in sizes.items():
        name, value = f'{section}.{key}', given.get(key)
        numbers: list[Any] = value if size > 1 and isinstance(value, list) else [value]
        if len(numbers) != size or not all(_is_number(each) for each in numbers):
            right = 'a number' if size == 1 else f'{size} numbers'
            raise SceneError(f'{path}: {name} is {value!r}, must be {right}')
        if (section, key) in _POSITIVE and min(numbers) <= 0.0:
            raise SceneError(f'{path}: {name} is {value!r}, must be more than 0')
        values[key] = float(numbers[0]) if size == 1 else tuple(float(each) for each in numbers)
    return values


def _is_number(value: Any) -> bool:
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    return plain and math.isfinite(value)


def _whole(path: Path, name: str, value: float) -> int:
    if not value.is_integer() or value > _MOST_PIXELS:
        right = f'a whole number up to {_MOST_PIXELS}'
        raise SceneError(f'{path}: {name} is {value:g}, must be {right}')
    return int(value)
