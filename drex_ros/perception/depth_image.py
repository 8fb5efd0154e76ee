# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Depth images as cameras send them, as metres: one pass, into memory that is used again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from drex_ros.kernel import kernel
from drex_ros.perception.frame import Depth
from drex_ros.robot.camera import CameraError

MILLIMETRE = 0.001
"""Unit of whole-number depth where nothing else is said [m]."""

_KINDS = (np.uint16, np.float32)


class DepthImage:
    """Makes metres of depth images of one size."""

    def __init__(self, width: int, height: int, unit: float = MILLIMETRE) -> None:
        """Make room for images of this size.

        Args:
            width: [px]
            height: [px]
            unit: of whole-number depth [m]; that of floating-point depth is the metre.
        """
        if not (np.isfinite(unit) and unit > 0.0):
            raise CameraError(f'unit of the depth is {unit} m, must be positive')
        self.unit = unit
        self._metres = np.empty((height, width), np.float32)

    def read(self, pixels: npt.NDArray[Any], scale: float = 1.0) -> Depth:
        """Depth [m] of an image; 0 where it has no value, is not finite or negative.

        The array is overwritten by the next call.

        Args:
            pixels: whole numbers of 16 bits or floats of 32, of either byte order; rows may be
                apart. Shape (height, width).
            scale: factor on the depth.

        Raises CameraError for another size or kind.
        """
        if pixels.shape != self._metres.shape:
            raise CameraError(
                f'depth image is {_size(pixels.shape)}, must be {_size(self._metres.shape)} '
                'as camera_info says'
            )
        kind = pixels.dtype.newbyteorder('=')
        if kind not in _KINDS:
            raise CameraError(f'depth pixels are {kind}, must be uint16 or float32')
        if not pixels.dtype.isnative:
            pixels = pixels.astype(kind)
        factor = scale * (self.unit if kind == np.uint16 else 1.0)
        _to_metres(pixels, np.float32(factor), self._metres)
        return self._metres


def _size(shape: tuple[int, ...]) -> str:
    """Width x height, as people say it."""
    return ' x '.join(str(side) for side in shape[1::-1])


@kernel
def _to_metres(pixels, factor, metres):  # type: ignore[no-untyped-def]
    for row in range(metres.shape[0]):
        for column in range(metres.shape[1]):
            z = np.float32(pixels[row, column]) * factor
            # False for NaN too.
            metres[row, column] = z if z > np.float32(0.0) and z < np.inf else np.float32(0.0)
