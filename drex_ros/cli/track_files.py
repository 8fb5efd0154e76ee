# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tracks as CSV files: whole ones, or none."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from types import TracebackType

import numpy as np

from drex_ros.perception.estimate import ObjectEstimate

COLUMNS = (
    *('time', 'status', 'reason'),
    *('x', 'y', 'z', 'qx', 'qy', 'qz', 'qw'),
    *('vx', 'vy', 'vz', 'wx', 'wy', 'wz'),
    *('sigma_x', 'sigma_y', 'sigma_z', 'sigma_rx', 'sigma_ry', 'sigma_rz'),
    *('sigma_vx', 'sigma_vy', 'sigma_vz', 'sigma_wx', 'sigma_wy', 'sigma_wz'),
)
"""Time [s], status and reason; position [m], quaternion, velocity [m/s] and turn [rad/s] of the
object's frame in world; then their standard deviations, those of rotations about world's axes.
All but the first three are empty where nothing is known."""


class TrackFile:
    """Writes estimates, one a line; the file is there when all of it is.

    As a context manager it leaves nothing behind when the block raises.
    """

    def __init__(self, path: Path) -> None:
        """Begin a file. Raises OSError."""
        self._path = path
        self._part = path.with_name(f'.{path.name}.{os.getpid()}.part')
        self._file = self._part.open('w', newline='', encoding='utf-8')
        self._rows = csv.writer(self._file, lineterminator='\n')
        self._rows.writerow(COLUMNS)
        self.count = 0

    def add(self, estimate: ObjectEstimate) -> None:
        """Write one estimate."""
        row = [f'{estimate.time:.6f}', estimate.status.name.lower(), estimate.reason]
        state = estimate.state
        if state is None:
            row += [''] * (len(COLUMNS) - len(row))
        else:
            sigma = np.sqrt(np.maximum(np.diag(state.covariance), 0.0))
            numbers = (*state.position, *state.quaternion, *state.twist, *sigma)
            row += [f'{value:.9g}' for value in numbers]
        self._rows.writerow(row)
        self.count += 1

    def __enter__(self) -> TrackFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._file.close()
            if kind is None:
                self._part.replace(self._path)
        finally:
            self._part.unlink(missing_ok=True)
