# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An object on the table, pushed by a robot or a stick that nothing can hold up.

The object moves by the simulator's physics. Robot and stick follow their course whatever they
push: their joints are made so heavy that no contact moves them.
"""

from __future__ import annotations

import mujoco
import numpy as np

from drex_ros.evaluation.motion import FPS
from drex_ros.hardware.mujoco_model import COLLISION_GROUP
from drex_ros.hardware.scene import OBJECT, TABLE, scene_spec
from drex_ros.hardware.scene_file import Scene
from drex_ros.hardware.sliding import CONDIM, remove_lift
from drex_ros.hardware.truth import Truth
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import HOME, N_JOINTS, Array
from drex_ros.robot.rotations import to_wxyz

STEPS = 30
"""Physics steps from one frame to the next."""
TIMESTEP = 1.0 / (FPS * STEPS)
"""[s]"""
STICK_RADIUS = 0.006
"""[m]"""
STICK_LENGTH = 0.30
"""[m]"""

_IMMOVABLE = 1e4  # [kg, kg m^2]
_PUSHERS, _TABLE_BIT = 2, 1
_STICK_FRICTION = 0.4
_AWAY = np.array((0.0, 0.0, 5.0))  # [m]


class PushPhysics:
    """Steps the physics; the robot's posture and the stick's place are given each step."""

    def __init__(self, scene: Scene, thing: ObjectModel) -> None:
        """Prepare for an object."""
        spec = scene_spec(scene, thing, timestep=TIMESTEP)
        for joint in spec.joints:
            if joint.name != OBJECT:
                joint.armature = _IMMOVABLE
        for geom in spec.geoms:
            # Robot and stick touch the object alone, the object everything.
            if geom.name.startswith(OBJECT):
                geom.contype, geom.conaffinity = _TABLE_BIT, _TABLE_BIT | _PUSHERS
            elif geom.name != TABLE and geom.contype:
                geom.contype, geom.conaffinity = _PUSHERS, 0
        _add_stick(spec)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self._truth = Truth(self.model, self.data)
        self._object = self.model.joint(OBJECT).qposadr[0]
        self._stick = self.model.joint('stick_x').qposadr[0]
        self._stick_dof = self.model.joint('stick_x').dofadr[0]
        self._posture, self._place = HOME.copy(), _AWAY.copy()

    def reset(self, pose: Array, posture: Array, stick: Array | None) -> None:
        """Object at rest at a pose (7,), robot at a posture (23,), stick's lower end at a place.

        The object is given a quarter of a second to settle.
        """
        data = self.data
        mujoco.mj_resetData(self.model, data)
        data.qpos[self._object : self._object + 3] = pose[:3]
        data.qpos[self._object + 3 : self._object + 7] = to_wxyz(pose[3:])
        self._posture = posture.copy()
        self._place = _AWAY.copy() if stick is None else stick.copy()
        for _ in range(225):
            self.step(self._posture, None if stick is None else self._place)

    def step(self, posture: Array, stick: Array | None) -> None:
        """One step on the way to a posture [rad] (23,) and a place of the stick [m] (3,)."""
        data = self.data
        place = _AWAY if stick is None else stick
        data.qpos[:N_JOINTS] = self._posture
        data.qvel[:N_JOINTS] = (posture - self._posture) / TIMESTEP
        data.qpos[self._stick : self._stick + 3] = self._place
        data.qvel[self._stick_dof : self._stick_dof + 3] = (place - self._place) / TIMESTEP
        mujoco.mj_step1(self.model, data)
        if data.ncon:
            remove_lift(data)
        mujoco.mj_step2(self.model, data)
        self._posture[:], self._place[:] = posture, place

    def object(self) -> tuple[Array, Array]:
        """Pose (7,) and twist (6,) of the object in world."""
        truth = self._truth.object()
        assert truth is not None
        pose = np.concatenate((truth.position, truth.quaternion))
        return pose, np.concatenate((truth.velocity, truth.angular_velocity))


def _add_stick(spec: mujoco.MjSpec) -> None:
    body = spec.worldbody.add_body(name='stick', gravcomp=1.0)
    body.explicitinertial = True
    body.mass = _IMMOVABLE
    body.inertia = [1.0, 1.0, 1.0]
    for name, axis in (('x', (1, 0, 0)), ('y', (0, 1, 0)), ('z', (0, 0, 1))):
        body.add_joint(name=f'stick_{name}', type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    body.add_geom(
        name='stick',
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=[0.0, 0.0, 0.0, 0.0, 0.0, STICK_LENGTH],
        size=[STICK_RADIUS, 0.0, 0.0],
        contype=_PUSHERS,
        conaffinity=0,
        condim=CONDIM,
        friction=[_STICK_FRICTION, 0.003, 1e-4],
        priority=2,
        solref=[0.005, 1.0],
        solimp=[0.95, 0.99, 0.001, 0.5, 2.0],
        group=COLLISION_GROUP,
    )
