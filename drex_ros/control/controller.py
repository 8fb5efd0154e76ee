# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller of arm and hand: takes targets and moves, and answers each robot state.

It can be stepped by a node, or in a robot's own loop:

    while True:
        robot.write(controller.update(robot.read()))

A reflex of the robot stays until recover().
"""

from __future__ import annotations

import dataclasses

from drex_ros.control.interventions import Rule
from drex_ros.control.loop import LATCHED, ControllerState, ControlLoop
from drex_ros.control.move import Move
from drex_ros.control.target_checks import target_refusal
from drex_ros.control.targets import Target, TargetMode
from drex_ros.control.trajectory import Trajectory
from drex_ros.robot.joints import ARM, HAND


class Controller(ControlLoop):
    """Hybrid impedance of arm and hand. Feed it states and targets from one thread."""

    def accept(self, target: Target) -> str:
        """Follow a target from now on. The reason when it is refused, empty when it is taken."""
        rule, reason = self._refusal(target)
        if reason:
            return self.refuse(target.source, rule, reason)
        robot, terms = self._robot, self.terms
        assert robot is not None  # _refusal saw to it
        assert terms is not None
        if target.source != self.source:
            self._stream.forget()
        self.targets_accepted += 1
        self._authority.take(target.source, robot.time, target.timeout)
        self.reason = ''
        self.state = ControllerState.TRACKING
        duration = self._stream.tick(robot.time)
        self._blends |= self.arm.take(target.arm, robot, terms, duration)
        self._blends |= self.hand.take(target.hand, robot, terms, duration)
        if target.payload is not None:
            self.arm.carry(target.payload)
        if target.finger_force_limit is not None:
            self.finger_force_limit = target.finger_force_limit
            self.hand.cap_forces(self.finger_force_limit)
        return ''

    def refuse(self, source: str, rule: Rule, reason: str) -> str:
        """Do not follow a target of a source; returns what is said about it."""
        self.targets_refused += 1
        self.reason = f'target of {source or "unnamed"!r} refused: {reason}'
        return self.interventions.note(rule, self.time, self.reason)

    @property
    def time(self) -> float:
        """Of the last robot state [s]; 0 before the first."""
        return 0.0 if self._robot is None else self._robot.time

    def start_move(self, trajectory: Trajectory, source: str) -> str:
        """Follow a trajectory from the present set-point on; why not, or empty."""
        reason = self.move_refusal(source)
        if reason:
            return reason
        assert self._robot is not None
        if self.move is not None:
            self._end_move('another move took its place')
        self.move = Move(trajectory, source)
        self.state, self.reason = ControllerState.MOVING, ''
        self._blends = True
        self._authority.take(source, self._robot.time, 0.0)
        return ''

    def move_refusal(self, source: str) -> str:
        """Why a source cannot start a move now; empty when it can."""
        rule, reason = self._closed(source)
        if reason:
            self.interventions.note(rule, self.time, f'move of {source!r} refused: {reason}')
        return reason

    def cancel_move(self, reason: str) -> None:
        """Bring a move to a halt on its way."""
        if self.move is not None:
            self._end_move(reason)
            self.state = ControllerState.HOLDING

    def stop(self, reason: str) -> None:
        """Let the hardware hold, and refuse targets, until recover()."""
        self._stop(Rule.STOP, self.time, reason)

    def recover(self) -> None:
        """Leave the stop: hold the present posture and take targets again.

        A robot that stopped by itself is told to recover, too.
        """
        self._recover_robot = True
        if self._robot is None or self.terms is None:
            self.state, self.reason = ControllerState.INACTIVE, ''
        else:
            self.state = ControllerState.HOLDING
            self._rest(self._robot)

    # Inside

    def _refusal(self, target: Target) -> tuple[Rule, str]:
        rule, reason = self._closed(target.source)
        if reason:
            return rule, reason
        assert self._robot is not None
        now, timeout = self._robot.time, self._settings.target_timeout
        if target.time is not None and not abs(now - target.time) <= timeout:
            return Rule.STALE_TARGET, (
                f'its stamp is {target.time:.3f} s, the time of the robot is {now:.3f} s: '
                f'more than {timeout:g} s apart (does the sender use the clock of the robot?)'
            )
        reason = target_refusal(target, self.bounds) or self._force_refusal(target)
        if not reason and target.arm.mode == TargetMode.JOINT_IMPEDANCE:
            reason = self._collision(target)
        return Rule.BAD_TARGET, reason

    def _closed(self, source: str) -> tuple[Rule, str]:
        """Why nothing of this source can be followed now, and by which rule."""
        if self.state is ControllerState.STOPPED:
            return Rule.STOP, 'the controller is stopped: call controller/recover first'
        if self._robot is None:
            return Rule.STALE_STATE, 'no robot state yet'
        if self._robot.mode in LATCHED:
            text = f'the robot is stopped ({self._robot.reason}): call controller/recover first'
            return Rule.ROBOT, text
        return Rule.SECOND_SOURCE, self._authority.refusal(source, self._robot.time)

    def _force_refusal(self, target: Target) -> str:
        """Why its forces are more than the limit that was set before, or comes with it."""
        limit = target.finger_force_limit or self.finger_force_limit
        bounds = dataclasses.replace(self.bounds, finger_force=limit)
        return target_refusal(Target(hand=target.hand), bounds)

    def _collision(self, target: Target) -> str:
        if target.arm.position is None:
            return ''
        assert self._robot is not None
        goal = self.target_position
        goal[ARM] = target.arm.position
        if target.hand.position is not None:
            goal[HAND] = target.hand.position
        return self._guard.goal_refusal(goal, self._robot.position)


__all__ = ['Controller', 'ControllerState']
