# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's pose in the robot's base as a file: how it was found, and how sure it is.

    position: [x, y, z]              # of the optical frame in the world [m]
    quaternion: [x, y, z, w]
    covariance: [36 numbers]         # row by row, of position [m] and rotation [rad]
    method: board                    # or robot
    date: 2026-07-01T12:00:00+00:00
    rms: 0.21                        # of what was fitted, in its own unit
    rms_unit: px
    postures: 12
    depth_scale: 1.0                 # only where it was estimated

Position and quaternion are needed; the world is the arm's base, `panda_link0`.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array, constant

METHODS = ('board', 'robot')

_NUMBERS = {'position': 3, 'quaternion': 4, 'covariance': 36}
_SINGLE = ('rms', 'depth_scale', 'postures')
_TEXTS = ('method', 'date', 'rms_unit')
_FARTHEST = 10.0  # [m] from the arm's base that a camera may be
_SCALES = (0.8, 1.25)  # factors on measured depth that a camera may need
_UNIT_TOLERANCE = 1e-3


class CalibrationError(ValueError):
    """A calibration that cannot be made or read; the message is one readable line."""


@dataclass(frozen=True, eq=False)
class CameraPose:
    """Where the camera is, and how sure that is."""

    position: Array
    """Of the optical frame in world [m]. Shape (3,)."""
    quaternion: Array
    """x y z w, shape (4,)."""
    covariance: Array
    """Of position and of a small turn about the world's axes. Shape (6, 6); zero: not known."""
    method: str = ''
    """board, robot, or empty where nobody said."""
    rms: float = 0.0
    """Root mean square of what is left of the fitted errors, in `rms_unit`."""
    rms_unit: str = ''
    postures: int = 0
    """Of the robot that were used."""
    depth_scale: float = 1.0
    """Measured depth times this is true depth; 1 where it was not estimated."""
    date: str = ''
    """When, as ISO 8601."""

    @property
    def position_deviation(self) -> float:
        """Standard deviation of the position, in the worst direction [m]."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance[:3, :3])[-1].clip(0.0)))

    @property
    def rotation_deviation(self) -> float:
        """Standard deviation of the turn, about the worst axis [rad]."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance[3:, 3:])[-1].clip(0.0)))

    def camera(self, like: CameraModel) -> CameraModel:
        """A camera with these intrinsics at this pose."""
        return CameraModel(
            like.width,
            like.height,
            *(like.fx, like.fy, like.cx, like.cy),
            position=self.position,
            quaternion=self.quaternion,
        )


def now() -> str:
    """The date as these files have it."""
    return datetime.now(UTC).isoformat(timespec='seconds')


def save_camera_pose(path: Path, pose: CameraPose) -> None:
    """Write a file, whole or not at all. Raises CalibrationError where that cannot be."""
    document: dict[str, Any] = {
        'position': _plain(pose.position, 6),
        'quaternion': _plain(pose.quaternion, 8),
        'covariance': [float(f'{value:.6g}') for value in pose.covariance.reshape(-1)],
        'method': pose.method,
        'date': pose.date or now(),
        'rms': round(pose.rms, 4),
        'rms_unit': pose.rms_unit,
        'postures': pose.postures,
        'depth_scale': round(pose.depth_scale, 5),
    }
    text = yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=99)
    header = "# Pose of the camera's optical frame in the world, by drex calibrate.\n"
    try:
        handle, name = tempfile.mkstemp(dir=path.absolute().parent, suffix='.part')
    except OSError as error:
        raise CalibrationError(f'{path}: cannot be written: {error.strerror}') from None
    try:
        with os.fdopen(handle, 'w', encoding='utf-8') as file:
            file.write(header + text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        os.unlink(name)
        raise CalibrationError(f'{path}: cannot be written: {error.strerror}') from None


def load_camera_pose(path: Path | str) -> CameraPose:
    """Read a file. Raises CalibrationError that says what is wrong in it."""
    path = Path(path)
    try:
        document = yaml.safe_load(path.read_text(encoding='utf-8'))
    except FileNotFoundError:
        raise CalibrationError(f'{path}: no such file: run drex calibrate') from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        words = ' '.join(str(error).split())
        raise CalibrationError(f'{path}: not a readable YAML file: {words}') from None
    if not isinstance(document, dict):
        raise CalibrationError(f'{path}: must hold position and quaternion')
    known = (*_NUMBERS, *_SINGLE, *_TEXTS)
    for key in document:
        if key not in known:
            raise CalibrationError(f'{path}: no key {key!r}; the keys are: {", ".join(known)}')
    values = {key: _numbers(path, document, key) for key in _NUMBERS}
    quaternion = values['quaternion']
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > _UNIT_TOLERANCE:
        raise CalibrationError(f'{path}: quaternion has length {length:g}, must be 1')
    covariance = values['covariance'].reshape(6, 6)
    if np.abs(covariance - covariance.T).max() > 1e-9 + 1e-4 * np.abs(covariance).max():
        raise CalibrationError(f'{path}: covariance must be symmetric')
    covariance = 0.5 * (covariance + covariance.T)
    if np.linalg.eigvalsh(covariance)[0] < -1e-6 * (1.0 + np.abs(covariance).max()):
        raise CalibrationError(f'{path}: covariance must have no negative eigenvalue')
    if np.linalg.norm(values['position']) > _FARTHEST:
        given = values['position'].tolist()
        raise CalibrationError(f'{path}: position is {given}, must be within {_FARTHEST:g} m')
    single = {key: _number(path, document, key) for key in _SINGLE if key in document}
    low, high = _SCALES
    if not low <= single.get('depth_scale', 1.0) <= high:
        given = single['depth_scale']
        raise CalibrationError(f'{path}: depth_scale is {given:g}, must be in {low} .. {high}')
    return CameraPose(
        position=values['position'],
        quaternion=constant(quaternion / length),
        covariance=covariance,
        rms=single.get('rms', 0.0),
        postures=int(single.get('postures', 0)),
        depth_scale=single.get('depth_scale', 1.0),
        **{key: str(document.get(key, '')) for key in _TEXTS},
    )


def _numbers(path: Path, document: dict[str, Any], key: str) -> Array:
    count = _NUMBERS[key]
    if key not in document:
        if key == 'covariance':
            return np.zeros(count)
        raise CalibrationError(f'{path}: {key} is missing')
    given = document[key]
    if (
        not isinstance(given, list)
        or len(given) != count
        or not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in given)
        or not np.isfinite(given).all()
    ):
        raise CalibrationError(f'{path}: {key} is {given!r}, must be {count} numbers')
    return constant(given)


def _number(path: Path, document: dict[str, Any], key: str) -> float:
    given = document[key]
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not np.isfinite(given):
        raise CalibrationError(f'{path}: {key} is {given!r}, must be a number')
    return float(given)


def _plain(values: Array, digits: int) -> list[float]:
    return [round(float(value), digits) for value in values]
