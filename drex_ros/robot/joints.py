# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The joints of the robot: one named order, limits and postures for the whole project.

Every array of joint values in this project has shape (23,): seven arm joints from base to
flange, then sixteen hand joints (index 0-3, middle 4-7, ring 8-11, thumb 12-15).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

ARM_JOINTS: tuple[str, ...] = tuple(f'panda_joint{i}' for i in range(1, 8))
HAND_JOINTS: tuple[str, ...] = tuple(f'joint_{i}.0' for i in range(16))
JOINT_NAMES: tuple[str, ...] = ARM_JOINTS + HAND_JOINTS

N_ARM = len(ARM_JOINTS)
N_HAND = len(HAND_JOINTS)
N_JOINTS = len(JOINT_NAMES)

ARM = slice(0, N_ARM)
HAND = slice(N_ARM, N_JOINTS)
FINGERS: dict[str, slice] = {
    'index': slice(7, 11),
    'middle': slice(11, 15),
    'ring': slice(15, 19),
    'thumb': slice(19, 23),
}


def constant(values: Iterable[float]) -> Array:
    """A read-only float64 array of the values."""
    array = np.array(list(values), dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True)
class JointLimits:
    """What the joints can do. Read-only arrays, shape (23,)."""

    lower: Array
    """Lowest position [rad]."""
    upper: Array
    """Highest position [rad]."""
    velocity: Array
    """Greatest speed [rad/s]."""
    effort: Array
    """Greatest commanded torque [N m] (on the arm: on top of its gravity compensation)."""
    effort_rate: Array
    """Greatest change of the commanded torque [N m/s]; infinite where the maker states none."""


_FINGER_LOWER = (-0.47, -0.196, -0.174, -0.227)
_FINGER_UPPER = (0.47, 1.61, 1.709, 1.618)
_THUMB_LOWER = (0.263, -0.105, -0.189, -0.162)
_THUMB_UPPER = (1.396, 1.163, 1.644, 1.719)

LIMITS = JointLimits(
    lower=constant(
        (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
        + 3 * _FINGER_LOWER
        + _THUMB_LOWER
    ),
    upper=constant(
        (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
        + 3 * _FINGER_UPPER
        + _THUMB_UPPER
    ),
    velocity=constant(4 * (2.175,) + 3 * (2.61,) + 16 * (7.0,)),
    effort=constant(4 * (87.0,) + 3 * (12.0,) + 16 * (0.7,)),
    effort_rate=constant(7 * (1000.0,) + 16 * (np.inf,)),
)

ROTOR_INERTIA = constant(7 * (0.1,) + 16 * (1e-3,))
"""Inertia of motor and gear seen at the joint [kg m^2], added to the links' own. Shape (23,)."""

HOME = constant(
    (0.0, -0.7854, 0.0, -2.3562, 0.0, 1.5708, 0.7854)
    + 3 * (0.0, 0.4, 0.4, 0.4)
    + (0.9, 0.3, 0.3, 0.3)
)
"""Home posture [rad]: arm bent over the table, hand half open. Shape (23,)."""


def joint_index(name: str) -> int:
    """Place of a joint in the project's order."""
    try:
        return JOINT_NAMES.index(name)
    except ValueError:
        raise ValueError(f'no joint {name!r}; the joints are: {", ".join(JOINT_NAMES)}') from None


def check_posture(position: Array) -> None:
    """Raise ValueError for joint positions [rad] that the robot cannot take."""
    if position.shape != (N_JOINTS,):
        raise ValueError(f'posture has {position.size} values, must have {N_JOINTS}')
    allowed = (position >= LIMITS.lower) & (position <= LIMITS.upper)  # false for NaN too
    if not allowed.all():
        i = int(np.argmin(allowed))
        raise ValueError(
            f'{JOINT_NAMES[i]} is {position[i]:.4g} rad, '
            f'must be in {LIMITS.lower[i]:g} .. {LIMITS.upper[i]:g}'
        )
