# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances of the robot to itself and to the table, against coal's and MuJoCo's own answers."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from drex_ros.control.proximity import NEAR, TABLE, Margins, PairKind, Proximity
from drex_ros.hardware.mujoco_model import JointMap, robot_spec
from drex_ros.robot.collision_shapes import chain_of, may_touch, place_joints, read_shapes
from drex_ros.robot.description import HANDS, PALM_LINK, robot_urdf
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, JOINT_NAMES, LIMITS

NO_MARGINS = Margins(0.0, 0.0, 0.0, 0.0)
# The table stands before the arm: what carries the arm touches its plane.
ON_TABLE = ('panda_link0', 'panda_link1', 'panda_link2')


@pytest.fixture(scope='module', params=HANDS)
def robot(request):
    return request.param, Dynamics(hand=request.param)


def postures(count, seed):
    return np.random.default_rng(seed).uniform(LIMITS.lower, LIMITS.upper, (count, len(HOME)))


def inside(points, capsules):
    """How far points are within the nearest capsule [m]; negative: outside of all."""
    first, last, radius = capsules[:, :3], capsules[:, 3:6], capsules[:, 6]
    along = last - first
    size = np.maximum((along**2).sum(axis=1), 1e-12)
    away = points[:, None] - first
    share = np.clip((away * along).sum(axis=2) / size, 0.0, 1.0)
    distance = np.linalg.norm(away - share[..., None] * along, axis=2)
    return (radius - distance).max(axis=1)


def test_joints_are_where_pinocchio_has_them(robot):
    _, dynamics = robot
    model, chain = dynamics.model, chain_of(dynamics.model)
    data = model.createData()
    rotation, translation = np.empty((model.njoints, 3, 3)), np.empty((model.njoints, 3))
    order = [model.joints[model.getJointId(name)].idx_q for name in JOINT_NAMES]
    for position in postures(20, 0):
        place_joints(chain, position, rotation, translation)
        q = np.empty(model.nq)
        q[order] = position
        pin.forwardKinematics(model, data, q)
        for i in range(model.njoints):
            np.testing.assert_allclose(rotation[i], data.oMi[i].rotation, atol=1e-12)
            np.testing.assert_allclose(translation[i], data.oMi[i].translation, atol=1e-12)


def test_capsules_enclose_every_shape(robot):
    hand, dynamics = robot
    _, shapes = read_shapes(dynamics.model, robot_urdf(hand))
    assert {shape.link for shape in shapes} >= {'panda_link0', PALM_LINK, 'link_15.0_tip'}
    random = np.random.default_rng(1)
    for shape in shapes:
        # Corners, and points anywhere between up to four of them.
        share = random.dirichlet(np.full(4, 0.5), 4000)
        corner = random.integers(len(shape.points), size=(4000, 4))
        between = np.einsum('ij,ijk->ik', share, shape.points[corner])
        depth = inside(np.concatenate((shape.points, between)), shape.capsules)
        assert depth.min() >= shape.radius - 1e-9, shape.link


def test_the_nearest_pair_is_that_of_all_exact_distances(robot):
    hand, dynamics = robot
    proximity = Proximity(dynamics, hand=hand)
    exact = AllPairs(dynamics, hand)
    margins = Margins()
    near = 0
    for position in postures(250, 2):
        found = proximity.nearest(position)
        least, names = exact.nearest(position, margins)
        if found.distance < 0.0:
            # How deep is a matter of which pair was asked for; that it is, is not.
            assert least < 0.0
        elif found.clearance < NEAR:
            near += 1
            assert found.clearance == pytest.approx(least, abs=1e-6)
            assert {found.first, found.second} == names
        else:
            assert least >= found.clearance - 1e-9
    assert near > 10


class AllPairs:
    """Asks coal for every pair, and the corners of every shape for the table."""

    def __init__(self, dynamics, hand):
        self.model = dynamics.model
        self.data = self.model.createData()
        self.geometry, self.shapes = read_shapes(self.model, robot_urdf(hand))
        self.pairs = []
        for a, first in enumerate(self.shapes):
            for b, second in enumerate(self.shapes[:a]):
                if may_touch(first, second):
                    self.geometry.addCollisionPair(pin.CollisionPair(a, b))
                    self.pairs.append((first, second))
        self.placed = self.geometry.createData()
        self.order = [self.model.joints[self.model.getJointId(n)].idx_q for n in JOINT_NAMES]

    def nearest(self, position, margins):
        q = np.empty(self.model.nq)
        q[self.order] = position
        pin.computeDistances(self.model, self.data, self.geometry, self.placed, q)
        found = []
        for result, pair in zip(self.placed.distanceResults, self.pairs, strict=True):
            margin = margins.hand_arm if any(s.is_hand for s in pair) else margins.arm_arm
            found.append((result.min_distance - margin, {s.link for s in pair}))
        for shape in self.shapes:
            if shape.may_reach_table:
                margin = margins.finger_table if shape.is_finger else margins.arm_table
                place = self.data.oMi[shape.joint]
                corners = shape.points @ place.rotation.T + place.translation
                height = corners[:, 2].min() - shape.radius
                found.append((height - margin, {shape.link, TABLE}))
        return min(found, key=lambda each: each[0])


def test_agrees_with_the_contacts_of_mujoco(robot):
    hand, dynamics = robot
    proximity = Proximity(dynamics, hand=hand, margins=NO_MARGINS)
    spec = robot_spec(0.001, hand=hand)
    plane = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(3, 3, 1))
    plane.name = TABLE
    model = spec.compile()
    data, joints = mujoco.MjData(model), JointMap(model)
    touching = clear = 0
    for position in postures(2000, 3):
        data.qpos[joints.position] = position
        mujoco.mj_fwdPosition(model, data)
        # Contacts that graze are a matter of rounding.
        pairs = [
            names
            for contact in data.contact[: data.ncon]
            if contact.dist < -1e-4 and watched(names := names_of(model, contact))
        ]
        found = proximity.nearest(position)
        if pairs:
            touching += 1
            assert found.distance < 0.0, (position, pairs, found)
        elif found.distance < -1e-3:
            pytest.fail(f'false alarm: {found} at {position.tolist()}')
        else:
            clear += 1
    assert touching > 300
    assert clear > 300


def names_of(model, contact):
    return tuple(
        TABLE if model.geom(g).name == TABLE else model.body(model.geom_bodyid[g]).name
        for g in contact.geom
    )


def watched(names):
    """Fingers may touch each other and the palm; the base stands on the table."""
    on_base = TABLE in names and any(name in ON_TABLE for name in names)
    return not on_base and not all(n == PALM_LINK or n.startswith('link_') for n in names)


def test_names_the_pair_and_its_kind():
    proximity = Proximity(Dynamics())
    low = HOME.copy()
    low[1], low[3], low[5] = 0.8, -2.0, 2.8
    found = proximity.nearest(low)
    assert found.second == TABLE
    assert found.kind in (PairKind.ARM_TABLE, PairKind.FINGER_TABLE)
    assert found.distance < 0.0
    deep = round(-1000 * found.distance)
    assert found.words == f'{found.first} is {deep} mm inside the table'
    folded = HOME.copy()
    folded[1], folded[3], folded[5] = -1.5, -3.0, 0.5
    found = proximity.nearest(folded)
    assert found.kind in (PairKind.HAND_ARM, PairKind.ARM_ARM)
    assert found.second.startswith('panda_link')


def test_each_kind_has_its_own_margin():
    dynamics = Dynamics()
    plain = Proximity(dynamics, margins=NO_MARGINS)
    margins = Margins(0.01, 0.02, 0.03, 0.04)
    seen = set()
    for position in postures(300, 4):
        found = Proximity.nearest(plain, position)
        seen.add(found.kind)
        assert found.margin == 0.0
    assert seen == set(PairKind)
    wide = Proximity(dynamics, margins=margins)
    for position in postures(300, 4):
        found = wide.nearest(position)
        assert found.margin == margins.of(found.kind)
        assert found.clearance == pytest.approx(found.distance - found.margin)


def test_a_higher_table_is_nearer():
    dynamics = Dynamics()
    low, high = HOME.copy(), 0.07
    low[1], low[3], low[5] = 0.6, -1.9, 2.5
    ground = Proximity(dynamics, margins=NO_MARGINS).nearest(low)
    raised = Proximity(dynamics, margins=NO_MARGINS, table_height=high).nearest(low)
    assert ground.second == raised.second == TABLE
    assert ground.distance - raised.distance == pytest.approx(high)


def test_home_is_clear(robot):
    hand, dynamics = robot
    assert Proximity(dynamics, hand=hand).nearest(HOME).clearance > 0.0
