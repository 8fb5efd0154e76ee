# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as a MuJoCo model, made from the same URDF as everything else."""

from __future__ import annotations

from collections import Counter

import mujoco
import numpy as np
import numpy.typing as npt

from drex_ros.robot.camera import CameraModel
from drex_ros.robot.description import robot_urdf
from drex_ros.robot.joints import JOINT_NAMES, ROTOR_INERTIA
from drex_ros.robot.mesh_files import Colour, Surface
from drex_ros.robot.rotations import to_wxyz
from drex_ros.robot.visuals import VisualPart, visual_parts

VISUAL_GROUP = 2
"""MuJoCo's geom group of what is seen; shown by default."""
COLLISION_GROUP = 3
"""MuJoCo's geom group of what touches; hidden by default."""

# Their convex collision shapes overlap inside the joint range, where the real parts do not touch.
_NEVER_TOUCH = (('panda_link5', 'panda_link7'), ('palm_link', 'link_13.0'))

# Joint friction that sticks: by MuJoCo's defaults a finger pushed by less than its friction creeps
# at 15 mrad/s, with these at 0.03 mrad/s.
_FRICTION_SOLREF = (0.004, 1.0)
_FRICTION_SOLIMP = (0.999, 0.999, 0.001, 0.5, 2.0)

# Visuals are added by hand: MuJoCo reads no Collada.
_COMPILER = (
    '<mujoco><compiler fusestatic="false" strippath="false" balanceinertia="false" '
    'discardvisual="true"/></mujoco>'
)


def robot_spec(
    timestep: float,
    *,
    hand: str = 'right',
    visuals: bool = False,
    camera: CameraModel | None = None,
) -> mujoco.MjSpec:
    """Editable model of arm and hand with one motor a joint.

    Args:
        timestep: of the physics [s].
        hand: right or left.
        visuals: with the meshes that make it look like the robot (group 2, without contact).
        camera: where the camera's housing stands; None: as in config/scenes/table.yaml.
    """
    urdf = robot_urdf(hand, camera)
    spec = mujoco.MjSpec.from_string(urdf.replace('</robot>', f'{_COMPILER}</robot>'))
    spec.compiler.discardvisual = False  # did its work: of the URDF's own visuals none is there
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for name, inertia in zip(JOINT_NAMES, ROTOR_INERTIA, strict=True):
        joint = spec.joint(name)
        joint.armature = inertia
        joint.solref_friction = list(_FRICTION_SOLREF)
        joint.solimp_friction = list(_FRICTION_SOLIMP)
        # MuJoCo would clamp silently; too large a command is refused by the backend instead.
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.set_to_motor()
    for first, second in _NEVER_TOUCH:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    for geom in spec.geoms:
        geom.group = COLLISION_GROUP
    if visuals:
        _add_visuals(spec, visual_parts(urdf))
    return spec


def _add_visuals(spec: mujoco.MjSpec, parts: tuple[VisualPart, ...]) -> None:
    """Surfaces that are seen and neither touch nor weigh; one material a colour."""
    shapes: set[str] = set()
    materials: dict[Colour, str] = {}
    count: Counter[str] = Counter()
    for part in parts:
        if part.shape not in shapes:
            shapes.add(part.shape)
            _add_mesh(spec, f'{part.shape}_visual', part.surface)
        if part.rgba not in materials:
            name = materials[part.rgba] = f'robot_{len(materials)}'
            spec.add_material(name=name, rgba=part.rgba, specular=0.3, shininess=0.4)
        count[part.link] += 1
        spec.body(part.link).add_geom(
            name=f'{part.link}_visual_{count[part.link]}',
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=f'{part.shape}_visual',
            material=materials[part.rgba],
            pos=part.position,
            quat=to_wxyz(part.quaternion),
            group=VISUAL_GROUP,
            contype=0,
            conaffinity=0,
            mass=0.0,
        )


def _add_mesh(spec: mujoco.MjSpec, name: str, surface: Surface) -> None:
    mesh = spec.add_mesh(name=name)
    mesh.uservert = surface.vertices.ravel().tolist()
    mesh.usernormal = surface.normals.ravel().tolist()
    mesh.userface = surface.faces.ravel().tolist()
    mesh.userfacenormal = mesh.userface
    # What is only seen need not be closed.
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL


class JointMap:
    """Where the robot's joints are in a MuJoCo model. Index arrays, shape (23,)."""

    def __init__(self, model: mujoco.MjModel) -> None:
        joints = [model.joint(name).id for name in JOINT_NAMES]
        self.position: npt.NDArray[np.intp] = np.array(model.jnt_qposadr[joints], dtype=np.intp)
        self.velocity: npt.NDArray[np.intp] = np.array(model.jnt_dofadr[joints], dtype=np.intp)
        self.motor: npt.NDArray[np.intp] = np.array(
            [model.actuator(name).id for name in JOINT_NAMES], dtype=np.intp
        )
