# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Calibration boards: a ChArUco board, or a single tag, and where their corners are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.perception.calibration_file import CalibrationError
from drex_ros.robot.joints import Array

Grey = npt.NDArray[np.uint8]

_LEAST_CORNERS = 6  # of a ChArUco board: fewer say little about its tilt


@dataclass(frozen=True, eq=False)
class BoardView:
    """Corners of a board in one picture."""

    points: Array
    """In the board's frame [m]. Shape (n, 3)."""
    pixels: Array
    """Column and row [px]. Shape (n, 2)."""


class Board(Protocol):
    """Something flat that can be found in a picture."""

    def find(self, grey: Grey) -> BoardView | None:
        """Its corners; None: it is not there, or too little of it."""


def dictionary(name: str) -> Any:
    """A dictionary of OpenCV by name, as 5X5_100 or APRILTAG_36h11."""
    known = [each[5:] for each in dir(cv2.aruco) if each.startswith('DICT_')]
    if name not in known:
        raise CalibrationError(f'no dictionary {name!r}; there are: {", ".join(known)}')
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, f'DICT_{name}'))


class CharucoBoard:
    """A chessboard with tags in its light squares."""

    def __init__(
        self,
        columns: int = 7,
        rows: int = 5,
        square: float = 0.03,
        tag: float = 0.022,
        family: str = '5X5_100',
    ) -> None:
        """Describe a board.

        Args:
            columns: number of squares.
            rows: number of squares.
            square: side of a square [m].
            tag: side of a tag [m].
            family: dictionary of its tags.
        """
        if min(columns, rows) < 3 or not 0.0 < tag < square:
            raise CalibrationError(
                f'a board of {columns} x {rows} squares of {square:g} m with tags of {tag:g} m: '
                'must have at least 3 x 3, and tags smaller than squares'
            )
        size = (columns, rows)
        self.board = cv2.aruco.CharucoBoard(size, square, tag, dictionary(family))
        self._corners = np.asarray(self.board.getChessboardCorners(), dtype=np.float64)
        self._detector = cv2.aruco.CharucoDetector(self.board)

    def find(self, grey: Grey) -> BoardView | None:
        """Its inner corners."""
        pixels, ids, _, _ = self._detector.detectBoard(grey)
        if ids is None or len(ids) < _LEAST_CORNERS:
            return None
        points = self._corners[np.reshape(ids, -1)]
        if np.linalg.matrix_rank(points - points.mean(axis=0), tol=1e-6) < 2:
            return None  # all in one line
        return BoardView(points, np.reshape(pixels, (-1, 2)).astype(np.float64))


class TagBoard:
    """A single ArUco or AprilTag marker."""

    def __init__(
        self, number: int = 0, size: float = 0.05, family: str = 'APRILTAG_36h11'
    ) -> None:
        """Describe a tag.

        Args:
            number: of the tag in its family.
            size: side of its black square [m].
            family: dictionary that has it.
        """
        if not size > 0.0:
            raise CalibrationError(f'a tag of {size} m, must be larger than 0')
        self._number = number
        parameters = cv2.aruco.DetectorParameters()
        parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
        self._detector = cv2.aruco.ArucoDetector(dictionary(family), parameters)
        half = 0.5 * size
        # In the order of the detector: from the upper left clockwise; z towards the viewer.
        self._points = np.array(
            ((-half, half, 0.0), (half, half, 0.0), (half, -half, 0.0), (-half, -half, 0.0))
        )

    def find(self, grey: Grey) -> BoardView | None:
        """Its four corners."""
        corners, ids, _ = self._detector.detectMarkers(grey)
        if ids is None:
            return None
        places = np.flatnonzero(np.reshape(ids, -1) == self._number)
        if len(places) != 1:  # two of the same are nowhere
            return None
        return BoardView(self._points, np.reshape(corners[places[0]], (4, 2)).astype(np.float64))
