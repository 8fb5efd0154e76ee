# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller of arm and hand: from each robot state one command, towards the last target.

It starts by holding the posture that it finds, moves by bounded steps only, and asks the
hardware to hold when it is stopped or the hardware is. A reflex of the robot stays until
recover().
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from drex_ros.control.joint_impedance import Impedance, joint_impedance, limit_effort
from drex_ros.control.set_point import MotionLimits, SetPoint, advance, approach, within
from drex_ros.control.targets import MAX_STIFFNESS, PartTarget, Target, target_refusal
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, LIMITS, N_ARM, N_HAND, N_JOINTS, Array, constant
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

_FIRST_PERIOD = 0.001  # [s] of the first cycle: the shortest any hardware has
_LONGEST_PERIOD = 0.02  # [s] that one cycle counts for at most when states were lost
_RAMP = 0.2  # [s] from no stiffness to the highest
_STANDS = 0.1  # [rad/s] slower than this a joint stands
_BEYOND = constant(N_ARM * (0.05,) + N_HAND * (0.25,))  # [rad] that a spring may begin ahead by
_LEAST_STIFFNESS = 0.1  # [N m/rad] that this is reckoned with
_JUMP = 0.05  # [rad] in one cycle, beyond what the joint's speed limit explains


class ControllerState(IntEnum):
    """What the controller does (numbers as in drex_interfaces/ControllerStatus)."""

    INACTIVE = 0
    HOLDING = 1
    TRACKING = 2
    STOPPED = 3


@dataclass(frozen=True)
class ControllerSettings:
    """What the controller starts with and how it moves."""

    impedance: Impedance
    motion: MotionLimits
    target_timeout: float = 0.5
    """Oldest target that is taken [s]."""
    source_timeout: float = 0.5
    """A second source is refused for so long after the first one's last target [s]."""


class Controller:
    """Joint impedance on all joints. Feed it states and targets from one thread."""

    def __init__(self, dynamics: Dynamics, settings: ControllerSettings) -> None:
        self._dynamics = dynamics
        self._settings = settings
        self.state = ControllerState.INACTIVE
        self.reason = ''
        self.source = ''
        self.targets_accepted = 0
        self.targets_refused = 0
        self.limits_applied = 0
        self._impedance = settings.impedance
        self._impedance_goal = settings.impedance
        self._robot: RobotState | None = None
        self._answer: RobotCommand | None = None
        self._goal = np.zeros(N_JOINTS)
        self._target_time = -np.inf
        self._recover_robot = False
        self.set_point = SetPoint.at_rest(self._goal)

    def update(self, robot: RobotState) -> RobotCommand:
        """The answer to one robot state; to a state that was seen before, the same again."""
        last, answer = self._robot, self._answer
        if last is None or (robot.sequence, robot.time) != (last.sequence, last.time):
            answer = None
        if answer is None:
            self._robot = robot
            self._answer = answer = self._react(robot, last)
        return answer

    def _react(self, robot: RobotState, last: RobotState | None) -> RobotCommand:
        period = _FIRST_PERIOD
        if last is None:
            self._rest_at(self._resting_point(robot))
            # A robot that stopped because nobody commanded it: now somebody does, and holds.
            self._recover_robot |= robot.mode is RobotMode.STOPPED
        elif robot.time <= last.time:
            self._rest_at(self._resting_point(robot))
            self.reason = 'the time of the robot went back: holding where it is now'
        else:
            period = min(max(robot.time - last.time, _FIRST_PERIOD), _LONGEST_PERIOD)
            if self._jumped(last, robot):
                self._rest_at(self._resting_point(robot))
                self.reason = 'the robot moved by a jump: holding where it is now'
        if self.state is ControllerState.STOPPED:
            return RobotCommand(robot.sequence, CommandMode.HOLD, np.zeros(N_JOINTS))
        if robot.mode in (RobotMode.STOPPED, RobotMode.REFLEX):
            self._rest_at(self._resting_point(robot))
            self.reason = f'the robot is stopped: {robot.reason}'
            mode = CommandMode.RECOVER if self._recover_robot else CommandMode.HOLD
            return RobotCommand(robot.sequence, mode, np.zeros(N_JOINTS))
        if self._recover_robot:
            self._recover_robot, self.reason = False, ''
        if robot.mode is not RobotMode.EFFORT:
            # The hardware held meanwhile: go on from where it is, without a jump.
            self.set_point = SetPoint.at_rest(self._resting_point(robot))
            period = _FIRST_PERIOD
        return RobotCommand(robot.sequence, CommandMode.EFFORT, self._effort(robot, period))

    def accept(self, target: Target) -> str:
        """Follow a target from now on. The reason when it is refused, empty when it is taken."""
        reason = self._refusal(target)
        if reason:
            self.targets_refused += 1
            self.reason = f'target of {target.source or "unnamed"!r} refused: {reason}'
            return self.reason
        assert self._robot is not None  # _refusal saw to it
        self.targets_accepted += 1
        self._target_time = self._robot.time
        self.source = target.source
        self.reason = ''
        self.state = ControllerState.TRACKING
        self._take(target.arm, ARM)
        self._take(target.hand, HAND)
        return ''

    def stop(self, reason: str) -> None:
        """Let the hardware hold, and refuse targets, until recover()."""
        self.state, self.reason, self.source = ControllerState.STOPPED, reason, ''

    def recover(self) -> None:
        """Leave the stop: hold the present posture and take targets again.

        A robot that stopped by itself is told to recover, too.
        """
        self.reason = ''
        self._recover_robot = True
        if self._robot is None:
            self.state = ControllerState.INACTIVE
        else:
            self._rest_at(self._resting_point(self._robot), force=True)

    def _effort(self, robot: RobotState, period: float) -> Array:
        self.set_point = advance(self.set_point, self._goal, self._settings.motion, period)
        wanted = self._impedance_goal
        step = MAX_STIFFNESS * (period / _RAMP)
        stiffness = approach(self._impedance.stiffness, wanted.stiffness, step)
        self._impedance = Impedance(stiffness, wanted.damping_ratio)
        feed_forward = self._dynamics.gravity(robot.position)
        feed_forward[ARM] = 0.0  # the arm compensates its own gravity
        inertia = self._dynamics.effective_inertia(robot.position)
        effort = joint_impedance(robot, self.set_point, self._impedance, inertia, feed_forward)
        limited = limit_effort(effort, robot.effort_commanded, LIMITS, period)
        self.limits_applied += limited.limited
        return limited.effort

    def _resting_point(self, robot: RobotState) -> Array:
        """Where the joints shall rest so that they go on carrying what they carry now.

        A joint that stands although it is driven presses on something or bears a load: its
        spring begins with the torque that it has.
        """
        load = robot.effort_commanded.copy()
        load[HAND] -= self._dynamics.gravity(robot.position)[HAND]
        beyond = load / np.maximum(self._impedance.stiffness, _LEAST_STIFFNESS)
        stands = np.abs(robot.velocity) < _STANDS
        return robot.position + np.where(stands, within(beyond, _BEYOND), 0.0)

    def _rest_at(self, position: Array, *, force: bool = False) -> None:
        self._goal = position.copy()
        self.set_point = SetPoint.at_rest(position)
        self.source = ''
        self._target_time = -np.inf
        if force or self.state is not ControllerState.STOPPED:
            self.state = ControllerState.HOLDING

    def _take(self, part: PartTarget, joints: slice) -> None:
        if part.position is not None:
            self._goal[joints] = part.position
        stiffness = self._impedance_goal.stiffness.copy()
        ratio = self._impedance_goal.damping_ratio.copy()
        if part.stiffness is not None:
            stiffness[joints] = part.stiffness
        if part.damping_ratio is not None:
            ratio[joints] = part.damping_ratio
        self._impedance_goal = Impedance(stiffness, ratio)

    def _refusal(self, target: Target) -> str:
        if self.state is ControllerState.STOPPED:
            return 'the controller is stopped: call controller/recover first'
        if self._robot is None:
            return 'no robot state yet'
        if self._robot.mode in (RobotMode.STOPPED, RobotMode.REFLEX):
            return f'the robot is stopped ({self._robot.reason}): call controller/recover first'
        now, timeout = self._robot.time, self._settings.target_timeout
        if target.time is not None and not abs(now - target.time) <= timeout:
            return (
                f'its stamp is {target.time:.3f} s, the time of the robot is {now:.3f} s: '
                f'more than {timeout:g} s apart (does the sender use the clock of the robot?)'
            )
        silence = now - self._target_time
        if target.source != self.source and silence < self._settings.source_timeout:
            return f'{self.source or "unnamed"!r} commands, its last target is {silence:.2f} s old'
        return target_refusal(target)

    @staticmethod
    def _jumped(last: RobotState, robot: RobotState) -> bool:
        reach = _JUMP + 1.5 * LIMITS.velocity * max(robot.time - last.time, 0.0)
        return bool((np.abs(robot.position - last.position) > reach).any())
