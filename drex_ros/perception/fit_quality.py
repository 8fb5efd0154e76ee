# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How well a fit explains its frame: which of two is better, and whether to look for another."""

from __future__ import annotations

import numpy as np

from drex_ros.perception.belief import Belief
from drex_ros.perception.fit import Fit

_COARSE_BELOW = 0.85  # share of inliers
_COARSE_ABOVE = 0.06  # share of violated pixels
_COARSE_CONTOUR = 1.5  # [px]
_FEWEST_PIXELS = 12.0  # of the object in sight, or
_FEWEST_LINES = 25.0  # across its outline, from which it is not covered
_MUCH_IN_SIGHT = 60.0  # pixels that are compared, which are evidence enough for any jump
_LARGEST_JUMP = 30.0  # chi square of a pose about the prediction, with less


def score(fit: Fit, clear: bool) -> float:
    """How well a fit explains the frame, to compare fits of one frame.

    `clear` is whether colours are evidence.
    """
    contour = 0.05 * fit.contour_distance if clear else 0.0
    return fit.inliers - fit.violated - 0.5 * fit.occluded - contour


def looks_wrong(fit: Fit, clear: bool) -> bool:
    """Whether another fit may be better."""
    if fit.violated > _COARSE_ABOVE or fit.inliers < _COARSE_BELOW:
        return True
    return clear and fit.contour_distance > _COARSE_CONTOUR


def depth_is_sure(fit: Fit) -> bool:
    """Whether depth alone says where the object is, whatever its outline says."""
    return fit.inliers > 0.9 and fit.violated < 0.05 and fit.occluded < 0.4


def credible(fit: Fit, prior: Belief) -> bool:
    """Whether a fit that was searched for may be right: little evidence allows no great jump."""
    if fit.in_sight > _MUCH_IN_SIGHT and fit.inliers > 0.8:
        return True
    step = prior.pose.step_to(fit.pose)
    off = float(step @ np.linalg.solve(prior.covariance[:6, :6], step))
    return off < _LARGEST_JUMP


def covered(fit: Fit) -> bool:
    """Whether nothing that can be trusted is seen of the object."""
    lines = fit.outline_lines < _FEWEST_LINES or fit.contour_distance > _COARSE_CONTOUR
    return fit.in_sight < _FEWEST_PIXELS and lines
