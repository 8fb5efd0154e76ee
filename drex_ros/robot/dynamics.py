# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of the robot (Pinocchio), in the project's joint order."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from drex_ros.robot.description import FINGERTIP_LINKS, PALM_LINK, robot_urdf
from drex_ros.robot.joints import ARM, JOINT_NAMES, N_JOINTS, ROTOR_INERTIA, Array
from drex_ros.robot.terms import Terms, TermsReader


class Dynamics:
    """Kinematics and dynamics of arm and hand. Not for use by two threads at once.

    The equation of motion is M(q) a + C(q, v) v + g(q) = torque, without friction.
    """

    def __init__(self, urdf: str | None = None, *, hand: str = 'right') -> None:
        """Build the model from a URDF text (default: the project's robot with this hand)."""
        self.model = pin.buildModelFromXML(robot_urdf(hand) if urdf is None else urdf)
        ids = [self.model.getJointId(name) for name in JOINT_NAMES]
        # Pinocchio orders joints alphabetically: _order[i] is its place of our joint i.
        self._order = np.array([self.model.joints[i].idx_v for i in ids])
        armature = np.zeros(self.model.nv)
        armature[self._order] = ROTOR_INERTIA
        self.model.armature = armature
        self._data = self.model.createData()
        self._q = np.zeros(self.model.nq)
        self._v = np.zeros(self.model.nv)
        self._tips = [self.model.getFrameId(name) for name in FINGERTIP_LINKS]
        self._palm = self.model.getFrameId(PALM_LINK)
        self._read_terms = TermsReader(self.model, self._order)

    def terms(self, position: Array, velocity: Array) -> Terms:
        """All that a control law asks for, at a posture [rad] and velocity [rad/s], each (23,).

        The arrays in it are overwritten by the next call.
        """
        return self._read_terms(position, velocity)

    def gravity(self, position: Array) -> Array:
        """Joint torques that carry the robot's weight [N m], shape (23,), at a posture [rad]."""
        self._q[self._order] = position
        torque = pin.computeGeneralizedGravity(self.model, self._data, self._q)
        ordered: Array = torque[self._order]
        return ordered

    def nonlinear(self, position: Array, velocity: Array) -> Array:
        """Torques C(q, v) v + g(q) [N m], shape (23,), at a posture [rad] and velocity [rad/s]."""
        self._q[self._order] = position
        self._v[self._order] = velocity
        torque = pin.nonLinearEffects(self.model, self._data, self._q, self._v)
        ordered: Array = torque[self._order]
        return ordered

    def coriolis(self, position: Array, velocity: Array) -> Array:
        """Coriolis and centrifugal torques C(q, v) v [N m], shape (23,)."""
        return self.nonlinear(position, velocity) - self.gravity(position)

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

    def palm_pose(self, arm: Array) -> tuple[Array, Array]:
        """Position [m], shape (3,), and rotation, (3, 3), of the palm at an arm posture [rad]."""
        self._q[self._order[ARM]] = arm[ARM]
        pin.forwardKinematics(self.model, self._data, self._q)
        place = pin.updateFramePlacement(self.model, self._data, self._palm)
        return place.translation.copy(), place.rotation.copy()

    def fingertip_positions(self, position: Array) -> Array:
        """Centres of the fingertips in the world [m], shape (4, 3): index, middle, ring, thumb."""
        self._q[self._order] = position
        pin.forwardKinematics(self.model, self._data, self._q)
        places = [pin.updateFramePlacement(self.model, self._data, tip) for tip in self._tips]
        return np.array([place.translation for place in places])

    def fingertip_jacobians(self, position: Array) -> Array:
        """How joint velocities move the fingertips, in world axes. Shape (4, 6, 23).

        Rows: linear velocity of the tip's centre [m/s], then angular velocity [rad/s].
        """
        self._q[self._order] = position
        pin.computeJointJacobians(self.model, self._data, self._q)
        jacobians = np.empty((len(self._tips), 6, N_JOINTS))
        for i, tip in enumerate(self._tips):
            pin.updateFramePlacement(self.model, self._data, tip)
            jacobian = pin.getFrameJacobian(
                self.model, self._data, tip, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
            jacobians[i] = jacobian[:, self._order]
        return jacobians
