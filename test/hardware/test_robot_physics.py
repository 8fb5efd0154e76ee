# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated arm and hand fall, swing and press as Pinocchio's equations say."""

from dataclasses import replace

import numpy as np
import pytest

from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_JOINTS
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode

PERIOD = 0.001  # [s] of control and physics: the motors' work can be added up exactly
RATE_LIMIT = 0.9  # [N m] a cycle: below that of a reflex
ZERO = np.zeros(N_JOINTS)
MIDDLE_TIP = 1
TIP_RADIUS = 0.012  # [m]
LOCK = np.array((5000.0,) * 4 + (1500.0,) * 3 + (5.0,) * 16)  # [N m/rad]


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture(scope='module')
def robot():
    settings = replace(MujocoSettings.ideal(), control_rate=1.0 / PERIOD)
    with MujocoBackend(settings) as backend:
        yield backend


def send(robot, effort):
    """Command torques for one cycle; the state after it."""
    command = RobotCommand(robot.read().sequence, CommandMode.EFFORT, effort)
    assert robot.write(command), robot.read().reason
    robot.step()
    state = robot.read()
    assert state.mode is RobotMode.EFFORT, state.reason
    return state


def locked(dynamics, state, target):
    """Torques of stiff springs that keep a posture."""
    damping = 2.0 * np.sqrt(LOCK * dynamics.effective_inertia(HOME))
    effort = LOCK * (target - state.position) - damping * state.velocity
    effort[HAND] += dynamics.gravity(state.position)[HAND]
    return effort


def potential_energy(dynamics, position, since):
    """Work against gravity from one posture to another [J], along the straight line."""
    steps = 200
    path = since + np.outer((np.arange(steps) + 0.5) / steps, position - since)
    return sum(dynamics.gravity(each) @ (position - since) for each in path) / steps


def test_floats_with_its_weight_carried(robot, dynamics):
    robot.reset(HOME)
    effort = ZERO.copy()
    effort[HAND] = dynamics.gravity(HOME)[HAND]
    for _ in range(500):
        state = send(robot, effort)
    np.testing.assert_allclose(state.position, HOME, atol=1e-6)
    np.testing.assert_allclose(state.effort, dynamics.gravity(HOME), atol=1e-6)


def test_free_hand_accelerates_as_the_mass_matrix_says(robot, dynamics):
    """Nobody carries the hand; its fingers fall and move the arm, which floats."""
    posture = HOME.copy()
    posture[ARM] = (0.4, -0.5, 0.3, -1.9, 0.6, 1.9, 0.2)  # the hand leans to the side
    robot.reset(posture)
    state = send(robot, ZERO)
    pull = ZERO.copy()
    pull[HAND] = -dynamics.gravity(posture)[HAND]
    expected = np.linalg.solve(dynamics.mass_matrix(posture), pull)
    assert np.abs(expected[HAND]).max() > 10.0
    np.testing.assert_allclose(state.velocity / PERIOD, expected, atol=0.005 * 10.0)


def test_energy_of_a_falling_arm(robot, dynamics):
    """What its weight and its motors give it is what it has as motion."""
    start = HOME.copy()
    start[ARM] = (0.0, -0.4, 0.0, -1.6, 0.0, 1.6, 0.8)
    robot.reset(start)
    state = robot.read()
    effort = ZERO.copy()
    work = 0.0
    # Until the arm is so fast that a reflex would end the fall.
    while (np.abs(state.velocity[ARM]) < 0.9 * LIMITS.velocity[ARM]).all():
        # Let go: take away the compensation, as fast as the arm allows.
        wish = -dynamics.gravity(state.position)[ARM]
        effort[ARM] += np.clip(wish - effort[ARM], -RATE_LIMIT, RATE_LIMIT)
        state = send(robot, effort)
        work += state.effort @ state.velocity * PERIOD
    # The simulator's velocities are those half a step before its positions.
    velocity = (state.velocity + send(robot, effort).velocity) / 2.0
    motion = velocity @ dynamics.mass_matrix(state.position) @ velocity / 2.0
    raised = potential_energy(dynamics, state.position, start)
    assert motion > 1.0
    assert motion + raised == pytest.approx(work, abs=0.002 * motion)
    # Once let go, the motors did nothing: all of the motion is from the fall.
    np.testing.assert_allclose(state.effort[ARM], 0.0, atol=0.1)


def test_hand_on_a_loose_wrist_swings_as_a_pendulum(robot, dynamics):
    """One arm joint is let go, the others are stiff: its period and its energy."""
    joint = 5
    hanging = HOME.copy()
    for _ in range(20):  # where the weight has no lever
        stiffness = pendulum_stiffness(dynamics, hanging, joint)
        hanging[joint] -= dynamics.gravity(hanging)[joint] / stiffness
    inertia = dynamics.effective_inertia(hanging)[joint]
    period = 2.0 * np.pi * np.sqrt(inertia / stiffness)
    target = hanging.copy()
    target[joint] += 0.05
    robot.reset(target)
    state = robot.read()
    angles = []
    for _ in range(round(3.2 * period / PERIOD)):
        effort = locked(dynamics, state, target)
        effort[joint] = -dynamics.gravity(state.position)[joint]
        state = send(robot, effort)
        angles.append(state.position[joint] - hanging[joint])
    angles = np.array(angles)
    falls = np.flatnonzero((angles[:-1] > 0.0) & (angles[1:] <= 0.0))
    assert len(falls) == 3
    times = falls + angles[falls] / (angles[falls] - angles[falls + 1])
    assert np.diff(times).mean() * PERIOD == pytest.approx(period, rel=0.002)
    last = angles[-round(period / PERIOD) :]
    assert last.max() == pytest.approx(0.05, rel=0.02)
    assert last.min() == pytest.approx(-0.05, rel=0.02)


def pendulum_stiffness(dynamics, posture, joint):
    """How much the weight on a joint grows with its angle [N m/rad]."""
    step = ZERO.copy()
    step[joint] = 1e-5
    return (dynamics.gravity(posture + step) - dynamics.gravity(posture - step))[joint] / 2e-5


def test_a_fingertip_that_presses_on_the_table(robot, dynamics):
    """Contact force, torque from outside and the motors' torques fit together."""
    posture = touching_posture(dynamics)
    robot.reset(posture)
    push = np.array((0.0, 0.0, -3.0))
    state = robot.read()
    extra = ZERO.copy()
    for _ in range(1500):
        wish = push @ dynamics.fingertip_jacobians(state.position)[MIDDLE_TIP, :3]
        extra += np.clip(wish - extra, -0.01, 0.01)
        effort = locked(dynamics, state, posture) + extra
        state = send(robot, np.clip(effort, -LIMITS.effort, LIMITS.effort))
    np.testing.assert_allclose(state.velocity, 0.0, atol=1e-3)
    (contact,) = robot.simulation.truth.contacts()
    assert (contact.body1, contact.body2) == ('link_7.0_tip', 'table')
    assert contact.position[2] == pytest.approx(0.0, abs=1e-3)
    assert contact.force[2] == pytest.approx(push[2], rel=0.1)
    finger = robot.simulation.truth.fingers([contact])['middle']
    np.testing.assert_array_equal(finger.force, contact.force)
    assert (finger.in_contact, finger.slipping) == (True, False)
    tip = dynamics.fingertip_positions(state.position)[MIDDLE_TIP]
    jacobian = dynamics.fingertip_jacobians(state.position)[MIDDLE_TIP]
    back = -contact.force  # of the table on the finger
    expected = np.r_[back, np.cross(contact.position - tip, back)] @ jacobian
    outside = robot.simulation.truth.external_torque()
    assert np.abs(expected).max() > 0.5
    np.testing.assert_allclose(outside, expected, atol=2e-3)
    balance = state.effort + outside - dynamics.gravity(state.position)
    np.testing.assert_allclose(balance, 0.0, atol=0.01)


def touching_posture(dynamics):
    """The middle finger points down, the others are bent; its tip just touches the table."""
    posture = HOME.copy()
    posture[7:11] = posture[15:19] = (0.0, 1.2, 1.2, 1.2)
    posture[11:15] = (0.0, 0.1, 0.1, 0.1)
    low, high = posture[1], posture[1] + 1.2
    for _ in range(50):
        posture[1] = (low + high) / 2.0
        posture[5] = posture[1] - posture[3]  # the hand stays upright
        height = dynamics.fingertip_positions(posture)[MIDDLE_TIP, 2]
        low, high = (posture[1], high) if height > TIP_RADIUS else (low, posture[1])
    return posture
