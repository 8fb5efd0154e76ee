# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where an object went that is not where it was expected, by the blob of its colours."""

from __future__ import annotations

import numpy as np

from drex_ros.perception.model_fit import ModelFitter
from drex_ros.perception.poses import Pose
from drex_ros.robot.joints import Array

_SLIM = 1.6  # length over width of a blob from which its direction is told
_MOST_TURN = 0.5  # [rad] that colours may suggest


def towards_colours(fitter: ModelFitter, pose: Pose) -> Pose | None:
    """The pose moved to where the object's colours are; None: they say nothing."""
    pixels = fitter.object_pixels(pose)
    if pixels is None:
        return None
    drawn, seen = pixels
    if not 0.2 * drawn[0] < seen[0] < 3.0 * drawn[0]:
        return None
    depth, normal = pose.position[2], fitter.table[:3]
    move = depth * np.append((seen[1:3] - drawn[1:3]) / fitter.lens[:2], 0.0)
    # Along the table, and about its normal: that is how things are moved.
    move -= normal * (normal @ move)
    turn = (_slant(seen) - _slant(drawn) + 0.5 * np.pi) % np.pi - 0.5 * np.pi
    if min(_slimness(seen), _slimness(drawn)) < _SLIM or abs(normal[2]) < 0.3:
        turn = 0.0
    turn = np.clip(turn / normal[2], -_MOST_TURN, _MOST_TURN)
    return pose.moved(np.concatenate((move, turn * normal)))


def _slant(blob: Array) -> float:
    """Direction of a blob's length from its moments, columns to rows [rad]."""
    return 0.5 * float(np.arctan2(2.0 * blob[5], blob[3] - blob[4]))


def _slimness(blob: Array) -> float:
    """Length over width of a blob from its moments."""
    half, mean = np.hypot(0.5 * (blob[3] - blob[4]), blob[5]), 0.5 * (blob[3] + blob[4])
    return float(np.sqrt((mean + half) / max(mean - half, 1e-6)))
