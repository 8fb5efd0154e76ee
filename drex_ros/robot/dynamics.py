# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of the robot (Pinocchio), in the project's joint order."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from drex_ros.robot.description import robot_urdf
from drex_ros.robot.joints import JOINT_NAMES, ROTOR_INERTIA, Array


class Dynamics:
    """Mass matrix and gravity of arm and hand. Not for use by two threads at once."""

    def __init__(self, urdf: str | None = None) -> None:
        """Build the model from a URDF text (default: the project's robot)."""
        self.model = pin.buildModelFromXML(robot_urdf() if urdf is None else urdf)
        ids = [self.model.getJointId(name) for name in JOINT_NAMES]
        # Pinocchio orders joints alphabetically: _order[i] is its place of our joint i.
        self._order = np.array([self.model.joints[i].idx_v for i in ids])
        armature = np.zeros(self.model.nv)
        armature[self._order] = ROTOR_INERTIA
        self.model.armature = armature
        self._data = self.model.createData()
        self._q = np.zeros(self.model.nq)

    def gravity(self, position: Array) -> Array:
        """Joint torques that carry the robot's weight [N m], shape (23,), at a posture [rad]."""
        self._q[self._order] = position
        torque = pin.computeGeneralizedGravity(self.model, self._data, self._q)
        ordered: Array = torque[self._order]
        return ordered

    def mass_matrix(self, position: Array) -> Array:
        """Joint-space inertia [kg m^2], shape (23, 23), rotors included."""
        self._q[self._order] = position
        upper = np.triu(pin.crba(self.model, self._data, self._q))
        full = upper + np.triu(upper, 1).T
        ordered: Array = full[np.ix_(self._order, self._order)]
        return ordered

    def effective_inertia(self, position: Array) -> Array:
        """Inertia each joint moves when the others stand still [kg m^2], shape (23,)."""
        self._q[self._order] = position
        diagonal = pin.crba(self.model, self._data, self._q).diagonal()
        ordered: Array = diagonal[self._order]
        return ordered
