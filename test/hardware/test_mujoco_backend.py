# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot keeps the promises of a backend."""

import numpy as np
import pytest

from drex_ros.hardware.backend import BackendError
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.objects import load_object
from drex_ros.robot.joints import ARM, HAND, HOME, JOINT_NAMES, LIMITS, N_JOINTS, joint_index
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode

ZERO = np.zeros(N_JOINTS)


@pytest.fixture
def robot():
    """Without friction, delay and sensor errors: what is promised is seen exactly."""
    with MujocoBackend(MujocoSettings.ideal()) as backend:
        yield backend


def command(robot, effort=ZERO, mode=CommandMode.EFFORT, behind=0):
    return RobotCommand(robot.read().sequence - behind, mode, np.asarray(effort, dtype=float))


def drive(robot, effort, cycles):
    """Go to an effort as fast as the arm allows, then keep it."""
    change = LIMITS.effort_rate / robot.describe().control_rate
    for _ in range(cycles):
        last = robot.read().effort_commanded
        assert robot.write(command(robot, last + np.clip(effort - last, -change, change)))
        robot.step()


def test_describes_itself_before_connect():
    info = MujocoBackend(MujocoSettings(control_rate=250.0)).describe()
    assert info.joint_names == JOINT_NAMES
    assert info.control_rate == 250.0
    assert info.limits is LIMITS


def test_step_before_connect_is_an_error():
    with pytest.raises(BackendError, match='not connected'):
        MujocoBackend().step()


def test_rates_must_fit():
    with pytest.raises(BackendError, match=r'physics_rate is 1000 Hz, must be .*300'):
        MujocoBackend(MujocoSettings(control_rate=300.0, physics_rate=1000.0))


def test_holds_home_without_any_command(robot):
    for _ in range(500):
        robot.step()
    state = robot.read()
    assert state.mode is RobotMode.IDLE
    assert (state.sequence, state.time) == (500, 1.0)
    assert state.commands_missed == 0
    np.testing.assert_allclose(state.position, HOME, atol=1e-6)


def test_arm_floats_and_hand_falls_at_zero_torque(robot):
    """The arm compensates its gravity by itself, the hand does not."""
    drive(robot, ZERO, 100)
    state = robot.read()
    assert state.mode is RobotMode.EFFORT
    assert np.abs(state.position - HOME)[ARM].max() < 0.03  # the falling fingers move it
    assert np.abs(state.position - HOME)[HAND].max() > 0.05
    np.testing.assert_array_equal(state.effort_commanded, ZERO)
    assert np.abs(state.effort[ARM]).max() > 1.0
    np.testing.assert_array_equal(state.effort[HAND], ZERO[HAND])


def test_torque_on_top_of_gravity_accelerates(robot):
    effort = ZERO.copy()
    effort[joint_index('panda_joint7')] = 1.0
    drive(robot, effort, 50)
    # 0.1 s of 1 N m on about 0.108 kg m^2
    assert robot.read().velocity[6] == pytest.approx(0.1 / 0.108, rel=0.05)


@pytest.mark.parametrize(
    ('effort', 'reason'),
    [
        ({'panda_joint2': np.nan}, 'effort of panda_joint2 is nan, must be a number'),
        ({'joint_3.0': -np.inf}, 'effort of joint_3.0 is -inf, must be a number'),
        ({'panda_joint1': 88.0}, r'effort of panda_joint1 is 88 N m, its limit is 87 N m'),
        ({'joint_15.0': -0.71}, r'effort of joint_15.0 is -0.71 N m, its limit is 0.7 N m'),
    ],
)
def test_refuses_what_it_cannot_do(robot, effort, reason):
    drive(robot, ZERO, 1)
    bad = ZERO.copy()
    for name, value in effort.items():
        bad[joint_index(name)] = value
    assert not robot.write(command(robot, bad))
    robot.step()
    state = robot.read()
    assert state.mode is RobotMode.HOLD
    assert state.reason == f'command refused: {reason}'
    assert state.commands_refused == 1
    assert robot.write(command(robot))  # the next good one is taken


def test_takes_efforts_at_the_limit(robot):
    effort = ZERO.copy()
    effort[HAND] = LIMITS.effort[HAND]
    assert robot.write(command(robot, effort))


def test_refuses_the_wrong_size_and_the_wrong_time(robot):
    drive(robot, ZERO, 20)
    assert not robot.write(command(robot, np.zeros(7)))
    assert 'shape (7,)' in robot.read().reason
    assert not robot.write(command(robot, behind=-1))
    assert 'not yet' in robot.read().reason
    assert not robot.write(command(robot, behind=11))
    assert '11 cycles ago' in robot.read().reason
    assert robot.write(command(robot, behind=10))
    assert robot.read().commands_refused == 3


def test_no_command_within_the_deadline_gives_hold_then_stop(robot):
    effort = ZERO.copy()
    effort[0] = 4.0
    drive(robot, effort, 100)
    assert robot.read().velocity[0] > 0.5
    states = []
    for _ in range(500):
        robot.step()
        states.append(robot.read())
    # 0.02 s are 10 cycles, of which drive() used the first; 0.5 s are 250.
    modes = [state.mode for state in states]
    assert modes[:9] == [RobotMode.EFFORT] * 9
    assert modes[9:249] == [RobotMode.HOLD] * 240
    assert modes[249:] == [RobotMode.STOPPED] * 251
    assert states[9].reason == 'no command for 0.02 s'
    assert states[-1].reason == 'no command for 0.5 s'
    assert states[-1].commands_missed == 241
    assert np.abs(states[-1].velocity).max() < 0.01


def test_a_stop_by_silence_stays_until_recovered(robot):
    drive(robot, ZERO, 10)
    for _ in range(260):
        robot.step()
    assert robot.read().mode is RobotMode.STOPPED
    assert not robot.write(command(robot))
    assert robot.write(command(robot, mode=CommandMode.RECOVER))
    state = robot.read()
    assert (state.mode, state.reason) == (RobotMode.HOLD, 'recovered')
    assert robot.write(command(robot, state.effort_commanded))
    assert robot.read().mode is RobotMode.EFFORT


def test_recover_is_a_hold_for_a_robot_that_is_well(robot):
    drive(robot, ZERO, 10)
    assert robot.write(command(robot, mode=CommandMode.RECOVER))
    assert robot.read().mode is RobotMode.HOLD


def test_a_missed_cycle_counts_once(robot):
    drive(robot, ZERO, 1)
    for _ in range(30):
        robot.miss('nobody there')
        robot.miss('nobody there')
        robot.step()
    state = robot.read()
    assert (state.mode, state.reason) == (RobotMode.HOLD, 'nobody there')
    assert state.commands_missed == 30


def test_hold_keeps_the_posture_that_it_found(robot):
    drive(robot, ZERO, 100)
    robot.hold('test')
    found = robot.read().position
    for _ in range(1000):
        robot.step()
    np.testing.assert_allclose(robot.read().position, found, atol=0.03)
    assert np.abs(robot.read().velocity).max() < 0.01


def test_an_arm_in_motion_brakes_and_does_not_spring_back(robot):
    torque = ZERO.copy()
    torque[[0, 1, 3]] = 30.0, 10.0, 15.0
    cycles = 0
    while np.abs(robot.simulation.velocity[ARM]).max() < 1.2 and cycles < 200:
        drive(robot, torque, 1)
        cycles += 1
    velocity = robot.simulation.velocity.copy()
    assert np.abs(velocity[ARM]).max() >= 1.2  # [rad/s]
    robot.hold('test')
    ways = []
    for _ in range(250):
        robot.step()
        ways.append(robot.simulation.velocity[ARM].copy())
    forward = np.array(ways) * np.sign(velocity[ARM])
    fast = np.abs(velocity[ARM]) > 0.3
    assert fast.sum() >= 2
    assert (forward[:, fast] > -0.1).all()
    np.testing.assert_allclose(ways[-1], 0.0, atol=0.01)


def test_commanded_hold(robot):
    drive(robot, ZERO, 10)
    assert robot.write(command(robot, mode=CommandMode.HOLD))
    robot.step()
    state = robot.read()
    assert (state.mode, state.reason) == (RobotMode.HOLD, 'hold commanded')
    assert state.commands_missed == 0


def test_stop_stays_until_recover(robot):
    drive(robot, ZERO, 10)
    robot.stop('test stop')
    for _ in range(20):
        assert not robot.write(command(robot))
        robot.hold('must not lift the stop')
        robot.step()
    state = robot.read()
    assert (state.mode, state.reason) == (RobotMode.STOPPED, 'test stop')
    assert state.commands_refused == 20
    assert state.commands_missed == 0
    robot.recover()
    assert robot.read().mode is RobotMode.HOLD
    assert robot.write(command(robot))
    assert robot.read().mode is RobotMode.EFFORT


def test_same_seed_and_commands_give_the_same_bits():
    def run(seed):
        states = []
        with MujocoBackend(MujocoSettings(seed=seed, start_spread=0.05)) as robot:
            random = np.random.default_rng(7)
            robot.reset(thing=load_object('box'), seed=seed)
            for cycle in range(300):
                if cycle == 200:
                    robot.reset(thing=load_object('box'))
                if cycle % 50 < 35:  # and sometimes none, so that it holds in between
                    change = random.uniform(-1, 1, 23)
                    robot.write(command(robot, robot.read().effort_commanded + 0.1 * change))
                robot.step()
                state = robot.read()
                thing = robot.simulation.truth.object()
                states.append(
                    np.r_[state.position, state.velocity, state.effort, thing.position]
                )
        return np.array(states)

    first = run(3)
    np.testing.assert_array_equal(first, run(3))
    other = run(4)
    assert (first[0] != other[0]).any()
    assert (first[:, 46:53] != other[:, 46:53]).all()  # the noise of the torque sensors


def test_reset_goes_home_and_time_goes_on(robot):
    effort = ZERO.copy()
    effort[:4] = 2.0
    drive(robot, effort, 100)
    stale = command(robot, effort)
    robot.step()
    robot.reset()
    state = robot.read()
    np.testing.assert_array_equal(state.position, HOME)
    np.testing.assert_array_equal(state.velocity, ZERO)
    assert (state.mode, state.sequence) == (RobotMode.IDLE, 102)
    assert state.time == pytest.approx(0.204)
    assert not robot.write(stale)
    assert 'before the reset' in robot.read().reason


def test_a_simulation_that_diverges_says_so(robot, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log of its own where it runs
    robot.simulation.data.qvel[3] = np.nan
    with pytest.raises(BackendError, match='the simulation has diverged'):
        robot.step()


def test_reset_to_a_posture(robot):
    posture = HOME + 0.05
    robot.reset(posture)
    np.testing.assert_array_equal(robot.read().position, posture)
    with pytest.raises(ValueError, match='posture has 7 values, must have 23'):
        robot.reset(np.zeros(7))
    with pytest.raises(ValueError, match=r'panda_joint4 is 0 rad, must be in -3\.07'):
        robot.reset(np.zeros(N_JOINTS))
    np.testing.assert_array_equal(robot.read().position, posture)
