# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio and MuJoCo are two readings of one URDF: they must agree."""

import mujoco
import numpy as np
import pytest

from drex_ros.hardware.mujoco_model import GravityModel, JointMap, robot_spec
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, LIMITS, N_JOINTS


@pytest.fixture(scope='module')
def model():
    return robot_spec(0.001).compile()


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture(scope='module')
def postures():
    random = np.random.default_rng(1)
    return random.uniform(LIMITS.lower, LIMITS.upper, (100, N_JOINTS))


def test_gravity_agrees(model, dynamics, postures):
    gravity = GravityModel(model, JointMap(model))
    largest = 0.0
    for posture in postures:
        torque = dynamics.gravity(posture)
        np.testing.assert_allclose(gravity(posture), torque, rtol=0, atol=1e-9)
        largest = max(largest, np.abs(torque).max())
    assert largest > 10.0  # the arm has a weight


def test_mass_matrix_agrees(model, dynamics, postures):
    joints, data = JointMap(model), mujoco.MjData(model)
    column = np.zeros(model.nv)
    for posture in postures:
        data.qpos[joints.position] = posture
        mujoco.mj_forward(model, data)
        full = np.empty((model.nv, model.nv))
        for i, unit in enumerate(np.eye(model.nv)):
            mujoco.mj_mulM(model, data, column, unit)
            full[:, i] = column
        ours = full[np.ix_(joints.velocity, joints.velocity)]
        np.testing.assert_allclose(dynamics.mass_matrix(posture), ours, rtol=0, atol=1e-9)


def test_effective_inertia_is_the_diagonal(model, dynamics, postures):
    gravity = GravityModel(model, JointMap(model))
    for posture in postures[:10]:
        diagonal = dynamics.mass_matrix(posture).diagonal()
        np.testing.assert_array_equal(dynamics.effective_inertia(posture), diagonal)
        np.testing.assert_allclose(gravity.effective_inertia(posture), diagonal, atol=1e-12)


def test_results_are_the_callers_own(dynamics):
    first = dynamics.gravity(HOME)
    kept = first.copy()
    dynamics.gravity(LIMITS.upper)
    np.testing.assert_array_equal(first, kept)


def test_home_posture_touches_nothing(model):
    data = mujoco.MjData(model)
    data.qpos[JointMap(model).position] = HOME
    mujoco.mj_forward(model, data)
    assert data.ncon == 0
