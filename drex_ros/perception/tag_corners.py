# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Corners of a tag to a tenth of a pixel: where the lines along its four sides meet.

Corner detectors look at a window around the corner, which on a small tag holds parts of the code
as well, and so put the corners of a tag of 40 pixels 0.3 px too far in.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.robot.joints import Array

_SAMPLES = 24  # along a side
_ENDS = 0.12  # share of a side at each end that is left out: there the other side is near
_REACH = 3.0  # [px] to each side of the line, less on tags with small cells
_STEP = 0.25  # [px] between two samples across the line
_ROUNDS = 2  # of looking across the line that was found before
_FLAT = 0.25  # share of the greatest slope below which a slope is noise
_FAR = 2.5  # deviations from the line above which a sample is left out
_LEAST_SPREAD = 0.05  # [px] deviation that any line has
_LEAST = 6  # samples that make a line
_CONTRAST = 20.0  # least step of brightness from the tag to its rim, of 255


def refined_corners(grey: npt.NDArray[np.uint8], corners: Array, cell: float) -> Array | None:
    """Corners of a dark square on light ground, from rough ones; None: there is no such square.

    Args:
        grey: the picture.
        corners: column and row of each, in turn around the square [px]. Shape (4, 2).
        cell: width of the tag's black rim [px], within which there is nothing else.
    """
    reach = min(_REACH, 0.8 * cell)
    across = np.arange(-reach, reach + 0.5 * _STEP, _STEP)
    for _ in range(_ROUNDS):
        lines = _lines(grey, corners, across)
        if lines is None:
            return None
        met = _meet(np.roll(lines, 1, axis=0), lines)
        if not (np.abs(met - corners) < 2.0 * _REACH).all():
            return None
        corners = met
    return corners


def _lines(grey: npt.NDArray[np.uint8], corners: Array, across: Array) -> Array | None:
    """The edge from each corner to the next: unit normal n, and d, with n x = d. Shape (4, 3)."""
    along = np.roll(corners, -1, axis=0) - corners
    normals = along[:, ::-1] * (1.0, -1.0) / np.linalg.norm(along, axis=1)[:, None]
    outwards = np.sign(np.sum(normals * (corners - corners.mean(axis=0)), axis=1))
    normals *= outwards[:, None]
    feet = corners[:, None] + np.linspace(_ENDS, 1.0 - _ENDS, _SAMPLES)[:, None] * along[:, None]
    places = feet[:, :, None] + across[:, None] * normals[:, None, None]
    maps = places.reshape(4 * _SAMPLES, -1, 2).astype(np.float32)
    profile = cv2.remap(grey, maps, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    # Brightness grows outwards; where it does, on average, is the edge.
    slope = np.maximum(np.diff(profile.astype(np.float64), axis=1), 0.0)
    slope[slope < _FLAT * slope.max(axis=1, keepdims=True)] = 0.0
    rise = slope.sum(axis=1)
    offsets = (slope @ (across[:-1] + 0.5 * _STEP)) / np.maximum(rise, 1.0)
    size = np.array(grey.shape[::-1])
    inside = ((feet >= 0.0) & (feet <= size - 1.0)).all(axis=2)
    use = inside & (rise > _CONTRAST).reshape(4, _SAMPLES)
    points = feet + offsets.reshape(4, _SAMPLES, 1) * normals[:, None]
    lines = _fit(points, use)
    off = np.abs(np.sum(points * lines[:, None, :2], axis=2) - lines[:, 2:])
    spread = np.sqrt(np.sum(use * off**2, axis=1) / np.maximum(use.sum(axis=1), 1))
    use &= off <= _FAR * np.maximum(spread, _LEAST_SPREAD)[:, None]
    return _fit(points, use) if use.sum(axis=1).min() >= _LEAST else None


def _fit(points: Array, use: npt.NDArray[np.bool_]) -> Array:
    """Lines with the least squared distance from points. Shape (4, 3)."""
    weights = use / np.maximum(use.sum(axis=1, keepdims=True), 1)
    centres = np.sum(weights[..., None] * points, axis=1)
    x, y = np.moveaxis(points - centres[:, None], -1, 0)
    xx, yy, xy = (np.sum(weights * each, axis=1) for each in (x * x, y * y, x * y))
    # Direction of the greatest spread of a plane set of points, turned by a right angle.
    angle = 0.5 * np.arctan2(2.0 * xy, xx - yy)
    normals = np.stack((-np.sin(angle), np.cos(angle)), axis=-1)
    return np.column_stack((normals, np.sum(normals * centres, axis=1)))


def _meet(first: Array, second: Array) -> Array:
    """Where pairs of lines meet [px]; far away for parallel ones. Shape (4, 2)."""
    (a, b, d), (e, f, g) = first.T, second.T
    area = a * f - b * e
    area = np.where(np.abs(area) < 1e-9, 1e-9, area)
    return np.stack(((d * f - b * g) / area, (a * g - d * e) / area), axis=-1)
