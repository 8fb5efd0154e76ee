# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What only a simulator knows: contacts, their forces, the object's motion.

For tests, evaluation, pictures and the robot's own reflexes; nothing that estimates may read it.
Positions are those of the present moment, contacts those of the physics step that led to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from drex_ros.hardware.scene import OBJECT
from drex_ros.robot.joints import FINGERS, N_JOINTS, Array
from drex_ros.robot.rotations import rotation_matrix

SLIP_SPEED = 1e-3
"""A contact whose surfaces pass each other faster than this slips [m/s]."""
TOUCH_FORCE = 1e-6
"""A contact with less force than this does not count [N]."""

_CONTACT = int(mujoco.mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)  # the first of the contact types
_DIRECTIONS = np.arange(3)


@dataclass(frozen=True)
class ContactTruth:
    """One contact. World frame."""

    body1: str
    body2: str
    position: Array
    """[m], shape (3,)."""
    normal: Array
    """Unit vector from body1 to body2, shape (3,)."""
    force: Array
    """Of body1 on body2 [N], shape (3,)."""
    slip: float
    """Speed of the surfaces along each other [m/s]."""


@dataclass(frozen=True)
class FingerTruth:
    """What one finger presses with, over all its links."""

    force: Array
    """On what it touches [N], shape (3,)."""
    in_contact: bool
    slipping: bool


@dataclass(frozen=True)
class ObjectTruth:
    """The object's motion, at its origin. World frame."""

    position: Array
    """[m], shape (3,)."""
    quaternion: Array
    """x y z w, shape (4,)."""
    velocity: Array
    """[m/s], shape (3,)."""
    angular_velocity: Array
    """[rad/s], shape (3,)."""


class Truth:
    """Reads a simulation."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, OBJECT)
        self._has_object = joint >= 0
        if self._has_object:
            first, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
            self._pose = data.qpos[first : first + 7]
            self._twist = data.qvel[dof : dof + 6]
        self._names = [model.body(i).name for i in range(model.nbody)]
        self._finger_of = _fingers(model)
        self._torque = np.zeros(model.nv)

    def object(self) -> ObjectTruth | None:
        """Where the object is and how it moves; None when there is none."""
        if not self._has_object:
            return None
        quaternion = np.roll(self._pose[3:], -1)
        return ObjectTruth(
            position=self._pose[:3].copy(),
            quaternion=quaternion,
            velocity=self._twist[:3].copy(),
            # MuJoCo has it in the object's axes.
            angular_velocity=rotation_matrix(quaternion) @ self._twist[3:],
        )

    def external_torque(self) -> Array | None:
        """Torque of all contacts on the robot's joints [N m], shape (23,); None without any."""
        data = self._data
        if data.ncon == 0:
            return None
        force = np.where(data.efc_type >= _CONTACT, data.efc_force, 0.0)
        mujoco.mj_mulJacTVec(self._model, data, self._torque, force)
        return self._torque[:N_JOINTS]

    def contacts(self) -> list[ContactTruth]:
        """Every contact that bears force."""
        model, data = self._model, self._data
        contacts, first = data.contact, data.contact.efc_address
        # Surfaces that touch without any depth are contacts, but have no constraint.
        bearing = np.flatnonzero(first >= 0)
        first = first[bearing]
        # Of a contact's rows the first is along the normal, the next two along its tangents.
        frame = contacts.frame[bearing].reshape(-1, 3, 3)
        force = data.efc_force[first[:, None] + _DIRECTIONS]
        slip = np.hypot(data.efc_vel[first + 1], data.efc_vel[first + 2])
        pressed = force[:, 0] >= TOUCH_FORCE
        force = np.einsum('ij,ijk->ik', force, frame)
        bodies = model.geom_bodyid[contacts.geom[bearing]]
        position = contacts.pos[bearing]
        return [
            ContactTruth(
                body1=self._names[bodies[i, 0]],
                body2=self._names[bodies[i, 1]],
                position=position[i],
                normal=frame[i, 0],
                force=force[i],
                slip=float(slip[i]),
            )
            for i in np.flatnonzero(pressed)
        ]

    def fingers(self, contacts: list[ContactTruth]) -> dict[str, FingerTruth]:
        """What each finger presses with."""
        forces = {name: np.zeros(3) for name in FINGERS}
        touching = dict.fromkeys(FINGERS, False)
        slipping = dict.fromkeys(FINGERS, False)
        for contact in contacts:
            for body, sign in ((contact.body1, 1.0), (contact.body2, -1.0)):
                finger = self._finger_of.get(body)
                if finger is not None:
                    forces[finger] += sign * contact.force
                    touching[finger] = True
                    slipping[finger] |= contact.slip > SLIP_SPEED
        return {
            name: FingerTruth(forces[name], touching[name], slipping[name]) for name in FINGERS
        }


def _fingers(model: mujoco.MjModel) -> dict[str, str]:
    """Finger by name of body: every body that a joint of this finger moves."""
    finger_of: dict[str, str] = {}
    for name, joints in FINGERS.items():
        first = int(model.jnt_bodyid[joints.start])
        roots = {first}
        for body in range(first, model.nbody):
            if body == first or int(model.body_parentid[body]) in roots:
                roots.add(body)
                finger_of[model.body(body).name] = name
    return finger_of
