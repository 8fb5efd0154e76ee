# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pinocchio and MuJoCo are two readings of one URDF: they must agree, with either hand."""

import mujoco
import numpy as np
import pytest

from drex_ros.hardware.mujoco_model import JointMap, robot_spec
from drex_ros.robot.description import FINGERTIP_LINKS, HANDS
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, JOINT_NAMES, LIMITS, N_JOINTS

EXACT = {'rtol': 0, 'atol': 1e-9}


class GravityModel:
    """Torque that carries the robot's own weight, from MuJoCo itself."""

    def __init__(self, model, joints):
        self._model = model
        self._joints = joints
        self._data = mujoco.MjData(model)  # never moves: bias forces are gravity alone
        self._torque = np.zeros(model.nv)

    def __call__(self, position):
        """Joint torques [N m], shape (23,), at a posture [rad]."""
        data = self._data
        data.qpos[self._joints.position] = position
        mujoco.mj_kinematics(self._model, data)
        mujoco.mj_comPos(self._model, data)
        mujoco.mj_rne(self._model, data, 0, self._torque)
        return self._torque[self._joints.velocity]

    def effective_inertia(self, position):
        """Inertia each joint moves when the others stand still [kg m^2], shape (23,)."""
        data, dofs = self._data, self._joints.velocity
        data.qpos[self._joints.position] = position
        mujoco.mj_fwdPosition(self._model, data)
        unit, row = np.zeros(self._model.nv), np.zeros(self._model.nv)
        inertia = np.empty(len(dofs))
        for i, dof in enumerate(dofs):
            unit[dof] = 1.0
            mujoco.mj_mulM(self._model, data, row, unit)
            inertia[i] = row[dof]
            unit[dof] = 0.0
        return inertia


class Engines:
    """The robot in both engines, and MuJoCo's answers in the project's joint order."""

    def __init__(self, hand):
        self.pinocchio = Dynamics(hand=hand)
        self.model = robot_spec(0.001, hand=hand).compile()
        self.joints = JointMap(self.model)
        self.data = mujoco.MjData(self.model)

    def put(self, position, velocity=0.0):
        self.data.qpos[self.joints.position] = position
        self.data.qvel[self.joints.velocity] = velocity
        mujoco.mj_forward(self.model, self.data)

    def mass_matrix(self):
        full, column = np.empty((self.model.nv, self.model.nv)), np.zeros(self.model.nv)
        for i, unit in enumerate(np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, column, unit)
            full[:, i] = column
        return full[np.ix_(self.joints.velocity, self.joints.velocity)]

    def tip_jacobian(self, link):
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        body = self.model.body(link).id
        mujoco.mj_jacBody(self.model, self.data, linear, angular, body)
        return np.vstack((linear, angular))[:, self.joints.velocity]


@pytest.fixture(scope='module', params=HANDS)
def engines(request):
    return Engines(request.param)


@pytest.fixture(scope='module')
def postures():
    random = np.random.default_rng(1)
    return random.uniform(LIMITS.lower, LIMITS.upper, (100, N_JOINTS))


@pytest.fixture(scope='module')
def velocities():
    random = np.random.default_rng(2)
    return random.uniform(-LIMITS.velocity, LIMITS.velocity, (100, N_JOINTS))


def test_gravity_agrees(engines, postures):
    gravity = GravityModel(engines.model, engines.joints)
    largest = 0.0
    for posture in postures:
        torque = engines.pinocchio.gravity(posture)
        np.testing.assert_allclose(gravity(posture), torque, **EXACT)
        largest = max(largest, np.abs(torque).max())
    assert largest > 10.0  # the arm has a weight


def test_mass_matrix_agrees(engines, postures):
    for posture in postures:
        engines.put(posture)
        ours = engines.pinocchio.mass_matrix(posture)
        np.testing.assert_allclose(ours, engines.mass_matrix(), **EXACT)


def test_coriolis_agrees(engines, postures, velocities):
    gravity = GravityModel(engines.model, engines.joints)
    largest = 0.0
    for posture, velocity in zip(postures, velocities, strict=True):
        engines.put(posture, velocity)
        bias = engines.data.qfrc_bias[engines.joints.velocity]
        coriolis = engines.pinocchio.coriolis(posture, velocity)
        np.testing.assert_allclose(coriolis, bias - gravity(posture), **EXACT)
        np.testing.assert_allclose(engines.pinocchio.nonlinear(posture, velocity), bias, **EXACT)
        largest = max(largest, np.abs(coriolis).max())
    assert largest > 1.0  # it is not zero at these speeds


def test_coriolis_does_no_work_beyond_the_changing_mass_matrix(engines, postures, velocities):
    """A law of mechanics that neither engine is asked for: 2 v' C v = v' (dM/dt) v."""
    model, step = engines.pinocchio, 1e-6
    for posture, velocity in zip(postures[:10], velocities[:10], strict=True):
        ahead = model.mass_matrix(posture + step * velocity)
        behind = model.mass_matrix(posture - step * velocity)
        growth = velocity @ (ahead - behind) @ velocity / (2 * step)
        power = 2 * velocity @ model.coriolis(posture, velocity)
        np.testing.assert_allclose(power, growth, rtol=1e-5, atol=1e-5)


def test_fingertips_agree(engines, postures):
    for posture in postures:
        engines.put(posture)
        places = engines.pinocchio.fingertip_positions(posture)
        jacobians = engines.pinocchio.fingertip_jacobians(posture)
        assert jacobians.shape == (len(FINGERTIP_LINKS), 6, N_JOINTS)
        for link, place, jacobian in zip(FINGERTIP_LINKS, places, jacobians, strict=True):
            np.testing.assert_allclose(place, engines.data.body(link).xpos, **EXACT)
            np.testing.assert_allclose(jacobian, engines.tip_jacobian(link), **EXACT)


def test_jacobian_is_the_derivative_of_the_position(engines):
    step = 1e-6
    jacobians = engines.pinocchio.fingertip_jacobians(HOME)
    for i in range(N_JOINTS):
        change = step * np.eye(N_JOINTS)[i]
        ahead = engines.pinocchio.fingertip_positions(HOME + change)
        behind = engines.pinocchio.fingertip_positions(HOME - change)
        np.testing.assert_allclose((ahead - behind) / (2 * step), jacobians[:, :3, i], atol=1e-8)


def test_effective_inertia_is_the_diagonal(engines, postures):
    gravity = GravityModel(engines.model, engines.joints)
    for posture in postures[:10]:
        diagonal = engines.pinocchio.mass_matrix(posture).diagonal()
        np.testing.assert_array_equal(engines.pinocchio.effective_inertia(posture), diagonal)
        np.testing.assert_allclose(gravity.effective_inertia(posture), diagonal, atol=1e-12)


def test_results_are_the_callers_own(engines):
    model = engines.pinocchio
    questions = (
        model.gravity,
        model.mass_matrix,
        model.fingertip_positions,
        model.fingertip_jacobians,
        lambda position: model.nonlinear(position, LIMITS.velocity),
    )
    for question in questions:
        first = question(HOME)
        kept = first.copy()
        question(LIMITS.upper)
        np.testing.assert_array_equal(first, kept)


def test_order_is_by_name(engines):
    """Moving one joint moves that joint's link in MuJoCo and that column in Pinocchio."""
    for i, name in enumerate(JOINT_NAMES):
        joint = engines.model.joint(name)
        assert engines.joints.position[i] == joint.qposadr[0]
        assert engines.joints.velocity[i] == joint.dofadr[0]
        assert engines.model.actuator(name).trnid[0] == joint.id
        assert engines.joints.motor[i] == engines.model.actuator(name).id


def test_hands_are_mirror_images():
    """Right and left fingertips mirror each other in the palm's x-z plane, joint by joint."""
    posture = np.zeros(N_JOINTS)
    posture[7:] = HOME[7:] + 0.1
    posture[[7, 11, 15]] = (0.2, -0.1, 0.3)  # spread: turns about z, so its sign is mirrored
    mirrored = posture.copy()
    mirrored[[7, 11, 15]] *= -1.0
    tips, palms = [], []
    for hand, angles in (('right', posture), ('left', mirrored)):
        engine = Engines(hand)
        engine.put(angles)
        palm = engine.data.body('palm_link')
        local = engine.pinocchio.fingertip_positions(angles) - palm.xpos
        tips.append(local @ palm.xmat.reshape(3, 3))
        palms.append(palm.xpos.copy())
    np.testing.assert_allclose(palms[0], palms[1], atol=1e-12)
    np.testing.assert_allclose(tips[0] * (1, -1, 1), tips[1], atol=1e-9)
    assert tips[0][0, 1] > 0.03  # the right hand's index finger is at its palm's +y
