# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the tracker of an object from the parameters of pose_tracker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from drex_ros.hardware.scene_file import Scene, SceneError, load_scene
from drex_ros.nodes.parameters import ParameterValues
from drex_ros.nodes.process import ConfigurationError
from drex_ros.objects import ObjectModel
from drex_ros.perception.calibration_file import CalibrationError, load_camera_pose
from drex_ros.perception.estimate import PoseBackend
from drex_ros.perception.external_poses import ExternalPoses, ExternalSettings
from drex_ros.perception.object_tracker import ObjectTracker, TrackerSettings
from drex_ros.perception.observation_track import TrackSettings
from drex_ros.perception.rectification import Lens
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.table_watch import Extent
from drex_ros.perception.tag_tracker import TagError, TagSettings, TagTracker
from drex_ros.perception.warm_up import warm_up
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.description import DescriptionError
from drex_ros.robot.joints import Array


class TrackerMaker:
    """Knows all about the tracker but the object and the lens."""

    def __init__(self, params: ParameterValues) -> None:
        """Read what the parameters name. Raises ConfigurationError."""
        self._params = params
        self.depth_scale = 1.0
        """Measured depth times this is true depth, by the calibration."""
        self.silhouette: RobotSilhouette | None = None
        """Draws the robot as the camera of the last tracker sees it; None: it is not masked."""
        self.prepared = params.backend != 'mesh'
        """Whether all that takes its time is loaded."""
        try:
            scene = load_scene(params.scene)
            if params.camera_pose:
                pose = load_camera_pose(Path(params.camera_pose).expanduser())
                self._position, self._quaternion = pose.position, pose.quaternion
                self.depth_scale = pose.depth_scale
            else:
                self._position, self._quaternion = scene.camera.position, scene.camera.quaternion
            self.tag = self._tag() if params.tag_id >= 0 else None
        except (SceneError, CalibrationError, TagError) as error:
            raise ConfigurationError(str(error)) from error
        if params.backend == 'tag' and self.tag is None:
            raise ConfigurationError('backend is tag, but tag_id is -1: say which tag it is')
        self._table_extent = self._extent(scene)
        self._external = self._external_settings()

    def prepare(self, wanted: Callable[[], bool]) -> None:
        """Have compiled and loaded what takes its time, once. Raises ConfigurationError.

        Args:
            wanted: says whether to go on.
        """
        if self.prepared:
            return
        if self._params.mask_robot:
            self.silhouette = self._robot()
        warm_up(self.silhouette, wanted)
        self.prepared = True

    def camera(self, lens: Lens) -> CameraModel:
        """The camera of rectified pictures."""
        return lens.camera(self._position, self._quaternion)

    def backend(self, model: ObjectModel, camera: CameraModel) -> PoseBackend:
        """The tracker of an object. Raises ValueError where there can be none."""
        kind = self._params.backend
        if kind == 'tag':
            assert self.tag is not None
            return TagTracker(self.tag, camera)
        if kind == 'external':
            return ExternalPoses(self._seen_through(camera))
        if self.silhouette is not None:
            self.silhouette.aim(camera)
        settings = TrackerSettings(
            lag=self._params.smoothing_lag,
            longest_gap=self._params.longest_gap,
            table_extent=self._table_extent,
        )
        return ObjectTracker(model, camera, settings, silhouette=self.silhouette)

    def tag_reader(self, camera: CameraModel) -> TagTracker | None:
        """What says where the object may be when its mesh is not found; None: no tag is on it."""
        wanted = self._params.backend == 'mesh' and self.tag is not None
        return TagTracker(self.tag, camera) if wanted and self.tag is not None else None

    def _robot(self) -> RobotSilhouette:
        nowhere = CameraModel.from_pose((0.0, 0.0, 1.0), (0.0, 1.0, 0.0))
        try:
            return RobotSilhouette(nowhere, self._params.hand)
        except DescriptionError as error:
            raise ConfigurationError(str(error)) from error

    def _extent(self, scene: Scene) -> Extent | None:
        given = self._params.table_extent
        if not given:
            if self._params.camera_pose:
                return None
            (x, y), (length, width) = scene.table_position, scene.table_size
            return x - length / 2, y - width / 2, x + length / 2, y + width / 2
        if len(given) != 4 or not (given[0] < given[2] and given[1] < given[3]):
            raise ConfigurationError(
                f'table_extent is {list(given)}, must be least x and y, then greatest x and y'
            )
        return given[0], given[1], given[2], given[3]

    def _tag(self) -> TagSettings:
        params = self._params
        return TagSettings(
            id=params.tag_id,
            size=params.tag_size,
            dictionary=params.tag_dictionary,
            position=np.array(params.tag_position),
            quaternion=_unit('tag_orientation', params.tag_orientation),
            track=TrackSettings(lag=params.smoothing_lag),
        )

    def _external_settings(self) -> ExternalSettings:
        params, default = self._params, ExternalSettings()
        return ExternalSettings(
            offset_position=np.array(params.external_position),
            offset_quaternion=_unit('external_orientation', params.external_orientation),
            position_sigma=params.external_position_sigma,
            rotation_sigma=params.external_rotation_sigma,
            oldest=params.external_oldest,
            source=params.external_topic,
            track=replace(default.track, lag=params.smoothing_lag),
        )

    def _seen_through(self, camera: CameraModel) -> ExternalSettings:
        if self._params.external_frame == 'world':
            return self._external
        return replace(
            self._external,
            frame_position=np.array(camera.position),
            frame_quaternion=np.array(camera.quaternion),
        )


def _unit(name: str, values: tuple[float, ...]) -> Array:
    """A quaternion x y z w of length 1."""
    quaternion = np.array(values)
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > 0.01:
        raise ConfigurationError(f'{name} has length {length:.4g}, must have 1')
    return quaternion / length
