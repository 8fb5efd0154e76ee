# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Photographs of the simulator at given moments, whatever object is on its table."""

from __future__ import annotations

from dataclasses import dataclass

from drex_ros.closing import Closing
from drex_ros.hardware.scene_file import Scene
from drex_ros.hardware.studio import Pixels, Studio, studio_model
from drex_ros.objects import load_object
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array


@dataclass(frozen=True, eq=False)
class Moment:
    """What the simulator looks like at one moment."""

    time: float
    """[s], simulated."""
    thing: str
    """Name of the object in the library, or path of its file; empty: none."""
    joint_position: Array
    """[rad], shape (23,)."""
    object_pose: Array | None
    """Position [m] and quaternion x y z w in world, shape (7,); None: no object."""


class Photographer(Closing):
    """Keeps a studio for the object that was seen last. For one thread."""

    def __init__(self, scene: Scene, hand: str) -> None:
        self._scene = scene
        self._hand = hand
        self._studio: Studio | None = None
        self._shown: tuple[str, tuple[int, int]] | None = None

    def take(self, moment: Moment, camera: CameraModel, exposures: int) -> Pixels:
        """A picture as the mean of so many drawings. Shape (height, width, 3).

        Raises ObjectError for an unknown object, RenderingError where there is no OpenGL.
        """
        wanted = (moment.thing, (camera.width, camera.height))
        if self._studio is None or wanted != self._shown:
            thing = load_object(moment.thing) if moment.thing else None
            model = studio_model(self._scene, thing, hand=self._hand)
            self.close()
            self._studio, self._shown = Studio(model, camera), wanted
        self._studio.camera = camera
        self._studio.pose(moment.joint_position, moment.object_pose)
        return self._studio.photograph(exposures)

    def close(self) -> None:
        """Free the graphics."""
        if self._studio is not None:
            self._studio.close()
            self._studio = None
