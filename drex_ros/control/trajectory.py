# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal, jerk-limited motions of the joints (Ruckig), in joint space or along a path.

A motion starts from any position, velocity and acceleration, so another one can take over from it
at any moment without a jump. Ruckig finds the motion; its cubic pieces are read out once, for a
compiled function evaluates them in 3 us, where Ruckig's lists of Python numbers take 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import ruckig

from drex_ros.control.trajectory_kernels import along, excess, integrate, pieces_at, spline
from drex_ros.robot.joints import ARM, HAND, LIMITS, N_ARM, N_HAND, N_JOINTS, Array, constant

TOP_SPEED = constant(0.65 * LIMITS.velocity)
"""Of set-points [rad/s]: less than the supervisor lets torques drive joints to. Shape (23,)."""
# Half of the arm's own limits [rad/s^2]: they take 55 % of its torque at most.
_ACCELERATION = constant((7.5, 3.75, 5.0, 6.25, 7.5, 10.0, 10.0) + N_HAND * (100.0,))
# Time from no acceleration to the greatest [s]. The jerk that the arm's maker allows would need
# torques that change by up to 47 kN m/s; with this it is half of the torque rate limit at most.
_RISE = constant(N_ARM * (0.1,) + N_HAND * (0.05,))

_PALM_SPEED = 1.7  # [m/s], the arm's limit
_PALM_TURN = 2.5  # [rad/s], the arm's limit
_PALM_RISE = 0.2  # [s] from rest to these at least


class Pace(NamedTuple):
    """How fast the joints may move [rad/s, rad/s^2, rad/s^3]. Arrays of shape (23,)."""

    velocity: Array
    acceleration: Array
    jerk: Array
    speed: float
    """Share of the limits that these are."""


class Motion(NamedTuple):
    """Where the joints are at one moment [rad, rad/s, rad/s^2]. Arrays of shape (23,)."""

    position: Array
    velocity: Array
    acceleration: Array


_REST = Motion(np.zeros(1), np.zeros(1), np.zeros(1))


class TrajectoryError(ValueError):
    """No motion can be made; the message is one readable line."""


def pace(speed: float) -> Pace:
    """The pace at a share of the limits, 0 < speed <= 1."""
    if not 0.0 < speed <= 1.0:
        raise TrajectoryError(f'speed is {speed:g}, must be over 0 and at most 1')
    acceleration = speed * _ACCELERATION
    return Pace(speed * TOP_SPEED, acceleration, acceleration / _RISE, float(speed))


class ArmPath:
    """A smooth curve of the arm's joints by a parameter from 0 to 1, through given postures.

    It is the natural cubic spline: its second derivative has no jumps, so neither has the
    acceleration of what moves along it.
    """

    def __init__(self, nodes: Array, length: float, angle: float) -> None:
        """Make the path.

        Args:
            nodes: postures of the arm at equal steps of the parameter [rad] (n, 7), n >= 2.
            length: of the palm's way [m].
            angle: of the palm's turn [rad].
        """
        self.nodes, self.length, self.angle = nodes, length, angle
        self.pieces = spline(nodes)
        self._limits: dict[float, Array] = {}

    def limits(self, of: Pace) -> Array:
        """Velocity, acceleration and jerk of the parameter that keep within a pace. Shape (3,).

        A motion at the limits that would suit a straight path is slowed down as a whole by the
        most that any joint on this one goes beyond its own.
        """
        if of.speed not in self._limits:
            self._limits[of.speed] = self._slowed(of)
        return self._limits[of.speed]

    def _slowed(self, of: Pace) -> Array:
        ends = self.pieces[:, 1] + 2.0 * self.pieces[:, 2] + 3.0 * self.pieces[:, 3]
        slopes = len(self.pieces) * np.abs(np.concatenate((self.pieces[:, 1], ends)))
        steep = np.maximum(slopes.max(axis=0), 1e-9)
        fastest = np.array([(limit[ARM] / steep).min() for limit in of[:3]])
        palm = min(_PALM_SPEED / max(self.length, 1e-9), _PALM_TURN / max(self.angle, 1e-9))
        fastest[0] = min(fastest[0], of.speed * palm)
        fastest[1] = min(fastest[1], of.speed * palm / _PALM_RISE)
        trial = _calculate(_REST, np.ones(1), *(limit.reshape(1) for limit in fastest))
        own = (limit[ARM] for limit in of[:3])
        slower = excess(self.pieces, _table(trial, _REST), trial.duration, fastest[2], *own)
        slower *= 1.005  # for what lies between the samples
        limits: Array = fastest / np.array((slower, slower**2, slower**3))
        return limits


class _Part(NamedTuple):
    """A piece of a motion: of all joints, or of the path's parameter and the hand."""

    table: Array
    path: ArmPath | None
    duration: float

    @classmethod
    def of(cls, profile: ruckig.Trajectory, start: Motion, path: ArmPath | None = None) -> _Part:
        return cls(_table(profile, start), path, float(profile.duration))


class Trajectory:
    """A motion of all joints that ends at rest."""

    def __init__(
        self, parts: Sequence[_Part], goal: Array, of: Pace, path: ArmPath | None = None
    ) -> None:
        """Put parts one after the other; goal [rad] (23,) is where the last one ends."""
        self._parts, self.goal, self.pace = tuple(parts), goal, of
        self.path = path
        """What the arm keeps to; None: straight in joint space."""
        self.duration = float(sum(part.duration for part in self._parts))  # [s]

    def at(self, time: float) -> Motion:
        """Where the joints are so long after the start [s]; before and after: at rest there."""
        if time >= self.duration:
            return Motion(self.goal.copy(), np.zeros(N_JOINTS), np.zeros(N_JOINTS))
        time = max(time, 0.0)
        for part in self._parts:
            if time < part.duration or part is self._parts[-1]:
                break
            time -= part.duration
        values = np.empty((3, N_JOINTS))
        if part.path is None:
            pieces_at(part.table, min(time, part.duration), values)
        else:
            along(part.table, part.path.pieces, min(time, part.duration), values)
        return Motion(values[0], values[1], values[2])


def joint_trajectory(start: Motion, goal: Array, of: Pace) -> Trajectory:
    """The fastest motion to a posture [rad] (23,), all joints arriving together.

    From rest every joint keeps to the straight line in joint space.
    """
    return Trajectory([_to_posture(start, goal, of)], np.array(goal), of)


def path_trajectory(start: Motion, path: ArmPath, hand: Array, of: Pace) -> Trajectory:
    """The arm goes along a path, the hand to its posture [rad] (16,) in the same time.

    A robot that is not at rest at the beginning of the path comes to rest there first.
    """
    begin = np.concatenate((path.nodes[0], start.position[HAND]))
    goal = np.concatenate((path.nodes[-1], hand))
    parts = []
    if np.any(start.velocity) or np.any(start.acceleration) or np.any(begin != start.position):
        parts.append(_to_posture(start, begin, of))
    top, rate, jerk = (
        np.append(limit, own[HAND]) for limit, own in zip(path.limits(of), of[:3], strict=True)
    )
    rest = Motion(np.append(0.0, begin[HAND]), np.zeros(1 + N_HAND), np.zeros(1 + N_HAND))
    profile = _calculate(rest, np.append(1.0, hand), top, rate, jerk)
    parts.append(_Part.of(profile, rest, path))
    return Trajectory(parts, goal, of, path)


def stop(start: Motion, of: Pace | None = None) -> Trajectory:
    """The fastest way to rest, all joints together; at full pace when none is given."""
    of = pace(1.0) if of is None else of
    profile = _calculate(start, None, *of[:3])
    position, _, _ = profile.at_time(profile.duration)
    return Trajectory([_Part.of(profile, start)], np.array(position), of)


def retime(trajectory: Trajectory, start: Motion) -> Trajectory:
    """The same way to the same goal at the same pace, from another start."""
    if trajectory.path is None:
        return joint_trajectory(start, trajectory.goal, trajectory.pace)
    return path_trajectory(start, trajectory.path, trajectory.goal[HAND], trajectory.pace)


def _to_posture(start: Motion, goal: Array, of: Pace) -> _Part:
    if np.any(start.velocity) or np.any(start.acceleration):
        return _Part.of(_calculate(start, goal, *of[:3]), start)
    # From rest as one motion of the share of the way: with unequal limits of the joints Ruckig
    # may leave the straight line (by 0.05 rad on a way of some rad).
    way = goal - start.position
    size = np.maximum(np.abs(way), 1e-12)
    limits = (np.array([(limit / size).min()]) for limit in of[:3])
    share = _Part.of(_calculate(_REST, np.ones(1), *limits), _REST)
    table = np.empty((len(way), *share.table.shape[1:]))
    table[:, :, 0] = share.table[0, :, 0]
    table[:, :, 1:] = way[:, None, None] * share.table[0, :, 1:]
    table[:, :, 1] += start.position[:, None]
    return _Part(table, None, share.duration if way.any() else 0.0)


def _calculate(
    start: Motion, goal: Array | None, top: Array, rate: Array, jerk: Array
) -> ruckig.Trajectory:
    """Ruckig's motion to a goal, or to rest anywhere."""
    count = len(top)
    problem = ruckig.InputParameter(count)
    problem.synchronization = ruckig.Synchronization.Phase  # by time where phase cannot be
    problem.current_position = start.position
    problem.current_velocity = start.velocity
    problem.current_acceleration = start.acceleration
    if goal is None:
        problem.control_interface = ruckig.ControlInterface.Velocity
    else:
        problem.target_position = goal
    problem.max_velocity, problem.max_acceleration, problem.max_jerk = top, rate, jerk
    result = ruckig.Trajectory(count)
    try:
        status = ruckig.Ruckig(count).calculate(problem, result)
    except (ruckig.RuckigError, ValueError) as error:  # ValueError: a code that it has no name for
        raise TrajectoryError(f'no motion found: {" ".join(str(error).split())}') from None
    if status not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise TrajectoryError(f'no motion found: Ruckig says {status.name}')
    return result


def _table(profile: ruckig.Trajectory, start: Motion) -> Array:
    """Beginning, position, velocity, acceleration and jerk of the pieces. Shape (joints, 9, 5).

    Two pieces may bring a start beyond the limits back within them, seven go to the goal.
    """
    (joints,) = profile.profiles
    lengths, jerks = np.zeros((len(joints), 9)), np.zeros((len(joints), 9))
    lengths[:, 2:] = [joint.t for joint in joints]
    jerks[:, 2:] = [joint.j for joint in joints]
    for i, joint in enumerate(joints):
        if joint.brake.duration > 0.0:
            lengths[i, :2], jerks[i, :2] = joint.brake.t, joint.brake.j
    table = np.empty((len(joints), 9, 5))
    integrate(lengths, jerks, *start, table)
    return table
