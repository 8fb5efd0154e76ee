# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The model as the camera would see it, beside the frame that it is compared with."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.perception.colour_delay import ColourDelay
from drex_ros.perception.colour_model import ColourModel, look_up, moments
from drex_ros.perception.fit import Course
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.poses import Pose
from drex_ros.perception.raster import NOTHING, draw, place, region_of
from drex_ros.perception.tracked_mesh import TrackedMesh
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array

_MARGIN = 26  # [px] around the model: what a line across the outline needs
_FARTHEST = 24  # [px] that the object may have moved from depth to colour
_ROOM = 30  # [px] more, in which colours are looked up before the pose has moved
_AHEAD = 0.015  # [m] before the nearest point of the object: what is there hides it
_RAGGED = np.ones((5, 5), np.uint8)  # around it
_HAIR = (2e-4, 2e-3)  # [m], [rad] a model that is drawn so near need not be drawn anew


def table_plane(camera: CameraModel, height: float = 0.0) -> Array:
    """The table as a plane of the optical frame: n . p + d is a point's height [m]. Shape (4,)."""
    return np.append(camera.rotation[2], camera.position[2] - height)


class ModelView:
    """Draws the model, and looks at a frame around it. Not for use by two threads at once."""

    def __init__(self, mesh: TrackedMesh, camera: CameraModel) -> None:
        """Prepare buffers of the camera's size."""
        self.table = table_plane(camera)
        self.mesh = mesh
        self.camera = camera
        self.lens = np.array((camera.fx, camera.fy, camera.cx, camera.cy))
        shape = (camera.height, camera.width)
        self.drawn = np.empty(shape, np.float32)
        self.face = np.empty(shape, np.int32)
        self.region = np.zeros(4, np.int64)
        self.points = np.empty_like(mesh.vertices)
        self.robot = np.full(shape, NOTHING)
        around = np.full([side + 2 * _FARTHEST for side in shape], np.float32(0.5))
        self._around = around
        self.likely = around[_FARTHEST:-_FARTHEST, _FARTHEST:-_FARTHEST]
        """Probability of the object's colour at each pixel of the colour image."""
        self.likely_then = self.likely
        """The same where these pixels were at the depth's time, if they moved with the object."""
        self.blocked = np.zeros(shape, np.uint8)
        self.scale = 1.0
        self.colours = ColourModel()
        self.delay = ColourDelay()
        self.front = np.zeros(len(mesh.faces), np.bool_)
        """Whether each triangle faces the camera."""
        self._frame: RgbdFrame | None = None
        self._window = np.zeros(4, np.int64)
        self._blocked = (0, 0, 0, 0)
        self._drawn_at: Pose | None = None

    def look_at(self, frame: RgbdFrame) -> None:
        """Take the frame that the next fits are about."""
        self._frame = frame
        self._window[:] = 0

    @property
    def frame(self) -> RgbdFrame:
        """That the next fits are about."""
        assert self._frame is not None, 'look_at first'
        return self._frame

    @property
    def lateness(self) -> float:
        """By how much the colour is later than the depth [s], for all that is known."""
        return self.delay.value + (0.0 if self._frame is None else self._frame.skew)

    def object_pixels(self, pose: Pose) -> tuple[Array, Array] | None:
        """Moments of the model's pixels and of those with its colours, see `moments`.

        None: the colours are not known, or the model is out of the picture.
        """
        if not self.colours.known or self._frame is None or not self.draw(pose):
            return None
        self.look_around(self._frame)
        drawn, seen = np.zeros(6), np.zeros(6)
        left, top = self.region[:2]
        moments(self.face, -0.5, self.robot, self.region, left, top, drawn)
        moments(self.likely, 0.6, self.robot, self._window, 0, 0, seen)
        return drawn, seen

    def learn(self, frame: RgbdFrame, rate: float) -> None:
        """Learn the object's colours from where it is drawn; `rate` 1 begins anew."""
        self.colours.learn(
            self.drawn, self.face, frame.colour, frame.depth, self.scale, self.blocked,
            self.region, rate,
        )  # fmt: skip
        self._window[:] = 0  # what colours said there was by what was known before

    def window(self, pose: Pose) -> npt.NDArray[np.int64]:
        """The part of the picture in which a fit near a pose looks: left, top, width, height."""
        place(self.mesh.vertices, pose.rotation, pose.position, self.points)
        out = np.zeros(4, np.int64)
        camera = self.camera
        region_of(self.points, self.lens, camera.width, camera.height, _MARGIN + _ROOM, out)
        return out

    def likely_in(self, window: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Probability of the object's colour in a part of the picture. Shape (height, width)."""
        assert self._frame is not None
        look_up(self._frame.colour, self.colours.table, window, self.likely)
        self._window[:] = window
        return self.likely

    def draw(self, pose: Pose) -> bool:
        """Draw the model; False when it is out of the picture."""
        place(self.mesh.vertices, pose.rotation, pose.position, self.points)
        camera = self.camera
        self._drawn_at = None
        if not region_of(
            self.points, self.lens, camera.width, camera.height, _MARGIN, self.region
        ):
            return False
        draw(
            self.points, self.mesh.faces, self.lens, self.region,
            self.drawn, self.face, self.front,
        )  # fmt: skip
        self._drawn_at = pose
        return True

    def draw_about(self, pose: Pose) -> bool:
        """Draw the model, unless it is drawn within a hair of the pose; False: out of sight."""
        if self._drawn_at is not None:
            step = self._drawn_at.step_to(pose)
            if step[:3] @ step[:3] < _HAIR[0] ** 2 and step[3:] @ step[3:] < _HAIR[1] ** 2:
                return True
        return self.draw(pose)

    def follow_colours(self, pose: Pose, course: Course | None) -> None:
        """See where the object's pixels of the depth are in the colour image."""
        u = v = 0
        if course is not None:
            move, depth = self.lateness * course.velocity[:3], pose.position[2]
            along = move[:2] - pose.position[:2] * (move[2] / depth)
            u, v = (round(float(each)) for each in self.lens[:2] * along / depth)
        u, v = (min(max(_FARTHEST + each, 0), 2 * _FARTHEST) for each in (u, v))
        height, width = self.likely.shape
        self.likely_then = self._around[v : v + height, u : u + width]

    def look_around(self, frame: RgbdFrame) -> None:
        """Know in all of the region what is in front of the object, and its colours."""
        left, top, width, height = (int(each) for each in self.region)
        x, y, w, h = (int(each) for each in self._window)
        if left >= x and top >= y and left + width <= x + w and top + height <= y + h:
            return
        camera = self.camera
        x, y = max(0, left - _ROOM), max(0, top - _ROOM)
        self._window[:] = (
            x, y, min(camera.width, left + width + _ROOM) - x,
            min(camera.height, top + height + _ROOM) - y,
        )  # fmt: skip
        if self.colours.known:
            look_up(frame.colour, self.colours.table, self._window, self.likely)
        self._block(frame)

    def _block(self, frame: RgbdFrame) -> None:
        """Mark what is in front of the object, and a little around it: edges are ragged there."""
        x, y, w, h = (int(each) for each in self._window)
        near, far = float(self.points[:, 2].min()), float(self.points[:, 2].max())
        depth = frame.depth[y : y + h, x : x + w]
        ahead = (depth > 0.0) & (depth * np.float32(self.scale) < near - _AHEAD)
        ahead |= self.robot[y : y + h, x : x + w] < far
        left, top, width, height = self._blocked
        self.blocked[top : top + height, left : left + width] = 0
        self._blocked = (x, y, w, h)
        cv2.dilate(ahead.view(np.uint8), _RAGGED, dst=self.blocked[y : y + h, x : x + w])
