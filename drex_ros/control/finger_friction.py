# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Coulomb friction of the finger joints, made up for, so that a fingertip presses as it is told.

A joint that stands takes up every change of its motor's torque in friction until friction is at
its bound F; only then does the force of the finger change. So what a finger presses with depends
on how it came there, by 2 F a joint, and with four joints on one contact the sign of the last
change does not tell which. But a torque that swings about the wanted one by a little more than F,
and less and less, leaves the contact with just the wanted torque and friction with nothing,
whatever there was before and whatever F is in truth: as a magnet is demagnetised.

    tau = w + F (s + a swing(t)),    swing(t) = -1 or 1

w: torque that shall reach the fingertip [N m]; a: begins when w changes or the joint moves, and
ends in some tenths of a second, so that with a constant force nothing moves; s: direction of the
motion, -1 .. 1, which makes up for the friction of a finger that moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from drex_ros.robot.joints import N_HAND, Array

_SWING = 1.7  # a at first: what friction may be in truth, by F
_SETTLE = 0.2  # [s] in which a goes to zero
_HALF = 0.008  # [s] between two turns of the swing
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


def friction_memory() -> FrictionMemory:
    """Of fingers at rest that press on nothing."""
    return FrictionMemory(np.zeros(N_HAND), np.zeros(4), np.full(4, _SETTLE))


@numba.njit(cache=True)
def compensate_friction(  # type: ignore[no-untyped-def]
    memory, finger, wanted, velocity, speed, friction, presses, period, out
):
    """Add F (s + a swing) of one finger's joints to out [N m], for use inside other kernels.

    Args:
        memory: a FrictionMemory; becomes that of this cycle.
        finger: 0 .. 3.
        wanted: w of all joints [N m], shape (16,).
        velocity: of all joints [rad/s], shape (16,).
        speed: of the fingertip along its force [m/s].
        friction: F of all joints [N m], shape (16,).
        presses: whether the finger presses at all; if not, nothing is added.
        period: since the last cycle [s].
        out: shape (16,).
    """
    clock = memory.clock[finger] + period
    mean = memory.speed[finger]
    mean += (speed - mean) * min(period / _MEMORY, 1.0)
    memory.speed[finger] = mean
    begins = abs(mean) > _MOVES
    for j in range(4 * finger, 4 * finger + 4):
        begins |= abs(wanted[j] - memory.torque[j]) > _CHANGE
    if begins:
        # While the cause lasts the swing goes on at full size.
        clock %= 2.0 * _HALF
        memory.torque[4 * finger : 4 * finger + 4] = wanted[4 * finger : 4 * finger + 4]
    clock = min(clock, _SETTLE) if presses else _SETTLE
    memory.clock[finger] = clock
    if not presses:
        return
    # A fingertip that stands may have joints that turn; their friction keeps them steady.
    moves = min(abs(mean) / _MOVES, 1.0)
    swing = _SWING * (1.0 - clock / _SETTLE)
    if int(clock / _HALF) % 2 == 1:
        swing = -swing
    for j in range(4 * finger, 4 * finger + 4):
        turns = min(max(velocity[j] / _TURNS, -1.0), 1.0)
        out[j] += friction[j] * (moves * turns + math.copysign(swing, swing * wanted[j]))
