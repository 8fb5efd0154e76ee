# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What arm and hand shall do next, and whether the controller can do it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from drex_ros.robot.joints import (
    ARM,
    ARM_JOINTS,
    HAND,
    HAND_JOINTS,
    LIMITS,
    Array,
    constant,
)

MAX_STIFFNESS = constant((1000, 1000, 1000, 1000, 500, 300, 200) + 16 * (10.0,))
"""Highest joint stiffness [N m/rad] that is steady at 500 Hz control. Shape (23,)."""

DAMPING_RATIO_RANGE = (0.1, 2.0)


class TargetMode(IntEnum):
    """How a part of the robot is controlled (numbers as in drex_interfaces/ControllerTarget)."""

    KEEP = 0
    JOINT_IMPEDANCE = 1
    CARTESIAN_IMPEDANCE = 2
    JOINT_EFFORT = 3
    HYBRID_FORCE = 4


@dataclass(frozen=True)
class PartTarget:
    """Joint impedance of one part, arm (7 joints) or hand (16). None: leave as it was."""

    mode: int = TargetMode.KEEP
    position: Array | None = None
    """[rad]"""
    stiffness: Array | None = None
    """[N m/rad]"""
    damping_ratio: float | None = None


@dataclass(frozen=True)
class Target:
    """A partial update of what the robot shall do."""

    source: str = ''
    """Who asks."""
    time: float | None = None
    """When it was decided [s], on the robot's clock; None: now."""
    arm: PartTarget = PartTarget()
    hand: PartTarget = PartTarget()
    unsupported: tuple[str, ...] = ()
    """What else was asked for, which this controller does not do."""


def target_refusal(target: Target) -> str:
    """Why the target cannot be followed, in words; empty when it can."""
    reason = _part_refusal('arm', target.arm, ARM, ARM_JOINTS) or _part_refusal(
        'hand', target.hand, HAND, HAND_JOINTS
    )
    if not reason and target.unsupported:
        return f'{", ".join(target.unsupported)} given, which is not supported: leave it empty'
    return reason


def _part_refusal(part: str, target: PartTarget, joints: slice, names: tuple[str, ...]) -> str:
    values = {'position': target.position, 'stiffness': target.stiffness}
    given = [f'{part}_{key}' for key, value in values.items() if value is not None]
    if target.damping_ratio is not None:
        given.append(f'{part}_damping_ratio')
    if target.mode == TargetMode.KEEP:
        if given:
            return f'{", ".join(given)} given with {part}_mode KEEP: use JOINT_IMPEDANCE'
        return ''
    if target.mode != TargetMode.JOINT_IMPEDANCE:
        return f'{part}_mode {_mode_name(target.mode)} is not supported: use JOINT_IMPEDANCE'
    ranges = {
        'position': (LIMITS.lower[joints], LIMITS.upper[joints], 'rad'),
        'stiffness': (np.zeros(len(names)), MAX_STIFFNESS[joints], 'N m/rad'),
    }
    for key, value in values.items():
        if value is not None:
            low, high, unit = ranges[key]
            reason = _range_refusal(f'{part}_{key}', value, low, high, names, unit)
            if reason:
                return reason
    ratio = target.damping_ratio
    low_ratio, high_ratio = DAMPING_RATIO_RANGE
    if ratio is not None and not low_ratio <= ratio <= high_ratio:
        return f'{part}_damping_ratio is {ratio:g}, must be in {low_ratio:g} .. {high_ratio:g}'
    return ''


def _range_refusal(
    field: str, value: Array, low: Array, high: Array, names: tuple[str, ...], unit: str
) -> str:
    if value.shape != (len(names),):
        return f'{field} has {value.size} values, must have {len(names)}'
    allowed = (value >= low) & (value <= high)  # false for NaN too
    if allowed.all():
        return ''
    i = int(np.argmin(allowed))
    return f'{field} of {names[i]} is {value[i]:.4g} {unit}, must be in {low[i]:g} .. {high[i]:g}'


def _mode_name(mode: int) -> str:
    try:
        return TargetMode(mode).name
    except ValueError:
        return str(mode)
