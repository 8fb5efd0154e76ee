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

from drex_ros.control.finger_friction import (
    FALL_ALONE,
    FALL_IN_GRIP,
    SETTLE,
    FrictionMemory,
    compensate_friction,
)
from drex_ros.control.targets import FingerForce
from drex_ros.kernel import kernel
from drex_ros.robot.description import BASE_LINK, PALM_LINK
from drex_ros.robot.joints import HAND, JOINT_FRICTION, LIMITS, N_HAND, Array, constant
from drex_ros.robot.matrices import add_cross, cholesky, cholesky_solve, dot, solve_lower
from drex_ros.robot.terms import N_FINGERS, Terms, split_terms

_NONE, _PALM, _BASE, _GRIP = range(4)
_FRAMES = {'': _PALM, PALM_LINK: _PALM, BASE_LINK: _BASE, 'grip': _GRIP}
_DAMPING_FLOOR = 0.02  # [N m s/rad], for joints with a weak spring or none
_CLOSING_SPEED = 0.1  # [m/s] of a fingertip that presses on nothing
_BRAKE = 150.0  # [1/s] b by the fingertip's own mass: more is unsteady with the robot's delays
_SINGULAR = 0.1  # [1/kg] a fingertip that no joint can move counts as 10 kg, not infinite
_HEADROOM = 0.85  # share of a joint's greatest torque that pressing may take
_MOST_EFFORT = constant(_HEADROOM * LIMITS.effort[HAND])
_FRICTION = constant(JOINT_FRICTION[HAND])
_SIZE = 84  # numbers that the law remembers
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

    numbers: Array
    """All but the selected axes in one array: each that a kernel is handed costs 0.2 us."""
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
    numbers = np.zeros(_SIZE)
    memory: HandMemory = _split.py_func(numbers, np.zeros((N_FINGERS, 3), np.bool_))
    memory.tips.scale[:] = 1.0
    memory.friction.clock[:] = SETTLE
    return memory


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
    _law(
        terms.numbers, position, velocity, target, target_velocity, stiffness, damping_ratio,
        pressing.frame, pressing.force, pressing.axes, memory.numbers, memory.tips.selected,
        period, effort,
    )  # fmt: skip
    return effort


@kernel
def _split(numbers, selected):  # type: ignore[no-untyped-def]
    """The memory as views of an array of _SIZE numbers; `_split.py_func` does so outside."""
    friction = FrictionMemory(
        numbers[:16], numbers[16:20], numbers[20:24], numbers[24:28], numbers[28:32]
    )
    tips = TipForces(
        numbers[32:44].reshape((4, 3)),
        numbers[44:80].reshape((4, 3, 3)),
        selected,
        numbers[80:84],
    )
    return HandMemory(numbers, friction, tips)


@kernel
def _law(  # type: ignore[no-untyped-def]
    terms_numbers, position, velocity, target, target_velocity, stiffness, ratio, frame, force,
    axes, numbers, selected, period, effort,
):  # fmt: skip
    memory, terms = _split(numbers, selected), split_terms(terms_numbers)
    _tip_forces(terms.tip_position, terms.palm_rotation, frame, force, axes, memory.tips)
    _hand_effort(
        terms.mass, terms.gravity, terms.tip_jacobian, position, velocity, target, target_velocity,
        stiffness, ratio, frame, memory.tips, memory.friction, period, effort,
    )  # fmt: skip


@kernel
def _tip_forces(tip_position, palm_rotation, frame, force, selected, out):  # type: ignore[no-untyped-def]
    """Write what the fingertips shall press with, in world axes, to out (a TipForces).

    Forces s (c - p_i) towards the middle c of the tips p_i balance each other, and so do their
    moments. s is that of the strongest finger having the greatest force asked for.
    """
    middle = np.zeros(3)
    inward = np.empty((4, 3))
    count = 0
    strongest = 0.0
    for i in range(4):
        if frame[i] == _GRIP and selected[i, 0]:
            count += 1
            for k in range(3):
                middle[k] += tip_position[i, k]
            if abs(force[i, 0]) > abs(strongest):
                strongest = force[i, 0]
    farthest = 0.0
    for i in range(4):
        for k in range(3):
            inward[i, k] = middle[k] / max(count, 1) - tip_position[i, k]
        if frame[i] == _GRIP and selected[i, 0]:
            farthest = max(farthest, math.sqrt(dot(inward[i], inward[i])))
    for i in range(4):
        axes = out.axes[i]
        usable = frame[i] != _NONE
        along = 0.0
        if frame[i] == _GRIP:
            distance = _grip_axes(inward[i], palm_rotation, axes)
            usable = distance > _LEAST_DISTANCE
            along = strongest * distance / max(farthest, _LEAST_DISTANCE)
        else:
            for a in range(3):
                for k in range(3):
                    if frame[i] == _PALM:
                        axes[a, k] = palm_rotation[k, a]
                    else:
                        axes[a, k] = 1.0 if a == k else 0.0
        for k in range(3):
            out.force[i, k] = 0.0
        for a in range(3):
            out.selected[i, a] = usable and selected[i, a]
            if out.selected[i, a]:
                size = along if frame[i] == _GRIP and a == 0 else force[i, a]
                for k in range(3):
                    out.force[i, k] += size * axes[a, k]


@kernel
def _grip_axes(inward, palm_rotation, axes):  # type: ignore[no-untyped-def]
    """Write the axes of a finger in the grip, z as near to the palm's x as can be; its radius."""
    distance = math.sqrt(dot(inward, inward))
    x, y, z = axes[0], axes[1], axes[2]
    for k in range(3):
        x[k] = inward[k] / max(distance, 1e-12)
    length = 0.0
    for column in range(2):
        if length < 0.1:
            y[:] = 0.0
            add_cross(palm_rotation[:, column], x, 1.0, y)
            length = math.sqrt(dot(y, y))
    for k in range(3):
        y[k] /= max(length, 1e-12)
    z[:] = 0.0
    add_cross(x, y, 1.0, z)
    return distance


@kernel
def _hand_effort(  # type: ignore[no-untyped-def]
    mass, gravity, jacobians, position, velocity, target, target_velocity, stiffness, ratio,
    frame, tips, friction_memory, period, effort,
):  # fmt: skip
    """The law: per finger its springs and its force, then as much of the forces as can be."""
    wanted = np.zeros(16)  # torques of the forces
    brake = np.empty(16)
    speeds = np.zeros(4)  # of the fingertips along their forces
    for j in range(16):
        inertia = mass[7 + j, 7 + j]
        damping = max(2.0 * ratio[j] * math.sqrt(stiffness[j] * inertia), _DAMPING_FLOOR)
        effort[j] = stiffness[j] * (target[j] - position[j]) + damping * target_velocity[j]
        brake[j] = damping * velocity[j]
    for i in range(4):
        tips.scale[i] = 1.0
        if tips.selected[i].any():
            own = slice(4 * i, 4 * i + 4)
            _press_finger(
                mass[7 + 4 * i : 11 + 4 * i, 7 + 4 * i : 11 + 4 * i], jacobians[i],
                velocity[own], tips.force[i], tips.axes[i], tips.selected[i],
                effort[own], brake[own], wanted[own], speeds[i : i + 1],
            )  # fmt: skip
    for j in range(16):
        effort[j] += gravity[7 + j]
    _fit(effort, wanted, frame, tips.scale)
    for j in range(16):
        wanted[j] *= tips.scale[j // 4]
        effort[j] += wanted[j] - brake[j]
    for i in range(4):
        compensate_friction(
            friction_memory, i, wanted, velocity, speeds[i],
            _FRICTION, _MOST_EFFORT, tips.selected[i].any(),
            FALL_IN_GRIP if frame[i] == _GRIP else FALL_ALONE, period, effort,
        )  # fmt: skip


@kernel
def _press_finger(  # type: ignore[no-untyped-def]
    mass, jacobian, velocity, tip_force, axes, selected, effort, brake, wanted, speeds
):
    """Take the springs out of a finger's force-controlled axes; the torques of force and brake."""
    # M = L L^T; the rows of weight are L^-1 J^T, so that J M^-1 J^T is their product.
    lower = np.empty((4, 4))
    weight = np.empty((3, 4))
    mobility = np.empty((3, 3))
    through = np.empty((3, 3))
    at_tip = np.empty(3)
    solved = np.empty(4)
    cholesky(mass, lower)
    for a in range(4):
        solved[a] = effort[a]
        for k in range(3):
            weight[k, a] = jacobian[k, a]
    solve_lower(lower, solved)
    for k in range(3):
        solve_lower(lower, weight[k])
    for k in range(3):
        at_tip[k] = dot(weight[k], solved)
        for m in range(3):
            mobility[k, m] = dot(weight[k], weight[m])
        mobility[k, k] += _SINGULAR
    size = math.sqrt(dot(tip_force, tip_force))
    cholesky(mobility, through)
    cholesky_solve(through, at_tip)
    for axis in range(3):
        if not selected[axis]:
            continue
        n = axes[axis]
        springs = dot(n, at_tip)
        light = 0.0  # 1 / mass of the fingertip along n
        for k in range(3):
            light += n[k] * dot(mobility[k], n)
        slow = min(size / _CLOSING_SPEED, _BRAKE / light)
        force = dot(n, tip_force)
        speed = 0.0
        for a in range(4):
            solved[a] = n[0] * jacobian[0, a] + n[1] * jacobian[1, a] + n[2] * jacobian[2, a]
            speed += solved[a] * velocity[a]
        for a in range(4):
            effort[a] -= solved[a] * springs
            brake[a] += solved[a] * slow * speed
            wanted[a] += solved[a] * force
        speeds[0] += speed * force / max(size, 1e-9)


@kernel
def _fit(base, wanted, frame, scale):  # type: ignore[no-untyped-def]
    """Write the share of each finger's force that its joints can give; a grip has one for all."""
    grip = 1.0
    for j in range(16):
        i = j // 4
        if wanted[j] != 0.0:
            room = _MOST_EFFORT[j] - _FRICTION[j] - math.copysign(1.0, wanted[j]) * base[j]
            scale[i] = min(scale[i], max(room, 0.0) / abs(wanted[j]))
        if frame[i] == _GRIP:
            grip = min(grip, scale[i])
    for i in range(4):
        if frame[i] == _GRIP:
            scale[i] = grip
