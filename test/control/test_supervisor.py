# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Torques leave within what the robot bears, whatever the law asks for."""

import numpy as np
import pytest

from drex_ros.control.interventions import Interventions, Rule
from drex_ros.control.supervisor import Envelope, Supervisor
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_JOINTS
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode

ZERO = np.zeros(N_JOINTS)
PERIOD = 0.002


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture
def interventions():
    return Interventions()


@pytest.fixture
def supervisor(interventions):
    return Supervisor(Envelope.of_robot(), interventions)


def limit(supervisor, dynamics, effort, *, previous=ZERO, position=HOME, velocity=ZERO):
    position, velocity = np.array(position), np.array(velocity)
    terms = dynamics.terms(position, velocity)
    limited, changed = supervisor.limit(
        *(np.array(effort), np.array(previous), np.array(previous)),
        *(position, velocity, terms, PERIOD, 1.0),
    )
    return limited.copy(), changed


def test_what_is_within_the_limits_is_left_alone(supervisor, dynamics, interventions):
    effort = np.full(N_JOINTS, 0.05)
    limited, changed = limit(supervisor, dynamics, effort)
    np.testing.assert_array_equal(limited, effort)
    assert not changed
    assert all(record.count == 0 for record in interventions.records.values())


def test_the_rate_of_torque(supervisor, dynamics, interventions):
    effort = np.full(N_JOINTS, 0.3)
    effort[0] = 5.0
    limited, changed = limit(supervisor, dynamics, effort)
    assert changed
    np.testing.assert_allclose(limited[0], 2.0)  # 1000 N m/s for 2 ms
    np.testing.assert_allclose(limited[HAND], 0.1)  # 50 N m/s
    record = interventions.records[Rule.EFFORT_RATE]
    assert (record.count, record.time) == (1, 1.0)
    assert record.reason.startswith('panda_joint1 at 0.000 rad')


def test_the_size_of_torque(dynamics, interventions):
    supervisor = Supervisor(Envelope.of_robot(effort_share=0.5), interventions)
    half = 0.5 * LIMITS.effort
    limited, _ = limit(supervisor, dynamics, LIMITS.effort, previous=half)
    assert (limited <= half + 1e-12).all()
    assert interventions.records[Rule.EFFORT].count == 1
    for share in (0.0, 1.1, np.nan):
        with pytest.raises(ValueError, match='effort_share'):
            Envelope.of_robot(effort_share=share)


@pytest.mark.parametrize('joint', range(N_JOINTS))
@pytest.mark.parametrize('direction', [-1.0, 1.0])
def test_no_torque_drives_a_joint_into_its_stop(supervisor, dynamics, joint, direction):
    position = HOME.copy()
    position[joint] = LIMITS.upper[joint] if direction > 0 else LIMITS.lower[joint]
    load = ZERO.copy()
    load[HAND] = dynamics.gravity(position)[HAND]
    effort = load.copy()
    effort[joint] += 0.5 * direction
    limited, changed = limit(supervisor, dynamics, effort, previous=load, position=position)
    assert changed
    assert direction * (limited - load)[joint] <= 1e-9


@pytest.mark.parametrize('joint', range(7))
def test_a_joint_that_is_too_fast_is_braked(supervisor, dynamics, joint, interventions):
    velocity = ZERO.copy()
    velocity[joint] = 0.99 * LIMITS.velocity[joint]
    effort = ZERO.copy()
    effort[joint] = 1.0
    limited, _ = limit(supervisor, dynamics, effort, velocity=velocity)
    assert limited[joint] < 0.0
    assert interventions.records[Rule.JOINT_VELOCITY].count == 1


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('direction', [-1.0, 1.0])
def test_a_pushed_palm_stays_in_its_box(dynamics, interventions, axis, direction):
    place = dynamics.palm_pose(HOME)[0]
    lower, upper = place - 0.12, place + 0.12
    supervisor = Supervisor(Envelope.of_robot(1.0, lower, upper), interventions)
    push = np.zeros(6)
    push[axis] = 60.0 * direction  # [N]
    previous = ZERO
    with MujocoBackend() as robot:
        for _ in range(400):
            state = robot.read()
            terms = dynamics.terms(state.position, state.velocity)
            effort = ZERO.copy()
            effort[HAND] = terms.gravity[HAND]
            effort[ARM] = terms.palm_jacobian.T @ push
            previous, _ = supervisor.limit(
                *(effort, previous, previous, state.position, state.velocity),
                *(terms, PERIOD, state.time),
            )
            assert robot.write(RobotCommand(state.sequence, CommandMode.EFFORT, previous))
            robot.step()
            palm = dynamics.palm_pose(robot.simulation.position)[0]
            assert lower[axis] - 0.01 < palm[axis] < upper[axis] + 0.01
    assert direction * (palm - place)[axis] > 0.08  # it came near
    assert interventions.records[Rule.WORKSPACE].count > 0


@pytest.mark.parametrize('seed', range(4))
def test_full_torques_at_random_keep_the_robot_within_its_limits(dynamics, seed):
    """Nothing but the supervisor stands between these torques and the joints."""
    random = np.random.default_rng(seed)
    supervisor = Supervisor(Envelope.of_robot(), Interventions())
    with MujocoBackend() as robot:
        previous, effort = ZERO, ZERO
        for cycle in range(1500):
            if cycle % 60 == 0:
                effort = LIMITS.effort * random.uniform(-1.0, 1.0, N_JOINTS)
                effort[1:4] *= 0.2  # or it would lie on the table most of the time
            state = robot.read()
            terms = dynamics.terms(state.position, state.velocity)
            limited, _ = supervisor.limit(
                *(effort, previous, previous, state.position, state.velocity),
                *(terms, PERIOD, state.time),
            )
            previous = limited.copy()
            assert robot.write(RobotCommand(state.sequence, CommandMode.EFFORT, previous))
            robot.step()
            truth = robot.simulation
            touching = len(truth.truth.contacts()) > 0
            if touching:
                break  # what it hits moves it too
            assert (np.abs(truth.velocity) <= LIMITS.velocity)[ARM].all()
            assert (truth.position >= LIMITS.lower - 2e-3).all()
            assert (truth.position <= LIMITS.upper + 2e-3).all()
            assert robot.read().mode is RobotMode.EFFORT, robot.read().reason
        assert cycle > 20
