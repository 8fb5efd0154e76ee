# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures without lens distortion, from the numbers of a camera_info.

Pixel centres are at whole numbers in ROS, in OpenCV and here. The picture keeps its size and its
matrix K, so distortion that pulls inwards leaves pixels at the border without a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.perception.frame import Colour, Depth
from drex_ros.robot.camera import CameraError, CameraModel
from drex_ros.robot.joints import Array, constant

_COEFFICIENTS: dict[str, tuple[int, ...]] = {
    'plumb_bob': (4, 5),
    'rational_polynomial': (8, 12, 14),
    'equidistant': (4,),
}
_FISHEYE = 'equidistant'


@dataclass(frozen=True, eq=False)
class Lens:
    """Intrinsics and distortion of a camera, checked."""

    width: int
    """[px]"""
    height: int
    """[px]"""
    matrix: Array
    """K, shape (3, 3), read-only."""
    distortion: Array
    """Coefficients in the order of OpenCV and ROS; empty: none. Read-only."""
    model: str
    """plumb_bob, rational_polynomial or equidistant; empty where there is no distortion."""

    @classmethod
    def of(
        cls,
        width: int,
        height: int,
        k: Sequence[float],
        d: Sequence[float] = (),
        model: str = '',
        *,
        binning: tuple[int, int] = (0, 0),
        roi: tuple[int, int, int, int] = (0, 0, 0, 0),
    ) -> Lens:
        """The lens of a camera_info; raises CameraError with one line for what cannot be.

        Args:
            width: of the full picture [px].
            height: of the full picture [px].
            k: matrix K, row by row, 9 numbers.
            d: distortion coefficients; empty or all zero: none.
            model: of the distortion, as ROS names it.
            binning: pixels that are joined to one in x and y; 0 is 1.
            roi: columns and rows left out, width and height of the part; zeros: all.
        """
        if width < 1 or height < 1:
            raise CameraError(f'camera_info says {width} x {height} px, must be at least 1 x 1')
        if max(binning) > 1:
            raise CameraError(
                f'camera_info has binning {binning[0]} x {binning[1]}, which is not supported: '
                'publish full pictures'
            )
        if roi[2:] not in ((0, 0), (width, height)) or any(roi[:2]):
            raise CameraError(
                f'camera_info has a region of interest of {roi[2]} x {roi[3]} px at '
                f'{roi[0]}, {roi[1]}, which is not supported: publish full pictures'
            )
        return cls(width, height, _matrix(k), *_distortion(d, model))

    def camera(self, position: npt.ArrayLike, quaternion: npt.ArrayLike) -> CameraModel:
        """The camera of the rectified pictures at a pose of its optical frame in world.

        Args:
            position: [m], shape (3,).
            quaternion: x y z w, shape (4,).
        """
        k = self.matrix
        return CameraModel(
            self.width,
            self.height,
            *(float(k[0, 0]), float(k[1, 1]), float(k[0, 2]), float(k[1, 2])),
            position=np.asarray(position, dtype=np.float64),
            quaternion=np.asarray(quaternion, dtype=np.float64),
        )


class Rectification:
    """Takes the distortion of one lens out of pictures; without any it hands them on."""

    def __init__(self, lens: Lens) -> None:
        """Make the maps, once."""
        self.lens = lens
        self._maps: tuple[Any, Any] | None = None
        if not lens.distortion.size:
            return
        size, k = (lens.width, lens.height), np.array(lens.matrix)
        places = cv2.fisheye if lens.model == _FISHEYE else cv2
        x, y = places.initUndistortRectifyMap(
            k, np.array(lens.distortion), np.eye(3), k, size, cv2.CV_32FC1
        )
        # Whole and part pixels apart, which OpenCV reads fastest; the whole ones are rounded
        # down, so the nearest have maps of their own.
        self._maps = cv2.convertMaps(x, y, cv2.CV_16SC2)
        self._nearest: tuple[Any, Any] = cv2.convertMaps(x, y, cv2.CV_16SC2, nninterpolation=True)
        self._colour = np.empty((lens.height, lens.width, 3), np.uint8)
        self._depth = np.empty((lens.height, lens.width), np.float32)

    @property
    def changes(self) -> bool:
        """Whether there is any distortion; if not, pictures are handed on as they are."""
        return self._maps is not None

    def colour(self, picture: Colour) -> Colour:
        """A colour picture without distortion; valid until the next call."""
        self._check(picture, 'colour')
        if self._maps is None:
            return picture
        cv2.remap(picture, *self._maps, cv2.INTER_LINEAR, dst=self._colour)
        return self._colour

    def depth(self, image: Depth) -> Depth:
        """A depth image without distortion; valid until the next call.

        No two depths are mixed: between near and far there is nothing.
        """
        self._check(image, 'depth')
        if self._maps is None:
            return image
        places, parts = self._nearest
        cv2.remap(image, places, parts, cv2.INTER_NEAREST, dst=self._depth)
        return self._depth

    def _check(self, picture: npt.NDArray[Any], name: str) -> None:
        lens = self.lens
        if picture.shape[:2] != (lens.height, lens.width):
            raise CameraError(
                f'{name} image is {picture.shape[1]} x {picture.shape[0]}, must be '
                f'{lens.width} x {lens.height} as camera_info says'
            )


def _matrix(k: Sequence[float]) -> Array:
    values = np.array(k, dtype=np.float64).reshape(-1)
    if values.size != 9:
        raise CameraError(f'K of camera_info has {values.size} numbers, must have 9')
    if not values.any():
        raise CameraError('K of camera_info is all zero: the camera is not calibrated')
    if not np.isfinite(values).all() or min(values[0], values[4]) <= 0.0:
        raise CameraError(
            f'K of camera_info has focal lengths {values[0]:g}, {values[4]:g} px and centre '
            f'{values[2]:g}, {values[5]:g} px, must be finite, the first two positive'
        )
    if abs(values[1]) > 1e-9 or abs(values[3]) > 1e-9 or abs(values[8] - 1.0) > 1e-9:
        raise CameraError('K of camera_info has skew or a last number that is not 1')
    return constant(values).reshape(3, 3)


def _distortion(d: Sequence[float], model: str) -> tuple[Array, str]:
    values = np.array(d, dtype=np.float64).reshape(-1)
    if not np.isfinite(values).all():
        raise CameraError(f'distortion of camera_info is {values.tolist()}, must be finite')
    if not values.any():
        return constant(()), ''
    if model not in _COEFFICIENTS:
        known = ', '.join(_COEFFICIENTS)
        raise CameraError(f'distortion model is {model!r}, must be one of {known}')
    if values.size not in _COEFFICIENTS[model]:
        allowed = ' or '.join(str(count) for count in _COEFFICIENTS[model])
        raise CameraError(f'{model} distortion has {values.size} numbers, must have {allowed}')
    return constant(values), model
