# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the simulated scene for the tracker's tests: each view is rendered once."""

from __future__ import annotations

from functools import cache

import numpy as np

from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.hardware.depth_noise import (
    DepthSensor,
    StereoNoise,
    add_colour_noise,
    frame_generator,
)
from drex_ros.hardware.rendering import Picture
from drex_ros.hardware.rgbd_camera import RgbdCamera, SceneState
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import ObjectModel, load_object
from drex_ros.perception.estimate import ObjectState
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import TrackedMesh
from drex_ros.robot.joints import HOME, Array
from drex_ros.robot.rotations import (
    quaternion_from_vector,
    quaternion_product,
    rotation_matrix,
)

SCENE = load_scene()
CAMERA = SCENE.camera
PERIOD = 1.0 / 30.0
"""Between two frames [s]."""

Place = tuple[float, float, float, float, float]
"""x, y [m], turn about the vertical [rad], height above the table [m], tilt [rad]."""


def at(x: float, y: float, yaw: float = 0.0, lift: float = 0.0, tilt: float = 0.0) -> Place:
    return (x, y, yaw, lift, tilt)


@cache
def thing(name: str) -> ObjectModel:
    return load_object(name)


@cache
def mesh_of(name: str) -> TrackedMesh:
    return TrackedMesh.of(thing(name))


def world_pose(name: str, place: Place) -> Array:
    """Position [m] and quaternion of the object, standing unless lifted or tilted. Shape (7,)."""
    model = thing(name)
    x, y, yaw, lift, tilt = place
    turn = quaternion_product(
        quaternion_from_vector((0.0, 0.0, yaw)), quaternion_from_vector((tilt, 0.0, 0.0))
    )
    quaternion = quaternion_product(turn, model.rest_quaternion)
    height = model.rest_height
    if tilt:
        height = -float((model.mesh.vertices @ rotation_matrix(quaternion).T)[:, 2].min())
    return np.array((x, y, height + lift, *quaternion))


def seen_pose(name: str, place: Place) -> Pose:
    """The same in the camera's optical frame."""
    pose = world_pose(name, place)
    rotation = CAMERA.rotation.T @ rotation_matrix(pose[3:])
    return Pose(CAMERA.to_optical(pose[:3]), np.ascontiguousarray(rotation))


def optical(state: ObjectState) -> Pose:
    """An estimate in the camera's optical frame."""
    rotation = CAMERA.rotation.T @ rotation_matrix(state.quaternion)
    return Pose(CAMERA.to_optical(state.position), np.ascontiguousarray(rotation))


def off(name: str, state: ObjectState | Pose, place: Place) -> tuple[float, float]:
    """By how much an answer is off: [mm] and [deg], not counting turns that cannot be seen."""
    pose = state if isinstance(state, Pose) else optical(state)
    truth = seen_pose(name, place)
    turn, _ = SymmetryGroup(thing(name).symmetry).error(truth.rotation, pose.rotation)
    place_error = 1e3 * float(np.linalg.norm(pose.position - truth.position))
    return place_error, float(np.degrees(np.linalg.norm(turn)))


@cache
def _camera() -> RgbdCamera:
    return RgbdCamera(SCENE)


@cache
def _sensor() -> DepthSensor:
    return DepthSensor(CAMERA, StereoNoise(), seed=0)


@cache
def view(name: str, place: Place, posture: tuple[float, ...] = ()) -> Picture:
    """What is to be seen, without noise; without a name the table alone."""
    pose = world_pose(name, place) if name else np.array((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
    joints = np.array(posture) if posture else HOME.copy()
    state = SceneState(0, 0, name, joints, np.zeros(23), pose, np.zeros(6))
    return _camera().take(state)


def exact(name: str, place: Place, number: int = 0) -> RgbdFrame:
    """A frame without noise."""
    picture = view(name, place)
    return RgbdFrame(PERIOD * number, picture.rgb.copy(), picture.depth.copy())


def frame_of(picture: Picture, number: int, posture: tuple[float, ...] = ()) -> RgbdFrame:
    """A frame as the camera gives it: depth and colours with the noise of this number."""
    generator = frame_generator(0, number)
    colour = add_colour_noise(picture.rgb, 2.0, generator)
    depth = np.where(picture.depth > 0.0, picture.depth, np.float32(np.inf))
    measured = _sensor().measure(depth, generator)
    joints = np.array(posture) if posture else None
    return RgbdFrame(PERIOD * number, colour, measured, None, joints)


@cache
def noisy(name: str, place: Place, number: int = 0, posture: tuple[float, ...] = ()) -> RgbdFrame:
    """A frame as the camera gives it; tests must not write to it."""
    return frame_of(view(name, place, posture), number, posture)


def both(first: Picture, second: Picture) -> Picture:
    """Two views as one: the nearer surface is seen."""
    far = np.float32(1e9)
    one = np.where(first.depth > 0.0, first.depth, far)
    other = np.where(second.depth > 0.0, second.depth, far)
    depth = np.minimum(one, other)
    colour = np.where((one <= other)[..., None], first.rgb, second.rgb)
    return Picture(colour, np.where(depth < far, depth, np.float32(0.0)))


def sliding(number: int) -> Place:
    """Where a box that is pushed about is in a frame; it rests in the first six."""
    time = max(0.0, (number - 6) * PERIOD)
    return at(
        0.5 + 0.04 * float(np.sin(np.pi * time)),
        0.10 * float(np.sin(1.6 * np.pi * time)),
        0.3 + 0.8 * float(np.sin(1.2 * np.pi * time)),
    )
