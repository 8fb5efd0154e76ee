# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Between our messages and the plain types of robot/ and control/."""

from __future__ import annotations

from builtin_interfaces.msg import Time  # type: ignore[import-untyped]
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from drex_interfaces import msg
from drex_ros.robot.description import BASE_LINK
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

NEWEST = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
"""States, commands and time: reliable, and only the newest counts."""

QUEUED = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE)
"""Where every message counts and some may wait."""

LATCHED = QoSProfile(
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Facts that a late listener must get too."""


def stamp(time: float) -> Time:
    """A time [s] as a stamp."""
    nanoseconds = round(time * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def seconds(time: Time) -> float:
    """A stamp as a time [s]."""
    return float(time.sec) + 1e-9 * float(time.nanosec)


def fill_state(message: msg.RobotState, state: RobotState) -> None:
    """Write a robot state into a message that is used again and again."""
    message.header.stamp = stamp(state.time)
    message.header.frame_id = BASE_LINK
    message.sequence = state.sequence
    message.mode = int(state.mode)
    message.reason = state.reason
    message.position = state.position
    message.velocity = state.velocity
    message.effort = state.effort
    message.effort_commanded = state.effort_commanded
    message.commands_refused = state.commands_refused
    message.commands_missed = state.commands_missed


def robot_state(message: msg.RobotState) -> RobotState:
    """The robot state of a message."""
    return RobotState(
        time=seconds(message.header.stamp),
        sequence=message.sequence,
        mode=RobotMode(message.mode),
        reason=message.reason,
        position=message.position,
        velocity=message.velocity,
        effort=message.effort,
        effort_commanded=message.effort_commanded,
        commands_refused=message.commands_refused,
        commands_missed=message.commands_missed,
    )


def fill_command(
    message: msg.RobotCommand, command: RobotCommand, answered: msg.RobotState
) -> None:
    """Write the command that answers a state into a message."""
    message.header = answered.header
    message.sequence = command.sequence
    message.mode = int(command.mode)
    message.effort = command.effort


def robot_command(message: msg.RobotCommand) -> RobotCommand:
    """The command of a message. Raises ValueError for a mode that there is not."""
    return RobotCommand(message.sequence, CommandMode(message.mode), message.effort)
