# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plans a motion to a goal of joints or of the palm, or says why there is none.

Planning is cut into slices of about the same small amount of work, so that it can run beside a
control loop: one slice a cycle. What a plan does depends on its inputs alone, never on the clock.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from drex_ros.control.inverse_kinematics import ArmKinematics, Attempt, distinct, out_of_reach
from drex_ros.control.proximity import Nearest, Proximity
from drex_ros.control.trajectory import (
    ArmPath,
    Motion,
    Pace,
    Trajectory,
    TrajectoryError,
    joint_trajectory,
    pace,
    path_trajectory,
    stop,
)
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, JOINT_NAMES, LIMITS, N_ARM, N_JOINTS, Array, constant
from drex_ros.robot.rotations import quaternion_from_vector, rotation_matrix

Planning = Generator[None, None, 'Trajectory | str']
"""Each next() does one slice; it returns the motion, or the reason why there is none."""

_POSTURES = 4  # of a pose that are tried at most
_CHECKS = 4  # postures on the way that are checked in one slice
_TRACKED = 4  # postures on a line that are found in one slice
_LINE_STEP = 0.005  # [m] between postures on a line
_LINE_TURN = 0.02  # [rad] the same for turns
_FLIP = 0.15  # [rad] of one joint between two postures on a line
_CHECK_TURN = 0.02  # [rad] of a joint between two checks
_MOST_CHECKS = 3000  # on one way: ten times what the longest one from rest takes
_HAND_SHARE = 0.2  # a turn of a finger's joint moves so much less than one of the arm's
_SOFT = 1e-3  # [m] that what touches already may be deeper for
_SWING = 2e-3  # [rad] over a joint limit that is not worth a word
_UNIT = 1e-2  # allowed error of a quaternion's length


@dataclass(frozen=True, eq=False)
class MoveGoal:
    """Where to go. The arm by its joints or by the palm's pose; None: leave as it is."""

    arm: Array | None = None
    """[rad] Shape (7,)."""
    palm_position: Array | None = None
    """In the world [m]. Shape (3,)."""
    palm_orientation: Array | None = None
    """In the world: quaternion x y z w (4,), or rotation (3, 3)."""
    straight: bool = False
    """The palm keeps to the straight line from where it is."""
    hand: Array | None = None
    """[rad] Shape (16,)."""
    speed: float = 0.3
    """Share of the limits, 0 < speed <= 1."""


class Workspace(NamedTuple):
    """The box that the palm stays in, by two corners in the world [m]. Shape (3,) each."""

    lower: Array = constant((-0.9, -0.9, 0.0))
    upper: Array = constant((0.9, 0.9, 1.3))


class _Refused(Exception):
    """Carries the reason out of the planning."""


class MovePlanner:
    """Plans motions of one robot, one plan at a time."""

    def __init__(
        self, dynamics: Dynamics, proximity: Proximity, workspace: Workspace | None = None
    ) -> None:
        """Prepare for a robot; without a workspace the palm may go where the arm reaches."""
        self._kinematics = ArmKinematics(dynamics)
        self._proximity = proximity
        self._workspace = Workspace() if workspace is None else workspace

    def plan(self, start: Motion, goal: MoveGoal) -> Planning:
        """Plan from where the set-point is (or will be) to a goal, one slice a next().

        Should the set-point move meanwhile, trajectory.retime() starts the result from there.
        """
        return (yield from _or_reason(self._plan(start, goal)))

    def _plan(self, start: Motion, goal: MoveGoal) -> Planning:
        of = pace(goal.speed)
        for name, values in zip(Motion._fields, start, strict=True):
            _check_numbers(f'start {name}', values, (N_JOINTS,))
        hand = start.position[HAND] if goal.hand is None else goal.hand
        if goal.hand is not None:
            _check_joints('hand', goal.hand, HAND)
        now = self._proximity.nearest(start.position)
        yield
        if goal.palm_position is None:
            if goal.straight or goal.palm_orientation is not None:
                raise _Refused('a straight line or an orientation needs a position of the palm')
            if goal.arm is not None:
                _check_joints('arm', goal.arm, ARM)
            arm = start.position[ARM] if goal.arm is None else goal.arm
            return (yield from self._to_posture(start, arm, hand, of, now))
        if goal.arm is not None:
            raise _Refused('both joints of the arm and a pose of the palm are given: give one')
        _check_numbers('palm position', goal.palm_position, (3,))
        rotation = _rotation(goal.palm_orientation)
        self._check_workspace(goal.palm_position, 'the goal')
        pose = (np.array(goal.palm_position, dtype=np.float64), rotation)
        if goal.straight:
            return (yield from self._straight(start, *pose, hand, of, now))
        return (yield from self._to_pose(start, *pose, hand, of, now))

    def _to_pose(
        self, start: Motion, position: Array, rotation: Array, hand: Array, of: Pace, now: Nearest
    ) -> Planning:
        """Try the posture found from the start, then the others that reach the pose."""
        arm = start.position[ARM]
        attempts: list[Attempt] = []
        tried: list[Array] = []
        reason = ''
        for attempt in self._kinematics.search(position, rotation, arm):
            attempts.append(attempt)
            yield
            if len(attempts) == 1 and attempt.found:
                tried.append(attempt.arm)
                result = yield from _or_reason(self._to_posture(start, attempt.arm, hand, of, now))
                if isinstance(result, Trajectory):
                    return result
                reason = result
        for other in distinct(attempts, arm)[:_POSTURES]:
            if not any(other is known for known in tried):
                result = yield from _or_reason(self._to_posture(start, other, hand, of, now))
                if isinstance(result, Trajectory):
                    return result
                reason = reason or result
        return reason or out_of_reach(attempts)

    def _to_posture(
        self, start: Motion, arm: Array, hand: Array, of: Pace, now: Nearest
    ) -> Planning:
        posture = np.concatenate((arm, hand))
        end = self._check_goal(posture, now)
        yield
        trajectory = joint_trajectory(start, posture, of)
        yield
        yield from self._check_way(trajectory, now, end)
        return trajectory

    def _straight(
        self, start: Motion, position: Array, rotation: Array, hand: Array, of: Pace, now: Nearest
    ) -> Planning:
        # A line begins at rest: from a motion, where its fastest stop ends.
        moving = np.any(start.velocity) or np.any(start.acceleration)
        begin = stop(start).goal if moving else start.position
        first, turned = self._kinematics.palm_pose(begin[ARM])
        turn = _turn_between(turned, rotation)
        length, angle = float(np.linalg.norm(position - first)), float(np.linalg.norm(turn))
        steps = max(4, int(np.ceil(max(length / _LINE_STEP, angle / _LINE_TURN))))
        nodes = np.empty((steps + 1, N_ARM))
        nodes[0] = begin[ARM]
        for i in range(1, steps + 1):
            share = i / steps
            there = rotation_matrix(quaternion_from_vector(share * turn)) @ turned
            attempt = self._kinematics.track(
                first + share * (position - first), there, nodes[i - 1]
            )
            _check_line(attempt, nodes[i - 1], share)
            nodes[i] = attempt.arm
            if i % _TRACKED == 0:
                yield
        end = self._check_goal(np.concatenate((nodes[-1], hand)), now)
        yield
        path = ArmPath(nodes, length, angle)
        path.limits(of)  # which the path remembers
        yield
        trajectory = path_trajectory(start, path, hand, of)
        yield
        yield from self._check_way(trajectory, now, end)
        return trajectory

    def _check_goal(self, posture: Array, now: Nearest) -> Nearest:
        self._check_workspace(self._palm(posture), 'the goal')
        end = self._proximity.nearest(posture)
        if end.distance < 0.0:
            raise _Refused(f'the goal is in collision: {end.words}')
        if end.clearance < min(0.0, now.clearance):
            raise _Refused(
                f'the goal is too near: {end.words}, must be {_mm(end.margin)} at least'
            )
        return end

    def _check_way(
        self, trajectory: Trajectory, now: Nearest, end: Nearest
    ) -> Generator[None, None, None]:
        """Refuse a motion that passes limits or comes too near to something on its way.

        What is too near at the start may move away, and must stay away once it is.
        """
        allowed = min(0.0, now.clearance) - _SOFT
        # Out of the box or over a joint limit at the start, it may come back in.
        begin = trajectory.at(0.0).position
        outside = max(0.0, self._outside(self._palm(begin))) + 1e-6
        time, count = 0.0, 0
        while time < trajectory.duration:
            motion = trajectory.at(time)
            where = f'at {100.0 * time / trajectory.duration:.0f} %'
            _check_swing(motion.position, begin, where)
            near = self._proximity.nearest(motion.position)
            if near.clearance < allowed:
                raise _Refused(_too_near(near, where))
            if near.clearance >= 0.0:
                allowed = min(0.0, end.clearance) - 1e-6
            palm = self._palm(motion.position)
            if self._outside(palm) > outside:
                self._check_workspace(palm, f'the way there {where}')
            time += _check_interval(motion, trajectory.pace)
            count += 1
            if count > _MOST_CHECKS:
                raise _Refused('the way there is too long: the robot moves too fast to plan for')
            if count % _CHECKS == 0:
                yield

    def _palm(self, posture: Array) -> Array:
        position, _ = self._kinematics.palm_pose(posture[ARM])
        return position

    def _outside(self, position: Array) -> float:
        """How far a place of the palm is out of the workspace [m]; negative inside."""
        lower, upper = self._workspace
        return float(np.maximum(lower - position, position - upper).max())

    def _check_workspace(self, position: Array, what: str) -> None:
        for axis, value, low, high in zip('xyz', position, *self._workspace, strict=True):
            if not low <= value <= high:
                raise _Refused(
                    f"{what} is outside of the workspace: the palm's {axis} is {value:.3f} m, "
                    f'must be in {low:g} .. {high:g}'
                )


def _or_reason(planning: Planning) -> Planning:
    """The same, with the reason as the result when it is refused."""
    try:
        return (yield from planning)
    except (_Refused, TrajectoryError) as refused:
        return str(refused)


def _check_interval(motion: Motion, of: Pace) -> float:
    """Time [s] in which no joint turns further than between two checks, speeding up or not."""
    speed = max(
        float(np.abs(motion.velocity[ARM]).max()),
        _HAND_SHARE * float(np.abs(motion.velocity[HAND]).max()),
    )
    rate = max(of.acceleration[0], _HAND_SHARE * of.acceleration[-1])
    return 2.0 * _CHECK_TURN / (speed + float(np.sqrt(speed**2 + 2.0 * rate * _CHECK_TURN)))


def _too_near(near: Nearest, where: str) -> str:
    if near.distance < 0.0:
        return f'the way there is in collision: {near.words} {where}'
    return f'the way there is too near: {near.words} {where}, must be {_mm(near.margin)} at least'


def _mm(length: float) -> str:
    return f'{1000.0 * length:.0f} mm'


def _check_line(attempt: Attempt, before: Array, share: float) -> None:
    where = f'at {100.0 * share:.0f} % of the straight line'
    if not attempt.found:
        low, high = LIMITS.lower[ARM], LIMITS.upper[ARM]
        at_limit = np.flatnonzero((attempt.arm <= low) | (attempt.arm >= high))
        stuck = [JOINT_NAMES[i] for i in at_limit]
        limit = f' ({", ".join(stuck)} at its limit)' if stuck else ''
        raise _Refused(f'{where}{limit} {out_of_reach([attempt])}')
    turn = np.abs(attempt.arm - before)
    if turn.max() > _FLIP:
        raise _Refused(f'{where} {JOINT_NAMES[int(turn.argmax())]} would have to flip')


def _check_swing(position: Array, begin: Array, where: str) -> None:
    """Refuse a motion that swings over a joint limit, farther than where it begins."""
    lower, upper = np.minimum(LIMITS.lower, begin), np.maximum(LIMITS.upper, begin)
    beyond = np.maximum(lower - position, position - upper)
    i = int(beyond.argmax())
    if beyond[i] > _SWING:
        raise _Refused(
            f'on the way there {JOINT_NAMES[i]} would swing to {position[i]:.4g} rad '
            f'{where}, must be in {LIMITS.lower[i]:g} .. {LIMITS.upper[i]:g}'
        )


def _check_joints(name: str, values: Array, joints: slice) -> None:
    names = JOINT_NAMES[joints]
    _check_numbers(name, values, (len(names),))
    for joint, value, low, high in zip(
        names, values, LIMITS.lower[joints], LIMITS.upper[joints], strict=True
    ):
        if not low <= value <= high:
            raise _Refused(f'{joint} is {value:.4g} rad, must be in {low:g} .. {high:g}')


def _check_numbers(name: str, values: Array, shape: tuple[int, ...]) -> None:
    if np.shape(values) != shape:
        raise _Refused(f'{name} has shape {np.shape(values)}, must have {shape}')
    if not np.isfinite(values).all():
        raise _Refused(f'{name} is {np.asarray(values).tolist()}, must be finite')


def _rotation(orientation: Array | None) -> Array:
    """Rotation (3, 3) of a quaternion x y z w, or itself."""
    if orientation is None:
        raise _Refused('a position of the palm needs an orientation too')
    values = np.asarray(orientation, dtype=np.float64)
    if values.shape == (3, 3):
        _check_numbers('palm orientation', values, (3, 3))
        if np.abs(values @ values.T - np.eye(3)).max() > _UNIT or np.linalg.det(values) < 0.0:
            raise _Refused('palm orientation is no rotation matrix')
        return values
    _check_numbers('palm orientation', values, (4,))
    size = float(np.linalg.norm(np.clip(values, -1e3, 1e3)))
    if abs(size - 1.0) > _UNIT:
        raise _Refused(f'palm orientation has length {size:.3g}, a quaternion must have 1')
    return rotation_matrix(values / size)


def _turn_between(first: Array, second: Array) -> Array:
    """The turn from a rotation to another, about fixed axes: direction and angle [rad] (3,)."""
    turn: Array = pin.log3(second @ first.T)
    return turn
