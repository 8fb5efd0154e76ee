# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The project's scene with props in it, drawn as the simulated camera sees it."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import numpy.typing as npt

from drex_ros.closing import Closing
from drex_ros.evaluation.motion import AWAY, Motion, Prop
from drex_ros.hardware.depth_noise import (
    DepthSensor,
    StereoNoise,
    add_colour_noise,
    frame_generator,
    to_millimetres,
)
from drex_ros.hardware.mujoco_model import VISUAL_GROUP
from drex_ros.hardware.rendering import Picture, SceneRenderer
from drex_ros.hardware.scene import OBJECT, scene_spec
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel
from drex_ros.robot.rotations import to_wxyz

COLOUR_NOISE = 2.0
"""Deviation of the colours [grey levels], as in config/mock_camera.yaml."""

_TIMESTEP = 0.001  # [s]; nothing is stepped here, but a model must have one
_HIDDEN_GROUP = 5  # not drawn
_SAME_DEPTH = 2e-5  # [m] one surface drawn twice
_KINDS = {
    'box': mujoco.mjtGeom.mjGEOM_BOX,
    'capsule': mujoco.mjtGeom.mjGEOM_CAPSULE,
    'mesh': mujoco.mjtGeom.mjGEOM_MESH,
    'sheet': mujoco.mjtGeom.mjGEOM_MESH,
}


class Stage(Closing):
    """Draws the frames of a motion, on the thread that made it and on no other."""

    def __init__(self, scene: Scene, thing: ObjectModel, props: tuple[Prop, ...] = ()) -> None:
        """Set the scene with an object and props."""
        spec = scene_spec(scene, thing, timestep=_TIMESTEP, visuals=True)
        for number, prop in enumerate(props):
            _add_prop(spec, prop, _prop_name(number))
        model = spec.compile()
        self._props = [
            int(model.body_mocapid[model.body(_prop_name(number)).id])
            for number in range(len(props))
        ]
        alone = copy.copy(model)
        for i in range(model.ngeom):
            if model.geom(i).name != f'{OBJECT}_visual':
                alone.geom_group[i] = _HIDDEN_GROUP
        self.camera = scene.camera
        self._whole = SceneRenderer(model, scene.camera)
        self._alone = SceneRenderer(alone, scene.camera)

    def close(self) -> None:
        """Free the OpenGL contexts."""
        self._whole.close()
        self._alone.close()

    def draw(self, motion: Motion, i: int) -> Picture:
        """What there is to see at frame `i`, without noise."""
        pose = motion.pose[i] if motion.shown is None else motion.shown[i]
        self._whole.pose(motion.joint_position[i], pose)
        if motion.prop_pose is not None:
            for prop, place in zip(self._props, motion.prop_pose[i], strict=True):
                self._whole.data.mocap_pos[prop] = place[:3]
                self._whole.data.mocap_quat[prop] = to_wxyz(place[3:])
        return self._whole.render()

    def visible(self, motion: Motion, i: int, seen: Picture) -> float:
        """Share of the object's own pixels at frame `i` that nothing hides in what was drawn."""
        if motion.shown is not None and (motion.shown[i] != motion.pose[i]).any():
            return 0.0
        self._alone.pose(motion.joint_position[i], motion.pose[i])
        depth = self._alone.render().depth
        own = np.isfinite(depth)
        count = int(own.sum())
        open_to_view = np.abs(seen.depth[own] - depth[own]) < _SAME_DEPTH
        return float(open_to_view.sum()) / count if count else 0.0


class Sensor:
    """The mock camera's errors at its default settings."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self._seed = seed
        self._depth = DepthSensor(scene.camera, StereoNoise(), seed=seed)

    def measure(
        self, seen: Picture, i: int
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint16]]:
        """Colour, and depth in mm, as the camera publishes frame `i`."""
        # Frame 0 has the random numbers of what stays from frame to frame.
        generator = frame_generator(self._seed, i + 1)
        colour = add_colour_noise(seen.rgb, COLOUR_NOISE, generator)
        return colour, to_millimetres(self._depth.measure(seen.depth, generator))


def _prop_name(number: int) -> str:
    return f'prop_{number}'


def _add_prop(spec: mujoco.MjSpec, prop: Prop, name: str) -> None:
    body = spec.worldbody.add_body(name=name, mocap=True, pos=AWAY[:3])
    geom = body.add_geom(
        name=name,
        type=_KINDS[prop.kind],
        rgba=list(prop.rgba),
        group=VISUAL_GROUP,
        contype=0,
        conaffinity=0,
    )
    if prop.picture is not None:
        _print_sheet(spec, geom, prop.size[0], prop.picture)
        return
    if prop.mesh is None:
        geom.size = [*prop.size, 0.0, 0.0][:3]
        return
    mesh = spec.add_mesh(name=name)
    mesh.uservert = prop.mesh.vertices.ravel().tolist()
    mesh.userface = prop.mesh.faces.ravel().tolist()
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    geom.meshname = name
    geom.material = 'object'  # shines as objects do


def _print_sheet(
    spec: mujoco.MjSpec, geom: mujoco.MjsGeom, half: float, picture: npt.NDArray[np.uint8]
) -> None:
    """A square in the geom's x-y plane with a picture on it, the picture's top towards y."""
    name = geom.name
    sheet = spec.add_mesh(name=name)
    sheet.uservert = [-half, -half, 0, half, -half, 0, half, half, 0, -half, half, 0]
    sheet.userface = [0, 1, 2, 0, 2, 3]
    sheet.usertexcoord = [0, 1, 1, 1, 1, 0, 0, 0]
    sheet.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
    colours = np.repeat(picture[..., None], 3, axis=2)
    texture = spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D)
    texture.height, texture.width, texture.nchannel = colours.shape
    texture.data = colours.tobytes()
    material = spec.add_material(name=name, specular=0.0, reflectance=0.0)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    geom.meshname, geom.material = name, name
