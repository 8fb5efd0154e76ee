# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reads urdf/joint_limits.yaml, the one place of joint limits, and checks it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

QUANTITIES = (
    'lower',
    'upper',
    'velocity',
    'effort',
    'effort_rate',
    'rotor_inertia',
    'friction',
    'damping',
)
_POSITIVE = ('velocity', 'effort', 'effort_rate')
_NOT_NEGATIVE = ('rotor_inertia', 'friction', 'damping')


class JointTableError(ValueError):
    """The file of joint limits is wrong; the message is one readable line."""


def read_joint_table(path: Path, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Each quantity's values in the order of the joint names; units as the file states them."""
    try:
        document = yaml.safe_load(path.read_text(encoding='utf-8'))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        problem = ' '.join(str(error).split())
        raise JointTableError(f'{path}: not a readable YAML file: {problem}') from None
    rows = document.get('joints') if isinstance(document, dict) else None
    if not isinstance(rows, dict):
        raise JointTableError(f'{path}: has no mapping `joints`')
    wrong = sorted(map(str, set(rows) ^ set(names)))
    if wrong:
        raise JointTableError(f'{path}: joints of the robot and of the file differ in: {wrong}')
    for name in names:
        _check_row(path, name, rows[name])
    return {key: tuple(float(rows[name][key]) for name in names) for key in QUANTITIES}


def _check_row(path: Path, name: str, row: Any) -> None:
    if not isinstance(row, dict) or set(row) != set(QUANTITIES):
        raise JointTableError(f'{path}: {name} must have exactly: {", ".join(QUANTITIES)}')
    for key, value in row.items():
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        # Only the torque rate may be without a limit.
        if not plain or not (math.isfinite(value) or (key == 'effort_rate' and value > 0)):
            raise JointTableError(f'{path}: {key} of {name} is {value!r}, must be a number')
        if (key in _POSITIVE and value <= 0) or (key in _NOT_NEGATIVE and value < 0):
            least = 'more than 0' if key in _POSITIVE else '0 or more'
            raise JointTableError(f'{path}: {key} of {name} is {value!r}, must be {least}')
    if row['lower'] >= row['upper']:
        raise JointTableError(f'{path}: lower of {name} must be less than upper')
