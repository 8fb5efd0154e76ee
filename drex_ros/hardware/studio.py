# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Photographs of a scene for people: soft shadows, smooth edges, any viewpoint.

OpenGL draws hard shadows of point lights. A photograph is the mean of several drawings: in each
the lamp's light comes from elsewhere on the lamp and the fill light from elsewhere in the sky, so
shadows are soft and corners are darker, and the picture is shifted within a pixel, so edges are
smooth.
"""

from __future__ import annotations

import copy

import cv2
import mujoco
import numpy as np
import numpy.typing as npt

from drex_ros.hardware.looks import add_studio
from drex_ros.hardware.rendering import SceneRenderer
from drex_ros.hardware.scene import scene_spec
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array

Pixels = npt.NDArray[np.uint8]

_TIMESTEP = 0.001  # [s]; nothing is stepped here, but a model must have one
_SHADOW_MAP = 2048  # [px]
_LAMP = 0.10  # radius of the lamp over its distance
_SKY = 0.88  # sine of the angle to the vertical from which fill light comes at most
_FEWEST_OF_SKY = 8  # exposures; with fewer the shadows of the sky are single ghosts
_OPEN_SKY = 0.8  # of the fill light reaches a surface on average when it casts shadows
_GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
_GOLDEN_SECTION = 0.5 * (np.sqrt(5.0) - 1.0)


def studio_model(
    scene: Scene, thing: ObjectModel | None, *, hand: str = 'right'
) -> mujoco.MjModel:
    """The scene with everything that photographs need; bodies are those of the physics."""
    spec = scene_spec(scene, thing, timestep=_TIMESTEP, hand=hand, visuals=True)
    add_studio(spec, scene)
    return spec.compile()


def orbit_camera(
    target: npt.ArrayLike,
    *,
    azimuth: float,
    elevation: float,
    distance: float,
    size: tuple[int, int],
    field_of_view: float = 0.6,
) -> CameraModel:
    """A camera that looks at a point.

    Args:
        target: what is in the middle [m], shape (3,).
        azimuth: of the camera seen from the target, from x towards y [rad].
        elevation: of the camera above the target [rad].
        distance: from the target [m].
        size: width and height of the picture [px].
        field_of_view: over the height of a 4:3 picture [rad]; wider pictures show more at the
            sides, narrower ones more above and below.
    """
    width, height = size
    x, y = np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth)
    position = np.asarray(target) + distance * np.array((x, y, np.sin(elevation)))
    focal = 0.5 * min(height, 0.75 * width) / np.tan(0.5 * field_of_view)
    return CameraModel.from_pose(
        position.tolist(),
        (0.0, elevation, azimuth + np.pi),
        width=width,
        height=height,
        fx=focal,
        fy=focal,
    )


def resized(camera: CameraModel, size: tuple[int, int]) -> CameraModel:
    """The camera with pictures of another size [px]; it sees the same from top to bottom."""
    width, height = size
    scale = height / camera.height
    return CameraModel(
        width=width,
        height=height,
        fx=scale * camera.fx,
        fy=scale * camera.fy,
        cx=(width - 1) / 2 + scale * (camera.cx - (camera.width - 1) / 2),
        cy=(height - 1) / 2 + scale * (camera.cy - (camera.height - 1) / 2),
        position=camera.position,
        quaternion=camera.quaternion,
    )


class Studio(SceneRenderer):
    """Takes photographs of a scene, on the thread that made it and on no other."""

    def __init__(self, model: mujoco.MjModel, camera: CameraModel) -> None:
        """Open an OpenGL context for a model; `camera` may be replaced by one of its size."""
        model = copy.copy(model)
        model.vis.quality.shadowsize = _SHADOW_MAP
        super().__init__(model, camera, shadows=True)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_HAZE] = True

    def photograph(self, exposures: int = 32) -> Pixels:
        """The scene as it is posed, as the mean of so many drawings. Shape (height, width, 3)."""
        scene = self._scene
        self._update()
        self._gl.make_current()
        lamp, *sky = [light for light in scene.lights[: scene.nlight] if light.castshadow]
        soft = exposures >= _FEWEST_OF_SKY
        for light in sky:
            light.castshadow = soft
            if not soft:
                light.diffuse = _OPEN_SKY * np.array(light.diffuse)
        lamp_direction = np.array(lamp.dir)
        total = np.zeros(self._rgb.shape, np.float32)
        for number in range(exposures):
            spot = _on_disc(number, exposures)
            self._shine(lamp, _from_lamp(lamp_direction, (_LAMP if soft else 0.5 * _LAMP) * spot))
            for light in sky if soft else ():
                self._shine(light, _from_sky(_SKY * spot))
            for eye in scene.camera:
                self._aim(eye)
                self._shift(eye, number, exposures)
            mujoco.mjr_render(self._viewport, scene, self._context)
            mujoco.mjr_readPixels(self._rgb, None, self._viewport, self._context)
            cv2.accumulate(self._rgb, total)
        # OpenGL's first row is the lowest.
        mean = cv2.convertScaleAbs(total[::-1], alpha=1.0 / exposures)
        return np.asarray(mean, dtype=np.uint8)

    def _shine(self, light: mujoco.MjvLight, direction: Array) -> None:
        """Let a light shine on the middle of the scene in a direction."""
        centre = np.array(self.model.stat.center)
        distance = np.linalg.norm(np.array(light.pos) - centre)
        light.pos, light.dir = centre - distance * direction, direction

    def _shift(self, eye: mujoco.MjvGLCamera, number: int, exposures: int) -> None:
        """Move the picture by a part of a pixel, another one in each exposure."""
        along = (number + 0.5) / exposures - 0.5
        across = (0.5 + number * _GOLDEN_SECTION) % 1.0 - 0.5
        eye.frustum_center += along * 2.0 * eye.frustum_width / self.camera.width
        shift = across * (eye.frustum_top - eye.frustum_bottom) / self.camera.height
        eye.frustum_top += shift
        eye.frustum_bottom += shift


def _on_disc(number: int, count: int) -> Array:
    """One of `count` spots, spread over the unit disc as the seeds of a sunflower. Shape (2,)."""
    if count == 1:
        return np.zeros(2)
    angle = number * _GOLDEN_ANGLE
    radius = float(np.sqrt((number + 0.5) / count))
    return radius * np.array((np.cos(angle), np.sin(angle)))


def _from_lamp(direction: Array, spot: Array) -> Array:
    """Direction from a spot on the lamp, where (0, 0) shines in `direction`. Shape (3,)."""
    side = np.cross(direction, (0.0, 0.0, 1.0))
    side /= np.linalg.norm(side)
    turned = direction + spot[0] * side + spot[1] * np.cross(side, direction)
    return np.asarray(turned / np.linalg.norm(turned), dtype=np.float64)


def _from_sky(spot: Array) -> Array:
    """Direction from a spot of the dome above, seen from below as the unit disc. Shape (3,)."""
    x, y = spot
    return np.array((-x, -y, -np.sqrt(1.0 - x * x - y * y)))
