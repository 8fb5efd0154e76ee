# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From each robot state one command: laws, estimators and safety in their order.

It starts by holding the posture that it finds and never jumps, whatever comes. It asks the
hardware to hold when it is stopped or the hardware is. What it is to do is told by its subclass,
the controller.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from drex_ros.control.arm_control import ArmControl
from drex_ros.control.authority import Authority
from drex_ros.control.estimation.estimator import Estimates, Estimator
from drex_ros.control.guard import LOOK_AHEAD, Findings, Guard, examine, speed_ahead
from drex_ros.control.hand_control import HandControl
from drex_ros.control.interventions import Interventions, Rule
from drex_ros.control.move import Move
from drex_ros.control.proximity import Proximity
from drex_ros.control.set_point import StreamClock
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.supervisor import Envelope, Supervisor, join_efforts
from drex_ros.control.targets import TargetMode
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, N_JOINTS, Array
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState
from drex_ros.robot.terms import Terms

_FIRST_PERIOD = 0.001  # [s] of the first cycle: the shortest any hardware has
_LONGEST_PERIOD = 0.02  # [s] that one cycle counts for at most when states were lost
_SLOW = 0.2  # [rad/s] at most, to take a robot over that holds by itself
_BLEND = 0.05  # [s] in which the difference of two laws fades when one follows the other
LATCHED = (RobotMode.STOPPED, RobotMode.REFLEX)
"""Modes that a robot leaves by recovery alone."""


class ControllerState(IntEnum):
    """What the controller does (numbers as in drex_interfaces/ControllerStatus)."""

    INACTIVE = 0
    HOLDING = 1
    TRACKING = 2
    STOPPED = 3
    MOVING = 4


class ControlLoop:
    """Hybrid impedance of arm and hand, cycle by cycle. To be fed from one thread."""

    def __init__(self, dynamics: Dynamics, settings: ControllerSettings) -> None:
        self._dynamics = dynamics
        self._settings = settings
        self.state = ControllerState.INACTIVE
        self.reason = ''
        self.targets_accepted = 0
        self.targets_refused = 0
        self.limits_applied = 0
        self.interventions = Interventions()
        self.arm = ArmControl(dynamics, settings.arm)
        self.hand = HandControl(settings.hand)
        self.move: Move | None = None
        self.finger_force_limit = settings.finger_force
        self.estimator = Estimator(settings.estimator)
        self.estimates: Estimates | None = None
        self.terms: Terms | None = None
        self.bounds = settings.bounds
        self.proximity = Proximity(
            dynamics,
            hand=settings.hand_side,
            table_height=settings.table_height,
            margins=settings.margins,
        )
        self._guard = Guard(self.proximity, self.bounds)
        ends = self.bounds.lower, self.bounds.upper
        envelope = Envelope.of_robot(settings.effort_share, *ends)
        self._supervisor = Supervisor(envelope, self.interventions)
        self._authority = Authority(settings.source_timeout)
        self._stream = StreamClock()
        self._robot: RobotState | None = None
        self._answer: RobotCommand | None = None
        self._recover_robot = False
        self._blend = np.zeros(N_JOINTS)
        self._blends = False
        self._brakes = False
        self._told = np.zeros(N_JOINTS)
        self._cycle = 0

    @property
    def source(self) -> str:
        """Whose target is followed; empty: nobody's."""
        return self._authority.source

    @property
    def stopped(self) -> bool:
        """Whether it lets the hardware hold until it is recovered."""
        return self.state is ControllerState.STOPPED

    @property
    def target_position(self) -> Array:
        """Set-point of all joints [rad]. Shape (23,)."""
        return np.concatenate((self.arm.joints.position, self.hand.joints.position))

    def target_pose(self) -> tuple[Array, Array]:
        """Set-point of the palm: position [m], shape (3,), and rotation, shape (3, 3)."""
        if self.arm.mode is TargetMode.CARTESIAN_IMPEDANCE:
            return self.arm.palm.position, self.arm.palm.rotation
        return self._dynamics.palm_pose(self.arm.joints.position)

    def palm_position_at(self, posture: Array) -> Array:
        """Where the palm is at a posture [rad], in the base frame [m]. Shape (3,)."""
        return self._dynamics.palm_pose(posture)[0]

    # The loop

    def update(self, robot: RobotState, *, age: float = 0.0) -> RobotCommand:
        """The answer to one robot state; to a state that was seen before, the same again.

        Args:
            robot: the state.
            age: how old it is on the clock of the caller [s]; 0 when that cannot be told.
        """
        last, answer = self._robot, self._answer
        if last is None or (robot.sequence, robot.time) != (last.sequence, last.time):
            answer = None
        if answer is None:
            self._answer = answer = self._react(robot, last, age)
        return answer

    def _react(self, robot: RobotState, last: RobotState | None, age: float) -> RobotCommand:
        found = examine(robot, last)
        if not found.finite:
            self._stop(Rule.NOT_FINITE, robot.time, 'the robot state holds a value that is none')
            return _hold(robot)
        self._robot = robot
        self.terms = terms = self._dynamics.terms(robot.position, robot.velocity)
        period = self._notice(robot, last, age, found)
        self.estimates = self.estimator.update(
            robot,
            terms,
            period,
            dithered=self._settings.arm.friction_compensation > 0.0,
            moving_target=self.hand.joints.moves,
        )
        if self.stopped:
            return _hold(robot)
        if robot.mode in LATCHED:
            return self._wait_for_robot(robot)
        if self._recover_robot:
            self._recover_robot, self.reason = False, ''
        if robot.mode is not RobotMode.EFFORT:
            if np.abs(robot.velocity[ARM]).max() > _SLOW:
                return _hold(robot)  # it brakes; a spring at this speed would swing
            # The hardware held meanwhile: go on from where it is, without a jump.
            if self.move is not None:
                self._end_move('the robot held by itself')
            self.arm.resume(robot, terms)
            self.hand.resume(robot, terms)
            self._told = robot.effort_commanded.copy()
            period = _FIRST_PERIOD
        if fast := found.too_fast(robot.velocity):
            self._stop(Rule.JOINT_VELOCITY, robot.time, fast)
        self._keep_deadline(robot, terms)
        if self.stopped:
            return _hold(robot)
        self._advance(robot, terms, period)
        if self._cycle % self._settings.guard_cycles == 0:
            self._look_ahead(robot, terms)
        self._cycle += 1
        if self.stopped:
            return _hold(robot)
        effort = self._effort(robot, terms, period)
        if effort is None:
            return _hold(robot)
        return RobotCommand(robot.sequence, CommandMode.EFFORT, effort)

    def _notice(
        self, robot: RobotState, last: RobotState | None, age: float, found: Findings
    ) -> float:
        """See what happened since the last state; the time that counts as passed [s]."""
        if last is None:
            self._rest(robot)
            # A robot that stopped because nobody commanded it: now somebody does, and holds.
            self._recover_robot |= robot.mode is RobotMode.STOPPED
            return _FIRST_PERIOD
        elapsed = robot.time - last.time
        if elapsed <= 0.0:
            self._jump(robot, 'the time of the robot went back: holding where it is now')
            return _FIRST_PERIOD
        if found.jumped:
            self._jump(robot, 'the robot moved by a jump: holding where it is now')
        limit = self._settings.state_timeout
        if elapsed > limit:
            self._stop(Rule.STALE_STATE, robot.time, f'no robot state for {elapsed:.2f} s')
        elif age > limit:
            self._stop(Rule.STALE_STATE, robot.time, f'the robot state is {age:.2f} s old')
        return min(max(elapsed, _FIRST_PERIOD), _LONGEST_PERIOD)

    def _wait_for_robot(self, robot: RobotState) -> RobotCommand:
        reason = f'the robot is stopped: {robot.reason}'
        if self.reason != reason:
            self.interventions.note(Rule.ROBOT, robot.time, reason)
            self.arm.payload.drop()
        self._rest(robot, reason)
        return _hold(robot, CommandMode.RECOVER if self._recover_robot else CommandMode.HOLD)

    def _keep_deadline(self, robot: RobotState, terms: Terms) -> None:
        """Hold when the last target no longer counts; stop when no other came."""
        deadline = min(self._authority.deadline, self.arm.deadline, self.hand.deadline)
        overdue = robot.time - deadline
        if overdue <= 0.0 or self.move is not None:
            return
        source = self.source or 'unnamed'
        if self.state is ControllerState.TRACKING:
            reason = f'the target of {source!r} has expired: holding'
            self.reason = self.interventions.note(Rule.STALE_TARGET, robot.time, reason)
            self.state = ControllerState.HOLDING
            self._blends = True
            self.arm.stop()
            self.hand.stop()
            if self.arm.mode is TargetMode.JOINT_EFFORT:
                self.arm.rest(robot)
            if self.hand.mode is TargetMode.JOINT_EFFORT:
                self.hand.rest(robot, terms)
            self._authority.expire(robot.time)
        elif overdue > self._settings.stop_after:
            reason = f'no target of {source!r} for {overdue:.2f} s after its last expired'
            self._stop(Rule.STALE_TARGET, robot.time, reason)

    def _advance(self, robot: RobotState, terms: Terms, period: float) -> None:
        move = self.move
        if move is None:
            near = self.arm.advance(robot, terms, period)
            near |= self.hand.advance(robot, period)
        else:
            position, velocity, acceleration = move.advance(robot.time)
            self.arm.lead(position[ARM], velocity[ARM], acceleration[ARM], terms)
            self.hand.lead(position[HAND], velocity[HAND], acceleration[HAND])
            near = self.arm.keep_near(robot, terms)
            if near:
                self._end_move('blocked: the arm does not follow')
            self._authority.take(move.source, robot.time, 0.0)
            move.judge(robot.position)
            if move.over:
                self.move = None
                self.state = ControllerState.HOLDING
                self._authority.release()
        if near:
            record = self.interventions.records[Rule.SET_POINT]
            record.count += 1
            record.time = robot.time
            record.reason = 'the robot does not follow: its set-point waits'

    def _look_ahead(self, robot: RobotState, terms: Terms) -> None:
        ahead = None
        if self.move is not None:
            # The way was checked as a whole: straight on it would not go.
            ahead = robot.position + self.move.step(LOOK_AHEAD)
        external = self.estimator.estimates.external_torque
        velocity = speed_ahead(robot.velocity, self._told, external, terms)
        verdict = self._guard.check(robot.position, velocity, terms, ahead)
        if verdict is None:
            return
        if verdict.stop:
            self._stop(verdict.rule, robot.time, verdict.reason)
            return
        if self.state is ControllerState.HOLDING and self.arm.moves:
            return  # it brakes already
        self.interventions.note(verdict.rule, robot.time, verdict.reason)
        self._rest(robot, f'{verdict.reason}: holding')
        self._brakes = True  # what drove the arm there must not go on

    def _effort(self, robot: RobotState, terms: Terms, period: float) -> Array | None:
        effort = np.empty(N_JOINTS)
        finite, cut = join_efforts(
            self.arm.effort(robot, terms, period),
            self.hand.effort(robot, terms, period),
            *(self._blend, self._blends, math.exp(-period / _BLEND), robot.effort_commanded),
            *(terms.numbers, self.finger_force_limit, effort),
        )
        self._blends = False
        if self._brakes:
            effort[ARM] -= self._blend[ARM]
            self._blend[ARM] = 0.0
            self._brakes = False
        if not finite:
            self._stop(Rule.NOT_FINITE, robot.time, 'the law gave a torque that is no number')
            return None
        if cut:
            record = self.interventions.records[Rule.FINGER_FORCE]
            record.count += 1
            record.time = robot.time
            record.reason = f'a fingertip was kept to {self.finger_force_limit:.3g} N'
        self._told, changed = self._supervisor.limit(
            *(effort, robot.effort_commanded, self._told, robot.position, robot.velocity, terms),
            *(period, robot.time),
        )
        self.limits_applied += changed or cut
        return self._told

    # Inside

    def _rest(self, robot: RobotState, reason: str = '') -> None:
        """Hold what is found; nobody commands any more."""
        assert self.terms is not None  # of this robot state
        self.arm.rest(robot)
        self.hand.rest(robot, self.terms)
        self._blends = True
        self._authority.release()
        self._stream.forget()
        if self.move is not None:
            self.move.fail(reason or 'the robot is held')
            self.move = None
        self.reason = reason
        if self.state is not ControllerState.STOPPED:
            self.state = ControllerState.HOLDING

    def _jump(self, robot: RobotState, reason: str) -> None:
        self.interventions.note(Rule.JUMP, robot.time, reason)
        self.estimator.reset()
        self.arm.payload.drop()
        self._rest(robot, reason)

    def _stop(self, rule: Rule, time: float, reason: str) -> None:
        if self.state is not ControllerState.STOPPED or rule is Rule.STOP:
            self.reason = self.interventions.note(rule, time, reason)
        self.state = ControllerState.STOPPED
        self.arm.payload.drop()
        self._authority.release()
        self._answer = None
        if self.move is not None:
            self.move.fail(reason)
            self.move = None

    def _end_move(self, reason: str) -> None:
        """The set-points come to rest; whoever moved them no longer commands."""
        assert self.move is not None
        self.move.fail(reason)
        self.move = None
        self._authority.release()
        self.arm.stop()
        self.hand.stop()


def _hold(robot: RobotState, mode: CommandMode = CommandMode.HOLD) -> RobotCommand:
    return RobotCommand(robot.sequence, mode, np.zeros(N_JOINTS))
