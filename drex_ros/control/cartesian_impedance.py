# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cartesian impedance: the palm hangs on a spring and a damper in space, as pure functions.

    tau = J^T [ K e + D (x'_d - x') + Lambda (x''_d - J' q') + w ] + C q' + N^T tau_0

e: position error [m] and rotation error [rad] (logarithm of R_d R^T); x': velocity of the palm;
J: its Jacobian, J' q' what that changes by itself; w: wrench that the palm shall give besides.
Lambda = (J M^-1 J^T)^-1: inertia that the palm is felt to have; C q': Coriolis torques.
tau_0: spring and damper to a posture, of which N^T = 1 - J^T Lambda J M^-1 leaves what does not
accelerate the palm.

K is diagonal in the axes of the impedance. For a damping ratio zeta D is the matrix

    D = 2 zeta K^1/2 (K^1/2 Lambda^-1 K^1/2)^-1/2 K^1/2

by which each of the six modes of K and Lambda has this ratio (double diagonalisation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from drex_ros.control.pose_set_point import PoseSetPoint, split_pose
from drex_ros.kernel import kernel
from drex_ros.robot.joints import N_ARM, Array, constant
from drex_ros.robot.matrices import (
    add_cross,
    cholesky,
    cholesky_solve,
    dot,
    identity,
    rotation_vector,
    solve_lower,
    symmetric_eigen,
    transposed_product,
)
from drex_ros.robot.terms import Terms, split_terms

MAX_CARTESIAN_STIFFNESS = constant(3 * (3000.0,) + 3 * (150.0,))
"""Highest stiffness [N/m, N m/rad]: half of what is steady at 500 Hz. Shape (6,)."""

MAX_CARTESIAN_DAMPING = constant(3 * (300.0,) + 3 * (15.0,))
"""Highest damping by axis that is steady at 500 Hz [N s/m, N m s/rad]. Shape (6,)."""

_IDENTITY = identity(3)
_ZERO = constant(6 * (0.0,))
_NO_POSTURE = constant(N_ARM * (0.0,))

# A softer axis, or joint in the nullspace, is damped like one of this stiffness: never free.
_SOFTEST = 10.0  # [N/m]
_SOFTEST_TURN = 1.0  # [N m/rad]
_SLOWEST = 0.1  # [rad/s] of a mode: bounds its damping where the arm cannot move along it
# Where det(J M^-1 J^T) is lower than this [kg^-6 m^-6], the Lambda of what is fed forward stays
# bounded by a mobility of at most _LEAST_MOBILITY; over the table it is 0.2 to 1.
_SINGULAR = 0.05
_LEAST_MOBILITY = 0.01  # [1/kg]; times _MOBILITY_RATIO [1/(kg m^2)] for rotations
_MOBILITY_RATIO = 30.0


@dataclass(frozen=True)
class CartesianImpedance:
    """How stiff the palm hangs in space. x, y, z, then turns about them, in its own axes."""

    stiffness: Array
    """[N/m, N m/rad] Shape (6,)."""
    damping_ratio: float = 1.0
    """1 is critical damping, of every mode. Counts where no damping is given."""
    damping: Array | None = None
    """[N s/m, N m s/rad] Shape (6,); None: from the damping ratio."""
    axes: Array = field(default_factory=lambda: _IDENTITY)
    """Axes of stiffness and damping, as columns: base axes, or those of the palm. Shape (3, 3)."""
    posture_stiffness: Array = field(default_factory=lambda: _NO_POSTURE)
    """Of the spring to the posture, in the nullspace alone [N m/rad]. Shape (7,)."""
    numbers: Array = field(init=False, repr=False, compare=False)
    """All but the axes in one array: each that is handed to a compiled function costs 0.2 us.
    Stiffness, damping, that of the posture, damping ratio (NaN where damping is given)."""

    def __post_init__(self) -> None:
        damping = np.zeros(6) if self.damping is None else self.damping
        ratio = self.damping_ratio if self.damping is None else math.nan
        parts = (self.stiffness, damping, self.posture_stiffness, (ratio,))
        object.__setattr__(self, 'numbers', np.concatenate(parts))


class ArmTorque(NamedTuple):
    """What the law asks of the arm. Arrays of shape (7,)."""

    torque: Array
    """On top of the robot's own gravity compensation [N m]."""
    velocity: Array
    """That the joints would have if the palm moved as its set-point does [rad/s]: what friction
    has to be compensated for."""


def cartesian_impedance(
    terms: Terms,
    position: Array,
    velocity: Array,
    set_point: PoseSetPoint,
    impedance: CartesianImpedance,
    posture: Array,
    wrench: Array = _ZERO,
) -> ArmTorque:
    """Torques of the arm by which its palm hangs at the set-point.

    Args:
        terms: of the robot at this state.
        position: measured [rad]; shape (7,) or (23,), as the next.
        velocity: measured [rad/s].
        set_point: where the palm should be.
        impedance: how stiff it hangs there.
        posture: of the arm, to go to as far as the palm stays [rad]. Shape (7,) or (23,).
        wrench: force [N] and torque [N m] that the palm gives besides. World axes, shape (6,).
    """
    out = np.empty((2, N_ARM))
    _law(
        terms.numbers, position, velocity, set_point.numbers, impedance.numbers, impedance.axes,
        posture, wrench, out,
    )  # fmt: skip
    return ArmTorque(out[0], out[1])


@kernel
def _law(  # type: ignore[no-untyped-def]
    terms_numbers, q, v, set_point, impedance, axes, posture, wrench, out
):
    """The whole law; all that has six rows in it is in the axes of the impedance."""
    terms = split_terms(terms_numbers)
    mass, jacobian = terms.mass, terms.palm_jacobian
    goal, goal_turn, goal_velocity, goal_acceleration = split_pose(set_point)
    stiffness, posture_stiffness = impedance[:6], impedance[12:19]
    torque, joint_velocity = out[0], out[1]
    n = torque.shape[0]
    j = np.empty((6, n))
    transposed_product(axes, jacobian[:3], j[:3])
    transposed_product(axes, jacobian[3:], j[3:])
    factor = np.empty((n, n))
    cholesky(mass[:n, :n], factor)
    # Columns of L^-1 J^T, of which Lambda^-1 is made: as rows, so that they lie in one piece.
    whitened = j.copy()
    for i in range(6):
        solve_lower(factor, whitened[i])
    mobility = np.empty((6, 6))
    for i in range(6):
        for k in range(i + 1):
            mobility[i, k] = mobility[k, i] = dot(whitened[i], whitened[k])
    force = np.empty(6)
    error = np.empty(6)
    _pose_error(terms.palm_position, terms.palm_rotation, goal, goal_turn, axes, error)
    slip = np.empty(6)  # velocity error
    turned = np.empty(6)
    _to_axes(axes, goal_velocity, turned)
    for i in range(6):
        slip[i] = turned[i] - dot(j[i], v[:n])
    _damp(mobility, impedance, slip, force)
    for i in range(6):
        force[i] += stiffness[i] * error[i]
    # Lambda, as a factor. What the nullspace takes away must be exact; it is bounded by itself.
    inertia = np.empty((6, 6))
    cholesky(mobility, inertia)
    rest = np.empty(n)
    for i in range(n):
        spring = posture_stiffness[i]
        damper = 2.0 * math.sqrt(max(spring, _SOFTEST_TURN) * mass[i, i])
        torque[i] = spring * (posture[i] - q[i]) - damper * v[i]
        rest[i] = torque[i]
    solve_lower(factor, rest)
    accelerate = np.empty(6)
    for i in range(6):
        accelerate[i] = -dot(whitened[i], rest)
    cholesky_solve(inertia, accelerate)
    _to_axes(axes, wrench, error)
    for i in range(6):
        force[i] += accelerate[i] + error[i]
    _bound(mobility, inertia)
    _to_axes(axes, goal_acceleration, accelerate)
    _drift(j, v, accelerate)
    cholesky_solve(inertia, accelerate)
    cholesky_solve(inertia, turned)
    for i in range(6):
        force[i] += accelerate[i]
    for i in range(n):
        joint_velocity[i] = 0.0
        torque[i] += terms.coriolis[i]
        for k in range(6):
            torque[i] += j[k, i] * force[k]
            joint_velocity[i] += whitened[k, i] * turned[k]
    # M^-1 J^T Lambda x'_d = L^-T (L^-1 J^T) Lambda x'_d.
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            joint_velocity[i] -= factor[k, i] * joint_velocity[k]
        joint_velocity[i] /= factor[i, i]


@kernel
def _to_axes(axes, six, out):  # type: ignore[no-untyped-def]
    """A linear and an angular vector of the world, seen in the axes."""
    for i in range(3):
        out[i] = axes[0, i] * six[0] + axes[1, i] * six[1] + axes[2, i] * six[2]
        out[3 + i] = axes[0, i] * six[3] + axes[1, i] * six[4] + axes[2, i] * six[5]


@kernel
def _pose_error(palm, turn, goal, goal_turn, axes, out):  # type: ignore[no-untyped-def]
    """From the palm to its goal: shift [m], rotation vector [rad], in the axes."""
    six = np.empty(6)
    relative = np.empty((3, 3))
    for i in range(3):
        six[i] = goal[i] - palm[i]
        for k in range(3):
            relative[i, k] = dot(goal_turn[i], turn[k])
    rotation_vector(relative, six[3:])
    _to_axes(axes, six, out)


@kernel
def _damp(mobility, impedance, slip, out):  # type: ignore[no-untyped-def]
    """The damper's force at a velocity error."""
    stiffness, damping, ratio = impedance[:6], impedance[6:12], impedance[19]
    if not math.isfinite(ratio):
        for i in range(6):
            out[i] = damping[i] * slip[i]
        return
    root = np.empty(6)
    for i in range(6):
        root[i] = math.sqrt(max(stiffness[i], _SOFTEST if i < 3 else _SOFTEST_TURN))
    squares = np.empty((6, 6))
    modes = np.empty((6, 6))
    for i in range(6):
        for k in range(6):
            squares[i, k] = root[i] * mobility[i, k] * root[k]
        out[i] = 0.0
    symmetric_eigen(squares, modes)
    for mode in range(6):
        along = 0.0
        for i in range(6):
            along += modes[i, mode] * root[i] * slip[i]
        along *= 2.0 * ratio / math.sqrt(max(squares[mode, mode], _SLOWEST * _SLOWEST))
        for i in range(6):
            out[i] += root[i] * modes[i, mode] * along


@kernel
def _bound(mobility, factor):  # type: ignore[no-untyped-def]
    """Near a singular posture, another factor of Lambda^-1, of more mobility than there is."""
    determinant = 1.0
    for i in range(6):
        determinant *= factor[i, i] * factor[i, i]
    if determinant < _SINGULAR:
        share = 1.0 - determinant / _SINGULAR
        extra = _LEAST_MOBILITY * share * share
        for i in range(6):
            mobility[i, i] += extra if i < 3 else extra * _MOBILITY_RATIO
        cholesky(mobility, factor)


@kernel
def _drift(j, v, out):  # type: ignore[no-untyped-def]
    """Subtract J' q': the acceleration of a palm whose joints turn steadily.

    With joint i's axis z_i and the velocity l_i that it gives the palm, a serial chain has
    d l_k / d q_i = z_i x l_k for i <= k, and d z_k / d q_i = z_i x z_k for i < k.
    """
    n = j.shape[1]
    after = np.zeros(6)  # velocities that the joints further out give
    for i in range(n - 1, -1, -1):
        axis, linear = j[3:, i], j[:3, i]
        for k in range(3):
            after[k] += 0.5 * linear[k] * v[i]
        add_cross(axis, after[:3], -2.0 * v[i], out[:3])
        add_cross(axis, after[3:], -v[i], out[3:])
        for k in range(3):
            after[k] += 0.5 * linear[k] * v[i]
            after[3 + k] += axis[k] * v[i]
