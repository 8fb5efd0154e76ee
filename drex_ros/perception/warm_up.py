# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Has every kernel of the trackers compiled, or read from the cache, before a camera waits.

The first time on a machine this takes a minute or two, then a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from drex_ros.objects import ObjectModel, load_object
from drex_ros.perception.belief import ANY_TURN
from drex_ros.perception.depth_image import DepthImage
from drex_ros.perception.external_poses import ExternalPoses
from drex_ros.perception.frame import Colour, Depth, RgbdFrame
from drex_ros.perception.mesh_tracker import MeshTracker
from drex_ros.perception.object_tracker import ObjectTracker
from drex_ros.perception.poses import Pose
from drex_ros.perception.raster import NOTHING
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.silhouette_check import silhouette_check
from drex_ros.perception.tracked_mesh import RoundAxis, TrackedMesh
from drex_ros.perception.turn_profile import turn_profile
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME, Array
from drex_ros.robot.rotations import matrix_from_vector

_PERIOD = 1.0 / 30.0  # [s]
_CAMERA = CameraModel.from_pose(
    (1.1, -0.35, 0.5), (0.0, 0.595, 2.6135), width=320, height=240, fx=307.5, fy=307.5
)
_MIDDLE = (0.5, 0.0)  # of what it sees of the table [m]
_TABLE = (150, 140, 120)
_OBJECT = (200, 40, 30)
_COVER = 0.15  # [m] that a sheet in front of the object is nearer than the table


def warm_up(
    silhouette: RobotSilhouette | None = None, wanted: Callable[[], bool] = lambda: True
) -> None:
    """Let the trackers do on paper all that they can do.

    It ends before its time when it is no longer wanted.

    Args:
        silhouette: draws the robot; looks through another camera afterwards.
        wanted: says whether to go on.
    """
    model = load_object('box')
    if silhouette is not None:
        silhouette.aim(_CAMERA)
    tracker = ObjectTracker(model, _CAMERA, silhouette=silhouette)
    frames = list(_frames(model))
    for frame in frames:
        if not wanted():
            return
        tracker.update(frame)
    tracker.detect(frames[0])
    if silhouette is not None:
        silhouette_check(silhouette, HOME.copy(), frames[0].depth)
    _turn_around(model, frames[0])
    _follow_poses(frames)
    _read_depth()


def _frames(model: ObjectModel) -> Iterator[RgbdFrame]:
    """The object at rest, slid, jumped, half covered, gone, and back."""
    painter = _Painter(model)
    # Writable: a kernel is compiled anew for an array that is read-only.
    posture = HOME.copy()
    shown: list[tuple[float | None, float]] = [
        *((0.0, 0.0),) * 5,
        (0.01, 0.1),
        (0.04, 0.4),
        (0.04, 0.4),
        *((None, 0.0),) * 2,
        (0.0, 0.0),
    ]
    for number, (move, turn) in enumerate(shown):
        colour, depth = painter.paint(move, turn)
        if number == 7:
            depth[:, : depth.shape[1] // 2] -= np.float32(_COVER)
        time = _PERIOD * number
        yield RgbdFrame(time, colour, depth, time + 0.001, posture)


class _Painter:
    """Paints a table with a coloured object on it."""

    def __init__(self, model: ObjectModel) -> None:
        self._height = model.rest_height
        self._fitter = MeshTracker(TrackedMesh.of(model), _CAMERA).fitter
        rays = _CAMERA.rays() @ _CAMERA.rotation.T
        self._table = (-_CAMERA.position[2] / rays[..., 2]).astype(np.float32)

    def paint(self, move: float | None, turn: float) -> tuple[Colour, Depth]:
        """Colour and depth with the object moved [m] and turned [rad]; None: without it."""
        depth = self._table.copy()
        colour = np.empty((*depth.shape, 3), np.uint8)
        colour[:] = _TABLE
        if move is not None and self._fitter.draw(_pose(self._height, move, turn)):
            x, y, width, height = self._fitter.region.tolist()
            drawn = self._fitter.drawn[:height, :width]
            seen = drawn < NOTHING
            depth[y : y + height, x : x + width][seen] = drawn[seen]
            colour[y : y + height, x : x + width][seen] = _OBJECT
        return colour, depth


def _pose(height: float, move: float, turn: float) -> Pose:
    """On the table, moved [m] and turned [rad]."""
    place = _CAMERA.to_optical((_MIDDLE[0] + move, _MIDDLE[1], height))
    rotation: Array = _CAMERA.rotation.T @ matrix_from_vector(np.array((0.0, 0.0, turn)))
    return Pose(place, np.ascontiguousarray(rotation))


def _turn_around(model: ObjectModel, frame: RgbdFrame) -> None:
    """Look for a turn as if the object were round."""
    fitter = MeshTracker(TrackedMesh.of(model), _CAMERA).fitter
    fitter.look_at(frame)
    axis = RoundAxis(np.array((0.0, 0.0, 1.0)), np.zeros(3))
    turn_profile(fitter, frame, _pose(model.rest_height, 0.0, 0.0), axis, ANY_TURN)


def _follow_poses(frames: list[RgbdFrame]) -> None:
    """Let the filter of observed poses work."""
    poses = ExternalPoses()
    for frame in frames:
        poses.take(frame.time, (0.5, 0.0, 0.1), (0.0, 0.0, 0.0, 1.0))
        poses.update(frame)


def _read_depth() -> None:
    """Read depth images of both kinds."""
    image = DepthImage(2, 2)
    image.read(np.ones((2, 2), np.uint16))
    image.read(np.ones((2, 2), np.float32))


def main() -> None:
    """Compile everything for whoever comes next."""
    warm_up(RobotSilhouette(_CAMERA))


if __name__ == '__main__':
    main()
