# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Point-to-plane ICP by small_gicp as a tracker: what the project's own is measured against.

It is given the true pose of the first frame, expects the object where it was last, and takes the
points above the table within its reach, without those of the robot. Points of the object's surface
are what small_gicp calls the target: their normals, which it estimates as it cannot be given any,
and their search tree are made once.
"""

from __future__ import annotations

import cv2
import numpy as np
import small_gicp  # type: ignore[import-not-found]

from drex_ros.evaluation.sequence import Sequence
from drex_ros.objects import ObjectModel
from drex_ros.perception.estimate import (
    Detection,
    ObjectEstimate,
    ObjectState,
    PoseObservation,
    TrackStatus,
)
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_from_matrix, rotation_matrix

MODEL_SPACING = 0.002
"""Of the model's points [m]."""
SPACING = 0.003
"""Of measured points [m]; 2 mm take half as long again and are not more accurate."""
REACH = 0.03
"""Beyond the object's radius, of the points that are taken [m]."""
ABOVE = 0.005
"""Least height of points over the table [m]."""
MATCHED = 0.01
"""Greatest distance of a pair of points [m]; 20 mm are less accurate."""

_NEIGHBOURS = 10  # that a normal is estimated from
_ITERATIONS = 20
_TURN, _SHIFT = 5e-4, 5e-5  # [rad], [m] steps at which ICP ends
_FEWEST = 30  # points
_ROBOT = 0.02  # [m] that the robot must be behind what is measured
_GROWN = np.ones((7, 7), np.uint8)  # [px] by which the robot is drawn larger


class IcpTracker:
    """A PoseBackend that never says that it is lost."""

    def __init__(
        self, model: ObjectModel, camera: CameraModel, silhouette: RobotSilhouette, start: Array
    ) -> None:
        """Prepare for an object that is at the pose `start`, shape (7,), at first."""
        self._camera, self._silhouette = camera, silhouette
        self._target, self._tree = small_gicp.preprocess_points(
            surface_points(model, MODEL_SPACING), MODEL_SPACING, _NEIGHBOURS, num_threads=1
        )
        self._radius = float(np.linalg.norm(model.mesh.vertices, axis=1).max()) + REACH
        self._rays = camera.rays() @ camera.rotation.T
        self._pose = np.eye(4)
        self._pose[:3, :3] = rotation_matrix(start[3:])
        self._pose[:3, 3] = start[:3]

    @staticmethod
    def of(sequence: Sequence, model: ObjectModel, silhouette: RobotSilhouette) -> IcpTracker:
        """The tracker with the gift of the sequence's first true pose."""
        return IcpTracker(model, sequence.camera, silhouette, np.array(sequence.pose[0]))

    def update(
        self, frame: RgbdFrame, observation: PoseObservation | None = None
    ) -> ObjectEstimate:
        """Where ICP ends that begins at the last pose."""
        points = self._near_points(frame)
        if len(points) >= _FEWEST:
            source = small_gicp.voxelgrid_sampling(points, SPACING, num_threads=1)
            result = small_gicp.align(
                self._target,
                source,
                self._tree,
                np.linalg.inv(self._pose),
                registration_type='PLANE_ICP',
                max_correspondence_distance=MATCHED,
                num_threads=1,
                max_iterations=_ITERATIONS,
                rotation_epsilon=_TURN,
                translation_epsilon=_SHIFT,
            )
            self._pose = np.linalg.inv(result.T_target_source)
        state = ObjectState(
            self._pose[:3, 3].copy(),
            quaternion_from_matrix(self._pose[:3, :3]),
            np.zeros(6),
            np.full((12, 12), np.nan),
        )
        return ObjectEstimate(frame.time, TrackStatus.TRACKING, '', state)

    def detect(self, frame: RgbdFrame) -> Detection:
        """ICP cannot look for an object."""
        return Detection(False, 0.0, 'not there: ICP cannot look for an object', None)

    def smoothed(self) -> ObjectEstimate | None:
        """There is no smoother."""
        return None

    def forget(self) -> None:
        """There is nothing to go on from but the last pose."""

    def _near_points(self, frame: RgbdFrame) -> Array:
        """Measured points near the last pose, in world [m]. Shape (n, 3)."""
        camera = self._camera
        middle = self._pose[:3, 3]
        x, y, z = camera.to_optical(middle)
        if z <= self._radius:
            return np.zeros((0, 3))
        half = np.array((camera.fx, camera.fy)) * self._radius / (z - self._radius)
        centre = np.array((camera.fx * x / z + camera.cx, camera.fy * y / z + camera.cy))
        size = np.array((camera.width, camera.height))
        first = np.clip(np.floor(centre - half), 0, size).astype(int)
        last = np.clip(np.ceil(centre + half), 0, size).astype(int)
        width, height = last - first
        if width < 1 or height < 1:
            return np.zeros((0, 3))
        part = np.s_[first[1] : last[1], first[0] : last[0]]
        depth = frame.depth[part]
        seen = depth > 0.0
        if frame.joint_position is not None:
            robot = np.empty((height, width), np.float32)
            region = (int(first[0]), int(first[1]), int(width), int(height))
            self._silhouette.draw(frame.joint_position, region, robot)
            seen &= cv2.erode(robot, _GROWN) > depth + _ROBOT
        points = self._rays[part][seen] * depth[seen][:, None] + camera.position
        near = np.einsum('ij,ij->i', points - middle, points - middle) < self._radius**2
        return np.asarray(points[near & (points[:, 2] > ABOVE)])


def surface_points(model: ObjectModel, spacing: float) -> Array:
    """Points of chance on the surface, four to a square of side `spacing` [m]. Shape (n, 3)."""
    random = np.random.default_rng(0)
    a, b, c = np.moveaxis(model.mesh.vertices[model.mesh.faces], 1, 0)
    double_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    count = int(np.ceil(2.0 * double_area.sum() / spacing**2))
    face = random.choice(len(a), size=count, p=double_area / double_area.sum())
    u, v = random.random((2, count))
    beyond = u + v > 1.0
    u[beyond], v[beyond] = 1.0 - u[beyond], 1.0 - v[beyond]
    return np.asarray(a[face] + u[:, None] * (b - a)[face] + v[:, None] * (c - a)[face])
