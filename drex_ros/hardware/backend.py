# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a robot backend must do: the border between our code and a robot.

A backend answers every command with one of two things: it follows it, or it refuses it, counts
that and says why in the next state. A command that does not come in time is answered with hold,
never with the last torque for ever, and silence for longer with a stop. A stop stays until
recover(), or a command that asks for the same.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from drex_ros.closing import Closing
from drex_ros.robot.joints import JOINT_NAMES, N_JOINTS, JointLimits
from drex_ros.robot.state import CommandMode, RobotCommand, RobotState


class BackendError(RuntimeError):
    """The robot cannot be reached or set up; the message is one readable line."""


@dataclass(frozen=True)
class RobotInfo:
    """What a robot is; known before it is connected."""

    name: str
    joint_names: tuple[str, ...]
    limits: JointLimits
    control_rate: float
    """Commands per second [Hz]."""
    command_deadline: float
    """Longest time that one command counts [s]; then the robot holds."""


class Backend(Closing):
    """A robot with the joints of joints.JOINT_NAMES."""

    @abstractmethod
    def describe(self) -> RobotInfo:
        """What this robot is. Works before connect()."""

    @abstractmethod
    def connect(self) -> None:
        """Reach the robot; it holds its posture afterwards. Raises BackendError."""

    @abstractmethod
    def read(self) -> RobotState:
        """The present state."""

    @abstractmethod
    def write(self, command: RobotCommand) -> bool:
        """Follow a command until the next one. False: refused, the state says why."""

    @abstractmethod
    def hold(self, reason: str) -> None:
        """Hold the present posture until the next command."""

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Stop and hold; every command is refused until recover()."""

    @abstractmethod
    def recover(self) -> None:
        """Leave a stop or reflex; the robot holds until the next command."""

    def __enter__(self) -> Self:
        self.connect()
        return self


def refusal(command: RobotCommand, limits: JointLimits) -> str:
    """Why a robot with these limits cannot follow the command; empty when it can."""
    if command.mode is not CommandMode.EFFORT:
        return ''
    effort = command.effort
    if effort.shape != (N_JOINTS,):
        return f'effort has shape {effort.shape}, must be ({N_JOINTS},)'
    allowed = np.abs(effort) <= limits.effort  # false for NaN too
    if allowed.all():
        return ''
    joint = int(np.argmin(allowed))
    name, value = JOINT_NAMES[joint], effort[joint]
    if not np.isfinite(value):
        return f'effort of {name} is {value}, must be a number'
    return f'effort of {name} is {value:.4g} N m, its limit is {limits.effort[joint]:g} N m'
