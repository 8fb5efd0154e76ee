# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Watches the table in the depth image: the depth's scale, and whether the camera's pose fits.

The table is the plane z = 0 of the world, so the camera's pose says which depth each pixel that
sees it must have. On a plane 1 / depth is linear over the picture, and that is fitted, leaving
out what stands on it. Three numbers come out, and they have more than three causes:

- two tilts, which are the camera's: no scale of the depth tilts a plane;
- the distance from camera to plane, in measured metres. A depth scale of 1.01 and a camera that
  is 1 % higher than its pose says look exactly the same, on any plane and from any angle. A few
  per cent are taken for the scale, which in stereo cameras drifts by as much; more is reported.

A camera that is turned on its spot keeps its distance, so tilt and scale do not mix. The plane
says nothing about shifts along the table or turns about its normal: the robot's silhouette does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from drex_ros.kernel import kernel
from drex_ros.perception.frame import Depth
from drex_ros.perception.plane_fit import fit_plane
from drex_ros.robot.camera import CameraError, CameraModel
from drex_ros.robot.joints import Array

Places = npt.NDArray[np.int64]
Extent = tuple[float, float, float, float]
"""Least x and y, greatest x and y of the table top in world [m]."""

MOST_SCALE = 0.03
"""A scale that differs by more from 1 is not corrected but reported."""
MOST_TILT = np.radians(0.3)
"""[rad]"""
MOST_HEIGHT = 0.005
"""[m]"""

_STRIDE = 8  # [px] between samples
_BLOCK = 4  # samples; errors of pixels closer than that are taken as one
_MARGIN = 0.02  # [m] of the table's edges that is left out
_FARTHEST = 3.0  # [m] at which the table is looked for
_WIDTH = 0.016  # [1/m] of 1 / depth at which a pixel is no table: 10 mm at 0.8 m
_COARSE = 8.0  # times that width at the start
_LEAST_SUPPORT = 0.1
_GAIN = 0.05  # of a new frame on what is known
_SIGNIFICANT = 3.0  # deviations


@dataclass(frozen=True, eq=False)
class TableView:
    """What the table says about depth and camera; smoothed over about a second."""

    scale: float
    """Measured depth times this is true depth; off 1 by no more than is allowed."""
    scale_deviation: float
    tilt: Array
    """By how much the table appears turned about x and y of the world [rad]. Shape (2,)."""
    tilt_deviation: Array
    """[rad], shape (2,)."""
    height: float
    """By how much the table appears higher than z = 0 in the middle of its pixels, after `scale`
    [m]."""
    height_deviation: float
    """[m]"""
    support: float
    """Share of the table's pixels of this frame that are on the plane."""
    contradicts: bool
    """The picture does not fit the camera's pose, or the scale is beyond correction."""
    words: str
    """What is wrong, in one line; empty: nothing."""


class _Samples(NamedTuple):
    """Pixels that should see the table."""

    row: Places
    column: Places
    ray: Array
    """Their rays at depth 1, optical frame. Shape (n, 3)."""
    block: Places
    """Number of their block."""
    blocks: int


class TableWatch:
    """Looks at one depth image after another from a camera that stands still."""

    def __init__(
        self,
        camera: CameraModel,
        extent: Extent | None = None,
        *,
        most_scale: float = MOST_SCALE,
    ) -> None:
        """Choose the pixels that should see the table.

        Args:
            camera: with the pose that is to be watched.
            extent: of the table top; None: it has no end.
            most_scale: up to this, the distance is the scale's; 0: the scale is known to be
                right, and all of the distance is the table's height.
        """
        if camera.position[2] <= 0.0:
            raise CameraError(
                f'the camera is at z = {camera.position[2]:g} m, must be above the table, z = 0'
            )
        self.camera = camera
        self._most_scale = most_scale
        self._rotation, self._distance = camera.rotation, float(camera.position[2])
        self._samples = _table_samples(camera, extent)
        # The plane is where q . point = 1, point in the optical frame: q = -normal / distance.
        self._expected = -self._rotation[2] / self._distance
        count = len(self._samples.row)
        self._inverse = np.empty(count)
        self._gradient = np.empty((self._samples.blocks, 3))
        points = self._samples.ray / (self._samples.ray @ self._expected)[:, None]
        # From the camera to the middle of what it sees of the table, in world; else straight down.
        down = np.array((0.0, 0.0, -self._distance))
        self._away = self._rotation @ points.mean(axis=0) if count else down
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a jump of time."""
        self._plane = self._expected.copy()
        self._covariance = np.zeros((3, 3))
        self._frames = 0

    def update(self, depth: Depth) -> TableView:
        """What this depth image [m], shape (height, width), adds to what is known."""
        shape = (self.camera.height, self.camera.width)
        if depth.shape != shape:
            raise ValueError(f'depth image of shape {depth.shape}, must be {shape}')
        if not len(self._samples.row):
            return self._view(0.0)
        _read(depth, self._samples, self._inverse)
        plane, covariance = self._plane.copy(), np.empty((3, 3))
        support = self._fit(plane, covariance, 1.0) if self._frames else 0.0
        if support < 0.5:  # not where it was: look farther
            other, spread = self._start(), np.empty((3, 3))
            better = self._fit(other, spread, _COARSE)
            if better > support:
                plane, covariance, support = other, spread, better
        if support >= _LEAST_SUPPORT:
            self._frames += 1
            gain = max(_GAIN, 1.0 / self._frames)
            self._plane += gain * (plane - self._plane)
            self._covariance += gain * (covariance - self._covariance)
        return self._view(support)

    def _start(self) -> Array:
        """The expected plane at the distance that most pixels have."""
        ratio = self._inverse / (self._samples.ray @ self._expected)
        known = ratio[self._inverse > 0.0]
        factor = float(np.median(known)) if known.size else 1.0
        start: Array = factor * self._expected
        return start

    def _fit(self, plane: Array, covariance: Array, coarse: float) -> float:
        """Improve a plane in place; the share of pixels that are on it."""
        samples = self._samples
        count: int = fit_plane(
            self._inverse,
            samples.ray,
            samples.block,
            coarse * _WIDTH,
            _WIDTH,
            plane,
            covariance,
            self._gradient,
        )
        return count / len(samples.row)

    def _view(self, support: float) -> TableView:
        """The view of the smoothed plane q."""
        rotation, q = self._rotation, self._plane
        length = float(np.sqrt(q @ q))
        normal = -q / length
        measured = length * self._distance
        scale = min(max(measured, 1.0 - self._most_scale), 1.0 + self._most_scale)
        # Of the normal in world: it leans to +x when turned about y, to -y when about x.
        lean = rotation[:2] @ normal
        # Depth times the scale makes q / scale; its plane is above the middle by the height.
        corrected = rotation @ q / scale
        height = float((1.0 - corrected @ self._away) / corrected[2])
        ray = self._away @ rotation
        # Derivatives by q: of the lean, of the height, of the scale.
        jacobian = np.empty((4, 3))
        jacobian[:2] = (rotation[:2] - np.outer(lean, normal)) / -length
        jacobian[2] = -(ray - (ray @ normal) * normal) / (corrected[2] * scale)
        jacobian[3] = -normal * self._distance
        variance = ((jacobian @ self._covariance) * jacobian).sum(axis=1)
        deviation = np.sqrt(np.maximum(variance, 0.0))
        view = TableView(
            scale=scale,
            scale_deviation=float(deviation[3]),
            tilt=np.array((-lean[1], lean[0])),
            tilt_deviation=deviation[[1, 0]],
            height=height,
            height_deviation=float(deviation[2]),
            support=support,
            contradicts=False,
            words='',
        )
        beyond = self._most_scale > 0.0 and abs(measured - 1.0) > self._most_scale
        return _judged(view, measured, self._distance, beyond)


def _judged(view: TableView, measured: float, distance: float, beyond: bool) -> TableView:
    """The view with what is wrong in words; `beyond`: the scale is not corrected."""
    words = []
    tilt = float(np.hypot(*view.tilt))
    tilted = tilt > max(MOST_TILT, _SIGNIFICANT * float(view.tilt_deviation.max()))
    high = abs(view.height) > max(MOST_HEIGHT, _SIGNIFICANT * view.height_deviation)
    if tilted or (high and not beyond):
        words.append(
            f'the table appears {np.degrees(tilt):.1f} deg tilted and '
            f'{1e3 * abs(view.height):.0f} mm {"higher" if view.height > 0.0 else "lower"} than '
            'the camera pose says: run drex calibrate'
        )
    if beyond:
        error = distance * (1.0 / measured - 1.0)
        words.append(
            f'depth is {100.0 * abs(1.0 - 1.0 / measured):.1f} % '
            f'{"too short" if measured > 1.0 else "too long"}, or the camera is '
            f'{1e3 * abs(error):.0f} mm {"lower" if error < 0.0 else "higher"} than its pose '
            'says: check the unit of the depth, or run drex calibrate'
        )
    if words:
        return replace(view, contradicts=True, words='; '.join(words))
    if view.support < _LEAST_SUPPORT:
        seen = f'only {100.0 * view.support:.0f} % of the table is in sight'
        return replace(view, words=f'{seen}: depth scale and camera pose are not watched')
    return view


def table_pixels(
    camera: CameraModel, extent: Extent | None = None
) -> tuple[Places, Places, Array]:
    """Rows, columns and rays, shape (n, 3), of pixels of a coarse grid that meet the table top."""
    half = _STRIDE // 2
    row, column = np.meshgrid(
        np.arange(half, camera.height, _STRIDE),
        np.arange(half, camera.width, _STRIDE),
        indexing='ij',
    )
    ray = camera.rays()[row, column]
    down = -(ray @ camera.rotation[2]) / camera.position[2]  # 1 / depth at z = 0
    seen = down > 1.0 / _FARTHEST
    points = camera.to_world(ray / np.where(seen, down, 1.0)[..., None])
    if extent is not None:
        x0, y0, x1, y1 = extent
        x, y = points[..., 0], points[..., 1]
        seen &= (x > x0 + _MARGIN) & (x < x1 - _MARGIN)
        seen &= (y > y0 + _MARGIN) & (y < y1 - _MARGIN)
    return row[seen], column[seen], np.ascontiguousarray(ray[seen])


def _table_samples(camera: CameraModel, extent: Extent | None) -> _Samples:
    row, column, ray = table_pixels(camera, extent)
    side = _STRIDE * _BLOCK
    block = (row // side) * (camera.width // side + 1) + column // side
    names, number = np.unique(block, return_inverse=True)
    return _Samples(row, column, ray, number.reshape(-1).astype(np.int64), len(names))


@kernel
def _read(depth, samples, inverse):  # type: ignore[no-untyped-def]
    """Fill in 1 / depth of the samples; 0 where there is no value."""
    for i in range(inverse.shape[0]):
        z = depth[samples.row[i], samples.column[i]]
        inverse[i] = 1.0 / z if 0.0 < z < np.inf else 0.0
