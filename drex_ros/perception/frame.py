# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a tracker is given: one pair of pictures, and where the robot was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drex_ros.robot.joints import Array

Colour = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RgbdFrame:
    """Colour and depth of one moment, seen from the same place, without lens distortion."""

    time: float
    """Of the depth's exposure [s]."""
    colour: Colour
    """Red, green, blue; may share memory with a message. Shape (height, width, 3)."""
    depth: Depth
    """Along the optical axis [m], 0 where there is no value. Shape (height, width)."""
    colour_time: float | None = None
    """Of the colour's exposure [s]; None: that of the depth."""
    joint_position: Array | None = None
    """Of the robot at `time` [rad], shape (23,); None: not known, so nothing is masked."""

    @property
    def skew(self) -> float:
        """By how much the colour is later than the depth [s]."""
        return 0.0 if self.colour_time is None else self.colour_time - self.time
