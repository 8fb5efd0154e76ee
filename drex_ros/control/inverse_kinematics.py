# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Postures of the arm that bring the palm to a pose.

Pinocchio has kinematics but no inverse; its own loop in Python (a Jacobian, a solve and an
integration) takes 40 us a step. Here a step is one compiled pass of 1.5 us, so that a search
from many starts takes milliseconds and can be cut into short slices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.collision_shapes import chain_of, next_frame
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, LIMITS, N_ARM, Array
from drex_ros.robot.matrices import cholesky, cholesky_solve, rotation_vector

INSIDE = 0.02
"""Postures that are found stay so far inside the joint limits [rad]."""
STARTS = 48
"""Postures that a search begins from, the given one first."""
ACCURACY = 1e-6
"""Of a posture that is found [m, rad]."""

_TURN = 0.3  # [m] that a turn of 1 rad counts as in the search
_STEPS = 60  # of one attempt
_LONGEST_STEP = 0.4  # [rad]
_SETTLING = 40  # steps towards the start's posture with the palm in place
_SAME = 0.1  # [rad] postures nearer than this are one


class Attempt(NamedTuple):
    """Where a search from one start ended."""

    arm: Array
    """[rad] Shape (7,)."""
    distance: float
    """Of the palm from its goal [m]."""
    angle: float
    """The same as a turn [rad]."""

    @property
    def found(self) -> bool:
        """Whether the palm is at its goal."""
        return max(self.distance, self.angle) <= ACCURACY


class ArmKinematics:
    """The palm's pose by the arm's joints, and back. Not for use by two threads at once."""

    def __init__(self, dynamics: Dynamics) -> None:
        """Prepare for a robot."""
        self._chain = chain_of(dynamics.model)
        self._lower, self._upper = LIMITS.lower[ARM] + INSIDE, LIMITS.upper[ARM] - INSIDE
        # Always the same ones, for a search must repeat bit by bit.
        random = np.random.default_rng(20)
        self._starts = random.uniform(self._lower, self._upper, (STARTS - 1, N_ARM))
        self._work = _work()

    def palm_pose(self, arm: Array) -> tuple[Array, Array]:
        """Position [m] (3,) and rotation (3, 3) of the palm at a posture of the arm [rad] (7,)."""
        _palm(self._chain, arm, self._work)
        return self._work.position.copy(), self._work.rotation.copy()

    def attempt(self, position: Array, rotation: Array, start: Array, wish: Array) -> Attempt:
        """One search from a start for the palm's pose, that keeps near a wished posture.

        Args:
            position: of the palm [m] (3,).
            rotation: of the palm (3, 3).
            start: posture of the arm that the search begins with [rad] (7,).
            wish: posture that the result shall be near to, as far as the pose leaves it free.
        """
        arm = np.minimum(np.maximum(start, self._lower), self._upper)
        distance, angle = _search(
            self._chain, position, rotation, arm, wish, self._lower, self._upper, self._work
        )
        return Attempt(arm, distance, angle)

    def track(self, position: Array, rotation: Array, start: Array) -> Attempt:
        """The same for a pose near that of the start, within the joint limits themselves."""
        arm = np.minimum(np.maximum(start, LIMITS.lower[ARM]), LIMITS.upper[ARM])
        distance, angle = _reach(
            self._chain, position, rotation, arm,
            LIMITS.lower[ARM], LIMITS.upper[ARM], self._work,
        )  # fmt: skip
        return Attempt(arm, distance, angle)

    def search(self, position: Array, rotation: Array, start: Array) -> Iterator[Attempt]:
        """Attempts for the palm's pose from one start after another, the given one first."""
        yield self.attempt(position, rotation, start, start)
        for other in self._starts:
            yield self.attempt(position, rotation, other, start)

    def solve(self, position: Array, rotation: Array, start: Array) -> Array | str:
        """The posture nearest to the start that brings the palm to a pose, or why there is none.

        Args:
            position: of the palm [m] (3,).
            rotation: of the palm (3, 3).
            start: posture of the arm [rad] (7,).
        """
        attempts = list(self.search(position, rotation, start))
        found = distinct(attempts, start)
        return found[0] if found else out_of_reach(attempts)


def distinct(attempts: list[Attempt], start: Array) -> list[Array]:
    """The different postures among attempts that succeeded, the nearest to the start first."""
    found: list[Array] = []
    for attempt in attempts:
        new = all(np.abs(attempt.arm - other).max() > _SAME for other in found)
        if attempt.found and new:
            found.append(attempt.arm)
    return sorted(found, key=lambda arm: float(np.abs(arm - start).max()))


def out_of_reach(attempts: list[Attempt]) -> str:
    """Why no attempt succeeded, in words."""
    best = min(attempts, key=lambda attempt: attempt.distance + _TURN * attempt.angle)
    short = f'{100.0 * best.distance:.3g} cm' if best.distance > 5e-5 else ''
    turned = f'{np.degrees(best.angle):.2g} deg' if best.angle > 5e-4 else ''
    rest = ' and '.join(filter(None, (short, turned)))
    if not rest:
        return 'out of reach: a joint would have to pass its limit for the last bit of the way'
    return f'out of reach: the palm comes within {rest} of it'


class _Work(NamedTuple):
    """Memory of the compiled functions."""

    position: Array
    rotation: Array
    rotations: Array
    """Of the frames of world and joints."""
    translations: Array
    jacobian: Array
    turn: Array
    error: Array
    normal: Array
    step: Array


def _work() -> _Work:
    frames = N_ARM + 1
    work = _Work(
        position=np.zeros(3),
        rotation=np.zeros((3, 3)),
        rotations=np.zeros((frames, 3, 3)),
        translations=np.zeros((frames, 3)),
        jacobian=np.zeros((6, N_ARM)),
        turn=np.zeros((3, 3)),
        error=np.zeros(6),
        normal=np.zeros((N_ARM, N_ARM)),
        step=np.zeros(N_ARM),
    )
    work.rotations[0] = np.eye(3)
    return work


@kernel
def _palm(chain, arm, work):  # type: ignore[no-untyped-def]
    """Fill in pose and Jacobian (linear, then angular velocity in world axes) of the palm."""
    n, j = arm.shape[0], work.jacobian
    rotation, translation = work.rotations, work.translations
    for k in range(n):
        next_frame(
            chain, k + 1, arm[k], rotation[k], translation[k], rotation[k + 1], translation[k + 1]
        )
    r, p = rotation[n], translation[n]
    m, d = chain.palm_rotation, chain.palm_translation
    for i in range(3):
        work.position[i] = p[i] + r[i, 0] * d[0] + r[i, 1] * d[1] + r[i, 2] * d[2]
        for k in range(3):
            work.rotation[i, k] = r[i, 0] * m[0, k] + r[i, 1] * m[1, k] + r[i, 2] * m[2, k]
    for k in range(n):
        r, p, axis = rotation[k + 1], translation[k + 1], chain.axis[k + 1]
        for i in range(3):
            j[3 + i, k] = r[i, 0] * axis[0] + r[i, 1] * axis[1] + r[i, 2] * axis[2]
        x, y, z = j[3, k], j[4, k], j[5, k]
        dx, dy = work.position[0] - p[0], work.position[1] - p[1]
        dz = work.position[2] - p[2]
        j[0, k], j[1, k], j[2, k] = y * dz - z * dy, z * dx - x * dz, x * dy - y * dx


@kernel
def _error(chain, position, rotation, arm, work):  # type: ignore[no-untyped-def]
    """Fill in palm, Jacobian and the way to the goal; returns distance [m] and angle [rad]."""
    _palm(chain, arm, work)
    e, r = work.error, work.rotation
    for i in range(3):
        e[i] = position[i] - work.position[i]
        a, b, c = rotation[i]
        for k in range(3):
            work.turn[i, k] = a * r[k, 0] + b * r[k, 1] + c * r[k, 2]
    rotation_vector(work.turn, e[3:])
    distance = np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    return distance, np.sqrt(e[3] * e[3] + e[4] * e[4] + e[5] * e[5])


@kernel
def _step(work, damping, wish, pull, arm, lower, upper):  # type: ignore[no-untyped-def]
    """Take one damped step to the goal; returns its greatest turn of a joint [rad].

    It solves (J' W J + (damping + pull) 1) step = J' W error + pull (wish - arm), where joints at
    a limit that would go beyond it stay.
    """
    n = arm.shape[0]
    j, e, free = work.jacobian, work.error, np.ones(n)
    for _ in range(3):
        for a in range(n):
            work.step[a] = pull * (wish[a] - arm[a])
            for i in range(6):
                weight = 1.0 if i < 3 else _TURN * _TURN
                work.step[a] += weight * j[i, a] * e[i]
            work.step[a] *= free[a]
            for b in range(a + 1):
                total = 0.0
                for i in range(6):
                    weight = 1.0 if i < 3 else _TURN * _TURN
                    total += weight * j[i, a] * j[i, b]
                work.normal[a, b] = total * free[a] * free[b]
            work.normal[a, a] += damping + pull
        cholesky(work.normal, work.normal)
        cholesky_solve(work.normal, work.step)
        stuck = False
        for a in range(n):
            beyond = (arm[a] <= lower[a] and work.step[a] < 0.0) or (
                arm[a] >= upper[a] and work.step[a] > 0.0
            )
            if beyond and free[a] > 0.0:
                free[a], stuck = 0.0, True
        if not stuck:
            break
    longest = 0.0
    for a in range(n):
        longest = max(longest, abs(work.step[a]))
    scale = min(1.0, _LONGEST_STEP / max(longest, 1e-12))
    for a in range(n):
        arm[a] = min(max(arm[a] + scale * work.step[a] * free[a], lower[a]), upper[a])
    return longest


@kernel
def _reach(chain, position, rotation, arm, lower, upper, work):  # type: ignore[no-untyped-def]
    """Levenberg-Marquardt to the pose, arm in place; returns the rest [m] and [rad].

    The damping is the error's own square (Sugihara 2011): robust far away, quadratic near by.
    """
    distance, angle = _error(chain, position, rotation, arm, work)
    for _ in range(_STEPS):
        if max(distance, angle) <= 0.1 * ACCURACY:
            break
        damping = 0.1 * (distance * distance + _TURN * _TURN * angle * angle) + 1e-10
        longest = _step(work, damping, arm, 0.0, arm, lower, upper)
        distance, angle = _error(chain, position, rotation, arm, work)
        if longest < 1e-9:
            break
    return distance, angle


@kernel
def _search(  # type: ignore[no-untyped-def]
    chain, position, rotation, arm, wish, lower, upper, work
):
    """Reach the pose, then move towards the wished posture with the palm in place."""
    distance, angle = _reach(chain, position, rotation, arm, lower, upper, work)
    if max(distance, angle) > ACCURACY:
        return distance, angle
    for _ in range(_SETTLING):
        before = arm.copy()
        _step(work, 0.0, wish, 1e-5, arm, lower, upper)
        _error(chain, position, rotation, arm, work)
        if np.abs(arm - before).max() < 1e-3:
            break
    return _reach(chain, position, rotation, arm, lower, upper, work)
