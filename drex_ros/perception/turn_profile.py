# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How a thing is turned that is round but for a part, while that part is hardly to be seen.

A mug whose handle is behind it fits equally well over a range of turns, and no small step tells
where that range ends. So turns all around are tried: each draws the handle somewhere else, and the
pixels at which it should be seen and is not, or is seen and should not be, speak against it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.belief import ANY_TURN
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.model_fit import ModelFitter
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RoundAxis
from drex_ros.robot.joints import Array

_TRIED = np.radians(np.arange(-180.0, 180.0, 15.0))
_STEP = float(_TRIED[1] - _TRIED[0])
_HERE = int(np.argmin(np.abs(_TRIED)))
_TOGETHER = 15.0  # pixels that err together
_PLAUSIBLE = 4.0  # log odds against a turn at which it is still kept
_NARROW = np.radians(12.0)  # deviation: a narrower range has one turn in it for small steps
_NEAR = 3.0  # deviations, and
_NEXT = np.radians(46.0)  # that are tried in any case
_ANYWHERE = 0.05  # chance that what was believed of the turn is wrong
_APART = np.float32(0.012)  # [m] depths that differ by more are of two surfaces
_ABOVE_TABLE = 0.008  # [m]
_EDGE = 2  # [px] about the model's outline that say nothing
_SURE = np.float32(0.8)  # probability from which a colour is the object's


class TurnProfile(NamedTuple):
    """What a frame and what was believed say about the turn."""

    change: float
    """To the turn that is kept or found [rad]; 0: it stays as it is."""
    variance: float
    """About that turn [rad^2]."""

    @property
    def found(self) -> bool:
        """Whether it is one turn that the frame shows, and not any of a range."""
        return bool(self.variance < _NARROW**2)


def turned(pose: Pose, axis: RoundAxis, angle: float) -> Pose:
    """A pose turned about a line of the object."""
    direction = pose.rotation @ axis.direction
    point = pose.rotation @ axis.point
    step = np.concatenate((np.zeros(3), angle * direction))
    rotation = pose.moved(step).rotation
    return Pose(pose.position + point - rotation @ axis.point, rotation)


def turn_profile(
    fitter: ModelFitter, frame: RgbdFrame, pose: Pose, axis: RoundAxis, before: float
) -> TurnProfile | None:
    """Try turns; None: the object is out of the picture.

    Args:
        fitter: draws the object; its last drawing is another one afterwards.
        frame: to compare with.
        pose: as fitted.
        axis: about which it is round.
        before: deviation of the turn since it was last to be seen [rad].
    """

    def tried(indices: Iterable[int]) -> bool:
        for i in indices:
            if not fitter.draw(turned(pose, axis, _TRIED[i])):
                return False
            fitter.look_around(frame)
            against[i] = _mismatch(
                fitter.drawn, fitter.face, frame.depth, fitter.scale, fitter.robot,
                fitter.blocked, fitter.likely_then, fitter.colours.clear, fitter.table,
                fitter.lens, fitter.region, float(fitter.points[:, 2].max()),
            )  # fmt: skip
        return True

    against = np.full(len(_TRIED), np.inf)
    near = np.abs(_TRIED) < max(_NEAR * before, _NEXT)
    if not tried(np.flatnonzero(near)):
        return None
    # Where none of these fits, it was turned by more than it was thought to be.
    if against.min() > _PLAUSIBLE * _TOGETHER and not tried(np.flatnonzero(~near)):
        return None
    believed = np.exp(-0.5 * (_TRIED / before) ** 2)
    believed /= believed.sum()
    prior = np.log((1.0 - _ANYWHERE) * believed + _ANYWHERE / len(_TRIED))
    log = prior - against / _TOGETHER
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    kept = _HERE
    if before >= ANY_TURN:
        # Nothing is kept yet: the middle of the range is off the least.
        middle = float(np.angle(weight @ np.exp(1j * _TRIED)))
        kept = int(np.argmin(np.abs(_wrapped(_TRIED - middle))))
    if log[kept] < log.max() - _PLAUSIBLE:
        kept = int(np.argmax(log))
    off = _wrapped(_TRIED - _TRIED[kept])
    return TurnProfile(float(_TRIED[kept]), float(weight @ off**2) + _STEP**2 / 12.0)


def _wrapped(angle: Array) -> Array:
    """Between -pi and pi."""
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)


@kernel
def _mismatch(  # type: ignore[no-untyped-def]
    drawn, face, measured, scale, robot, blocked, likely, clear, table, lens, region, farthest
):
    """Pixels at which the picture is not as it is drawn, those that are nearly so in part.

    What hides the object is no mismatch.
    """
    left, top, width, height = region[0], region[1], region[2], region[3]
    count = 0.0
    for y in range(_EDGE, height - _EDGE):
        for x in range(_EDGE, width - _EDGE):
            row, column = y + top, x + left
            inside = face[y, x] >= 0
            if (
                (face[y, x - _EDGE] >= 0) != inside
                or (face[y, x + _EDGE] >= 0) != inside
                or (face[y - _EDGE, x] >= 0) != inside
                or (face[y + _EDGE, x] >= 0) != inside
            ):
                continue
            coloured = clear and likely[row, column] > _SURE
            foreign = clear and likely[row, column] < 1.0 - _SURE
            seen = scale * measured[row, column]
            if inside:
                z = drawn[y, x]
                if robot[row, column] < z + _APART:
                    continue
                if coloured:
                    # It is there; where depth is another, another part of it is.
                    if 0.0 < seen < farthest + _APART:
                        count += min(((seen - z) / _APART) ** 2, 1.0)
                elif blocked[row, column] == 0 and (seen > z + _APART or (foreign and seen == 0)):
                    count += 1.0
            elif coloured and seen > 0.0 and robot[row, column] > seen + 2.0 * _APART:
                rx = (column - lens[2]) / lens[0]
                ry = (row - lens[3]) / lens[1]
                above = seen * (table[0] * rx + table[1] * ry + table[2]) + table[3]
                if above > _ABOVE_TABLE and seen < farthest + 2.0 * _APART:
                    count += 1.0
    return count
