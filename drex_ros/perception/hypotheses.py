# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A place where the object may be, and how much of the picture it explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RestingFace, TrackedMesh
from drex_ros.robot.joints import Array

GOOD = 0.65
"""Score from which the object is taken to be there."""

_NEAR = 0.006  # [m] a depth so near the model's agrees with it
_FRONT = 0.012  # [m] and one so far before it hides it
_HIDES = 0.05  # [m] in front of a pose that is not fitted yet
_BESIDE = 1  # [px of the half picture] edges are so ragged
_LEFT_OVER_SHARE = 0.5  # what touches the object is part of its piece, too
_LEAST_SIGHT = 0.25  # share of the model that must be in sight to believe in it

# Places in the counts.
_TOTAL, _AGREE, _HIDDEN, _MISSING, _LEFT_OVER, _COLOURED = range(6)


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """The object at a pose."""

    pose: Pose
    """In the optical frame."""
    side: RestingFace | None
    """It stands on this side."""
    piece: int
    """Which thing on the table it is taken for."""
    score: float
    """0 to 1: the share of what model and thing cover together in which they agree."""
    in_sight: float
    """Share of the model that nothing hides."""
    outline: float = 1.0
    """Share of what the model and the thing's colours cover together that both cover."""

    @staticmethod
    def of(pose: Pose, side: RestingFace | None, piece: int, counts: Array) -> Hypothesis:
        """Judge by the counts of `tally`."""
        open_ = counts[_TOTAL] - counts[_HIDDEN]
        in_sight = float(open_ / max(counts[_TOTAL], 1.0))
        both = max(open_ - counts[_MISSING] + _LEFT_OVER_SHARE * counts[_LEFT_OVER], 1.0)
        agreement = float(counts[_AGREE] / both)
        coloured = float(counts[_COLOURED] / max(counts[_AGREE], 1.0))
        doubt = min(1.0, in_sight / _LEAST_SIGHT) * min(1.0, 0.4 + coloured)
        return Hypothesis(pose, side, piece, agreement * doubt, in_sight)


class Found(NamedTuple):
    """What a search came to."""

    best: Hypothesis | None
    rivals: int
    """Other places that explain the picture about as well."""
    turned: bool
    """The same place explains it about as well with another orientation."""
    pieces: int
    """Things that stand out of the table and are not the robot."""

    @property
    def plain(self) -> Hypothesis | None:
        """The best one if the object is there and in no other place; else None."""
        if self.best is None or self.best.score < GOOD or self.rivals:
            return None
        return self.best

    def words(self, name: str) -> str:
        """What came of it, for people."""
        if self.best is None:
            return f'{name} is not there: nothing stands on the table where the camera looks'
        score = 100.0 * self.best.score
        if self.best.score < GOOD:
            return (
                f'{name} is not there: of {self.pieces} things on the table the likeliest '
                f'agrees by {score:.0f} %, must be {100 * GOOD:.0f} %'
            )
        if self.rivals:
            return f'ambiguous: {self.rivals + 1} things on the table look like {name}'
        if self.turned:
            return f'found, {score:.0f} %; other orientations agree about as well'
        return f'found, {score:.0f} %'


@kernel
def tally(  # type: ignore[no-untyped-def]
    drawn, face, depth, robot, likely, piece, region, counts
):
    """Count how the drawn model and a piece of the picture agree.

    Args:
        drawn: depth of the model in the region [m].
        face: triangle of each pixel of the region, -1: none.
        depth: measured [m], 0: none.
        robot: depth of the robot [m], far where it is not.
        likely: probability that a pixel has the object's colour.
        piece: which pixels belong to it. Shape as depth.
        region: left, top, width, height [px].
        counts: of pixels: model, agreeing, hidden, without depth, of the piece beside the model,
            agreeing with the right colour. Shape (6,), written.
    """
    left, top, width, height = region[0], region[1], region[2], region[3]
    counts[:] = 0.0
    for y in range(piece.shape[0]):
        for x in range(piece.shape[1]):
            if not piece[y, x]:
                continue
            row, column = y - top, x - left
            # Edges are ragged: what is next to the model is not left over.
            if not _drawn_near(face, row, column, width, height):
                counts[_LEFT_OVER] += 1.0
    for y in range(1, height - 1):
        for x in range(1, width - 1):
            if (
                face[y, x] < 0
                or face[y - 1, x] < 0
                or face[y + 1, x] < 0
                or face[y, x - 1] < 0
                or face[y, x + 1] < 0
            ):
                continue
            counts[_TOTAL] += 1.0
            z, seen = drawn[y, x], depth[y + top, x + left]
            ours = piece[y + top, x + left]
            if robot[y + top, x + left] < z:
                counts[_HIDDEN] += 1.0
            elif not seen > 0.0:
                counts[_MISSING] += 1.0
            elif seen < z - _FRONT:
                # A thing does not hide itself: what is in front must be another one.
                if not ours:
                    counts[_HIDDEN] += 1.0
            elif abs(seen - z) < _NEAR:
                counts[_AGREE] += 1.0
                if likely[y + top, x + left] > 0.5:
                    counts[_COLOURED] += 1.0


@kernel
def _drawn_near(face, row, column, width, height):  # type: ignore[no-untyped-def]
    """Whether the model is drawn at a pixel of the region or right beside it."""
    for y in range(row - _BESIDE, row + _BESIDE + 1):
        for x in range(column - _BESIDE, column + _BESIDE + 1):
            if 0 <= y < height and 0 <= x < width and face[y, x] >= 0:
                return True
    return False


@kernel
def colour_agreement(  # type: ignore[no-untyped-def]
    drawn, face, depth, robot, likely, window, region
):
    """Share of what the model and the object's colours cover together that both cover.

    Args:
        drawn: depth of the model in the region [m].
        face: triangle of each pixel of the region, -1: none.
        depth: measured [m], 0: none.
        robot: depth of the robot [m], far where it is not.
        likely: probability that a pixel has the object's colour.
        window: in which colours are looked at: left, top, width, height [px].
        region: of the drawing, likewise.
    """
    left, top, width, height = region[0], region[1], region[2], region[3]
    both, either = 0.0, 0.0
    for y in range(window[1], window[1] + window[3]):
        for x in range(window[0], window[0] + window[2]):
            row, column = y - top, x - left
            inside = 0 <= row < height and 0 <= column < width and face[row, column] >= 0
            if inside:
                z, seen = drawn[row, column], depth[y, x]
                if robot[y, x] < z or (0.0 < seen < z - _FRONT and likely[y, x] < 0.5):
                    continue
            elif robot[y, x] < 100.0:
                continue
            coloured = likely[y, x] > 0.7
            if inside or coloured:
                either += 1.0
                if inside and coloured:
                    both += 1.0
    return both / max(either, 1.0)


@kernel
def middle_of_sight(drawn, face, depth, robot, lens, region, out):  # type: ignore[no-untyped-def]
    """Sum up the drawn surface where nothing hides it: mean point [m], and how many pixels."""
    left, top, width, height = region[0], region[1], region[2], region[3]
    out[:] = 0.0
    for y in range(0, height, 2):
        for x in range(0, width, 2):
            if face[y, x] < 0:
                continue
            z, seen = drawn[y, x], depth[y + top, x + left]
            if robot[y + top, x + left] < z or (seen > 0.0 and seen < z - _HIDES):
                continue
            out[0] += (x + left - lens[2]) / lens[0] * z
            out[1] += (y + top - lens[3]) / lens[1] * z
            out[2] += z
            out[3] += 1.0
    out[:3] /= max(out[3], 1.0)


def looks_alike(mesh: TrackedMesh, first: Pose, second: Pose) -> bool:
    """Whether two poses of a mesh fill the same space, as far as their hulls tell."""
    directions = _directions()
    reach = [
        (mesh.vertices @ pose.rotation.T + pose.position) @ directions.T
        for pose in (first, second)
    ]
    change = np.abs(reach[0].max(axis=0) - reach[1].max(axis=0)).max()
    return float(change) < 0.05 * mesh.radius + 0.002


def _directions(count: int = 200) -> Array:
    """Unit vectors, spread over the sphere in a spiral. Shape (count, 3)."""
    index = np.arange(count) + 0.5
    height = 1.0 - 2.0 * index / count
    around = np.pi * (1.0 + np.sqrt(5.0)) * index
    radius = np.sqrt(1.0 - height**2)
    return np.stack((radius * np.cos(around), radius * np.sin(around), height), axis=1)
