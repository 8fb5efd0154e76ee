# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as a MuJoCo model, made from the same URDF as everything else."""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from drex_ros.robot.description import robot_urdf
from drex_ros.robot.joints import JOINT_NAMES, ROTOR_INERTIA, Array

# Their convex collision shapes overlap inside the joint range, where the real parts do not touch.
_NEVER_TOUCH = (('panda_link5', 'panda_link7'), ('palm_link', 'link_13.0'))

_COMPILER = (
    '<mujoco><compiler fusestatic="false" strippath="false" balanceinertia="false"/></mujoco>'
)


def robot_spec(timestep: float) -> mujoco.MjSpec:
    """Editable model of arm and hand with one motor a joint; timestep [s]."""
    urdf = robot_urdf().replace('</robot>', f'{_COMPILER}</robot>')
    spec = mujoco.MjSpec.from_string(urdf)
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for name, inertia in zip(JOINT_NAMES, ROTOR_INERTIA, strict=True):
        joint = spec.joint(name)
        joint.armature = inertia
        # MuJoCo would clamp silently; too large a command is refused by the backend instead.
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
    for first, second in _NEVER_TOUCH:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    return spec


class JointMap:
    """Where the robot's joints are in a MuJoCo model. Index arrays, shape (23,)."""

    def __init__(self, model: mujoco.MjModel) -> None:
        joints = [model.joint(name).id for name in JOINT_NAMES]
        self.position: npt.NDArray[np.intp] = np.array(model.jnt_qposadr[joints], dtype=np.intp)
        self.velocity: npt.NDArray[np.intp] = np.array(model.jnt_dofadr[joints], dtype=np.intp)
        self.motor: npt.NDArray[np.intp] = np.array(
            [model.actuator(name).id for name in JOINT_NAMES], dtype=np.intp
        )


class GravityModel:
    """Torque that carries the robot's own weight, from MuJoCo itself."""

    def __init__(self, model: mujoco.MjModel, joints: JointMap) -> None:
        self._model = model
        self._joints = joints
        self._data = mujoco.MjData(model)  # never moves: bias forces are gravity alone
        self._torque = np.zeros(model.nv)

    def __call__(self, position: Array) -> Array:
        """Joint torques [N m], shape (23,), at a posture [rad]."""
        data = self._data
        data.qpos[self._joints.position] = position
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)
        mujoco.mj_rne(self._model, data, 0, self._torque)
        return self._torque[self._joints.velocity]

    def effective_inertia(self, position: Array) -> Array:
        """Inertia each joint moves when the others stand still [kg m^2], shape (23,)."""
        data, dofs = self._data, self._joints.velocity
        data.qpos[self._joints.position] = position
        mujoco.mj_fwdPosition(self._model, data)
        unit, row = np.zeros(self._model.nv), np.zeros(self._model.nv)
        inertia = np.empty(len(dofs))
        for i, dof in enumerate(dofs):
            unit[dof] = 1.0
            mujoco.mj_mulM(self._model, data, row, unit)
            inertia[i] = row[dof]
            unit[dof] = 0.0
        return inertia
