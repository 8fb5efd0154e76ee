# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Faults begin, act on what they say, and end; wrong ones are refused."""

import math

import numpy as np
import pytest

from drex_ros.hardware.faults import FaultError, FaultKind, Faults, LossyLine
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.objects import load_object
from drex_ros.robot.joints import HOME, joint_index


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ((77, '', 0.0, 0.0), r'no fault 77; there are: NONE 0, DROP_COMMANDS 1, .*BIAS_EFFORT 11'),
        ((1, '', 1.5, 0.0), r'magnitude of DROP_COMMANDS is 1.5, must be a probability in 0 .. 1'),
        ((4, '', math.nan, 0.0), r'magnitude of DELAY_STATES is nan, must be a delay \[s\]'),
        ((5, 'elbow', 0.0, 0.0), r"FREEZE_JOINT: no joint 'elbow'; the joints are: panda_joint1"),
        ((6, '', 0.1, 0.0), r"BIAS_JOINT: no joint ''"),
        ((8, 'joint_0.0', 0.0, 0.0), r"BLANK_CAMERA is not of a joint, given joint 'joint_0.0'"),
        ((10, '', -0.1, 0.0), r'magnitude of FRICTION is -0.1, must be a friction in 0 .. 2'),
        ((8, '', 0.0, -1.0), r'duration is -1 s, must be 0 or more'),
        ((8, '', 0.0, math.inf), r'duration is inf s, must be 0 or more'),
    ],
)
def test_wrong_faults_are_refused_and_change_nothing(arguments, message):
    faults = Faults()
    with pytest.raises(FaultError, match=message):
        faults.inject(*arguments, now=0.0)
    assert not faults


def test_faults_end_by_time_and_by_clearing():
    faults = Faults()
    faults.inject(FaultKind.DROP_COMMANDS, '', 0.5, 0.1, now=1.0)
    faults.inject(FaultKind.BIAS_JOINT, 'joint_3.0', 0.2, 0.0, now=1.0)
    assert faults.get(FaultKind.DROP_COMMANDS) == 0.5
    assert faults.of_joints(FaultKind.BIAS_JOINT) == {joint_index('joint_3.0'): 0.2}
    assert faults.names() == ['bias_joint', 'drop_commands']
    assert not faults.expire(1.05)
    assert faults.expire(1.1)
    assert faults.get(FaultKind.DROP_COMMANDS) is None
    assert faults
    faults.inject(FaultKind.NONE, '', 0.0, 0.0, now=2.0)
    assert not faults


def test_a_line_without_faults_passes_on_what_comes():
    line = LossyLine[int](0)
    assert [line.pass_on(i, 0.1 * i, None, None) for i in range(3)] == [0, 1, 2]
    assert line.pass_on(None, 1.0, None, None) is None


def test_a_line_loses_as_many_as_asked():
    line = LossyLine[int](0)
    arrived = [line.pass_on(i, 0.1 * i, 0.3, None) for i in range(5000)]
    assert sum(each is None for each in arrived) == pytest.approx(1500, rel=0.1)
    assert [line.pass_on(i, 600.0 + i, 1.0, None) for i in range(9)] == [None] * 9


def test_a_line_delays_and_drains():
    line = LossyLine[int](0)
    arrived = [line.pass_on(i, 0.002 * i, None, 0.006) for i in range(6)]
    assert arrived == [None, None, None, 0, 1, 2]
    # After the fault what was on its way is overtaken: the newest counts.
    assert line.pass_on(6, 0.012, None, None) == 6
    assert line.pass_on(7, 0.014, None, None) == 7


def test_two_lines_do_not_lose_the_same():
    lost = [
        [line.pass_on(i, 0.1 * i, 0.5, None) is None for i in range(200)]
        for line in (LossyLine[int](3, 1), LossyLine[int](3, 2), LossyLine[int](3, 1))
    ]
    assert lost[0] == lost[2]
    assert lost[0] != lost[1]


def test_no_friction_without_an_object():
    with MujocoBackend() as robot, pytest.raises(FaultError, match='there is no object'):
        robot.inject(FaultKind.FRICTION, '', 0.3, 0.0)


def test_broken_sensors_of_the_robot():
    with MujocoBackend(MujocoSettings.ideal()) as robot:
        robot.inject(FaultKind.BIAS_JOINT, 'joint_1.0', 0.3, 0.02)
        robot.inject(FaultKind.BIAS_EFFORT, 'panda_joint2', -5.0, 0.0)
        before = robot.read().effort[1]
        robot.step()
        state = robot.read()
        joint = joint_index('joint_1.0')
        assert state.position[joint] == pytest.approx(HOME[joint] + 0.3, abs=1e-3)
        assert state.effort[1] == pytest.approx(before - 5.0, abs=0.1)
        for _ in range(12):
            robot.step()
        assert robot.read().position[joint] == pytest.approx(HOME[joint], abs=1e-3)
        robot.inject(FaultKind.NONE, '', 0.0, 0.0)
        robot.step()
        assert robot.read().effort[1] == pytest.approx(before, abs=0.1)


def test_friction_changes_and_comes_back():
    with MujocoBackend() as robot:
        robot.reset(thing=load_object('box'))
        own = robot.simulation.friction
        robot.inject(FaultKind.FRICTION, '', 0.05, 0.01)
        assert robot.simulation.friction == 0.05
        for _ in range(6):
            robot.step()
        assert robot.simulation.friction == own == load_object('box').friction


def test_reset_ends_every_fault():
    with MujocoBackend() as robot:
        robot.inject(FaultKind.BLANK_CAMERA, '', 0.0, 0.0)
        robot.inject(FaultKind.REFLEX, '', 0.0, 0.0)
        robot.reset()
        assert not robot.faults
        assert robot.read().mode.name == 'IDLE'
        assert np.isfinite(robot.read().position).all()
