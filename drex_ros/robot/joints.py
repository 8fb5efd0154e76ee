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

from drex_ros.resources import share_file
from drex_ros.robot.joint_table import read_joint_table

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


_TABLE = read_joint_table(share_file('urdf/joint_limits.yaml'), JOINT_NAMES)

LIMITS = JointLimits(
    lower=constant(_TABLE['lower']),
    upper=constant(_TABLE['upper']),
    velocity=constant(_TABLE['velocity']),
    effort=constant(_TABLE['effort']),
    effort_rate=constant(_TABLE['effort_rate']),
)
"""Limits of both hands, for right and left have the same (urdf/joint_limits.yaml)."""

ROTOR_INERTIA = constant(_TABLE['rotor_inertia'])
"""Inertia of motor and gear seen at the joint [kg m^2], added to the links' own. Shape (23,)."""

JOINT_FRICTION = constant(_TABLE['friction'])
"""Coulomb friction [N m]. Shape (23,)."""

JOINT_DAMPING = constant(_TABLE['damping'])
"""Viscous friction [N m s/rad]. Shape (23,)."""

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
