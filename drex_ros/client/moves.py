# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Goals of the action `move` as a script gives them, and what came of one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt
from geometry_msgs.msg import Pose

from drex_interfaces.action import Move
from drex_ros.client.checks import number, numbers, pose_message
from drex_ros.client.connection import DrexError
from drex_ros.robot.joints import N_ARM, N_HAND


@dataclass(frozen=True)
class MoveResult:
    """How a move that reached its goal ended."""

    position_error: float
    """Of the palm at the end [m]."""
    duration: float
    """Of the robot's time [s]."""


@dataclass(frozen=True)
class Goal:
    """Where to move; None: stays as it is."""

    arm: npt.ArrayLike | None = None
    hand: npt.ArrayLike | None = None
    position: npt.ArrayLike | None = None
    quaternion: npt.ArrayLike | None = None
    rotation: npt.ArrayLike | None = None
    frame: str = ''
    straight: bool = False
    speed: float | None = None

    @property
    def cartesian(self) -> bool:
        """Whether it is a pose of the palm."""
        return any(part is not None for part in (self.position, self.quaternion, self.rotation))

    def message(self, source: str, present: Pose | None) -> Move.Goal:
        """The goal as a message; present: pose of the palm. Raises DrexError."""
        goal = Move.Goal(source=source, straight=bool(self.straight))
        if self.speed is not None:
            goal.speed = number('speed', self.speed, least=0.01, most=1.0)
        if self.hand is not None:
            goal.hand_position = numbers('hand', self.hand, N_HAND)
        if self.arm is not None:
            if self.cartesian:
                raise DrexError('arm and a pose of the palm are both given: one says it all')
            goal.arm_position = numbers('arm', self.arm, N_ARM)
        if self.straight and not self.cartesian:
            raise DrexError('straight is for a pose of the palm: give position or quaternion')
        if self.frame and not self.cartesian:
            raise DrexError('frame is given, but no pose of the palm')
        if self.cartesian:
            goal.goal_type = Move.Goal.GOAL_CARTESIAN
            goal.arm_pose.header.frame_id = self.frame
            goal.arm_pose.pose = pose_message(
                self.position, self.quaternion, self.rotation, self.frame, present
            )
        elif self.arm is None and self.hand is None:
            raise DrexError('no goal: give arm, hand, or a pose of the palm')
        return goal
