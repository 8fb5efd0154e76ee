# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that a control law asks of the robot's dynamics in one cycle, in the project's order.

Pinocchio computes, a compiled function sorts: Pinocchio has the joints in another order, and half
of the mass matrix. All of it takes 20 us, for 95 us when every piece is asked for by itself
(bench/control.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from drex_ros.kernel import kernel
from drex_ros.robot.description import FINGERTIP_LINKS, PALM_LINK
from drex_ros.robot.joints import Array

N_FINGERS = len(FINGERTIP_LINKS)
_SIZE = 23 * 25 + 3 + 9 + 42 + 12 + 48  # numbers in all terms


class Terms(NamedTuple):
    """Kinematics and dynamics at one state of the robot. World axes, origin at the arm's base.

    The arrays are overwritten by the next call that made them: copy what must stay.
    """

    numbers: Array
    """All of them in one array, for split_terms() in a compiled function: each that is handed to
    one costs 0.2 us."""
    mass: Array
    """Joint-space inertia [kg m^2], rotors included. Shape (23, 23)."""
    gravity: Array
    """Torques that carry the robot's weight [N m]. Shape (23,)."""
    coriolis: Array
    """C(q, v) v: Coriolis and centrifugal torques [N m]. Shape (23,)."""
    palm_position: Array
    """[m] Shape (3,)."""
    palm_rotation: Array
    """Shape (3, 3)."""
    palm_jacobian: Array
    """Linear [m/s], then angular velocity [rad/s] of the palm by arm joint. Shape (6, 7)."""
    tip_position: Array
    """Centres of the fingertips: index, middle, ring, thumb [m]. Shape (4, 3)."""
    tip_jacobian: Array
    """Linear velocity of each fingertip by its own finger's joints, the palm at rest [m/s].
    Shape (4, 3, 4)."""


class TermsReader:
    """Computes the terms of a Pinocchio model. Not for use by two threads at once."""

    def __init__(self, model: pin.Model, order: np.ndarray) -> None:
        """Prepare for a model; order[i] is its place of our joint i."""
        self._model = model
        self._data = data = model.createData()
        self._order = order
        self._q = np.zeros(model.nq)
        self._v = np.zeros(model.nv)
        palm = data.oMf[model.getFrameId(PALM_LINK)]
        tips = [data.oMf[model.getFrameId(name)] for name in FINGERTIP_LINKS]
        # Views of Pinocchio's own memory: they show whatever was computed last.
        self._source = (
            *(order, data.M, data.g, data.nle, data.J),
            *(palm.translation, palm.rotation),
            *(tip.translation for tip in tips),
        )
        self._numbers = np.zeros(_SIZE)
        self._terms: Terms = split_terms.py_func(self._numbers)

    def __call__(self, position: Array, velocity: Array) -> Terms:
        """The terms at a posture [rad] and velocity [rad/s], each of shape (23,)."""
        model, data = self._model, self._data
        self._q[self._order] = position
        self._v[self._order] = velocity
        pin.computeGeneralizedGravity(model, data, self._q)
        pin.nonLinearEffects(model, data, self._q, self._v)
        # In world axes it leaves the places and the Jacobian of the joints, too.
        pin.crba(model, data, self._q, pin.Convention.WORLD)
        pin.updateFramePlacements(model, data)
        _sort(*self._source, self._numbers)
        return self._terms


@kernel
def split_terms(numbers):  # type: ignore[no-untyped-def]
    """The terms as views of one array; `split_terms.py_func` gives the same outside."""
    rest = numbers[575:]
    return Terms(
        numbers,
        numbers[:529].reshape((23, 23)),
        numbers[529:552],
        numbers[552:575],
        rest[:3],
        rest[3:12].reshape((3, 3)),
        rest[12:54].reshape((6, 7)),
        rest[54:66].reshape((4, 3)),
        rest[66:114].reshape((4, 3, 4)),
    )


@kernel
def _sort(order, m, g, nle, j, palm, turn, tip0, tip1, tip2, tip3, out):  # type: ignore[no-untyped-def]
    """Pinocchio's numbers in our order."""
    terms = split_terms(out)
    mass, gravity, coriolis = terms.mass, terms.gravity, terms.coriolis
    palm_jacobian, tip_position = terms.palm_jacobian, terms.tip_position
    n = order.shape[0]
    for a in range(n):
        x = order[a]
        gravity[a] = g[x]
        coriolis[a] = nle[x] - g[x]
        for b in range(n):
            y = order[b]
            mass[a, b] = m[x, y] if x <= y else m[y, x]
    for i in range(3):
        terms.palm_position[i] = palm[i]
        tip_position[0, i], tip_position[1, i] = tip0[i], tip1[i]
        tip_position[2, i], tip_position[3, i] = tip2[i], tip3[i]
        for k in range(3):
            terms.palm_rotation[i, k] = turn[i, k]
    for a in range(palm_jacobian.shape[1]):
        x = order[a]
        _velocity_at(j, x, palm, palm_jacobian[:3, a])
        for i in range(3):
            palm_jacobian[3 + i, a] = j[3 + i, x]
    first = palm_jacobian.shape[1]
    for finger in range(4):
        tip = tip_position[finger]
        for a in range(4):
            _velocity_at(j, order[first + 4 * finger + a], tip, terms.tip_jacobian[finger, :, a])


@kernel
def _velocity_at(j, column, point, out):  # type: ignore[no-untyped-def]
    """Of a point by one joint: the velocity at the origin, and that of the turn about it."""
    wx, wy, wz = j[3, column], j[4, column], j[5, column]
    out[0] = j[0, column] + wy * point[2] - wz * point[1]
    out[1] = j[1, column] + wz * point[0] - wx * point[2]
    out[2] = j[2, column] + wx * point[1] - wy * point[0]
