# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot's body: where its joints are, what shape its parts have, and what can touch what.

The joints are placed by a compiled function, for Pinocchio's frames would have to be handed to
compiled functions one by one. The collision shapes themselves (convex meshes, boxes, spheres) are
exact but cost microseconds a pair. The capsules that enclose them cost nanoseconds and tell which
few pairs are worth the exact answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import coal
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from drex_ros.kernel import kernel
from drex_ros.robot.description import BASE_LINK, PALM_LINK
from drex_ros.robot.joints import JOINT_NAMES, Array

# Two ends and the radius [m] in the link's frame, fitted to the published meshes for least volume,
# with 1 to 4 mm to spare for what lies between the points they were fitted to.
_ARM_CAPSULES: dict[str, tuple[tuple[float, ...], ...]] = {
    'panda_link0': (
        (0.0100, -0.0447, 0.0259, 0.0019, 0.0384, 0.0225, 0.0737),
        (-0.0324, -0.0042, 0.0801, -0.0043, -0.0002, 0.0962, 0.0777),
        (-0.0921, -0.0410, 0.0273, -0.0965, 0.0342, 0.0203, 0.0686),
    ),
    'panda_link1': (
        (0.0000, -0.0002, -0.1492, -0.0005, -0.0257, -0.0878, 0.0715),
        (0.0016, -0.0284, -0.0138, 0.0011, -0.0697, -0.0179, 0.0761),
    ),
    'panda_link2': (
        (0.0042, -0.0129, 0.0226, 0.0017, -0.0175, 0.0741, 0.0731),
        (-0.0001, -0.1532, 0.0001, -0.0017, -0.0768, 0.0294, 0.0698),
    ),
    'panda_link3': (
        (0.0729, 0.0261, -0.0104, 0.0750, 0.0446, -0.0064, 0.0765),
        (0.0020, 0.0015, -0.0822, 0.0274, 0.0155, -0.0572, 0.0721),
    ),
    'panda_link4': (
        (-0.0819, 0.0793, 0.0002, -0.0604, 0.0563, 0.0136, 0.0735),
        (-0.0032, 0.0036, 0.0414, -0.0198, 0.0238, 0.0326, 0.0747),
    ),
    'panda_link5': (
        (-0.0001, 0.0839, 0.0028, 0.0024, 0.0832, -0.0510, 0.0572),
        (0.0013, 0.0255, -0.2163, 0.0008, 0.0595, -0.1005, 0.0591),
        (0.0001, 0.0001, -0.2446, -0.0015, 0.0007, -0.1558, 0.0601),
        (0.0012, 0.0383, -0.0048, 0.0025, 0.0247, -0.1084, 0.0606),
    ),
    'panda_link6': (
        (0.0768, 0.0399, -0.0014, 0.0854, -0.0284, 0.0024, 0.0559),
        (0.0145, 0.0024, 0.0058, 0.0280, 0.0030, 0.0031, 0.0690),
    ),
    'panda_link7': (
        (0.0021, 0.0017, 0.0750, -0.0043, -0.0041, 0.0759, 0.0512),
        (0.0303, 0.0441, 0.0785, 0.0451, 0.0292, 0.0769, 0.0413),
    ),
}

# No link of the arm reaches another one but these.
_NEAR_BASE = (BASE_LINK, 'panda_link1', 'panda_link2')
_NEAR_FLANGE = ('panda_link5', 'panda_link6', 'panda_link7')
# Nor does the hand reach links 6 and 7, which carry it.
_IN_REACH_OF_HAND = (*_NEAR_BASE, 'panda_link3', 'panda_link4', 'panda_link5')
_ABOVE_TABLE = ('panda_link3', 'panda_link4', *_NEAR_FLANGE, PALM_LINK)
"""What can reach down to the table, besides the fingers."""

_STRIP = 0.03  # [m] a box that is wider is enclosed by several capsules side by side


class Chain(NamedTuple):
    """The tree of joints for compiled functions; arrays over Pinocchio's joints, 0 the world."""

    parent: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    """Of the joint in the project's order."""
    rotation: Array
    """Of the joint in its parent's frame at zero. Shape (n, 3, 3)."""
    translation: Array
    """[m] Shape (n, 3)."""
    axis: Array
    """In the joint's frame. Shape (n, 3)."""
    palm_rotation: Array
    """Of the palm in the frame of the arm's last joint. Shape (3, 3)."""
    palm_translation: Array
    """[m] Shape (3,)."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A convex part of the robot, in the frame of the joint that moves it."""

    link: str
    joint: int
    """Pinocchio's number of the joint."""
    points: Array
    """Corners [m]; of a sphere the centre. Shape (n, 3)."""
    radius: float
    """Of a sphere [m]; 0 otherwise."""
    capsules: Array
    """They enclose it: two ends and the radius each [m]. Shape (m, 7)."""

    @property
    def is_finger(self) -> bool:
        """Whether it is on a finger, tip included."""
        return self.link.startswith('link_')

    @property
    def is_hand(self) -> bool:
        """Whether it is on the palm or on a finger."""
        return self.is_finger or self.link == PALM_LINK

    @property
    def may_reach_table(self) -> bool:
        """Whether it has to be watched for the table."""
        return self.is_finger or self.link in _ABOVE_TABLE


def chain_of(model: pin.Model) -> Chain:
    """The tree of joints of the robot."""
    data, count = model.createData(), model.njoints
    pin.computeJointJacobians(model, data, pin.neutral(model))
    axis = np.zeros((count, 3))
    for i in range(1, count):
        own = pin.getJointJacobian(model, data, i, pin.ReferenceFrame.LOCAL)
        axis[i] = own[3:, model.joints[i].idx_v]
    palm = model.frames[model.getFrameId(PALM_LINK)]
    return Chain(
        parent=np.array(list(model.parents), dtype=np.int64),
        place=np.array([-1] + [JOINT_NAMES.index(n) for n in list(model.names)[1:]]),
        rotation=np.array([place.rotation for place in model.jointPlacements]),
        translation=np.array([place.translation for place in model.jointPlacements]),
        axis=axis,
        palm_rotation=np.ascontiguousarray(palm.placement.rotation),
        palm_translation=np.ascontiguousarray(palm.placement.translation),
    )


def may_touch(first: Shape, second: Shape) -> bool:
    """Whether two shapes of the robot have to be watched.

    Fingers may touch each other and the palm.
    """
    if first.is_hand:
        return not second.is_hand and second.link in _IN_REACH_OF_HAND
    if second.is_hand:
        return first.link in _IN_REACH_OF_HAND
    links = {first.link, second.link}
    return bool(links & set(_NEAR_BASE)) and bool(links & set(_NEAR_FLANGE))


def read_shapes(model: pin.Model, urdf: str) -> tuple[pin.GeometryModel, tuple[Shape, ...]]:
    """The collision shapes of a URDF text as Pinocchio and as this project has them.

    Both are in one order. Meshes are taken as convex, as the published ones are.
    """
    geometry = pin.buildGeomFromUrdfString(model, urdf, pin.GeometryType.COLLISION)
    shapes = []
    for item in geometry.geometryObjects:
        if isinstance(item.geometry, coal.BVHModelBase):
            item.geometry.buildConvexRepresentation(False)
            item.geometry = item.geometry.convex
        link = model.frames[item.parentFrame].name
        points, radius = _corners(item.geometry)
        placed = points @ item.placement.rotation.T + item.placement.translation
        shapes.append(Shape(link, item.parentJoint, placed, radius, _capsules(model, item, link)))
    return geometry, tuple(shapes)


def _corners(solid: coal.ShapeBase) -> tuple[Array, float]:
    if isinstance(solid, coal.Sphere):
        return np.zeros((1, 3)), float(solid.radius)
    if isinstance(solid, coal.Box):
        signs = np.array(np.meshgrid((-1, 1), (-1, 1), (-1, 1))).reshape(3, 8).T
        return signs * np.asarray(solid.halfSide), 0.0
    return np.array([solid.point(i) for i in range(solid.num_points)]), 0.0


def _capsules(model: pin.Model, item: pin.GeometryObject, link: str) -> Array:
    if link in _ARM_CAPSULES:
        capsules = np.array(_ARM_CAPSULES[link])
        place = model.frames[item.parentFrame].placement
    else:
        capsules, place = _hand_capsules(item.geometry), item.placement
    for ends in (slice(0, 3), slice(3, 6)):
        capsules[:, ends] = capsules[:, ends] @ place.rotation.T + place.translation
    return capsules


def _hand_capsules(solid: coal.ShapeBase) -> Array:
    """Of a sphere the sphere; of a box capsules along its longest side, side by side."""
    if isinstance(solid, coal.Sphere):
        return np.array([(*np.zeros(6), solid.radius)])
    half = np.asarray(solid.halfSide)
    narrow, across, along = np.argsort(half)
    strips = int(np.ceil(2.0 * half[across] / _STRIP))
    wide = half[across] / strips
    capsules = np.zeros((strips, 7))
    capsules[:, across] = capsules[:, 3 + across] = wide * (2 * np.arange(strips) - strips + 1)
    capsules[:, along], capsules[:, 3 + along] = -half[along], half[along]
    capsules[:, 6] = np.hypot(half[narrow], wide)
    return capsules


@kernel
def place_joints(chain: Chain, angle, rotation, translation):  # type: ignore[no-untyped-def]
    """Fill in the frames of all joints at joint angles [rad] in the project's order."""
    for i in range(3):
        translation[0, i] = 0.0
        for k in range(3):
            rotation[0, i, k] = 1.0 if i == k else 0.0
    for j in range(1, chain.parent.shape[0]):
        k = chain.parent[j]
        next_frame(
            chain, j, angle[chain.place[j]], rotation[k], translation[k],
            rotation[j], translation[j],
        )  # fmt: skip


@kernel
def next_frame(chain, j, angle, r, p, rotation, translation):  # type: ignore[no-untyped-def]
    """The frame of joint j from its parent's frame r, p."""
    m, d = chain.rotation[j], chain.translation[j]
    x, y, z = chain.axis[j]
    s, c = np.sin(angle), np.cos(angle)
    v = 1.0 - c
    for i in range(3):
        translation[i] = p[i] + r[i, 0] * d[0] + r[i, 1] * d[1] + r[i, 2] * d[2]
        a0 = r[i, 0] * m[0, 0] + r[i, 1] * m[1, 0] + r[i, 2] * m[2, 0]
        a1 = r[i, 0] * m[0, 1] + r[i, 1] * m[1, 1] + r[i, 2] * m[2, 1]
        a2 = r[i, 0] * m[0, 2] + r[i, 1] * m[1, 2] + r[i, 2] * m[2, 2]
        along = v * (a0 * x + a1 * y + a2 * z)
        # A row times the turn about the axis.
        rotation[i, 0] = c * a0 + along * x + s * (a1 * z - a2 * y)
        rotation[i, 1] = c * a1 + along * y + s * (a2 * x - a0 * z)
        rotation[i, 2] = c * a2 + along * z + s * (a0 * y - a1 * x)
