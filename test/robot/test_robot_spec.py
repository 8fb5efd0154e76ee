# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot in MuJoCo: what touches, what is seen, and that looks weigh nothing."""

import mujoco
import numpy as np
import pytest

from drex_ros.hardware.mujoco_model import (
    COLLISION_GROUP,
    VISUAL_GROUP,
    JointMap,
    robot_spec,
)
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.description import FINGERTIP_LINKS, HANDS
from drex_ros.robot.joints import HOME, LIMITS, N_JOINTS, joint_index


@pytest.fixture(scope='module', params=HANDS)
def hand(request):
    return request.param


@pytest.fixture(scope='module')
def bare(hand):
    return robot_spec(0.001, hand=hand).compile()


@pytest.fixture(scope='module')
def dressed(hand):
    return robot_spec(0.001, hand=hand, visuals=True).compile()


def test_home_posture_touches_nothing(bare):
    data = mujoco.MjData(bare)
    data.qpos[JointMap(bare).position] = HOME
    mujoco.mj_forward(bare, data)
    assert data.ncon == 0


def test_every_shape_that_touches_has_its_links_name(bare):
    assert bare.ngeom == 8 + 21  # arm, hand
    for i in range(bare.ngeom):
        geom = bare.geom(i)
        assert geom.name == f'{bare.body(geom.bodyid[0]).name}_collision'
        assert geom.group[0] == COLLISION_GROUP


def test_fingertips_are_spheres(bare):
    for link in FINGERTIP_LINKS:
        geom = bare.geom(f'{link}_collision')
        assert geom.type[0] == mujoco.mjtGeom.mjGEOM_SPHERE
        assert geom.size[0] == 0.012
        np.testing.assert_array_equal(geom.pos, 0.0)


def test_visuals_are_seen_and_do_not_touch(bare, dressed):
    seen = dressed.geom_group == VISUAL_GROUP
    assert seen.sum() == dressed.ngeom - bare.ngeom
    assert seen.sum() > 30
    assert not dressed.geom_contype[seen].any()
    assert not dressed.geom_conaffinity[seen].any()
    assert dressed.nmeshface > 100_000


def test_visuals_weigh_nothing(bare, dressed):
    """The same motion, bit by bit, with and without them."""
    np.testing.assert_array_equal(bare.body_mass, dressed.body_mass)
    np.testing.assert_array_equal(bare.body_inertia, dressed.body_inertia)
    ends = []
    for model in (bare, dressed):
        data = mujoco.MjData(model)
        data.qpos[JointMap(model).position] = HOME
        data.ctrl[:] = 0.1 * np.sin(np.arange(N_JOINTS)) * LIMITS.effort
        mujoco.mj_step(model, data, nstep=300)
        ends.append(data.qpos.copy())
    assert np.abs(ends[0][JointMap(bare).position] - HOME).max() > 0.1
    np.testing.assert_array_equal(*ends)


def test_camera_housing_stands_at_the_camera():
    camera = CameraModel.from_pose((0.9, 0.4, 0.7), (0.0, 0.8, -2.5))
    model = robot_spec(0.001, visuals=True, camera=camera).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    eye = data.body('camera_color_optical_frame')
    np.testing.assert_allclose(eye.xpos, camera.position, atol=1e-12)
    np.testing.assert_allclose(eye.xmat.reshape(3, 3), camera.rotation, atol=1e-9)
    # All of the housing is behind the eye.
    geom = model.geom('camera_link_visual_1')
    centre = camera.to_optical(data.geom_xpos[geom.id])
    assert centre[2] < -0.0125


def test_surfaces_are_where_the_shapes_are(dressed):
    """MuJoCo moves meshes to their own frames: what is seen still surrounds what touches."""
    data = mujoco.MjData(dressed)
    data.qpos[JointMap(dressed).position] = HOME
    mujoco.mj_forward(dressed, data)
    for link in FINGERTIP_LINKS:
        mesh = dressed.geom(f'{link}_visual_1')
        first = dressed.mesh_vertadr[mesh.dataid[0]]
        count = dressed.mesh_vertnum[mesh.dataid[0]]
        points = dressed.mesh_vert[first : first + count] @ data.geom_xmat[mesh.id].reshape(3, 3).T
        away = points + data.geom_xpos[mesh.id] - data.geom(f'{link}_collision').xpos
        # The tip is a half ball on a short cylinder.
        assert np.percentile(np.linalg.norm(away, axis=1), 30) == pytest.approx(0.012, abs=3e-4)
        assert np.linalg.norm(away, axis=1).max() < 0.018


@pytest.mark.parametrize('name', ['panda_joint7', 'joint_1.0', 'joint_15.0'])
def test_joint_friction_sticks(name):
    """Coulomb friction: no creep below its level, motion above it."""
    spec = robot_spec(0.001)
    spec.option.gravity = [0.0, 0.0, 0.0]
    model = spec.compile()
    joint, start = model.joint(name), HOME[joint_index(name)]
    moved = {}
    for share in (0.8, 1.5):
        data = mujoco.MjData(model)
        data.qpos[JointMap(model).position] = HOME
        data.ctrl[model.actuator(name).id] = share * joint.frictionloss[0]
        mujoco.mj_step(model, data, nstep=500)
        moved[share] = abs(data.qpos[joint.qposadr[0]] - start)
    assert moved[0.8] < 1e-4
    assert moved[1.5] > 0.05
