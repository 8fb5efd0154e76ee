# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which colours the object has and which are around it, learned from the pictures themselves."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from drex_ros.kernel import kernel
from drex_ros.perception.frame import Colour

Histogram = npt.NDArray[np.float64]

N_BINS = 32**3
"""Five bits for each of red, green, blue."""
FEWEST = 60
"""Pixels of object and of surroundings that are needed to learn from."""

_CLEAR = 0.8  # separability from which colours are clear evidence
_RARE = 1e-5  # probability of a colour that was not seen
_SURFACE = np.float32(0.008)  # [m] measured depth so near the model's is the object


class ColourModel:
    """Colours of the object and of its surroundings as two histograms."""

    def __init__(self) -> None:
        """Know nothing yet: every colour is as likely the object's as not."""
        self.known = False
        self.separability = 0.0
        """0: object and surroundings have the same colours; 1: they share none."""
        self.object = np.full(N_BINS, 1.0 / N_BINS)
        self.around = np.full(N_BINS, 1.0 / N_BINS)
        self.first = self.object.copy()
        self.table = np.full(N_BINS, 0.5, np.float32)
        """Probability that a pixel of a colour is the object's, by bin."""

    @property
    def clear(self) -> bool:
        """Whether a pixel's colour says by itself that it is the object's."""
        return self.known and self.separability > _CLEAR

    def learn(
        self,
        drawn: npt.NDArray[np.float32],
        face: npt.NDArray[np.int32],
        colour: Colour,
        measured: npt.NDArray[np.float32],
        scale: float,
        blocked: npt.NDArray[np.uint8],
        region: npt.NDArray[np.int64],
        rate: float,
    ) -> None:
        """Take the colours of a frame in which the object is where it was drawn.

        What is in front of it (`blocked`) is neither object nor surroundings. `rate` is the share
        of the new in what is known; 1 begins anew.
        """
        seen, around = np.zeros(N_BINS), np.zeros(N_BINS)
        count = np.zeros(2)
        _collect(drawn, face, colour, measured, scale, blocked, region, seen, around, count)
        if count.min() < FEWEST:
            return
        seen, around = _smooth(seen / count[0]), _smooth(around / count[1])
        if not self.known or rate >= 1.0:
            self.object, self.around, self.first = seen, around, seen
        else:
            # Half of it stays what was seen first: what drifts in slowly is not learned.
            mixed = 0.5 * (seen + self.first)
            self.object = (1.0 - rate) * self.object + rate * mixed
            self.around = (1.0 - rate) * self.around + rate * around
        self.known = True
        self._finish()

    def learn_from(
        self, colour: Colour, inside: npt.NDArray[np.bool_], around: npt.NDArray[np.bool_]
    ) -> None:
        """Take the colours of the pixels of two masks; what was known is forgotten."""
        if min(int(inside.sum()), int(around.sum())) < FEWEST:
            return
        bins = (colour >> 3).astype(np.int64) @ np.array((1024, 32, 1))
        seen = np.bincount(bins[inside], minlength=N_BINS) / inside.sum()
        beside = np.bincount(bins[around], minlength=N_BINS) / around.sum()
        self.object, self.around = _smooth(seen), _smooth(beside)
        self.first, self.known = self.object, True
        self._finish()

    def _finish(self) -> None:
        self.separability = 1.0 - float(np.sqrt(self.object * self.around).sum())
        object_, around = self.object + _RARE, self.around + _RARE
        self.table = (object_ / (object_ + around)).astype(np.float32)


@kernel
def look_up(colour, table, region, out):  # type: ignore[no-untyped-def]
    """Probability of the object's colour at the pixels of a region of the picture."""
    left, top, width, height = region[0], region[1], region[2], region[3]
    for y in range(height):
        for x in range(width):
            red = np.int64(colour[y + top, x + left, 0]) >> 3
            green = np.int64(colour[y + top, x + left, 1]) >> 3
            blue = np.int64(colour[y + top, x + left, 2]) >> 3
            out[y + top, x + left] = table[(red << 10) | (green << 5) | blue]


@kernel
def moments(mask, threshold, robot, region, left, top, out):  # type: ignore[no-untyped-def]
    """Count, middle and spread of the pixels of a mask that are above a threshold.

    Args:
        mask: of the picture, or of its part that begins at `left`, `top`.
        threshold: pixels above it count.
        robot: depth of the robot [m], far where it is not; its pixels do not count.
        region: of the picture that is looked at: left, top, width, height [px].
        left: first column of `mask` in the picture.
        top: first row of it.
        out: count, mean column and row, variances of columns and rows, covariance. Shape (6,).
    """
    out[:] = 0.0
    for y in range(region[1], region[1] + region[3]):
        for x in range(region[0], region[0] + region[2]):
            if mask[y - top, x - left] > threshold and robot[y, x] > 100.0:
                out[0] += 1.0
                out[1] += x
                out[2] += y
                out[3] += float(x) * x
                out[4] += float(y) * y
                out[5] += float(x) * y
    if out[0] > 0.0:
        out[1:] /= out[0]
        out[3] -= out[1] * out[1]
        out[4] -= out[2] * out[2]
        out[5] -= out[1] * out[2]


@kernel
def _collect(  # type: ignore[no-untyped-def]
    drawn, face, colour, measured, scale, blocked, region, seen, around, count
):
    left, top, width, height = region[0], region[1], region[2], region[3]
    for y in range(3, height - 3):
        for x in range(3, width - 3):
            if blocked[y + top, x + left] != 0:
                continue
            red = np.int64(colour[y + top, x + left, 0]) >> 3
            green = np.int64(colour[y + top, x + left, 1]) >> 3
            blue = np.int64(colour[y + top, x + left, 2]) >> 3
            colour_bin = (red << 10) | (green << 5) | blue
            if face[y, x] >= 0:
                if (
                    face[y, x - 2] < 0
                    or face[y, x + 2] < 0
                    or face[y - 2, x] < 0
                    or face[y + 2, x] < 0
                ):
                    continue
                depth = scale * measured[y + top, x + left]
                if depth > 0.0 and abs(depth - drawn[y, x]) < _SURFACE:
                    seen[colour_bin] += 1.0
                    count[0] += 1.0
            else:
                if (
                    face[y, x - 3] >= 0
                    or face[y, x + 3] >= 0
                    or face[y - 3, x] >= 0
                    or face[y + 3, x] >= 0
                ):
                    continue
                around[colour_bin] += 1.0
                count[1] += 1.0


def _smooth(histogram: Histogram) -> Histogram:
    """Spread each colour a little over its neighbours: light changes."""
    cube = np.pad(histogram.reshape(32, 32, 32), 1, mode='edge')
    for axis in range(3):
        cube = np.moveaxis(cube, axis, 0)
        cube = 0.5 * cube[1:-1] + 0.25 * (cube[2:] + cube[:-2])
        cube = np.moveaxis(cube, 0, axis)
    return cube.ravel()
