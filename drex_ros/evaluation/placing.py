# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where an object is in the picture and on the table, and where a straight way meets it."""

from __future__ import annotations

import numpy as np

from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import (
    quaternion_from_vector,
    quaternion_product,
    rotation_matrix,
)

MARGIN = 8.0
"""The object stays so far inside the picture [px]."""


def resting(thing: ObjectModel, place: Array, yaw: float) -> Array:
    """Pose of an object at rest on the table: position [m] and quaternion. Shape (7,).

    Args:
        thing: the object.
        place: x and y of its origin [m]. Shape (2,).
        yaw: how far it is turned about the vertical [rad].
    """
    turn = quaternion_from_vector((0.0, 0.0, yaw))
    return np.array((*place, thing.rest_height, *quaternion_product(turn, thing.rest_quaternion)))


def corners(thing: ObjectModel) -> Array:
    """The bounding box in the object's frame [m]. Shape (8, 3)."""
    lower, upper = thing.mesh.bounds
    grid = np.array(np.meshgrid((0, 1), (0, 1), (0, 1))).reshape(3, 8).T
    return np.asarray(lower + grid * (upper - lower))


def in_picture(scene: Scene, thing: ObjectModel, pose: Array, margin: float = MARGIN) -> bool:
    """Whether all of the object is in the picture at all poses, shape (n, 7)."""
    box = corners(thing)
    camera = scene.camera
    points = np.concatenate([box @ rotation_matrix(each[3:]).T + each[:3] for each in pose])
    pixels = camera.project(points)
    size = (camera.width - 1.0, camera.height - 1.0)
    # False for NaN, which is behind the camera.
    return bool(((pixels >= margin) & (pixels <= np.array(size) - margin)).all())


def tilt(thing: ObjectModel, pose: Array) -> float:
    """Greatest angle to how it stands on the table, over poses of shape (n, 7) [rad]."""
    up = rotation_matrix(thing.rest_quaternion).T @ (0.0, 0.0, 1.0)
    vertical = min(float((rotation_matrix(each[3:]) @ up)[2]) for each in pose)
    return float(np.arccos(np.clip(vertical, -1.0, 1.0)))


def height(thing: ObjectModel) -> float:
    """Of the object as it rests on the table [m]."""
    turned = thing.mesh.vertices @ rotation_matrix(thing.rest_quaternion).T
    return float(np.ptp(turned[:, 2]))


def way_to_surface(thing: ObjectModel, pose: Array, start: Array, direction: Array) -> float:
    """Length of the straight way from a point to the object's surface [m]; infinite: it misses.

    Args:
        thing: the object.
        pose: of the object in world, shape (7,).
        start: point in world [m], shape (3,).
        direction: unit vector in world, shape (3,).
    """
    rotation = rotation_matrix(pose[3:])
    origin, ray = (start - pose[:3]) @ rotation, direction @ rotation
    a, b, c = np.moveaxis(thing.mesh.vertices[thing.mesh.faces], 1, 0)
    # Moeller-Trumbore: barycentric coordinates of where the ray meets each triangle's plane.
    first, second = b - a, c - a
    across = np.cross(ray, second)
    determinant = np.einsum('ij,ij->i', first, across)
    with np.errstate(divide='ignore', invalid='ignore'):
        u = np.einsum('ij,ij->i', origin - a, across) / determinant
        normal = np.cross(origin - a, first)
        v = normal @ ray / determinant
        distance = np.einsum('ij,ij->i', second, normal) / determinant
        hit = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (distance > 0.0)
    return float(distance[hit].min()) if hit.any() else float('inf')
