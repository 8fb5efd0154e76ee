# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Joint friction: known while a joint moves, an interval while it stands.

Coulomb friction is a play: it follows what drives the joint until it is used up (+-Fc), and
nothing moves before. So the torque from outside stays while friction takes up each change, and
changes only when the friction is used up. Where inside of +-Fc the friction is, is not known at
first: so both ends of an interval go through the play. Whatever uses the friction up brings the
ends together, and then it is known.

The hand's motors give what they are told, so there the torque told drives the play, at once; and
as a finger shows by a few steps of its encoder which way it gives, that drives it too. The arm's
torques are noisy, and its joints pull at each other until the last of them stands. There the
residual of the momentum observer drives the play, through a slow low pass.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.joints import ARM, HAND, JOINT_DAMPING, JOINT_FRICTION, N_ARM, Array

MODEL_ERROR = 0.15
"""How far the true Coulomb friction may be from the description's, as a share of it (1 sigma)."""
STANDING_ERROR = 0.4
"""The same for the friction of a standing finger that the play gives."""
DITHER_ERROR = 0.1
"""Mean friction that is left under dither, as a share of the Coulomb friction (1 sigma)."""

_ARM_TRAVEL = 5e-5  # [rad] way in which the friction turns over: some steps of the encoder
_HAND_TRAVEL = 2e-4
_STANDING = 0.05  # [rad/s] well below this a joint stands, and its motor shows the friction
_DRIFT_FILTER = 5.0  # [Hz] low pass of the velocity that shows whether the arm moves
_MOVING_FILTER = 3.0  # [Hz] low pass of the torque from outside on a moving joint
_MOVING = 2e-3  # [rad/s] faster than this a joint of the arm moves
_DITHER_TIME = 1.0  # [s] in which dither wears friction off
_TRUST = 0.75  # share of the play's friction that standing fingers have on average
_BLOW = 0.5  # share of the friction that an acceleration must take to count as a blow
_STRIKE = 2e-3  # [s] in which a blow as strong as the friction makes it unknown
_FORGETTING = 0.1  # [rad] way of the arm on which the friction of standing fingers is forgotten


class Friction(NamedTuple):
    """Friction of every joint, and what is known of it. Shape (23,) each."""

    torque: Array
    """Estimated, against the motion [N m]."""
    sigma: Array
    """[N m]"""
    lower: Array
    """Least that the Coulomb friction can be [N m]."""
    upper: Array
    """Most that it can be [N m]."""
    outside_lower: Array
    """Least that the torque from outside can be, of the arm's joints [N m]."""
    outside_upper: Array
    """Most that it can be [N m]."""
    drift: Array
    """Mean velocity without dither [rad/s]."""
    coulomb: Array
    """Coulomb friction of the description [N m]."""
    viscous: Array
    """Viscous friction of the description [N m s/rad]."""
    travel: Array
    """Way in which the friction turns over [rad]."""


def prepare_friction(friction: Friction) -> None:
    """Write in what the description says; nothing is known of the friction itself."""
    friction.coulomb[:] = JOINT_FRICTION
    friction.viscous[:] = JOINT_DAMPING
    friction.travel[ARM], friction.travel[HAND] = _ARM_TRAVEL, _HAND_TRAVEL
    forget_friction(friction)


def forget_friction(friction: Friction) -> None:
    """Nothing is known any more."""
    friction.lower[:] = -friction.coulomb
    friction.upper[:] = friction.coulomb
    friction.outside_lower[:] = -np.inf
    friction.outside_upper[:] = np.inf
    friction.torque[:] = 0.0
    friction.drift[:] = 0.0


@kernel
def follow_friction(friction, momentum, period, dithered):  # type: ignore[no-untyped-def]
    """Follow the friction for one cycle.

    Args:
        friction: is brought up to date.
        momentum: of momentum_observer, up to date.
        period: length of the cycle [s].
        dithered: the arm's joints are shaken, so that their friction at rest is zero on average.
    """
    drift_gain = 1.0 - np.exp(-2.0 * np.pi * _DRIFT_FILTER * period)
    moving_gain = 1.0 - np.exp(-2.0 * np.pi * _MOVING_FILTER * period)
    travelled = 0.0
    for i in range(N_ARM):
        travelled += abs(momentum.change[i]) if abs(friction.drift[i]) > _MOVING else 0.0
    carried = travelled / _FORGETTING
    standing = 1.0
    for i in range(friction.torque.shape[0]):
        velocity = momentum.mean_velocity[i]
        friction.drift[i] += drift_gain * (velocity - friction.drift[i])
        most = friction.coulomb[i]
        step = most * momentum.change[i] / friction.travel[i]
        if i < N_ARM and abs(friction.drift[i]) > _MOVING:
            _shift(friction, i, step)
            for bound, rubs in (
                (friction.outside_lower, friction.lower),
                (friction.outside_upper, friction.upper),
            ):
                seen = momentum.raw[i] + rubs[i]
                if np.isinf(bound[i]):
                    bound[i] = seen
                bound[i] += moving_gain * (seen - bound[i])
            # So that nothing of the motion is still on its way through the low pass at the stop.
            rubs_now = friction.lower[i] + friction.upper[i]
            outside = friction.outside_lower[i] + friction.outside_upper[i]
            momentum.slow[i] = 0.5 * (outside - rubs_now)
        elif i < N_ARM:
            if dithered:
                step = 0.0  # shaken joints creep under any load, used up or not
            seen = momentum.slow[i]
            friction.lower[i] = min(max(friction.outside_lower[i] - seen + step, -most), most)
            friction.upper[i] = min(max(friction.outside_upper[i] - seen + step, -most), most)
            if dithered:
                friction.lower[i] *= 1.0 - period / _DITHER_TIME
                friction.upper[i] *= 1.0 - period / _DITHER_TIME
            friction.outside_lower[i] = seen + friction.lower[i]
            friction.outside_upper[i] = seen + friction.upper[i]
        else:
            speed = velocity / _STANDING
            standing = 1.0 / (1.0 + speed * speed)
            # While the arm moves, or after a blow, loads shift that no motor has asked for.
            struck = max(abs(momentum.inertial[i]) / most - _BLOW, 0.0) * period / _STRIKE
            opening = min(carried + struck, 1.0) * standing
            friction.lower[i] += opening * (-most - friction.lower[i])
            friction.upper[i] += opening * (most - friction.upper[i])
            _shift(friction, i, step + standing * momentum.drive[i])
        coulomb = 0.5 * (friction.lower[i] + friction.upper[i])
        width = (friction.upper[i] - friction.lower[i]) / np.sqrt(12.0)
        error = MODEL_ERROR
        if i >= N_ARM:
            # The contact takes part of a change before the friction is used up.
            coulomb *= 1.0 - (1.0 - _TRUST) * standing
            error += (STANDING_ERROR - MODEL_ERROR) * standing
        elif dithered:
            error = DITHER_ERROR
        sigma = np.sqrt(width * width + (error * most) ** 2)
        friction.torque[i] = coulomb + friction.viscous[i] * velocity
        friction.sigma[i] = sigma


@kernel
def _shift(friction, i, step):  # type: ignore[no-untyped-def]
    """Both ends of a joint's interval through the play."""
    most = friction.coulomb[i]
    friction.lower[i] = min(max(friction.lower[i] + step, -most), most)
    friction.upper[i] = min(max(friction.upper[i] + step, -most), most)
