# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Coulomb friction of the finger joints, made up for, so that a fingertip presses as it is told.

A joint that stands takes up a change of its motor's torque in friction, up to the bound F. What a
finger presses with then depends on how it came there, and with four joints on one contact neither
the sign of the last change nor the motion, a few steps of the encoder, tells how. But a torque
that swings about the wanted one by more than F, and less and less, leaves friction near nothing
and the contact near the wanted torque, without F being known well: as a magnet is demagnetised.

    tau = w + F (s + a swing(t)),    swing(t) = -1 or 1

w: torque that shall reach the fingertip [N m]; a: begins when w has changed or the fingertip has
come to rest, and ends in some tenths of a second, so that with a constant force nothing moves; no
greater than a share of w, so that the fingertip does not let go; s: direction in which the joints
of a moving finger turn, -1 .. 1, which makes up for friction on the way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import N_HAND, Array

SETTLE = 0.4
"""Time in which a swing ends [s]."""

_SWING = 3.0  # a at first; with 2 or less a part of the friction stays
_HALF = 0.02  # [s] between two turns of the swing
_WAIT = 0.05  # [s] without a change of w before a swing: a stream of forces does not shake
_SHARE = 0.5  # of a finger's greatest w that a swing may have
# Of the friction that is left after a force fell, what is taken off: a grip of several fingers has
# less of it than a finger alone.
FALL_ALONE, FALL_IN_GRIP = 1.0, 0.6
_CHANGE = 0.003  # [N m] of w that starts a swing: 0.03 N at the tip of a finger
_MOVES = 0.005  # [m/s] from which on a fingertip moves
_TURNS = 0.05  # [rad/s] from which on a joint of such a finger turns
_MEMORY = 0.02  # [s] over which the speed of the fingertip is averaged


class FrictionMemory(NamedTuple):
    """What friction depends on beside the present."""

    torque: Array
    """w when the last swing began [N m]. Shape (16,)."""
    speed: Array
    """Of each fingertip along its force, averaged [m/s]. Shape (4,)."""
    clock: Array
    """Time since the last swing of each finger began [s]. Shape (4,)."""
    level: Array
    """Greatest w of each finger when it changed last [N m]. Shape (4,)."""
    falls: Array
    """1 where that change made it less, else 0. Shape (4,)."""


def friction_memory() -> FrictionMemory:
    """Of fingers at rest that press on nothing."""
    zero = np.zeros(4)
    return FrictionMemory(np.zeros(N_HAND), zero, np.full(4, SETTLE), zero.copy(), zero.copy())


@kernel
def compensate_friction(  # type: ignore[no-untyped-def]
    memory, finger, wanted, velocity, speed, friction, most, presses, fall, period, out
):
    """Add F (s + a swing) of one finger's joints to out, for use inside other kernels.

    Args:
        memory: a FrictionMemory; becomes that of this cycle.
        finger: 0 .. 3.
        wanted: w of all joints [N m], shape (16,).
        velocity: of all joints [rad/s], shape (16,).
        speed: of the fingertip along its force [m/s].
        friction: F of all joints [N m], shape (16,).
        most: greatest torque that out may reach [N m], shape (16,).
        presses: whether the finger presses at all; if not, nothing is added.
        fall: FALL_ALONE or FALL_IN_GRIP.
        period: since the last cycle [s].
        out: torques of all joints [N m], shape (16,).
    """
    if not presses:
        memory.speed[finger] = 0.0
        memory.clock[finger] = SETTLE
        memory.torque[4 * finger : 4 * finger + 4] = 0.0
        memory.level[finger] = memory.falls[finger] = 0.0
        return
    clock = memory.clock[finger] + period
    mean = memory.speed[finger]
    mean += (speed - mean) * min(period / _MEMORY, 1.0)
    memory.speed[finger] = mean
    changes, strongest = False, 0.0
    for j in range(4 * finger, 4 * finger + 4):
        changes |= abs(wanted[j] - memory.torque[j]) > _CHANGE
        strongest = max(strongest, abs(wanted[j]))
    if changes:
        clock = -_WAIT
        memory.falls[finger] = 1.0 if strongest < memory.level[finger] else 0.0
        memory.level[finger] = strongest
        memory.torque[4 * finger : 4 * finger + 4] = wanted[4 * finger : 4 * finger + 4]
    elif abs(mean) > _MOVES and clock > 0.0:
        clock %= 2.0 * _HALF  # it ends so long after the last motion
    clock = min(clock, SETTLE)
    memory.clock[finger] = clock
    # A fingertip that stands may have joints that turn; their friction keeps them steady.
    moves = min(abs(mean) / _MOVES, 1.0)
    # What moves needs no swing; it begins where the fingertip comes to rest.
    size = 0.0
    if moves < 1.0 and clock >= 0.0:
        size = 1.0 - clock / SETTLE
    for j in range(4 * finger, 4 * finger + 4):
        turns = min(max(velocity[j] / _TURNS, -1.0), 1.0)
        # Joint after joint, a quarter apart: all at once would leave some of them stuck.
        reach = min(_SWING * friction[j], _SHARE * strongest)
        swing = size * reach
        if (int(2.0 * max(clock, 0.0) / _HALF) + j) % 4 >= 2:
            swing = -swing
        torque = out[j] + friction[j] * moves * turns + swing
        # After a force fell, friction presses on by as much as the swing was too small to end.
        left = fall * (friction[j] - reach / _SWING)
        torque -= memory.falls[finger] * math.copysign(min(left, abs(wanted[j])), wanted[j])
        out[j] = min(max(torque, -most[j]), most[j])
