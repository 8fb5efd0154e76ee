# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forces from joint torques against the simulator's truth, with friction, noise and bias."""

import numpy as np
import pytest
from estimating import NAMES, WatchedGrasp, flick, press, push

from drex_ros.control.estimation.estimator import Estimator
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME
from drex_ros.robot.state import CommandMode, RobotCommand


def hold(robot, estimator, cycles):
    """Let the hardware hold; the last estimates."""
    dynamics = Dynamics()
    for _ in range(cycles):
        state = robot.read()
        terms = dynamics.terms(state.position, state.velocity)
        estimates = estimator.update(state, terms, 0.002, dithered=False, moving_target=False)
        assert robot.write(RobotCommand(state.sequence, CommandMode.HOLD, state.effort))
        robot.step()
    return estimates


def test_nothing_touches_a_free_hand():
    with MujocoBackend() as robot:
        estimator = Estimator()
        for _ in range(10):
            estimates = hold(robot, estimator, 50)
            assert not estimates.in_contact.any()
            assert not estimates.slipping.any()
    assert np.isnan(estimates.payload_mass)
    assert not estimates.tared


def test_torques_of_an_ideal_robot_are_exact():
    """Without friction, delay and noise a push is seen as it is."""
    force = np.array((3.0, -4.0, 5.0))
    with MujocoBackend(MujocoSettings.ideal()) as robot:
        estimator, dynamics = Estimator(), Dynamics()
        estimator._views.friction.coulomb[:] = 1e-9  # as the robot's own
        hold(robot, estimator, 100)
        body = robot.simulation.data.body('palm_link')
        body.xfrc_applied[:3] = force
        estimates = hold(robot, estimator, 500)
        arm = body.xipos - body.xpos  # MuJoCo pushes at the centre of mass
        terms = dynamics.terms(robot.read().position, np.zeros(23))
        expected = terms.palm_jacobian.T @ np.concatenate((force, np.cross(arm, force)))
    np.testing.assert_allclose(estimates.external_torque[:7], expected, atol=0.01)
    np.testing.assert_allclose(estimates.wrench[:3], force, atol=0.05)


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_push_on_the_palm(axis):
    force = 20.0 * np.eye(3)[axis]
    wrench, sigma = push(force, seed=3, tare=True)
    # Stiction of the arm is worth 1 to 2 N.
    assert np.abs(wrench[:3] - force).max() < 2.0
    assert (sigma[:3] < 2.0).all()


@pytest.mark.parametrize('finger', [0, 1, 3])
def test_force_of_one_finger_at_rest(finger):
    for true, estimated, sigma in press(finger, (1.0, 3.0, 5.0, 2.0), seed=1)[1:]:
        size = np.linalg.norm(true)
        assert abs(np.linalg.norm(estimated) - size) < max(0.3, 0.12 * size)
        assert np.linalg.norm(estimated - true) < 4.0 * np.sqrt(3.0) * sigma


def test_forces_around_the_can():
    grasp = WatchedGrasp(0.6, 0.8, seed=2)
    grasp.lift(9.0)
    true, estimates = grasp.true_forces(), grasp.estimates
    for finger in (0, 1, 3):
        size = np.linalg.norm(true[finger])
        assert abs(np.linalg.norm(estimates.tip_force[finger]) - size) < 0.12 * size
    assert estimates.in_contact.tolist() == [name != 'ring' for name in NAMES]
    # All that holds the can up is felt by the fingers.
    assert estimates.tip_force[:, 2].sum() == pytest.approx(0.6 * 9.81, rel=0.2)


@pytest.mark.parametrize('mass', [0.1, 0.5])
def test_impulse_of_a_flick(mass):
    true, estimated = flick(mass, seed=4)
    assert np.linalg.norm(estimated) == pytest.approx(np.linalg.norm(true), rel=0.1)
    assert estimated @ true > 0.95 * np.linalg.norm(estimated) * np.linalg.norm(true)


def test_a_jump_of_time_begins_anew():
    with MujocoBackend() as robot:
        estimator = Estimator()
        hold(robot, estimator, 50)
        for _ in range(100):
            robot.step()
        estimates = hold(robot, estimator, 1)
        assert np.isnan(estimates.external_torque).all()
        estimates = hold(robot, estimator, 1)
        assert np.isfinite(estimates.external_torque).all()
        estimator.reset()
        robot.reset(HOME + 0.05)
        assert np.isnan(hold(robot, estimator, 1).external_torque).all()
