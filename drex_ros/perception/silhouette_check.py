# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the robot is where the camera should see it: what the table cannot tell.

A shift of the camera along the table or a turn about the vertical leaves the table as it is, but
not the robot. How many of its pixels agree depends on the posture; so when they are not nearly
all, the same is asked of cameras a little beside. One at which more agree is nearer to the truth.
One look takes a few milliseconds, with those cameras some twenty; once a second is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.calibration_search import moved
from drex_ros.perception.frame import Depth, RgbdFrame
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.robot.joints import Array

LEAST_PIXELS = 2000
"""Fewer of the robot's pixels say nothing."""
LEAST_AGREEMENT = 0.85
"""Less than this share of agreeing pixels contradicts the camera's pose in any case: with a right
one and the noise of a D435 it is 0.89 to 0.99."""
MOST_GAIN = 0.015
"""More than this gained by a camera beside contradicts it, too: with a right one it is 0.002 at
most, with one that is turned by half a degree 0.03 at least."""

PERIOD = 1.0
"""Between two looks [s]."""

_CONVINCED = 2  # looks in a row that must contradict the camera's pose
_NEARLY_ALL = 0.97  # agreement at which no other camera is asked
_BESIDE = np.zeros((6, 6))  # steps of the camera along the table [m] and about the vertical [rad]
_BESIDE[:2, 5] = 0.007, -0.007
_BESIDE[2:4, 0] = _BESIDE[4:, 1] = 0.005, -0.005
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
    gain: float = 0.0
    """By which it is more for the best of the cameras beside."""

    @property
    def contradicts(self) -> bool:
        """Whether that is too little to believe the camera's pose."""
        return self.pixels >= LEAST_PIXELS and (
            self.agreement < LEAST_AGREEMENT or self.gain > MOST_GAIN
        )

    @property
    def words(self) -> str:
        """What is wrong, in one line; empty: nothing."""
        if not self.contradicts:
            return ''
        return (
            f'only {100.0 * self.agreement:.0f} % of the robot is seen where it should be, '
            f'{100.0 * max(self.gain, 0.0):.0f} % more from beside: the camera has moved, or the '
            'joint positions are of another time: run drex calibrate'
        )


class SilhouetteWatch:
    """Looks now and then; is convinced by looks in a row that contradict the camera's pose."""

    def __init__(self, silhouette: RobotSilhouette, period: float = PERIOD) -> None:
        """Prepare for a camera that the silhouette looks through; `period` [s] between looks."""
        self._silhouette, self._period = silhouette, period
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a jump of time."""
        self._looked: float | None = None
        self._contradictions: list[SilhouetteCheck] = []

    def look(self, frame: RgbdFrame, scale: float = 1.0) -> None:
        """Look, when it is time; `scale` is the factor that makes the depth true."""
        if frame.joint_position is None:
            return
        if self._looked is not None and 0.0 <= frame.time - self._looked < self._period:
            return
        self._looked = frame.time
        check = silhouette_check(self._silhouette, frame.joint_position, frame.depth, scale)
        kept = self._contradictions[1 - _CONVINCED :]
        self._contradictions = [*kept, check] if check.contradicts else []

    @property
    def words(self) -> str:
        """What contradicts the camera's pose, in one line; empty: nothing."""
        found = self._contradictions
        return found[-1].words if len(found) >= _CONVINCED else ''


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
    camera = silhouette.camera
    if depth.shape != (camera.height, camera.width):
        raise ValueError(
            f'depth image of shape {depth.shape}, must be {(camera.height, camera.width)}'
        )

    def look() -> tuple[int, float]:
        compared, agreed = _compare(silhouette.picture(joint_position), depth, 1.0 / scale)
        return compared, agreed / compared if compared else 1.0

    pixels, agreement = look()
    if pixels < LEAST_PIXELS or not LEAST_AGREEMENT < agreement < _NEARLY_ALL:
        return SilhouetteCheck(pixels, agreement)
    beside = []
    try:
        for step in _BESIDE:
            silhouette.aim(moved(camera, step))
            beside.append(look()[1])
    finally:
        silhouette.aim(camera)
    return SilhouetteCheck(pixels, agreement, max(beside) - agreement)


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
