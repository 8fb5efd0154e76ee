# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Things that stand out of the table in a picture of half the size."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.perception.colour_model import ColourModel
from drex_ros.perception.frame import Colour
from drex_ros.robot.joints import Array

JOINED = 100_000
"""Times one piece's number plus another's is the number of both together."""

_AROUND = 16  # [px of the half picture] around a piece


@dataclass(frozen=True, eq=False)
class Piece:
    """A thing that stands out of the table, or two that may be one behind something."""

    number: int
    mask: npt.NDArray[np.bool_]
    """Its pixels. Half the picture's size."""
    middle: Array
    """Mean of the points that it shows, in the optical frame [m]. Shape (3,)."""
    joined: bool = False
    """Two taken together."""

    def window(self) -> npt.NDArray[np.int64]:
        """The part of the picture around it: left, top, width, height [px]."""
        rows = np.flatnonzero(self.mask.any(axis=1))
        columns = np.flatnonzero(self.mask.any(axis=0))
        top, left = max(0, rows[0] - _AROUND), max(0, columns[0] - _AROUND)
        bottom = min(self.mask.shape[0], rows[-1] + _AROUND + 1)
        right = min(self.mask.shape[1], columns[-1] + _AROUND + 1)
        return np.array((left, top, right - left, bottom - top))


def colours_of(piece: Piece, colour: Colour) -> ColourModel:
    """The colours of a piece and those around it."""
    square = np.ones((3, 3), np.uint8)
    mask = piece.mask.astype(np.uint8)
    inside = cv2.erode(mask, square).astype(np.bool_)
    left, top, width, height = piece.window()
    around = np.zeros_like(piece.mask)
    around[top : top + height, left : left + width] = True
    around &= cv2.dilate(mask, square, iterations=3) == 0
    colours = ColourModel()
    colours.learn_from(colour, inside, around)
    return colours


def parts_of(piece: int) -> set[int]:
    """The numbers of a piece, or of the two that were joined."""
    return {piece} if piece < JOINED else {piece // JOINED, piece % JOINED}
