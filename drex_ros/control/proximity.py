# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How near the robot is to itself and to the table.

Pinocchio and coal give the exact distance of two convex shapes in 3 to 6 us, all 135 pairs that
are watched in 120 us. So a compiled function first bounds every distance from below by enclosing
capsules, and only pairs whose bound is the least are asked for exactly.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from drex_ros.kernel import kernel
from drex_ros.robot.collision_shapes import (
    Chain,
    Shape,
    chain_of,
    may_touch,
    place_joints,
    read_shapes,
)
from drex_ros.robot.description import robot_urdf
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import JOINT_NAMES, Array

TABLE = 'the table'
NEAR = 0.02
"""Distances less than this beyond their margin are exact, others bounds from below [m]."""
_MOST_EXACT = 24  # pairs asked for exactly at one posture; the bounds of the others count then


class PairKind(Enum):
    """Which parts are near each other; each kind has a margin."""

    ARM_ARM = 'arm and arm'
    HAND_ARM = 'hand and arm'
    ARM_TABLE = 'arm or palm and table'
    FINGER_TABLE = 'finger and table'


class Margins(NamedTuple):
    """Distances that are wanted at least [m]."""

    arm_arm: float = 0.02
    hand_arm: float = 0.015
    arm_table: float = 0.01
    finger_table: float = 0.002

    def of(self, kind: PairKind) -> float:
        """That of a kind of pairs [m]."""
        return float(self[tuple(PairKind).index(kind)])


class Nearest(NamedTuple):
    """The pair that is nearest to its margin."""

    distance: float
    """[m]; negative: so deep inside each other, for one of the deepest pairs."""
    margin: float
    """[m]"""
    first: str
    """A link of the robot."""
    second: str
    """Another one, or 'the table'."""
    kind: PairKind

    @property
    def clearance(self) -> float:
        """Distance beyond the margin [m]; negative: too near."""
        return self.distance - self.margin

    @property
    def words(self) -> str:
        """For messages: 'link_7.0_tip is 12 mm inside the table'."""
        size = f'{1000.0 * abs(self.distance):.0f} mm'
        if self.distance < 0.0:
            return f'{self.first} is {size} inside {self.second}'
        return f'{self.first} is {size} from {self.second}'


class _Solids(NamedTuple):
    """What the compiled function reads. Frames are those of the joints."""

    capsule_joint: np.ndarray
    capsules: Array
    """(m, 7)"""
    first_capsule: np.ndarray
    """Of each shape, and the number of all at the end."""
    pairs: np.ndarray
    """Shapes of each watched pair (p, 2)."""
    shape_joint: np.ndarray
    spheres: Array
    """Centre and radius of a sphere round the capsules of each shape [m]. (s, 4)"""
    table_joint: np.ndarray
    points: Array
    first_point: np.ndarray
    """Of each shape that may reach the table, and the number of all at the end."""
    radius: Array
    margin: Array
    """Of the pairs, then of the table (p + t,) [m]."""


class Proximity:
    """Distances of the robot to itself and to the table. Not for use by two threads at once."""

    def __init__(
        self,
        dynamics: Dynamics,
        *,
        hand: str = 'right',
        table_height: float = 0.0,
        margins: Margins | None = None,
    ) -> None:
        """Prepare for a robot.

        Args:
            dynamics: of the robot.
            hand: right or left, as that of the dynamics.
            table_height: of the table's top over the arm's base [m].
            margins: distances that are wanted at least.
        """
        margins = Margins() if margins is None else margins
        self._model, self._data = dynamics.model, dynamics.model.createData()
        self._geometry, shapes = read_shapes(self._model, robot_urdf(hand))
        pairs = _watched_pairs(shapes)
        for a, b in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(a, b))
        self._placed = self._geometry.createData()
        table = [i for i, shape in enumerate(shapes) if shape.may_reach_table]
        self._names = [(shapes[a].link, shapes[b].link) for a, b in pairs]
        self._names += [(shapes[i].link, TABLE) for i in table]
        self._kinds = [_kind_of(shapes[a], shapes[b]) for a, b in pairs]
        self._kinds += [_table_kind(shapes[i]) for i in table]
        self._margins = np.array([margins.of(kind) for kind in self._kinds])
        self._chain = chain_of(dynamics.model)
        self._solids = _solids(shapes, pairs, table, self._margins)
        self._order = np.array([self._model.joints[i].idx_q for i in _ids(self._model)])
        self._height = float(table_height)
        self._rotation = np.zeros((self._model.njoints, 3, 3))
        self._translation = np.zeros((self._model.njoints, 3))
        self._centres = np.zeros((len(shapes), 3))
        self._ends = np.zeros((len(self._solids.capsules), 6))
        self._gap = np.zeros(len(self._names))
        self._exact = np.zeros(len(self._names), dtype=np.bool_)
        self._q = np.zeros(self._model.nq)

    def nearest(self, position: Array) -> Nearest:
        """The pair with the least distance beyond its margin, at a posture [rad] (23,)."""
        gap, exact, pairs = self._gap, self._exact, len(self._solids.pairs)
        i = _bounds(
            self._chain, self._solids, position, self._height,
            self._rotation, self._translation, self._centres, self._ends, gap,
        )  # fmt: skip
        if i < pairs and gap[i] < NEAR:
            self._q[self._order] = position
            pin.updateGeometryPlacements(
                self._model, self._data, self._geometry, self._placed, self._q
            )
            exact[:pairs], exact[pairs:] = False, True
            for _ in range(_MOST_EXACT):
                found = pin.computeDistance(self._geometry, self._placed, i)
                gap[i] = found.min_distance - self._margins[i]
                exact[i] = True
                i = int(gap.argmin())
                if exact[i] or gap[i] >= NEAR:
                    break
        margin = float(self._margins[i])
        first, second = self._names[i]
        return Nearest(float(gap[i]) + margin, margin, first, second, self._kinds[i])


def _ids(model: pin.Model) -> list[int]:
    return [model.getJointId(name) for name in JOINT_NAMES]


def _watched_pairs(shapes: tuple[Shape, ...]) -> list[tuple[int, int]]:
    """The hand first, then the arm's link: so messages name what moves most."""
    pairs = []
    for a in range(len(shapes)):
        for b in range(a):
            if may_touch(shapes[a], shapes[b]):
                pairs.append((a, b) if shapes[a].is_hand or not shapes[b].is_hand else (b, a))
    return pairs


def _kind_of(first: Shape, second: Shape) -> PairKind:
    return PairKind.HAND_ARM if first.is_hand or second.is_hand else PairKind.ARM_ARM


def _table_kind(shape: Shape) -> PairKind:
    return PairKind.FINGER_TABLE if shape.is_finger else PairKind.ARM_TABLE


def _solids(
    shapes: tuple[Shape, ...], pairs: list[tuple[int, int]], table: list[int], margin: Array
) -> _Solids:
    count = [len(shape.capsules) for shape in shapes]
    points = [shapes[i].points for i in table]
    return _Solids(
        capsule_joint=np.repeat([shape.joint for shape in shapes], count),
        capsules=np.concatenate([shape.capsules for shape in shapes]),
        first_capsule=np.cumsum([0, *count]),
        pairs=np.array(pairs, dtype=np.int64),
        shape_joint=np.array([shape.joint for shape in shapes], dtype=np.int64),
        spheres=np.array([_sphere(shape.capsules) for shape in shapes]),
        table_joint=np.array([shapes[i].joint for i in table], dtype=np.int64),
        points=np.ascontiguousarray(np.concatenate(points)),
        first_point=np.cumsum([0, *map(len, points)]),
        radius=np.array([shapes[i].radius for i in table]),
        margin=margin,
    )


def _sphere(capsules: Array) -> Array:
    """Centre and radius of a sphere round capsules [m]. Shape (4,)."""
    ends = np.concatenate((capsules[:, :3], capsules[:, 3:6]))
    centre = 0.5 * (ends.min(axis=0) + ends.max(axis=0))
    reach = np.linalg.norm(ends - centre, axis=1) + np.tile(capsules[:, 6], 2)
    return np.append(centre, reach.max())


@kernel
def _bounds(  # type: ignore[no-untyped-def]
    chain: Chain, solids: _Solids, position, height, rotation, translation, centres, ends, gap
):
    """Fill in distance less margin of all: of pairs a lower bound, of the table the distance.

    Returns the place of the least.
    """
    place_joints(chain, position, rotation, translation)
    for k in range(solids.spheres.shape[0]):
        _move(rotation, translation, solids.shape_joint[k], solids.spheres, k, 0, centres)
    for k in range(solids.capsules.shape[0]):
        _move(rotation, translation, solids.capsule_joint[k], solids.capsules, k, 0, ends)
        _move(rotation, translation, solids.capsule_joint[k], solids.capsules, k, 3, ends)
    least, best = 0, np.inf
    n = solids.pairs.shape[0]
    for k in range(n):
        a, b = solids.pairs[k, 0], solids.pairs[k, 1]
        x, y = centres[a, 0] - centres[b, 0], centres[a, 1] - centres[b, 1]
        z = centres[a, 2] - centres[b, 2]
        nearest = np.sqrt(x * x + y * y + z * z) - solids.spheres[a, 3] - solids.spheres[b, 3]
        if nearest < NEAR + solids.margin[k]:
            nearest = np.inf
            for c in range(solids.first_capsule[a], solids.first_capsule[a + 1]):
                for d in range(solids.first_capsule[b], solids.first_capsule[b + 1]):
                    radii = solids.capsules[c, 6] + solids.capsules[d, 6]
                    nearest = min(nearest, _segment_distance(ends, c, d) - radii)
        gap[k] = nearest - solids.margin[k]
        if gap[k] < best:
            least, best = k, gap[k]
    for k in range(solids.table_joint.shape[0]):
        r, p = rotation[solids.table_joint[k]], translation[solids.table_joint[k]]
        lowest = np.inf
        for i in range(solids.first_point[k], solids.first_point[k + 1]):
            point = solids.points[i]
            lowest = min(lowest, r[2, 0] * point[0] + r[2, 1] * point[1] + r[2, 2] * point[2])
        gap[n + k] = p[2] + lowest - solids.radius[k] - height - solids.margin[n + k]
        if gap[n + k] < best:
            least, best = n + k, gap[n + k]
    return least


@kernel
def _move(rotation, translation, joint, points, row, first, out):  # type: ignore[no-untyped-def]
    """Fill in the point in three columns of a row, from the joint's frame to the world."""
    x, y, z = points[row, first], points[row, first + 1], points[row, first + 2]
    for i in range(3):
        out[row, first + i] = translation[joint, i] + (
            rotation[joint, i, 0] * x + rotation[joint, i, 1] * y + rotation[joint, i, 2] * z
        )


@kernel
def _segment_distance(ends, a, b):  # type: ignore[no-untyped-def]
    """Of two segments, rows of ends [m].

    The nearest points are a0 + s u and b0 + t v, with s and t in 0 .. 1.
    """
    ax, ay, az, bx, by, bz = ends[a, 0], ends[a, 1], ends[a, 2], ends[b, 0], ends[b, 1], ends[b, 2]
    ux, uy, uz = ends[a, 3] - ax, ends[a, 4] - ay, ends[a, 5] - az
    vx, vy, vz = ends[b, 3] - bx, ends[b, 4] - by, ends[b, 5] - bz
    wx, wy, wz = ax - bx, ay - by, az - bz
    uu, vv = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    uw, vw = ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
    s = t = 0.0
    across = uu * vv - uv * uv
    if across > 1e-9 * uu * vv:  # not parallel
        s = min(max((uv * vw - vv * uw) / across, 0.0), 1.0)
    if vv > 0.0:
        t = min(max((uv * s + vw) / vv, 0.0), 1.0)
    if uu > 0.0:
        s = min(max((uv * t - uw) / uu, 0.0), 1.0)
    x, y, z = wx + s * ux - t * vx, wy + s * uy - t * vy, wz + s * uz - t * vz
    return np.sqrt(x * x + y * y + z * z)
