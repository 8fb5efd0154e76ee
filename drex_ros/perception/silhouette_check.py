# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot is where the camera should see it: what the table cannot tell.

A shift of the camera along the table or a turn about the vertical leaves the table as it is, but
not the robot. One look takes a few milliseconds; once a second is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.frame import Depth
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.robot.joints import Array

LEAST_PIXELS = 2000
"""Fewer of the robot's pixels say nothing."""
LEAST_AGREEMENT = 0.88
"""Less than this share of agreeing pixels contradicts the camera's pose: with a right one and the
noise of a D435 it is 0.96, half a degree about the vertical beside it 0.67 to 0.87."""

_TOLERANCE = 0.012  # [1/m] of 1 / depth: four deviations of a D435, 8 mm at 0.8 m
_HIDES = 0.05  # [1/m] what is nearer by more, 30 mm at 0.8 m, hides the robot
_NEAR_EDGE = 2  # [px]: there a stereo camera may see either side
_STEEP = 0.03  # [1/m] over that distance, which an edge makes


@dataclass(frozen=True)
class SilhouetteCheck:
    """How well the robot is where it should be seen."""

    pixels: int
    """Of the drawn robot, in sight, whose depth was compared."""
    agreement: float
    """Share of them whose depth is the robot's; 1 where there are none."""

    @property
    def contradicts(self) -> bool:
        """Whether that is too little to believe the camera's pose."""
        return self.pixels >= LEAST_PIXELS and self.agreement < LEAST_AGREEMENT

    @property
    def words(self) -> str:
        """What is wrong, in one line; empty: nothing."""
        if not self.contradicts:
            return ''
        return (
            f'only {100.0 * self.agreement:.0f} % of the robot is seen where it should be: the '
            'camera has moved, or the joint positions are of another time: run drex calibrate'
        )


def silhouette_check(
    silhouette: RobotSilhouette, joint_position: Array, depth: Depth, scale: float = 1.0
) -> SilhouetteCheck:
    """Compare the robot as drawn with measured depth.

    Args:
        silhouette: looks through the camera whose pose is checked.
        joint_position: at the time of the depth [rad], shape (23,).
        depth: [m], 0 where there is no value. Shape (height, width).
        scale: factor that makes the depth true, as of TableView.
    """
    drawn = silhouette.picture(joint_position)
    if depth.shape != drawn.shape:
        raise ValueError(f'depth image of shape {depth.shape}, must be {drawn.shape}')
    compared, agreed = _compare(drawn, depth, 1.0 / scale)
    return SilhouetteCheck(compared, agreed / compared if compared else 1.0)


@kernel
def _compare(drawn, depth, inverse_scale):  # type: ignore[no-untyped-def]
    """Numbers of pixels that are compared and that agree."""
    compared = agreed = 0
    height, width = drawn.shape
    for row in range(_NEAR_EDGE, height - _NEAR_EDGE):
        for column in range(_NEAR_EDGE, width - _NEAR_EDGE):
            z, measured = drawn[row, column], depth[row, column]
            if not z < np.inf or not measured > 0.0:
                continue
            inverse = 1.0 / z
            steep = max(
                abs(1.0 / drawn[row, column - _NEAR_EDGE] - inverse),
                abs(1.0 / drawn[row, column + _NEAR_EDGE] - inverse),
                abs(1.0 / drawn[row - _NEAR_EDGE, column] - inverse),
                abs(1.0 / drawn[row + _NEAR_EDGE, column] - inverse),
            )
            error = inverse_scale / measured - inverse
            if steep > _STEEP or error > _HIDES:
                continue
            compared += 1
            if abs(error) < _TOLERANCE:
                agreed += 1
    return compared, agreed
