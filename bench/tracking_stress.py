# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cameras that are not as they say: what a tracker makes of them.

Colour that is 17 ms late is drawn anew, with everything half a frame farther on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from drex_ros.evaluation.motion import FPS
from drex_ros.evaluation.sequence import Sequence, SequenceSpec
from drex_ros.evaluation.sequences import Colours, make_late_colour
from drex_ros.evaluation.tracking_run import FrameOf
from drex_ros.perception.depth_image import DepthImage
from drex_ros.perception.frame import RgbdFrame
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

DEPTH_SCALE = 1.02
HOLES = 0.01
"""Share of the depth's pixels that are NaN."""
CAMERA_TURN = np.radians(0.5)
"""By which the camera's pose is wrong [rad]."""
LATE = 0.5 / FPS
"""By which colours are late [s]."""


@dataclass(frozen=True, eq=False)
class Trial:
    """What a tracker is given, and the truth that it is measured by."""

    sequence: Sequence
    """With the truth."""
    camera: CameraModel
    """As the tracker knows it."""
    frame_of: FrameOf
    indices: Iterable[int]


def as_it_is(sequence: Sequence) -> Trial:
    """Nothing is wrong."""
    return Trial(sequence, sequence.camera, sequence.frame, range(len(sequence)))


def wrong_scale(sequence: Sequence) -> Trial:
    """Depth is too large."""

    def frame(i: int) -> RgbdFrame:
        plain = sequence.frame(i)
        return replace(plain, depth=plain.depth * np.float32(DEPTH_SCALE))

    return replace(as_it_is(sequence), frame_of=frame)


def with_holes(sequence: Sequence) -> Trial:
    """Depth as floating-point numbers, some of them NaN, read as the node reads it."""
    random = np.random.default_rng(sequence.spec.seed)
    image = DepthImage(sequence.camera.width, sequence.camera.height)

    def frame(i: int) -> RgbdFrame:
        plain = sequence.frame(i)
        depth = plain.depth.copy()
        depth[random.random(depth.shape) < HOLES] = np.nan
        return replace(plain, depth=image.read(depth))

    return replace(as_it_is(sequence), frame_of=frame)


def _turned(sequence: Sequence) -> CameraModel:
    """The camera turned about an axis of chance, in its place."""
    axis = np.random.default_rng(sequence.spec.seed).normal(size=3)
    turn = quaternion_from_vector(CAMERA_TURN * axis / np.linalg.norm(axis))
    right = sequence.camera
    return replace(right, quaternion=quaternion_product(right.quaternion, turn))


def turned_camera(sequence: Sequence) -> Trial:
    """The camera is not where it is said to be; the pose in world is that much off."""
    return replace(as_it_is(sequence), camera=_turned(sequence))


def turned_camera_seen(sequence: Sequence) -> Trial:
    """The same, measured from the camera: without what no tracker could know."""
    wrong, right = _turned(sequence), sequence.camera
    pose = np.array(sequence.pose)
    pose[:, :3] = wrong.to_world(right.to_optical(pose[:, :3]))
    back = right.quaternion * (-1.0, -1.0, -1.0, 1.0)
    turn = quaternion_product(wrong.quaternion, back)
    pose[:, 3:] = [quaternion_product(turn, each[3:]) for each in pose]
    moved = replace(sequence, pose=pose)
    return replace(as_it_is(moved), camera=wrong)


def _late(sequence: Sequence, stamped: bool) -> Trial:
    """Colour half a frame later than depth."""
    colours = _late_colours(sequence.spec)

    def frame(i: int) -> RgbdFrame:
        plain = sequence.frame(i)
        return replace(
            plain,
            colour=colours[i],
            colour_time=plain.time + LATE if stamped else None,
        )

    return replace(as_it_is(sequence), frame_of=frame, indices=range(len(sequence) - 1))


@lru_cache(maxsize=1)
def _late_colours(spec: SequenceSpec) -> Colours:
    return make_late_colour(spec)


def late_colour(sequence: Sequence) -> Trial:
    """Colour is 17 ms later than depth, and its stamps say so."""
    return _late(sequence, stamped=True)


def late_colour_unstamped(sequence: Sequence) -> Trial:
    """Colour is 17 ms later than depth, but has the same stamps."""
    return _late(sequence, stamped=False)


STRESSES: dict[str, Callable[[Sequence], Trial]] = {
    'nothing wrong': as_it_is,
    'depth 2 % too large': wrong_scale,
    '1 % of depth NaN': with_holes,
    'camera turned by 0.5 deg': turned_camera,
    '  measured from the camera': turned_camera_seen,
    'colour 17 ms late': late_colour,
    '  the same, not stamped': late_colour_unstamped,
}
"""By their names in the table."""
