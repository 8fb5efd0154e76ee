# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The palm hangs on its spring: against the formula, and on the simulated robot."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from arm_law import POSTURES, ArmTrial, line_error, release_overshoot, step_overshoot

from drex_ros.control.cartesian_impedance import (
    MAX_CARTESIAN_DAMPING,
    MAX_CARTESIAN_STIFFNESS,
    CartesianImpedance,
    cartesian_impedance,
)
from drex_ros.control.friction_compensation import FrictionModel
from drex_ros.control.pose_set_point import PoseSetPoint
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HOME, LIMITS, N_ARM, N_JOINTS

DYNAMICS = Dynamics()
STIFFNESS = np.array((400.0, 200.0, 1000.0, 30.0, 20.0, 10.0))
ZERO = np.zeros(N_JOINTS)


def at(posture, velocity=ZERO):
    """Terms that stay."""
    terms = DYNAMICS.terms(posture, velocity)
    return type(terms)(*(array.copy() for array in terms))


def torque(terms, position, velocity, set_point, impedance, **more):
    return cartesian_impedance(
        terms, position, velocity, set_point, impedance, HOME, **more
    ).torque


@pytest.mark.parametrize('seed', range(5))
def test_law_is_the_formula(seed):
    random = np.random.default_rng(seed)
    q = np.clip(HOME + 0.2 * random.normal(size=N_JOINTS), LIMITS.lower, LIMITS.upper)
    v = 0.5 * random.normal(size=N_JOINTS)
    terms = at(q, v)
    jacobian, mass = terms.palm_jacobian, terms.mass[ARM, ARM]
    ahead, behind = at(q + 1e-6 * v).palm_jacobian, at(q - 1e-6 * v).palm_jacobian
    drift = (ahead - behind) @ v[ARM] / 2e-6
    axes = pin.exp3(random.normal(size=3))
    error = np.append(0.02 * random.normal(size=3), 0.5 * random.normal(size=3))
    goal = PoseSetPoint(
        terms.palm_position + error[:3],
        pin.exp3(error[3:]) @ terms.palm_rotation,
        0.1 * random.normal(size=6),
        random.normal(size=6),
    )
    wrench = random.normal(size=6)
    spring = np.full(N_ARM, 10.0)
    impedance = CartesianImpedance(STIFFNESS, axes=axes, posture_stiffness=spring)
    law = cartesian_impedance(terms, q, v, goal, impedance, HOME, wrench)

    both = np.kron(np.eye(2), axes)
    root = both @ np.diag(np.sqrt(STIFFNESS)) @ both.T
    mobility = jacobian @ np.linalg.solve(mass, jacobian.T)
    inertia = np.linalg.inv(mobility)
    squares, modes = np.linalg.eigh(root @ mobility @ root)
    damping = 2.0 * root @ modes @ np.diag(squares**-0.5) @ modes.T @ root
    force = root @ root @ error + damping @ (goal.velocity - jacobian @ v[ARM])
    force += inertia @ (goal.acceleration - drift) + wrench
    posture = spring * (HOME - q)[ARM] - 2.0 * np.sqrt(spring * mass.diagonal()) * v[ARM]
    posture -= jacobian.T @ inertia @ jacobian @ np.linalg.solve(mass, posture)
    expected = jacobian.T @ force + terms.coriolis[ARM] + posture
    np.testing.assert_allclose(law.torque, expected, atol=1e-6)
    np.testing.assert_allclose(jacobian @ law.velocity, goal.velocity, atol=1e-9)


@pytest.mark.parametrize('angle', [1e-9, 0.1, 2.0, np.pi - 1e-6, np.pi])
def test_rotation_error_is_right_up_to_half_a_turn(angle):
    terms = at(HOME)
    axis = np.array((2.0, -1.0, 3.0)) / np.sqrt(14.0)
    goal = PoseSetPoint(terms.palm_position, pin.exp3(angle * axis) @ terms.palm_rotation)
    only_turns = CartesianImpedance(np.array((0.0, 0.0, 0.0, 10.0, 10.0, 10.0)))
    tau = torque(terms, HOME, ZERO, goal, only_turns)
    wrench = np.append(np.zeros(3), 10.0 * angle * axis)
    expected = terms.palm_jacobian.T @ wrench
    # At half a turn both ways are as far.
    off = min(np.abs(tau - expected).max(), np.abs(tau + expected).max() + (angle != np.pi))
    assert off < 1e-6 * (1.0 + angle)


def test_given_damping_counts_by_axis():
    v = np.append(0.1 * np.arange(1.0, 8.0), np.zeros(16))
    terms = at(HOME, v)
    goal = PoseSetPoint(terms.palm_position, terms.palm_rotation)
    damping = np.array((10.0, 20.0, 30.0, 1.0, 2.0, 3.0))
    base = CartesianImpedance(STIFFNESS, damping=np.zeros(6))
    less = torque(terms, HOME, v, goal, base)
    more = torque(terms, HOME, v, goal, replace(base, damping=damping))
    slowed = -terms.palm_jacobian.T @ (damping * (terms.palm_jacobian @ v[ARM]))
    np.testing.assert_allclose(more - less, slowed, atol=1e-9)


def test_torques_stay_small_at_a_singular_posture():
    stretched = HOME.copy()
    stretched[ARM] = (0.0, 0.0, 0.0, -0.07, 0.0, 1.6, 0.0)
    impedance = CartesianImpedance(
        np.array((400.0, 400.0, 400.0, 30.0, 30.0, 30.0)), posture_stiffness=np.full(N_ARM, 10.0)
    )
    for bend in np.linspace(-1e-3, 1e-3, 21):
        posture = stretched.copy()
        posture[1] += bend
        posture[5] += bend
        v = np.append(np.full(N_ARM, 0.1), np.zeros(16))
        terms = at(posture, v)
        goal = PoseSetPoint(
            terms.palm_position, terms.palm_rotation, np.full(6, 0.1), np.full(6, 0.5)
        )
        tau = cartesian_impedance(terms, posture, v, goal, impedance, posture)
        assert np.abs(tau.torque).max() < 87.0
        assert np.isfinite(tau.velocity).all()


@pytest.mark.parametrize('axis', range(6))
@pytest.mark.parametrize('posture', ['home', 'down'])
def test_step_at_ratio_one_does_not_overshoot(posture, axis):
    size = 0.05 if axis < 3 else 0.2
    assert step_overshoot(ArmTrial(POSTURES[posture]), axis, size) <= 0.05


@pytest.mark.parametrize('axis', range(3))
def test_released_palm_does_not_overshoot(axis):
    assert release_overshoot(ArmTrial(POSTURES['low']), axis) <= 0.05


@pytest.mark.parametrize(
    ('posture', 'way'),
    [('home', (0.3, 0.0, 0.0)), ('home', (0.0, 0.0, -0.3)), ('left', (0.1, -0.3, -0.1))],
)
def test_line_is_followed_within_three_millimetres(posture, way):
    assert line_error(ArmTrial(POSTURES[posture]), np.array(way)) < 3e-3


@pytest.mark.parametrize('friction', [0.0, 1.0])
@pytest.mark.parametrize('posture', ['left', 'down'])
@pytest.mark.parametrize('ratio', [1.0, 2.0, None])
def test_highest_impedance_comes_to_rest(posture, friction, ratio):
    compensation = FrictionModel.arm(share=friction)
    trial = ArmTrial(POSTURES[posture], friction_scale=friction, compensation=compensation)
    damping = MAX_CARTESIAN_DAMPING if ratio is None else None
    trial.impedance = replace(
        trial.impedance,
        stiffness=MAX_CARTESIAN_STIFFNESS,
        damping_ratio=ratio or 1.0,
        damping=damping,
    )
    trial.push(np.array((10.0, -10.0, 10.0, 1.0, -1.0, 1.0)))
    pushed = np.abs(trial.run(0.2)[-1])
    assert pushed[:3].max() > 1e-3
    trial.push(np.zeros(6))
    trial.run(0.6)
    last = trial.run(0.1)
    assert np.ptp(last, axis=0).max() < 2e-4
