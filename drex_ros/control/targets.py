# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What arm and hand shall do next, as data. Everything is optional: None leaves it as it was."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from drex_ros.robot.description import BASE_LINK, PALM_LINK, WORLD_LINK
from drex_ros.robot.joints import Array

BASE_FRAMES = ('', BASE_LINK, WORLD_LINK)
"""Names of the arm's base frame."""
FRAMES = (*BASE_FRAMES, PALM_LINK)
"""Frames that a pose or wrench of the palm may be given in."""


class TargetMode(IntEnum):
    """How a part of the robot is controlled (numbers as in drex_interfaces/ControllerTarget)."""

    KEEP = 0
    JOINT_IMPEDANCE = 1
    CARTESIAN_IMPEDANCE = 2
    JOINT_EFFORT = 3
    HYBRID_FORCE = 4


@dataclass(frozen=True)
class Pose:
    """A place and an orientation."""

    position: Array
    """[m] Shape (3,)."""
    quaternion: Array
    """x y z w. Shape (4,)."""


@dataclass(frozen=True)
class Payload:
    """What the hand carries."""

    mass: float
    """[kg]"""
    position: Array
    """Its centre of mass in the palm's frame [m]. Shape (3,)."""


@dataclass(frozen=True)
class FingerForce:
    """What one finger shall press with."""

    finger: int
    """0 index, 1 middle, 2 ring, 3 thumb."""
    frame: str
    """Of force and axes: '' or palm_link, panda_link0, or grip (see FingertipTarget.msg)."""
    force: Array
    """Of the fingertip on the object [N]. Shape (3,)."""
    axes: tuple[bool, bool, bool]
    """Which axes of the frame are force-controlled."""


@dataclass(frozen=True)
class ArmTarget:
    """What the arm shall do."""

    mode: int = TargetMode.KEEP
    position: Array | None = None
    """Joint positions, or the posture that Cartesian impedance prefers [rad]. Shape (7,)."""
    stiffness: Array | None = None
    """Of the joints, or of that posture [N m/rad]. Shape (7,)."""
    effort: Array | None = None
    """Joint torques [N m]. Shape (7,)."""
    frame: str = ''
    """Of pose, wrench and the Cartesian axes: one of FRAMES."""
    pose: Pose | None = None
    """Of the palm."""
    cartesian_stiffness: Array | None = None
    """x y z [N/m], then about x y z [N m/rad]. Shape (6,)."""
    cartesian_damping: Array | None = None
    """x y z [N s/m], then about x y z [N m s/rad]. Shape (6,)."""
    wrench: Array | None = None
    """Of the palm on the world, on top of the springs [N, N m]. Shape (6,)."""
    damping_ratio: float | None = None


@dataclass(frozen=True)
class HandTarget:
    """What the hand shall do."""

    mode: int = TargetMode.KEEP
    position: Array | None = None
    """[rad] Shape (16,)."""
    stiffness: Array | None = None
    """[N m/rad] Shape (16,)."""
    effort: Array | None = None
    """Joint torques [N m]. Shape (16,)."""
    fingertips: tuple[FingerForce, ...] = ()
    """Counts with HYBRID_FORCE; a finger that is not in it presses with nothing."""
    damping_ratio: float | None = None


@dataclass(frozen=True)
class Target:
    """A partial update of what the robot shall do."""

    source: str = ''
    """Who asks."""
    time: float | None = None
    """When it was decided [s], on the robot's clock; None: now."""
    timeout: float = 0.0
    """It counts for so long after its arrival [s]; 0: until the next."""
    arm: ArmTarget = ArmTarget()
    hand: HandTarget = HandTarget()
    payload: Payload | None = None
    finger_force_limit: float | None = None
    """Largest force of any fingertip [N]."""
