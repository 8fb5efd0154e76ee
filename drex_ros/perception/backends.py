# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The ways to find an object, by name."""

from __future__ import annotations

from drex_ros.objects import ObjectModel
from drex_ros.perception.estimate import PoseBackend
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.tag_tracker import TagSettings, TagTracker
from drex_ros.robot.camera import CameraModel

BACKENDS = ('mesh', 'tag')
"""Those that need nothing but pictures; see `external_poses` for poses from elsewhere."""


class BackendError(ValueError):
    """A backend cannot be made; the message is one readable line."""


def make_backend(
    kind: str,
    model: ObjectModel,
    camera: CameraModel,
    *,
    tag: TagSettings | None = None,
    silhouette: RobotSilhouette | None = None,
    table_extent: tuple[float, float, float, float] | None = None,
) -> PoseBackend:
    """A tracker for an object. Raises BackendError.

    Args:
        kind: one of `BACKENDS`.
        model: the object.
        camera: intrinsics and pose.
        tag: that is on the object, for kind 'tag'.
        silhouette: draws the robot, for kind 'mesh'; None: the robot is not masked.
        table_extent: least x and y, greatest x and y of the table top in world [m]; None: no
            end is known.
    """
    if kind == 'mesh':
        from drex_ros.perception.object_tracker import ObjectTracker, TrackerSettings

        settings = TrackerSettings(table_extent=table_extent)
        return ObjectTracker(model, camera, settings, silhouette=silhouette)
    if kind == 'tag':
        if tag is None:
            raise BackendError('the tag backend needs to know the tag on the object')
        return TagTracker(tag, camera)
    raise BackendError(f'no backend {kind!r}; there are: {", ".join(BACKENDS)}')
