# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a fit of the model to a frame is given, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drex_ros.perception import contour_term, depth_term
from drex_ros.perception.colour_delay import DelayStep
from drex_ros.perception.poses import Pose
from drex_ros.robot.joints import Array


class Stage(NamedTuple):
    """One step of a schedule from coarse to fine."""

    stride: float
    """Of the lines across the outline [px]."""
    gate: float
    """Largest distance of a measured point from the surface that counts [m]."""
    turn: bool = True
    """Whether the rotation may change, too."""
    settled: bool = False
    """Whether what is still far off is no part of the object."""


FINE = (Stage(1, 0.008), Stage(1, 0.006, settled=True), Stage(1, 0.005, settled=True))
MIDDLE = (
    Stage(2, 0.020, turn=False),
    Stage(2, 0.020),
    Stage(2, 0.015),
    Stage(1, 0.010),
    Stage(1, 0.006),
    Stage(1, 0.005, settled=True),
)
COARSE = (
    Stage(3, 0.03, turn=False),
    Stage(3, 0.03),
    Stage(2, 0.02),
    Stage(1, 0.010),
    Stage(1, 0.006),
    Stage(1, 0.005, settled=True),
)


@dataclass(frozen=True)
class FitSettings:
    """How much a measurement is worth. Chosen for a RealSense D435, and its simulation."""

    depth_noise: float = 0.0028
    """Deviation of depth at 1 m [m]; it grows with the square of depth."""
    model_noise: float = 0.0004
    """Deviation of the surface from the mesh [m]."""
    depth_area: float = 39.0
    """Pixels that err together: neighbours share the matching window."""
    contour_share: float = 0.7
    """Lines across the outline that err together."""
    contour_variance: float = 0.2
    """Least variance of a line's offset [px^2]."""
    relief_share: float = 3.0
    """Lines across inner edges that err together."""
    relief_variance: float = 1.0
    """Least variance of such a line's offset [px^2]: edges of depth images wander."""
    spacing: float = 1.5
    """Between two lines across the outline [px]."""
    depth_step: int = 2
    """Every so many pixels in rows and columns are looked at."""


class Fit(NamedTuple):
    """Where a fit ended, and what speaks for it."""

    pose: Pose
    information: Array
    """Of all but the prediction. Shape (6, 6)."""
    free_information: Array
    """Of depth and outline alone. Shape (6, 6)."""
    free_gradient: Array
    """Of depth and outline alone, at the pose. Shape (6,)."""
    depth: Array
    """Counts of depth_term."""
    contour: Array
    """Counts of contour_term."""
    steps: int
    unseen: tuple[Array, ...] = ()
    """Turns that were hardly seen, as steps (6,) of 1 rad: nothing is said about them."""
    delay: DelayStep | None = None
    """What it says about the colour's time; None: nothing."""

    def freely(self, weak: Array, expected: Pose) -> tuple[Array, Array]:
        """Where depth and outline alone would be, as a step from the pose, and its covariance.

        Args:
            weak: information that holds what they do not see. Shape (6, 6).
            expected: where it holds it.
        """
        covariance: Array = np.linalg.inv(self.free_information + weak).astype(np.float64)
        step = covariance @ (self.free_gradient + weak @ self.pose.step_to(expected))
        return step, covariance

    @property
    def in_sight(self) -> float:
        """Pixels of the model at which depth was measured and nothing is in front."""
        counts = self.depth
        return max(1.0, float(counts[depth_term.TOTAL] - counts[depth_term.OCCLUDED]
                              - counts[depth_term.MISSING]))  # fmt: skip

    @property
    def inliers(self) -> float:
        """Share of the pixels in sight that lie on the model."""
        return float(self.depth[depth_term.INLIERS]) / self.in_sight

    @property
    def violated(self) -> float:
        """Share of the pixels in sight at which something farther is seen through the model."""
        return float(self.depth[depth_term.VIOLATED]) / self.in_sight

    @property
    def occluded(self) -> float:
        """Share of the model's pixels that something nearer hides."""
        counts = self.depth
        return float(counts[depth_term.OCCLUDED] / max(1.0, counts[depth_term.TOTAL]))

    @property
    def missing(self) -> float:
        """Share of the model's pixels without a measured depth."""
        return float(self.depth[depth_term.MISSING] / max(1.0, self.depth[depth_term.TOTAL]))

    @property
    def outline_lines(self) -> float:
        """Lines across the outline on which it was seen."""
        return float(self.contour[contour_term.USED])

    @property
    def contour_distance(self) -> float:
        """Mean distance of the outline from where colours change [px]; 0 when none was seen."""
        used = self.contour[contour_term.USED]
        return float(self.contour[contour_term.DISTANCE] / used) if used > 10 else 0.0


@dataclass(frozen=True, eq=False)
class Course:
    """How the object moves, as far as that is known before the frame."""

    expected: Pose
    """In this frame."""
    velocity: Array
    """Expected with it [m/s, rad/s]. Shape (6,)."""
    gain: Array
    """By which the velocity is another when the pose is: an object that is farther on than
    expected is faster, too [1/s]. Shape (6, 6)."""
    spread: Array
    """Covariance of the velocity at a given pose. Shape (6, 6)."""

    def velocity_at(self, pose: Pose) -> Array:
        """The velocity of an object that is at this pose. Shape (6,)."""
        return np.asarray(self.velocity + self.gain @ self.expected.step_to(pose))
