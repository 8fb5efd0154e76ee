# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Hybrid law of the hand: springs in the joints, and fingertips that press as they are told.

    tau = g + P (K (q_d - q) + D v_d) - D v + J^T (f - b S J v) + F s

g: weight of the fingers; K, D: joint stiffness and damping; J: Jacobian of the fingertip; f: its
force on the object; S: selects the force-controlled axes; b: damping that bounds the speed at
which a finger closes that touches nothing; F s: joint friction (drex_ros/control/finger_friction).
P takes out of the springs what they would press with along the force-controlled axes:

    P tau = tau - J^T S h,    h = (J M^-1 J^T)^-1 J M^-1 tau

h is the force of the springs at the fingertip, M the finger's inertia. Taking out forces, not
accelerations, keeps the pressing force exact at rest whether the fingertip sticks or slides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from drex_ros.control.finger_friction import FrictionMemory, compensate_friction, friction_memory
from drex_ros.control.matrices import cholesky, cholesky_solve, solve_lower
from drex_ros.control.targets import FingerForce
from drex_ros.kernel import kernel
from drex_ros.robot.description import BASE_LINK, PALM_LINK
from drex_ros.robot.joints import HAND, JOINT_FRICTION, LIMITS, N_HAND, Array, constant
from drex_ros.robot.terms import N_FINGERS, Terms

_NONE, _PALM, _BASE, _GRIP = range(4)
_FRAMES = {'': _PALM, PALM_LINK: _PALM, BASE_LINK: _BASE, 'grip': _GRIP}
_DAMPING_FLOOR = 0.02  # [N m s/rad], for joints with a weak spring or none
_CLOSING_SPEED = 0.1  # [m/s] of a fingertip that presses on nothing
_BRAKE = 150.0  # [1/s] b by the fingertip's own mass: more is unsteady with the robot's delays
_SINGULAR = 0.1  # [1/kg] a fingertip that no joint can move counts as 10 kg, not infinite
_HEADROOM = 0.85  # share of a joint's greatest torque that pressing may take
_MOST_EFFORT = constant(_HEADROOM * LIMITS.effort[HAND])
_FRICTION = constant(JOINT_FRICTION[HAND])
_LEVER = 5e-3  # [m] that a straight finger counts as having along itself, not none
_LEAST_DISTANCE = 1e-3  # [m] from the middle of the grip, below which there is no direction


class Press(NamedTuple):
    """What the fingertips shall press with, index, middle, ring, thumb, each in its own frame."""

    frame: npt.NDArray[np.int64]
    """Number of the frame; 0: presses with nothing. Shape (4,)."""
    force: Array
    """On the object [N]. Shape (4, 3)."""
    axes: npt.NDArray[np.bool_]
    """Force-controlled axes. Shape (4, 3)."""


class TipForces(NamedTuple):
    """The same in world axes, with the forces of a grip in balance."""

    force: Array
    """On the object, only along force-controlled axes [N]. Shape (4, 3)."""
    axes: Array
    """Unit vectors in rows, by finger. Shape (4, 3, 3)."""
    selected: npt.NDArray[np.bool_]
    """Force-controlled axes. Shape (4, 3)."""
    scale: Array
    """Share of the force that the joints can give. Shape (4,)."""


class HandMemory(NamedTuple):
    """What the law keeps from cycle to cycle. Written by hand_effort()."""

    friction: FrictionMemory
    tips: TipForces
    """What was last pressed with, before scale."""


def press(fingertips: Iterable[FingerForce]) -> Press:
    """Forces as arrays; of two for one finger the last counts. Raises ValueError for a frame."""
    result = Press(
        np.zeros(N_FINGERS, np.int64),
        np.zeros((N_FINGERS, 3)),
        np.zeros((N_FINGERS, 3), np.bool_),
    )
    for each in fingertips:
        if each.frame not in _FRAMES:
            names = ', '.join(map(repr, _FRAMES))
            raise ValueError(f'frame of a fingertip is {each.frame!r}, must be one of: {names}')
        result.frame[each.finger] = _FRAMES[each.frame]
        result.force[each.finger] = each.force
        result.axes[each.finger] = each.axes
    return result


def hand_memory() -> HandMemory:
    """Of a hand at rest that presses on nothing."""
    tips = TipForces(
        np.zeros((N_FINGERS, 3)),
        np.zeros((N_FINGERS, 3, 3)),
        np.zeros((N_FINGERS, 3), np.bool_),
        np.ones(N_FINGERS),
    )
    return HandMemory(friction_memory(), tips)


def hand_effort(
    terms: Terms,
    position: Array,
    velocity: Array,
    target: Array,
    target_velocity: Array,
    stiffness: Array,
    damping_ratio: Array,
    pressing: Press,
    memory: HandMemory,
    period: float,
) -> Array:
    """Torques of the hand [N m], shape (16,), its weight included.

    Args:
        terms: of the whole robot, at this state.
        position: measured [rad], shape (16,), as all that follow.
        velocity: measured [rad/s].
        target: where the springs rest [rad].
        target_velocity: [rad/s]
        stiffness: [N m/rad], 0 or more.
        damping_ratio: of each spring; 1 is critical.
        pressing: what the fingertips shall press with.
        memory: of the last cycle; becomes that of this one.
        period: since the last cycle [s].
    """
    effort = np.empty(N_HAND)
    tips = memory.tips
    tip_forces(terms.tip_position, terms.palm_rotation, pressing, tips)
    _hand_effort(
        terms.mass, terms.gravity, terms.tip_jacobian,
        position, velocity, target, target_velocity, stiffness, damping_ratio,
        pressing.frame, tips, memory.friction, period, _FRICTION, _MOST_EFFORT, effort,
    )  # fmt: skip
    return effort


def limit_fingertip_force(terms: Terms, effort: Array, limit: float) -> tuple[Array, bool]:
    """Torques [N m] with which no fingertip presses with more than the limit [N].

    Args:
        terms: of the whole robot, at this state.
        effort: torques of the hand without its weight, shape (16,).
        limit: greatest force of a fingertip [N].

    Returns:
        The torques, those of a finger that is too strong made smaller in proportion, and whether
        there is such a finger.
    """
    result = effort.copy()
    return result, _limit_fingertip_force(terms.tip_jacobian, limit, result)


@kernel
def tip_forces(tip_position, palm_rotation, pressing, out):  # type: ignore[no-untyped-def]
    """Write what the fingertips shall press with, in world axes, to out (a TipForces).

    Forces s (c - p_i) towards the middle c of the tips p_i balance each other, and so do their
    moments. s is that of the strongest finger having the greatest force asked for.
    """
    middle = np.zeros(3)
    count = 0
    strongest = 0.0
    for i in range(4):
        if pressing.frame[i] == _GRIP and pressing.axes[i, 0]:
            count += 1
            middle += tip_position[i]
            if abs(pressing.force[i, 0]) > abs(strongest):
                strongest = pressing.force[i, 0]
    middle /= max(count, 1)
    farthest = 0.0
    for i in range(4):
        if pressing.frame[i] == _GRIP and pressing.axes[i, 0]:
            farthest = max(farthest, math.sqrt(((middle - tip_position[i]) ** 2).sum()))
    for i in range(4):
        frame = pressing.frame[i]
        axes = out.axes[i]
        usable = frame != _NONE
        along = 0.0
        if frame == _GRIP:
            distance = _grip_axes(middle - tip_position[i], palm_rotation, axes)
            usable = distance > _LEAST_DISTANCE
            along = strongest * distance / max(farthest, _LEAST_DISTANCE)
        else:
            for a in range(3):
                for k in range(3):
                    if frame == _PALM:
                        axes[a, k] = palm_rotation[k, a]
                    else:
                        axes[a, k] = 1.0 if a == k else 0.0
        out.force[i, :] = 0.0
        for a in range(3):
            out.selected[i, a] = usable and pressing.axes[i, a]
            if out.selected[i, a]:
                size = along if frame == _GRIP and a == 0 else pressing.force[i, a]
                for k in range(3):
                    out.force[i, k] += size * axes[a, k]


@kernel
def _grip_axes(inward, palm_rotation, axes):  # type: ignore[no-untyped-def]
    """Write the axes of a finger in the grip, z as near to the palm's x as can be; its radius."""
    distance = math.sqrt((inward**2).sum())
    x, y, z = axes[0], axes[1], axes[2]
    x[:] = inward / max(distance, 1e-12)
    y[:] = np.cross(palm_rotation[:, 0].copy(), x)
    length = math.sqrt((y**2).sum())
    if length < 0.1:
        y[:] = np.cross(palm_rotation[:, 1].copy(), x)
        length = math.sqrt((y**2).sum())
    y /= max(length, 1e-12)
    z[:] = np.cross(x, y)
    return distance


@kernel
def _hand_effort(  # type: ignore[no-untyped-def]
    mass, gravity, jacobians, position, velocity, target, target_velocity, stiffness, ratio,
    frame, tips, friction_memory, period, friction, most, effort,
):  # fmt: skip
    """The law: per finger its springs and its force, then as much of the forces as can be."""
    wanted = np.empty(16)  # torques of the forces
    brake = np.empty(16)
    speeds = np.zeros(4)  # of the fingertips along their forces
    weight = np.empty((3, 4))
    mobility = np.empty((3, 3))
    at_tip = np.empty(3)
    for i in range(4):
        jacobian = jacobians[i]
        first = 4 * i
        # M = L L^T; the rows of weight are L^-1 J^T, so that J M^-1 J^T is their product.
        lower = mass[7 + first : 11 + first, 7 + first : 11 + first].copy()
        cholesky(lower, lower)
        for a in range(4):
            j = first + a
            inertia = mass[7 + j, 7 + j]
            damping = max(2.0 * ratio[j] * math.sqrt(stiffness[j] * inertia), _DAMPING_FLOOR)
            effort[j] = stiffness[j] * (target[j] - position[j]) + damping * target_velocity[j]
            brake[j] = damping * velocity[j]
            wanted[j] = 0.0
        tips.scale[i] = 1.0
        if not tips.selected[i].any():
            continue
        solved = effort[first : first + 4].copy()
        solve_lower(lower, solved)
        for k in range(3):
            weight[k] = jacobian[k]
            solve_lower(lower, weight[k])
        for k in range(3):
            at_tip[k] = (weight[k] * solved).sum()
            for m in range(3):
                mobility[k, m] = (weight[k] * weight[m]).sum()
            mobility[k, k] += _SINGULAR
        size = math.sqrt((tips.force[i] ** 2).sum())
        through = mobility.copy()
        cholesky(through, through)
        cholesky_solve(through, at_tip)
        for axis in range(3):
            if not tips.selected[i, axis]:
                continue
            n = tips.axes[i, axis]
            springs = (n * at_tip).sum()
            light = 0.0  # 1 / mass of the fingertip along n
            for k in range(3):
                light += n[k] * (mobility[k] * n).sum()
            slow = min(size / _CLOSING_SPEED, _BRAKE / light)
            along = np.zeros(4)
            for k in range(3):
                along += n[k] * jacobian[k]
            speed = (along * velocity[first : first + 4]).sum()
            force = (n * tips.force[i]).sum()
            for a in range(4):
                effort[first + a] -= along[a] * springs
                brake[first + a] += along[a] * slow * speed
                wanted[first + a] += along[a] * force
            speeds[i] += speed * force / max(size, 1e-9)
    for j in range(16):
        effort[j] += gravity[7 + j]
    _fit(effort, wanted, frame, most, friction, tips.scale)
    for j in range(16):
        wanted[j] *= tips.scale[j // 4]
        effort[j] += wanted[j] - brake[j]
    for i in range(4):
        presses = tips.selected[i].any()
        compensate_friction(
            friction_memory, i, wanted, velocity, speeds[i],
            friction, most, presses, period, effort,
        )  # fmt: skip


@kernel
def _fit(base, wanted, frame, most, friction, scale):  # type: ignore[no-untyped-def]
    """Write the share of each finger's force that its joints can give; a grip has one for all."""
    grip = 1.0
    for j in range(16):
        i = j // 4
        if wanted[j] != 0.0:
            room = most[j] - friction[j] - math.copysign(1.0, wanted[j]) * base[j]
            scale[i] = min(scale[i], max(room, 0.0) / abs(wanted[j]))
        if frame[i] == _GRIP:
            grip = min(grip, scale[i])
    for i in range(4):
        if frame[i] == _GRIP:
            scale[i] = grip


@kernel
def _limit_fingertip_force(jacobians, limit, effort):  # type: ignore[no-untyped-def]
    """Make the torques of fingers that are too strong smaller; whether there is one."""
    limited = False
    square = np.empty((3, 3))
    force = np.empty(3)
    for i in range(4):
        jacobian = jacobians[i]
        torque = effort[4 * i : 4 * i + 4]
        # Least squares of J^T f = torque: J J^T f = J torque.
        for k in range(3):
            force[k] = (jacobian[k] * torque).sum()
            for m in range(3):
                square[k, m] = (jacobian[k] * jacobian[m]).sum()
            square[k, k] += _LEVER**2
        cholesky(square, square)
        cholesky_solve(square, force)
        size = math.sqrt((force**2).sum())
        if size > limit:
            torque *= limit / size
            limited = True
    return limited
