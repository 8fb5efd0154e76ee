# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a script gives, checked before anything is sent, and made into fields of messages."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3

from drex_ros.client.connection import DrexError
from drex_ros.control.targets import FRAMES
from drex_ros.robot.description import PALM_LINK
from drex_ros.robot.joints import FINGERS, Array
from drex_ros.robot.rotations import quaternion_from_matrix

FINGER_NAMES = tuple(FINGERS)
"""In the order of FingertipTarget.FINGER_*."""

_UNIT = 1e-2  # how far the length of a quaternion may be from 1
_ORTHOGONAL = 1e-3  # how far R R^T may be from the identity


def number(name: str, value: float, *, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number within bounds. Raises DrexError."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise DrexError(f'{name} is {value!r}, must be a number') from None
    if not (math.isfinite(result) and least <= result <= most):
        bounds = '' if least == -math.inf and most == math.inf else f' in {least:g} .. {most:g}'
        raise DrexError(f'{name} is {result:g}, must be a finite number{bounds}')
    return result


def positive(name: str, value: float) -> float:
    """A finite number above 0. Raises DrexError."""
    result = number(name, value)
    if result <= 0.0:
        raise DrexError(f'{name} is {result:g}, must be above 0')
    return result


def numbers(name: str, values: npt.ArrayLike, size: int) -> list[float]:
    """So many finite numbers. Raises DrexError."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DrexError(f'{name} is {values!r}, must be {size} numbers') from None
    if array.ndim != 1:
        raise DrexError(f'{name} has the shape {array.shape}, must have ({size},)')
    if array.size != size:
        raise DrexError(f'{name} has {array.size} numbers, must have {size}')
    finite = np.isfinite(array)
    if not finite.all():
        place = int(np.argmin(finite))
        raise DrexError(f'{name}[{place}] is {array[place]:g}, must be finite')
    return [float(value) for value in array]


def finger_number(name: str) -> int:
    """Which of FingertipTarget.FINGER_* a finger is. Raises DrexError."""
    try:
        return FINGER_NAMES.index(name)
    except ValueError:
        raise DrexError(f'no finger {name!r}; there are: {", ".join(FINGER_NAMES)}') from None


def pose_message(
    position: npt.ArrayLike | None,
    quaternion: npt.ArrayLike | None,
    rotation: npt.ArrayLike | None,
    frame: str,
    present: Pose | None,
) -> Pose:
    """A pose of the palm; what is not given stays as it is. Raises DrexError.

    Args:
        position: [m], 3 numbers.
        quaternion: x y z w, of length 1.
        rotation: a matrix of shape (3, 3) instead.
        frame: in which they are given.
        present: pose in the base frame, for what is not given; in the palm's own it stays anyway.
    """
    if frame not in FRAMES:
        raise DrexError(f'frame is {frame!r}, must be one of: {", ".join(FRAMES[1:])}')
    if quaternion is not None and rotation is not None:
        raise DrexError('quaternion and rotation are both given: one of them says it all')
    if rotation is not None:
        quaternion = _quaternion_of(rotation)
    stays = Pose() if frame == PALM_LINK or present is None else present
    pose = Pose(position=stays.position, orientation=stays.orientation)
    if position is not None:
        x, y, z = numbers('position', position, 3)
        pose.position = Point(x=x, y=y, z=z)
    if quaternion is not None:
        turn = np.array(numbers('quaternion', quaternion, 4))
        length = float(np.linalg.norm(turn))
        if abs(length - 1.0) > _UNIT:
            raise DrexError(f'quaternion has the length {length:.4g}, must have 1')
        x, y, z, w = (float(value) for value in turn / length)
        pose.orientation = Quaternion(x=x, y=y, z=z, w=w)
    return pose


def vector(values: list[float]) -> Vector3:
    """Three numbers as a message."""
    x, y, z = values
    return Vector3(x=x, y=y, z=z)


def _quaternion_of(rotation: npt.ArrayLike) -> Array:
    """Unit quaternion x y z w of a rotation matrix. Raises DrexError where it is none."""
    matrix = np.asarray(rotation, dtype=np.float64)
    if matrix.shape != (3, 3):
        raise DrexError(f'rotation has the shape {matrix.shape}, must have (3, 3)')
    straight = np.abs(matrix @ matrix.T - np.eye(3)).max() <= _ORTHOGONAL  # false for NaN too
    if not straight or np.linalg.det(matrix) < 0.0:
        raise DrexError('rotation is no rotation matrix: its rows must be right-handed unit axes')
    return quaternion_from_matrix(matrix)
