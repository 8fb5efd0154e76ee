# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The arm stops by itself, says why, and stays stopped until it is recovered."""

import numpy as np
import pytest

from drex_ros.hardware.faults import FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.hardware.reflexes import CollisionDetector, ReflexSettings, overspeed, torque_jump
from drex_ros.robot.joints import ARM, HAND, N_JOINTS
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode

ZERO = np.zeros(N_JOINTS)


@pytest.fixture
def robot():
    with MujocoBackend() as backend:
        yield backend


def write(robot, effort, mode=CommandMode.EFFORT):
    return robot.write(RobotCommand(robot.read().sequence, mode, np.array(effort)))


def keep(robot, cycles, push=ZERO, limit=1.9):
    """Command the present efforts plus a push, as fast as the torque rate allows."""
    base = robot.read().effort_commanded
    for _ in range(cycles):
        last = robot.read().effort_commanded
        if not write(robot, last + np.clip(base + push - last, -limit, limit)):
            return
        robot.step()


def test_a_torque_jump_trips(robot):
    keep(robot, 5)
    effort = robot.read().effort_commanded.copy()
    effort[2] += 2.1  # 1000 N m/s for 2 ms are 2 N m
    assert not write(robot, effort)
    state = robot.read()
    assert state.mode is RobotMode.REFLEX
    assert state.reason == (
        'reflex: torque jump: 2.1 N m on panda_joint3 in 2 ms, its limit is 1000 N m/s'
    )
    assert state.commands_refused == 1


def test_the_allowed_jump_does_not_trip_and_the_hand_has_no_such_limit(robot):
    keep(robot, 5)
    effort = robot.read().effort_commanded.copy()
    effort[ARM] += 2.0
    effort[HAND] = 0.7
    assert write(robot, effort)


def test_a_late_command_may_have_changed_by_more(robot):
    keep(robot, 5)
    base = robot.read().effort_commanded.copy()
    base[0] += 5.9
    robot.step()
    robot.step()  # three cycles since the last command
    assert write(robot, base)


def test_commands_are_ignored_until_recovered(robot):
    keep(robot, 5)
    robot.inject(FaultKind.REFLEX, '', 0.0, 0.0)
    held = robot.read().position
    for _ in range(600):  # longer than silence would need to stop it
        assert not write(robot, ZERO)
        robot.step()
    state = robot.read()
    assert (state.mode, state.reason) == (RobotMode.REFLEX, 'reflex: injected fault')
    assert state.commands_refused == 600
    np.testing.assert_allclose(state.position, held, atol=0.01)
    assert write(robot, ZERO, CommandMode.RECOVER)
    assert robot.read().mode is RobotMode.HOLD
    keep(robot, 3)
    assert robot.read().mode is RobotMode.EFFORT


def test_pressing_on_the_table_trips_a_collision(robot):
    """The whole arm pushes down until the table answers with more than the threshold."""
    keep(robot, 5)
    down = ZERO.copy()
    down[1] = 40.0
    keep(robot, 3000, push=down)
    state = robot.read()
    assert state.mode is RobotMode.REFLEX, state
    assert state.reason.startswith(('reflex: collision: ', 'reflex: too fast: ')), state.reason
    for _ in range(500):
        robot.step()
    assert np.abs(robot.read().velocity).max() < 0.05  # it stands


def test_a_hand_on_the_table_is_a_collision_and_a_knock_is_none():
    detector = CollisionDetector(ReflexSettings(), period=0.002)
    knock = np.zeros(7)
    knock[1] = 60.0
    assert detector.update(knock) == ''
    for _ in range(20):
        assert detector.update(0.0 * knock) == ''
    reasons = [detector.update(0.5 * knock) for _ in range(50)]
    assert reasons[0] == ''
    assert reasons[-1].startswith('collision: 30 N m from outside')
    assert reasons[-1].endswith('on panda_joint2, its threshold is 20 N m')


def test_too_fast_is_said_with_its_joint():
    velocity = ZERO.copy()
    assert overspeed(velocity) == ''
    velocity[20] = 100.0  # the hand may
    assert overspeed(velocity) == ''
    velocity[4] = -2.7
    assert overspeed(velocity) == (
        'too fast: panda_joint5 turns at -2.7 rad/s, its limit is 2.61 rad/s'
    )


def test_nan_is_no_jump_of_its_own():
    """It is refused before; the reflex must not be what finds it."""
    effort = ZERO.copy()
    effort[0] = np.nan
    assert torque_jump(effort, ZERO, 0.002) == ''
