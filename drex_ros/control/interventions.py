# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How often each safety rule acted, when it did so last, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """Every rule that can change a command, refuse a target or stop the robot."""

    NOT_FINITE = 'not_finite'
    """A torque of the law, or a reading of the robot, is no number."""
    JOINT_POSITION = 'joint_position'
    """A joint is kept from its stop."""
    JOINT_VELOCITY = 'joint_velocity'
    EFFORT = 'effort'
    EFFORT_RATE = 'effort_rate'
    FINGER_FORCE = 'finger_force'
    SET_POINT = 'set_point'
    """A set-point that ran ahead of the robot is kept near it."""
    WORKSPACE = 'workspace'
    SELF_COLLISION = 'self_collision'
    TABLE = 'table'
    STALE_STATE = 'stale_state'
    STALE_TARGET = 'stale_target'
    SECOND_SOURCE = 'second_source'
    BAD_TARGET = 'bad_target'
    """A target that cannot be followed."""
    JUMP = 'jump'
    """The robot, or its time, is suddenly elsewhere."""
    STOP = 'stop'
    """Stopped by controller/stop."""
    ROBOT = 'robot'
    """The robot stopped by itself."""


@dataclass
class Record:
    """What one rule did since the start."""

    count: int = 0
    time: float = 0.0
    """Of the robot's state when it acted last [s]."""
    reason: str = ''


class Interventions:
    """The records of all rules."""

    def __init__(self) -> None:
        self.records = {rule: Record() for rule in Rule}

    def note(self, rule: Rule, time: float, reason: str) -> str:
        """Count one act of a rule; returns the reason."""
        record = self.records[rule]
        record.count += 1
        record.time, record.reason = time, reason
        return reason
