# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What goes between a robot and its controller: one state, one command."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from drex_ros.robot.joints import Array


class RobotMode(IntEnum):
    """What the robot does at this moment (numbers as in drex_interfaces/RobotState)."""

    IDLE = 0
    """Connected, no command accepted yet; the hardware holds the posture by itself."""
    HOLD = 1
    """The hardware holds the posture by itself."""
    EFFORT = 2
    """The joints follow the commanded torques."""
    STOPPED = 3
    """Stopped on request or because commands stayed away: holds, and takes no command until
    recovered."""
    REFLEX = 4
    """Stopped by the hardware itself: holds, and takes no command until recovered."""


class CommandMode(IntEnum):
    """What a command asks for (numbers as in drex_interfaces/RobotCommand)."""

    HOLD = 0
    EFFORT = 1
    RECOVER = 2
    """Leave a stop or reflex and hold; the only one that a stopped robot takes."""


@dataclass(frozen=True)
class RobotState:
    """One reading of the robot. Arrays of shape (23,), in the order of joints.JOINT_NAMES."""

    time: float
    """Time of the reading [s], on the robot's clock."""
    sequence: int
    """Number of the reading; a command answers it by the same number."""
    mode: RobotMode
    reason: str
    """Why it holds or is stopped, in words; empty otherwise."""
    position: Array
    """[rad]"""
    velocity: Array
    """[rad/s]"""
    effort: Array
    """Torque that the motors give [N m], the arm's gravity compensation included."""
    effort_commanded: Array
    """Torque asked of the motors, by command or by hold [N m], without the arm's gravity
    compensation."""
    commands_refused: int = 0
    commands_missed: int = 0


@dataclass(frozen=True)
class RobotCommand:
    """One command to the robot."""

    sequence: int
    """Number of the state that it answers."""
    mode: CommandMode
    effort: Array
    """Torque [N m], shape (23,), on top of the arm's gravity compensation; only for EFFORT."""
