# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A picture for people: the model's outline where the tracker has it, and what it thinks."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.objects import Mesh
from drex_ros.perception.estimate import ObjectEstimate, ObjectState, TrackStatus
from drex_ros.perception.frame import Colour
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import rotation_matrix

STATUS_COLOURS = {
    TrackStatus.DETECTING: (170, 170, 170),
    TrackStatus.TRACKING: (60, 220, 90),
    TrackStatus.UNCERTAIN: (255, 176, 32),
    TrackStatus.LOST: (255, 70, 60),
}
"""Red, green, blue of each status."""

_AXIS_LENGTH = 0.03  # [m]
_AXIS_COLOURS = ((255, 60, 60), (60, 230, 60), (90, 130, 255))
_TEXT_COLOUR = (240, 240, 240)
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_SHIFT = 4  # bits of a pixel's fraction that lines are drawn with
_NEAREST = 0.02  # [m] of depth; lines nearer than this are left out
_SAME = 1e-7  # [m] corners nearer to each other than this are one


@dataclass(frozen=True, eq=False)
class _Edges:
    """The edges of a mesh, and the faces that meet in each."""

    ends: npt.NDArray[np.intp]
    """Two vertices each. Shape (n, 2)."""
    of_face: npt.NDArray[np.intp]
    """The three edges of each face. Shape (m, 3)."""
    faces: npt.NDArray[np.intp]
    """How many faces meet in each edge. Shape (n,)."""


class Overlay:
    """Draws an object into pictures; made once for a mesh."""

    def __init__(self, mesh: Mesh) -> None:
        """Find the edges of the mesh."""
        _, first, merged = np.unique(
            np.rint(mesh.vertices / _SAME), axis=0, return_index=True, return_inverse=True
        )
        self._vertices = mesh.vertices[first]
        # Some versions of numpy give the inverse a second dimension.
        self._faces = np.ravel(merged)[mesh.faces]
        a, b, c = (self._vertices[self._faces[:, i]] for i in range(3))
        self._normals = np.cross(b - a, c - a)
        self._edges = _edges(self._faces)

    def draw(self, colour: Colour, camera: CameraModel, estimate: ObjectEstimate) -> Colour:
        """A copy of the picture with outline, axes and words in it."""
        picture = np.array(colour, order='C')
        tint = STATUS_COLOURS[estimate.status]
        thickness = max(1, round(picture.shape[0] / 480))
        if estimate.state is not None and np.isfinite(estimate.state.position).all():
            segments = self.outline(camera, estimate.state)
            _draw_lines(picture, segments, (0, 0, 0), thickness + 1)
            _draw_lines(picture, segments, tint, thickness)
            _draw_axes(picture, camera, estimate.state, thickness + 1)
        _draw_text(picture, _words(estimate, picture.shape[1]), tint)
        return picture

    def outline(self, camera: CameraModel, state: ObjectState) -> Array:
        """Lines between what the camera sees of the mesh and what is turned away, and open ends.

        Both ends of each [px]; those that the object itself hides are among them. Shape
        (n, 2, 2).
        """
        turn = rotation_matrix(state.quaternion)
        eye = (camera.position - state.position) @ turn
        towards = np.sum((eye - self._vertices[self._faces[:, 0]]) * self._normals, axis=1) > 0.0
        edges = self._edges
        seen = np.bincount(edges.of_face[towards].ravel(), minlength=len(edges.ends))
        rim = (edges.faces == 1) | ((seen > 0) & (seen < edges.faces))
        world = self._vertices @ turn.T + state.position
        deep = camera.to_optical(world)[:, 2] > _NEAREST
        ends = edges.ends[rim]
        ends = ends[deep[ends].all(axis=1)]
        if not len(ends):
            return np.empty((0, 2, 2))
        used, places = np.unique(ends, return_inverse=True)
        return camera.project(world[used])[places.reshape(ends.shape)]


def _edges(faces: npt.NDArray[np.intp]) -> _Edges:
    ends = np.sort(faces[:, ((0, 1), (1, 2), (2, 0))].reshape(-1, 2), axis=1)
    unique, places, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    return _Edges(unique, np.ravel(places).reshape(-1, 3), counts)


def _draw_lines(
    picture: Colour, segments: Array, colour: tuple[int, int, int], thickness: int
) -> None:
    # Ends far outside are of no interest, and would not fit into OpenCV's numbers.
    limit = 8.0 * max(picture.shape[:2])
    near = segments[(np.abs(segments) < limit).all(axis=(1, 2))]
    fixed = np.rint(near * 2**_SHIFT).astype(np.int32)
    cv2.polylines(picture, list(fixed), False, colour, thickness, cv2.LINE_AA, _SHIFT)


def _draw_axes(picture: Colour, camera: CameraModel, state: ObjectState, thickness: int) -> None:
    tips = state.position + _AXIS_LENGTH * rotation_matrix(state.quaternion).T
    points = np.vstack((state.position, tips))
    depth = camera.to_optical(points)[:, 2]
    if depth.min() < _NEAREST:
        return
    pixels = camera.project(points)
    # The furthest first, so that the nearest is not painted over.
    for i in np.argsort(-depth[1:]):
        line = np.stack((pixels[0], pixels[1 + i]))[None]
        _draw_lines(picture, line, _AXIS_COLOURS[i], thickness)


def _words(estimate: ObjectEstimate, width: int) -> list[str]:
    """What is said, line by line; the status first."""
    lines = [estimate.status.name.lower() + (', smoothed' if estimate.smoothed else '')]
    if estimate.reason:
        lines += textwrap.wrap(_ascii(estimate.reason), max(20, width // 8))[:3]
    facts = []
    if estimate.state is not None:
        metres, radians = deviations(estimate.state)
        facts.append(f'sigma {1e3 * metres:.2f} mm {np.degrees(radians):.2f} deg')
    if estimate.evidence.pixels:
        facts.append(f'inliers {estimate.evidence.inliers:.0%}')
        if estimate.evidence.occluded > 0.005:
            facts.append(f'hidden {estimate.evidence.occluded:.0%}')
    return [*lines, '  '.join(facts)] if facts else lines


def deviations(state: ObjectState) -> tuple[float, float]:
    """Standard deviations of position [m] and rotation [rad] in their least known directions."""
    blocks = (state.covariance[:3, :3], state.covariance[3:6, 3:6])
    metres, radians = (float(np.sqrt(max(np.linalg.eigvalsh(each)[-1], 0.0))) for each in blocks)
    return metres, radians


def _ascii(text: str) -> str:
    """OpenCV's letters are ASCII."""
    return text.encode('ascii', 'replace').decode()


def _draw_text(picture: Colour, lines: list[str], tint: tuple[int, int, int]) -> None:
    """Words in the upper left corner, on a darker ground."""
    scale = 0.5 * max(picture.shape[0] / 480, 0.6)
    weight = max(1, round(scale * 2))
    sizes = [cv2.getTextSize(line, _FONT, scale, weight) for line in lines]
    step = round(1.7 * max(size[1] for size, _ in sizes))
    pad = max(4, step // 3)
    right = 2 * pad + max(size[0] for size, _ in sizes)
    ground = picture[: step * len(lines) + 2 * pad, :right]
    cv2.convertScaleAbs(ground, dst=ground, alpha=0.3)
    for i, line in enumerate(lines):
        colour = tint if i == 0 else _TEXT_COLOUR
        place = (pad, pad + round(step * (i + 0.75)))
        cv2.putText(picture, line, place, _FONT, scale, colour, weight, cv2.LINE_AA)
