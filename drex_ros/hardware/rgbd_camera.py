# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated RGB-D camera: from the state of the simulator to what a real one would give."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.hardware.depth_noise import (
    DepthChance,
    DepthSensor,
    StereoNoise,
    colour_noise,
    frame_generator,
    with_noise,
)
from drex_ros.hardware.heap import give_back
from drex_ros.hardware.rendering import Picture, SceneRenderer
from drex_ros.hardware.scene import scene_spec
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import load_object
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

_TIMESTEP = 0.001  # [s]; nothing is stepped here, but a model must have one


@dataclass(frozen=True)
class SceneState:
    """What the simulator looks like at one moment, in the middle of the exposure."""

    frame: int
    seed: int
    thing: str
    """Name of the object in the library; empty: none."""
    joint_position: Array
    """[rad], shape (23,)."""
    joint_velocity: Array
    """[rad/s], shape (23,)."""
    object_pose: Array
    """Position [m] and quaternion x y z w in world, shape (7,)."""
    object_twist: Array
    """Velocity of the object's origin [m/s] and of its turn [rad/s], world axes, shape (6,)."""

    def later(self, time: float) -> SceneState:
        """The state this much later [s], at the velocities of now."""
        position = self.object_pose[:3] + time * self.object_twist[:3]
        turn = quaternion_from_vector(time * self.object_twist[3:])
        return SceneState(
            frame=self.frame,
            seed=self.seed,
            thing=self.thing,
            joint_position=self.joint_position + time * self.joint_velocity,
            joint_velocity=self.joint_velocity,
            object_pose=np.append(position, quaternion_product(turn, self.object_pose[3:])),
            object_twist=self.object_twist,
        )


@dataclass(frozen=True)
class CameraOptions:
    """How the camera is, beside its pose and intrinsics."""

    hand: str = 'right'
    stereo: StereoNoise | None = None
    """Noise of the depth; None: exact depth."""
    colour_noise: float = 0.0
    """Deviation of the colours [grey levels]."""
    exposure_time: float = 0.0
    """Time over which motion blurs the colours [s]; 0: none. Depth is that of the middle."""
    exposure_samples: int = 5
    """Pictures that are averaged for it."""
    shadows: bool = False
    reflections: bool = False


@dataclass(frozen=True)
class _Chance:
    """What chance does to one frame; it depends on seed and number alone."""

    seed: int
    frame: int
    colour: npt.NDArray[np.float32] | None
    """[grey levels]; None: no noise. Shape (height, width, 3)."""
    depth: DepthChance | None
    """None: no noise."""


class RgbdCamera:
    """Takes pictures of a simulated scene, on the thread that made it and on no other."""

    def __init__(self, scene: Scene, options: CameraOptions | None = None) -> None:
        """Set up the camera of a scene, without an object at first.

        Raises SceneError, DescriptionError or RenderingError when that cannot be.
        """
        self.options = options or CameraOptions()
        self._scene = scene
        self._sensor: DepthSensor | None = None
        self._seed = -1
        self._chance: _Chance | None = None
        self._thing = ''
        self._renderer = self._open('')

    @property
    def model(self) -> CameraModel:
        """Pose and intrinsics."""
        return self._scene.camera

    def take(self, state: SceneState) -> Picture:
        """The picture of a state: `draw`, then `measure`."""
        return self.measure(self.draw(state), state)

    def draw(self, state: SceneState) -> Picture:
        """What is to be seen in a state, without noise.

        Raises ObjectError for an object that cannot be loaded, ValueError for numbers that cannot
        be; the camera goes on with the next state.
        """
        self._show(state.thing)
        return self._expose(state)

    def measure(self, seen: Picture, state: SceneState) -> Picture:
        """What the camera makes of it; depth is 0 where there is no value."""
        self.prepare(state.seed, state.frame)
        chance, self._chance = self._chance, None
        assert chance is not None
        rgb = seen.rgb if chance.colour is None else with_noise(seen.rgb, chance.colour)
        if chance.depth is None:
            return Picture(rgb, np.where(np.isfinite(seen.depth), seen.depth, np.float32(0.0)))
        assert self._sensor is not None
        return Picture(rgb, self._sensor.measure_with(seen.depth, chance.depth))

    def prepare(self, seed: int, frame: int) -> None:
        """Roll the dice for a frame that is to come, while there is time; changes no picture."""
        known = self._chance
        if known is not None and (known.seed, known.frame) == (seed, frame):
            return
        options, generator = self.options, frame_generator(seed, frame)
        colour, depth = None, None
        if options.colour_noise > 0.0:
            shape = (self.model.height, self.model.width)
            colour = colour_noise(shape, options.colour_noise, generator)
        if options.stereo is not None:
            depth = self._sensor_of(seed, options.stereo).chance(generator)
        self._chance = _Chance(seed, frame, colour, depth)

    def black(self) -> Picture:
        """What a camera gives that sees nothing."""
        shape = (self.model.height, self.model.width)
        return Picture(np.zeros((*shape, 3), np.uint8), np.zeros(shape, np.float32))

    def close(self) -> None:
        """Free the OpenGL context."""
        self._renderer.close()

    def _expose(self, state: SceneState) -> Picture:
        options = self.options
        self._renderer.pose(state.joint_position, state.object_pose)
        middle = self._renderer.render()
        if options.exposure_time <= 0.0 or options.exposure_samples < 2:
            return middle
        if not np.isfinite((*state.joint_velocity, *state.object_twist)).all():
            raise ValueError('joint velocities and object twist must be finite')
        total = middle.rgb.astype(np.float32)
        # An odd number of samples, evenly spaced, of which the middle one is there already.
        half = options.exposure_samples // 2
        spacing = options.exposure_time / (2 * half + 1)
        for number in (*range(-half, 0), *range(1, half + 1)):
            moved = state.later(number * spacing)
            self._renderer.pose(moved.joint_position, moved.object_pose)
            cv2.accumulate(self._renderer.render().rgb, total)
        return Picture(cv2.convertScaleAbs(total, alpha=1.0 / (2 * half + 1)), middle.depth)

    def _show(self, thing: str) -> None:
        """Have this object in the scene."""
        if thing != self._thing:
            renderer = self._open(thing)
            self._renderer.close()
            self._renderer, self._thing = renderer, thing
            give_back()

    def _open(self, thing: str) -> SceneRenderer:
        model = scene_spec(
            self._scene,
            load_object(thing) if thing else None,
            timestep=_TIMESTEP,
            hand=self.options.hand,
            visuals=True,
        ).compile()
        return SceneRenderer(
            model,
            self.model,
            shadows=self.options.shadows,
            reflections=self.options.reflections,
        )

    def _sensor_of(self, seed: int, noise: StereoNoise) -> DepthSensor:
        if self._sensor is None or seed != self._seed:
            self._sensor, self._seed = DepthSensor(self.model, noise, seed=seed), seed
        return self._sensor
