# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The whole simulated scene as a MuJoCo model: robot, table, camera and object."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from drex_ros.hardware.looks import add_looks
from drex_ros.hardware.mujoco_model import COLLISION_GROUP, VISUAL_GROUP, robot_spec
from drex_ros.hardware.rendering import add_camera
from drex_ros.hardware.scene_file import Scene
from drex_ros.hardware.sliding import CONDIM
from drex_ros.objects import Mesh, ObjectModel, Part, collision_parts
from drex_ros.robot.joints import Array, constant
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product, to_wxyz

OBJECT = 'object'
TABLE = 'table'
CAMERA = 'camera'

BARE_FRICTION = 0.8
"""Coulomb friction of the robot where there is no object: rubber on the table."""

# Measured to hold a grasp: the friction cone is elliptic and stiffer than the normal direction by
# this much. A held can of 1 kg creeps by 5 to 18 um/s, as it happens to lie in the hand; where it
# is 5, a value of 10 gives 170.
_IMPRATIO = 300.0
# A solver that stops early starts badly in the next step: 1e-6 needs seven times the iterations of
# 1e-12, and the object creeps forty times as fast.
_TOLERANCE = 1e-12
_TORSION = 0.003  # [m] radius of a soft contact patch
_ROLL = 1e-4  # [m]
_SOLREF = (0.005, 1.0)
_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
# Friction is a property of a pair, in MuJoCo of a surface: of two, that with the higher priority
# counts. Robot and object then have the friction of the robot's rubber on this object, object and
# table that of the object on the table.
_OBJECT_PRIORITY, _ROBOT_PRIORITY = 1, 2

_GEOM = mujoco.mjtGeom
_KINDS = {
    'box': _GEOM.mjGEOM_BOX,
    'sphere': _GEOM.mjGEOM_SPHERE,
    'cylinder': _GEOM.mjGEOM_CYLINDER,
    'mesh': _GEOM.mjGEOM_MESH,
}
_TOP = 0.04  # [m] thickness of the table top


@dataclass(frozen=True)
class ObjectPose:
    """Where an object is. World frame."""

    position: Array
    """Of its origin [m], shape (3,)."""
    quaternion: Array
    """x y z w, shape (4,)."""


def scene_spec(
    scene: Scene,
    thing: ObjectModel | None,
    *,
    timestep: float,
    hand: str = 'right',
    visuals: bool = False,
    friction_scale: float = 1.0,
    rotor_inertia_scale: float = 1.0,
) -> mujoco.MjSpec:
    """Editable model of the scene; the robot's joints come first, in the project's order.

    Args:
        scene: table and camera.
        thing: the object, or None.
        timestep: of the physics [s].
        hand: right or left.
        visuals: with the meshes that make it look like the robot.
        friction_scale: factor on the friction of the robot's joints.
        rotor_inertia_scale: factor on their rotor inertia.
    """
    spec = robot_spec(timestep, hand=hand, visuals=visuals, camera=scene.camera)
    spec.option.impratio = _IMPRATIO
    spec.option.tolerance = _TOLERANCE
    for joint in spec.joints:
        joint.frictionloss *= friction_scale
        joint.damping *= friction_scale
        joint.armature *= rotor_inertia_scale
    friction = BARE_FRICTION if thing is None else thing.finger_friction
    for body in spec.bodies:
        if body.name == 'world':
            continue
        body.gravcomp = 1.0  # the backend takes it from the hand's joints again
        for geom in body.geoms:
            if geom.contype:
                _touch(geom, friction, _ROBOT_PRIORITY)
    _add_table(spec, scene)
    if thing is not None:
        _add_object(spec, thing, visuals=visuals)
    add_camera(spec, scene.camera, CAMERA)
    if visuals:
        add_looks(spec, scene)
    return spec


def object_place(scene: Scene, thing: ObjectModel) -> ObjectPose:
    """The object's own place on the table."""
    x, y = scene.object_position
    turn = quaternion_from_vector((0.0, 0.0, scene.object_yaw))
    return ObjectPose(
        constant((x, y, thing.rest_height)), quaternion_product(turn, thing.rest_quaternion)
    )


def _touch(geom: mujoco.MjsGeom, friction: float, priority: int) -> None:
    geom.friction = [friction, _TORSION, _ROLL]
    geom.priority = priority
    geom.condim = CONDIM
    geom.solref = list(_SOLREF)
    geom.solimp = list(_SOLIMP)


def _add_table(spec: mujoco.MjSpec, scene: Scene) -> None:
    (x, y), (width, depth) = scene.table_position, scene.table_size
    table = spec.worldbody.add_body(name=TABLE, pos=[x, y, 0.0])
    table.add_geom(
        name=TABLE,
        type=_GEOM.mjGEOM_BOX,
        size=[width / 2, depth / 2, _TOP / 2],
        pos=[0.0, 0.0, -_TOP / 2],
        condim=CONDIM,
        group=VISUAL_GROUP,
        rgba=[0.62, 0.50, 0.38, 1.0],
    )


def _add_object(spec: mujoco.MjSpec, thing: ObjectModel, *, visuals: bool) -> None:
    body = spec.worldbody.add_body(name=OBJECT, pos=[0.0, 0.0, 10.0])
    body.add_freejoint(name=OBJECT)
    body.explicitinertial = True
    body.mass = thing.mass
    body.ipos = list(thing.centre_of_mass)
    i = np.asarray(thing.inertia)
    body.fullinertia = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
    for number, part in enumerate(collision_parts(thing)):
        geom = _add_part(spec, body, part, f'{OBJECT}_{number}')
        geom.rgba = list(thing.rgba)
        geom.group = COLLISION_GROUP
        _touch(geom, thing.friction, _OBJECT_PRIORITY)
    if visuals:
        mesh = _add_mesh(spec, f'{OBJECT}_visual', thing.mesh)
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        body.add_geom(
            name=f'{OBJECT}_visual',
            type=_GEOM.mjGEOM_MESH,
            meshname=mesh.name,
            rgba=list(thing.rgba),
            group=VISUAL_GROUP,
            contype=0,
            conaffinity=0,
            mass=0.0,
        )


def _add_part(spec: mujoco.MjSpec, body: mujoco.MjsBody, part: Part, name: str) -> mujoco.MjsGeom:
    geom = body.add_geom(name=name, type=_KINDS[part.kind], mass=0.0)
    geom.pos = list(part.position)
    geom.quat = list(to_wxyz(part.quaternion))
    if part.mesh is None:
        geom.size = list(part.size)
    else:
        mesh = _add_mesh(spec, name, part.mesh)
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        geom.meshname = name
    return geom


def _add_mesh(spec: mujoco.MjSpec, name: str, surface: Mesh) -> mujoco.MjsMesh:
    mesh = spec.add_mesh(name=name)
    mesh.uservert = surface.vertices.ravel().tolist()
    mesh.userface = surface.faces.ravel().tolist()
    return mesh
