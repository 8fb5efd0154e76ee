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
from drex_ros.robot.joints import N_ARM, N_JOINTS, Array

N_FINGERS = len(FINGERTIP_LINKS)
_A_FINGER = 4  # joints


class Terms(NamedTuple):
    """Kinematics and dynamics at one state of the robot. World axes, origin at the arm's base.

    The arrays are overwritten by the next call that made them: copy what must stay.
    """

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
            *(data.M, data.g, data.nle, data.J),
            *(palm.translation, palm.rotation),
            *(tip.translation for tip in tips),
        )
        self._terms = Terms(
            mass=np.zeros((N_JOINTS, N_JOINTS)),
            gravity=np.zeros(N_JOINTS),
            coriolis=np.zeros(N_JOINTS),
            palm_position=np.zeros(3),
            palm_rotation=np.zeros((3, 3)),
            palm_jacobian=np.zeros((6, N_ARM)),
            tip_position=np.zeros((N_FINGERS, 3)),
            tip_jacobian=np.zeros((N_FINGERS, 3, _A_FINGER)),
        )

    def __call__(self, position: Array, velocity: Array) -> Terms:
        """The terms at a posture [rad] and velocity [rad/s], each of shape (23,)."""
        model, data = self._model, self._data
        self._q[self._order] = position
        self._v[self._order] = velocity
        pin.computeGeneralizedGravity(model, data, self._q)
        pin.crba(model, data, self._q)
        pin.nonLinearEffects(model, data, self._q, self._v)
        pin.computeJointJacobians(model, data, self._q)
        pin.updateFramePlacements(model, data)
        _sort(self._order, *self._source, *self._terms)
        return self._terms


@kernel
def _sort(  # type: ignore[no-untyped-def]
    order, m, g, nle, j, palm, turn, tip0, tip1, tip2, tip3,
    mass, gravity, coriolis, palm_position, palm_rotation, palm_jacobian, tip_position,
    tip_jacobian,
):  # fmt: skip
    """Pinocchio's numbers in our order."""
    n = order.shape[0]
    for a in range(n):
        x = order[a]
        gravity[a] = g[x]
        coriolis[a] = nle[x] - g[x]
        for b in range(n):
            y = order[b]
            mass[a, b] = m[x, y] if x <= y else m[y, x]
    palm_position[:] = palm
    palm_rotation[:, :] = turn
    for a in range(palm_jacobian.shape[1]):
        x = order[a]
        _velocity_at(j, x, palm, palm_jacobian[:3, a])
        for i in range(3):
            palm_jacobian[3 + i, a] = j[3 + i, x]
    first = palm_jacobian.shape[1]
    for finger in range(4):
        tip = tip_position[finger]
        tip[:] = (tip0, tip1, tip2, tip3)[finger]
        for a in range(4):
            _velocity_at(j, order[first + 4 * finger + a], tip, tip_jacobian[finger, :, a])


@kernel
def _velocity_at(j, column, point, out):  # type: ignore[no-untyped-def]
    """Of a point by one joint: the velocity at the origin, and that of the turn about it."""
    wx, wy, wz = j[3, column], j[4, column], j[5, column]
    out[0] = j[0, column] + wy * point[2] - wz * point[1]
    out[1] = j[1, column] + wz * point[0] - wx * point[2]
    out[2] = j[2, column] + wx * point[1] - wy * point[0]
