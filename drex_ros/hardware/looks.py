# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What makes a scene good to look at: light, floor, wood, and what things stand on.

All of it is drawn and none of it touches: the physics is that of the scene without it. What every
picture has, those of the simulated camera included, is cheap to draw; a studio for photographs has
more lights and a backdrop on top.
"""

from __future__ import annotations

import mujoco
import numpy as np
import numpy.typing as npt

from drex_ros.hardware.mujoco_model import VISUAL_GROUP
from drex_ros.hardware.scene_file import Scene

FLOOR = 'floor'

_LEG = 0.025  # [m] half the width of a leg
_INSET = 0.06  # [m] of the legs from the edge
_GAP = 0.001  # [m] so that what stands on the floor does not flicker with it
_FLOOR_SIZE = 10.0  # [m] half of it; a box is cheaper to draw than an endless plane

_KEY = (1.3, 1.9, 2.9)  # from where a light shines, seen from the object
_FILL = (0.9, -0.6, 2.8)
_RIM = (-1.8, -1.4, 2.0)

_HORIZON = (0.90, 0.91, 0.92)
_ZENITH = (0.74, 0.78, 0.82)
_WOOD = (0.78, 0.68, 0.55)

_BOX, _CYLINDER, _PLANE = (
    mujoco.mjtGeom.mjGEOM_BOX,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_PLANE,
)


def add_looks(spec: mujoco.MjSpec, scene: Scene) -> None:
    """Dress a scene that has the robot, a geom `table`, and perhaps one `object_visual`."""
    spec.stat.center = [*scene.object_position, 0.25]
    spec.stat.extent = 1.1
    _set_head_light(spec, ambient=0.42, diffuse=0.22)
    _add_light(spec, scene, 'key', _KEY, (0.48, 0.47, 0.45), shine=0.3, shadow=True)
    _add_floor(spec, scene)
    _dress_table(spec, scene)
    _add_pedestal(spec, scene)
    _add_camera_stand(spec, scene)
    _dress_robot(spec)
    _dress_object(spec)


def add_studio(spec: mujoco.MjSpec, scene: Scene) -> None:
    """Light a dressed scene from three sides before a backdrop that the floor fades into."""
    _set_head_light(spec, ambient=0.30, diffuse=0.06)
    spec.light('key').diffuse = [0.50, 0.49, 0.47]
    _add_light(spec, scene, 'fill', _FILL, (0.34, 0.345, 0.36), shine=0.1, shadow=True)
    _add_light(spec, scene, 'rim', _RIM, (0.16, 0.16, 0.17), shine=0.3, shadow=False)
    spec.add_texture(
        name='sky',
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=_ZENITH,
        rgb2=_HORIZON,
        width=256,
        height=1536,
    )
    spec.visual.rgba.haze = [*_HORIZON, 1.0]
    spec.visual.map.haze = 0.6
    spec.visual.map.shadowclip = 2.0  # the wider, the farther MuJoCo keeps a surface's own shadow
    floor = spec.geom(FLOOR)
    floor.pos = [0.0, 0.0, floor.pos[2] + floor.size[2]]
    floor.type, floor.size = _PLANE, [0.0, 0.0, 0.1]  # MuJoCo's sign for an endless one


def wood_grain(size: int = 512) -> npt.NDArray[np.uint8]:
    """Planks of a light wood, the same each time. Shape (size, size, 3)."""
    generator = np.random.default_rng(7)
    planks = 6
    row, column = np.mgrid[0:size, 0:size] / size
    plank = np.minimum((row * planks).astype(int), planks - 1)
    shade = generator.uniform(-0.035, 0.035, planks)[plank]
    phase = generator.uniform(0.0, 2 * np.pi, (planks, 3))[plank]
    # Fibres run along a plank: slow along it, fast across, bent a little.
    bend = 0.004 * np.sin(2 * np.pi * column + phase[..., 0])
    bend += 0.002 * np.sin(4 * np.pi * column + phase[..., 1])
    fibre = np.zeros((size, size))
    for waves in (23, 47, 89, 151):
        turn = generator.uniform(0.0, 2 * np.pi)
        fibre += np.sin(2 * np.pi * waves * (row + bend) + turn + phase[..., 2]) / waves**0.4
    value = 1.0 + shade + 0.018 * fibre + generator.normal(0.0, 0.01, (size, 1))
    to_joint = np.abs(row * planks - np.round(row * planks)) * size / planks  # [px]
    value *= np.where(to_joint < 0.75, 0.90, 1.0)
    colour = value[..., None] * np.array(_WOOD)
    return np.asarray(np.clip(colour * 255.0, 0.0, 255.0), dtype=np.uint8)


def _set_head_light(spec: mujoco.MjSpec, *, ambient: float, diffuse: float) -> None:
    head = spec.visual.headlight
    head.ambient = [ambient] * 3
    head.diffuse = [diffuse] * 3
    head.specular = [0.0] * 3


def _add_light(
    spec: mujoco.MjSpec,
    scene: Scene,
    name: str,
    place: tuple[float, float, float],
    colour: tuple[float, float, float],
    *,
    shine: float,
    shadow: bool,
) -> None:
    spec.worldbody.add_light(
        name=name,
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL,
        pos=np.array(spec.stat.center) + place,
        dir=-np.array(place),
        diffuse=colour,
        ambient=(0.0, 0.0, 0.0),
        specular=(shine, shine, shine),
        castshadow=shadow,
    )


def _add_floor(spec: mujoco.MjSpec, scene: Scene) -> None:
    spec.add_material(name=FLOOR, rgba=[0.80, 0.80, 0.80, 1.0], specular=0.0)
    half = 0.05
    place = (*scene.table_position, -scene.table_height - _GAP - half)
    _add_geom(spec, FLOOR, _BOX, (_FLOOR_SIZE, _FLOOR_SIZE, half), place, FLOOR)


def _dress_table(spec: mujoco.MjSpec, scene: Scene) -> None:
    wood = wood_grain()
    texture = spec.add_texture(
        name='wood',
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        width=wood.shape[1],
        height=wood.shape[0],
        nchannel=3,
    )
    texture.data = wood.tobytes()
    material = spec.add_material(name='wood', specular=0.1, shininess=0.3)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = texture.name
    top = spec.geom('table')
    top.material = material.name
    top.rgba = [1.0, 1.0, 1.0, 1.0]
    spec.add_material(name='steel', rgba=[0.34, 0.34, 0.35, 1.0], specular=0.4, shininess=0.5)
    thickness = 2.0 * top.size[2]
    (x, y), (width, depth) = scene.table_position, scene.table_size
    along, across = max(width / 2 - _INSET, _LEG), max(depth / 2 - _INSET, _LEG)
    half = (scene.table_height - thickness) / 2
    if half <= 0.0:
        return
    for number, (i, j) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        place = (x + i * along, y + j * across, -thickness - half)
        _add_geom(spec, f'table_leg_{number}', _BOX, (_LEG, _LEG, half), place, 'steel')


def _add_pedestal(spec: mujoco.MjSpec, scene: Scene) -> None:
    """What the arm stands on, as high as the table."""
    spec.add_material(name='paint', rgba=[0.56, 0.57, 0.58, 1.0], specular=0.3, shininess=0.4)
    height = scene.table_height
    parts = (
        ('plate', (0.125, 0.12, 0.0075), -0.0075),
        ('column', (0.085, 0.085, height / 2), -height / 2 - 0.01),
        ('foot', (0.19, 0.19, 0.01), -height + 0.01),
    )
    for name, size, z in parts:
        _add_geom(spec, f'pedestal_{name}', _BOX, size, (-0.04, 0.0, z), 'paint')


def _add_camera_stand(spec: mujoco.MjSpec, scene: Scene) -> None:
    """A pole behind the camera, on the table or beside it, unless the camera would see it."""
    camera = scene.camera
    x, y, z = camera.position - 0.035 * camera.rotation[:, 2]
    (table_x, table_y), (width, depth) = scene.table_position, scene.table_size
    on_table = abs(x - table_x) < width / 2 and abs(y - table_y) < depth / 2
    foot = 0.0 if on_table else -scene.table_height
    if z - foot < 0.05:
        return
    pole = np.linspace((x, y, foot), (x, y, z), 50)
    column, row = np.nan_to_num(camera.project(pole), nan=-1e6).T
    margin = 20  # [px] for its width
    seen = np.abs(column - camera.width / 2) < camera.width / 2 + margin
    seen &= np.abs(row - camera.height / 2) < camera.height / 2 + margin
    if not seen.any():
        size, middle = (0.009, (z - foot) / 2, 0.0), (z + foot) / 2
        _add_geom(spec, 'camera_pole', _CYLINDER, size, (x, y, middle), 'steel')
        place = (x, y, foot + 0.006)
        _add_geom(spec, 'camera_foot', _CYLINDER, (0.09, 0.006, 0.0), place, 'steel')


def _dress_robot(spec: mujoco.MjSpec) -> None:
    """Painted shells shine; white leaves room for highlights, black for details."""
    for material in spec.materials:
        if material.name.startswith('robot_'):
            rgb = np.array(material.rgba[:3])
            white = rgb.min() > 0.8
            rgb = 0.94 * rgb if white else np.maximum(rgb, 0.13)
            material.rgba = [*rgb, material.rgba[3]]
            material.specular = 0.4 if white else 0.5
            material.shininess = 0.5


def _dress_object(spec: mujoco.MjSpec) -> None:
    shown = spec.geom('object_visual')
    if shown is not None:
        spec.add_material(name='object', specular=0.35, shininess=0.5)
        shown.material = 'object'


def _add_geom(
    spec: mujoco.MjSpec,
    name: str,
    kind: mujoco.mjtGeom,
    size: tuple[float, float, float],
    position: tuple[float, float, float],
    material: str,
) -> None:
    """Add to the world something that is seen and does not touch."""
    spec.worldbody.add_geom(
        name=name,
        type=kind,
        size=size,
        pos=position,
        material=material,
        group=VISUAL_GROUP,
        contype=0,
        conaffinity=0,
    )
