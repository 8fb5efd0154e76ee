# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Watches a running stack: whether any limit is passed, in robot/state and mock/ground_truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy

from drex_interfaces.msg import ControllerStatus, GroundTruth, RobotState
from drex_ros.nodes.conversions import seconds
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, JOINT_NAMES, LIMITS, Array

PERIOD = 0.002
"""Of one control cycle [s], by default."""
HAND_STEP = 0.1
"""Greatest change of a torque of the hand in one cycle [N m]."""
LOWER, UPPER = np.array((-0.2, -0.75, 0.0)), np.array((0.9, 0.75, 1.2))
"""Workspace of the palm, by default [m]."""

# Stops are springs in MuJoCo, as in life: what a finger sinks in at its full torque [rad].
_STOP_GIVES = np.where(np.arange(len(JOINT_NAMES)) < 7, 1e-3, 0.02)
# Velocities are differences of positions with steps; this much is noise [rad/s].
_VELOCITY_NOISE = 0.02
_ROUNDING = 1e-6
# How far the palm may be beyond its box when it comes to rest [m]: where it is turned back.
_BOX_SLACK = 0.01
_PALM_EVERY = 5  # states between two looks at the palm
_DEEP = QoSProfile(depth=2000, reliability=ReliabilityPolicy.RELIABLE)
_TABLE, _OBJECT, _FIXED = 'table', 'object', 'world'
_EFFORT, _REFLEX = RobotState.MODE_EFFORT, RobotState.MODE_REFLEX


class Limits:
    """Checks states and truth; what passed a limit is in `problems`."""

    def __init__(self, dynamics: Dynamics | None = None) -> None:
        self.problems: list[str] = []
        self.worst: dict[str, float] = {}
        """Greatest share of each limit that was used, 1: all of it; forces in N."""
        self.reflexes_expected = False
        self.pressed: list[tuple[float, Array]] = []
        """Time [s] and true force of each fingertip [N], shape (4,), since forget()."""
        self.states = 0
        self.truths = 0
        self.last: RobotState | None = None
        self.truth: GroundTruth | None = None
        self._passed: set[str] = set()
        self._dynamics = dynamics or Dynamics()

    def see(self, state: RobotState) -> None:
        """Check one state."""
        last, self.last = self.last, state
        if last is not None and state.sequence == last.sequence:
            return  # shown again
        self.states += 1
        span = 0.5 * (LIMITS.upper - LIMITS.lower)
        middle = 0.5 * (LIMITS.upper + LIMITS.lower)
        beyond = np.abs(state.position - middle) - span
        self._check(state, 'position', beyond <= _STOP_GIVES, 1.0 + beyond / span)
        speed = np.abs(state.velocity) / LIMITS.velocity
        noise = _VELOCITY_NOISE / LIMITS.velocity
        self._check(state, 'velocity', speed <= 1.0 + noise, speed)
        effort = np.abs(state.effort_commanded) / LIMITS.effort
        self._check(state, 'effort', effort <= 1.0 + _ROUNDING, effort)
        if last is not None:
            self._check_step(last, state)
        if state.mode == _REFLEX and (last is None or last.mode != _REFLEX):
            self.worst['reflexes'] = self.worst.get('reflexes', 0.0) + 1.0
            if not self.reflexes_expected:
                self._fail(state, state.reason)
        if self.states % _PALM_EVERY == 0:
            self._check_palm(state)

    def _check_step(self, last: RobotState, state: RobotState) -> None:
        """The torque that is commanded changes by so much from cycle to cycle at most."""
        cycles = state.sequence - last.sequence
        if not (cycles >= 1 and state.mode == _EFFORT):
            return  # the robot's own hold is not the controller's
        change = np.abs(state.effort_commanded - last.effort_commanded)
        step = np.where(np.arange(23) < 7, LIMITS.effort_rate * PERIOD, HAND_STEP) * cycles
        self._check(state, 'effort_rate', change <= step * (1.0 + _ROUNDING), change / step)

    def _check_palm(self, state: RobotState) -> None:
        place = self._dynamics.palm_pose(state.position[ARM])[0]
        out = np.maximum(LOWER - place, place - UPPER)
        self._record('out of box [m]', float(out.max()), -np.inf)
        if out.max() > _BOX_SLACK:
            self._fail(state, f'the palm is {out.max():.3f} m out of its box')

    def see_truth(self, truth: GroundTruth) -> None:
        """Check what touches what."""
        self.truth = truth
        self.truths += 1
        for contact in truth.contacts:
            kind = contact_kind(contact.body1, contact.body2)
            if not kind:
                continue
            force = float(np.linalg.norm(vector(contact.force)))
            self._record(f'{kind} [N]', force)
            if kind != 'finger on table':
                time = seconds(truth.header.stamp)
                what = f'{contact.body1} touches {contact.body2} with {force:.2f} N'
                self._note(f'{kind}: {what} at {time:.3f} s')
        forces = np.zeros(4)
        for tip in truth.fingertips:
            forces[tip.finger] = np.linalg.norm(vector(tip.force))
        self._record('fingertip [N]', float(forces.max()))
        self.pressed.append((seconds(truth.header.stamp), forces))

    def _check(self, state: RobotState, what: str, fine: Array, share: Array) -> None:
        self._record(what, float(np.max(share)))
        if np.all(fine):
            self._passed.discard(what)
        elif what not in self._passed:  # one that goes on is one
            self._passed.add(what)
            j = int(np.argmin(fine))
            self._fail(state, f'{what} of {JOINT_NAMES[j]} is {share[j]:.4g} of its limit')

    def _record(self, what: str, value: float, least: float = 0.0) -> None:
        self.worst[what] = max(self.worst.get(what, least), value)

    def _fail(self, state: RobotState, what: str) -> None:
        self._note(f'{what} at {seconds(state.header.stamp):.3f} s')

    def _note(self, problem: str) -> None:
        if len(self.problems) < 100:
            self.problems.append(problem)


def contact_kind(body1: str, body2: str) -> str:
    """What kind of contact that is, empty: one that may be."""
    first, second = sorted((_part(body1), _part(body2)))
    if 'object' in (first, second) or first == second == 'finger':
        return ''
    if (first, second) == ('finger', 'table'):
        return 'finger on table'
    if (first, second) in (('finger', 'palm'), ('palm', 'palm')):
        return ''  # a hand may close
    if second == 'table' or 'table' in (first, second):
        return 'robot on table'
    return 'self-collision'


def _part(body: str) -> str:
    if body in (_TABLE, _FIXED):
        return 'table'
    if body == _OBJECT:
        return 'object'
    if body.startswith('link_'):
        return 'finger'
    return 'palm' if body in ('palm_link', 'mount_link') else 'arm'


def vector(message: Any) -> Array:
    """A vector or point of a message. Shape (3,)."""
    return np.array((message.x, message.y, message.z))


class SafetyWatch(Limits):
    """Listens to a running stack. Its node must not be spun: poll() takes what has come."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self.statuses: list[ControllerStatus] = []
        self.recent: list[RobotState] = []
        """Every state that came, in order."""
        self._before: dict[str, int] = {}
        self._subscriptions = [
            (node.create_subscription(kind, topic, _unused, _DEEP), take)
            for kind, topic, take in (
                (RobotState, 'robot/state', self._take_state),
                (GroundTruth, 'mock/ground_truth', self.see_truth),
                (ControllerStatus, 'controller/status', self.statuses.append),
            )
        ]

    def _take_state(self, state: RobotState) -> None:
        self.see(state)
        self.recent.append(state)

    def poll(self) -> int:
        """Take what has come; the number of messages."""
        count = 0
        for subscription, take in self._subscriptions:
            while True:
                with subscription.handle:
                    taken = subscription.handle.take_message(subscription.msg_type, False)
                if taken is None:
                    break
                take(taken[0])
                count += 1
        return count

    @property
    def status(self) -> ControllerStatus | None:
        """The last one."""
        return self.statuses[-1] if self.statuses else None

    @property
    def time(self) -> float:
        """Of the last state [s]."""
        return 0.0 if self.last is None else seconds(self.last.header.stamp)

    def forget(self) -> None:
        """Start anew, as before another robot."""
        self.last = None
        self.recent.clear()
        self.statuses.clear()
        self.pressed.clear()

    def count_from_here(self) -> None:
        """Let counted() tell what comes from now on."""
        self._before = {each.rule: each.count for each in self._records}

    def counted(self, rule: str) -> int:
        """How often a rule acted, by the last status."""
        count = {each.rule: int(each.count) for each in self._records}[rule]
        return count - self._before.get(rule, 0)

    @property
    def _records(self) -> list[Any]:
        return [] if self.status is None else list(self.status.interventions)


def _unused(message: Any) -> None:
    """Stand in for the callback that rclpy wants."""
