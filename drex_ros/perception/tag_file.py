# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which tag is on an object and where, read from a YAML file.

id: 7
size: 0.04                    # side of the black square [m]
dictionary: apriltag_36h11    # the default; or 4x4_50, ...
position: [0.0, 0.0, 0.05]    # of its middle in the object's frame [m]
quaternion: [0, 0, 0, 1]      # of its frame in the object's, x y z w
corner_sigma: 0.1             # [px]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from drex_ros.perception.tag_tracker import TagError, TagSettings

_NEEDED = ('id', 'size')
_NUMBERS = {'size': 1, 'position': 3, 'quaternion': 4, 'corner_sigma': 1}
_KEYS = ('id', 'dictionary', *_NUMBERS)


def load_tag(path: Path) -> TagSettings:
    """Read the tag of an object. Raises TagError."""
    try:
        document = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise TagError(
            f'{path}: not a readable YAML file: {" ".join(str(error).split())}'
        ) from None
    if not isinstance(document, dict):
        raise TagError(f'{path}: must hold {", ".join(_KEYS)}')
    for key in document:
        if key not in _KEYS:
            raise TagError(f'{path}: unknown key {key}; valid: {", ".join(_KEYS)}')
    for key in _NEEDED:
        if key not in document:
            raise TagError(f'{path}: {key}: is missing')
    values: dict[str, Any] = {}
    for key, value in document.items():
        values[key] = _numbers(path, key, value) if key in _NUMBERS else value
    if isinstance(values['id'], bool) or not isinstance(values['id'], int):
        raise TagError(f'{path}: id is {values["id"]!r}, must be a whole number')
    if not isinstance(values.get('dictionary', ''), str):
        raise TagError(f'{path}: dictionary is {values["dictionary"]!r}, must be a name')
    try:
        return TagSettings(**values)
    except TagError as error:
        raise TagError(f'{path}: {error}') from None


def _numbers(path: Path, key: str, value: Any) -> Any:
    count = _NUMBERS[key]
    given = value if count > 1 and isinstance(value, list) else [value]
    plain = all(isinstance(each, int | float) and not isinstance(each, bool) for each in given)
    if len(given) != count or not plain:
        right = 'a number' if count == 1 else f'{count} numbers'
        raise TagError(f'{path}: {key} is {value!r}, must be {right}')
    if key == 'quaternion' and (length := float(np.linalg.norm(given))) > 0.0:
        given = [each / length for each in given]
    return float(given[0]) if count == 1 else np.array(given, dtype=np.float64)
