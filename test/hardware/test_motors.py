# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Delay, saturation and rate of the motors, and friction in the joints."""

import numpy as np
import pytest

from drex_ros.hardware.motors import Motors, MotorSettings
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.hardware.sensors import SensorSettings
from drex_ros.robot.joints import JOINT_FRICTION, LIMITS, N_JOINTS
from drex_ros.robot.state import CommandMode, RobotCommand

ZERO = np.zeros(N_JOINTS)


def ones(value):
    return np.full(N_JOINTS, float(value))


@pytest.mark.parametrize('delay', [0, 1, 3])
def test_commands_act_after_the_delay(delay):
    motors = Motors(MotorSettings(delay=delay), timestep=0.001)
    came = [motors.delayed(ones(n), ones(-1.0))[0] for n in range(6)]
    assert came == ([-1.0] * delay + [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])[:6]
    motors.forget()
    assert motors.delayed(ones(9), ones(-2.0))[0] == (-2.0 if delay else 9.0)


def test_arm_torques_have_a_rate_and_hand_torques_none():
    motors = Motors(MotorSettings(), timestep=0.001)
    torque = motors.drive(ones(0.5)).copy()
    np.testing.assert_array_equal(torque, ones(0.5))  # below 1 N m a millisecond
    torque = motors.drive(-LIMITS.effort)
    np.testing.assert_allclose(torque[:7], 0.5 - 1.0)
    np.testing.assert_allclose(torque[7:], -0.7)


def test_torques_saturate():
    motors = Motors(MotorSettings(), timestep=1.0)
    np.testing.assert_array_equal(motors.drive(ones(1e3)), LIMITS.effort)
    np.testing.assert_array_equal(motors.drive(ones(-1e3)), -LIMITS.effort)


def turn(settings, joint, torque, cycles=50):
    """How far a joint turns from home with a constant torque."""
    with MujocoBackend(settings) as robot:
        effort = robot.read().effort_commanded.copy()
        effort[joint] += torque
        start = robot.simulation.position[joint]
        for _ in range(cycles):
            robot.write(RobotCommand(robot.read().sequence, CommandMode.EFFORT, effort))
            robot.step()
        return robot.simulation.position[joint] - start


def settings(**motors):
    return MujocoSettings(motors=MotorSettings(**motors), sensors=SensorSettings.exact())


def test_a_joint_sticks_below_its_friction_and_moves_above():
    joint = 6
    below, above = 0.7 * JOINT_FRICTION[joint], 2.0 * JOINT_FRICTION[joint]
    assert abs(turn(settings(), joint, below)) < 1e-3
    assert turn(settings(), joint, above) > 5e-3
    assert turn(settings(friction_scale=0.0), joint, below) > 5e-3


def test_a_heavier_rotor_turns_less():
    plain = turn(settings(friction_scale=0.0), 6, 0.5)
    heavy = turn(settings(friction_scale=0.0, rotor_inertia_scale=10.0), 6, 0.5)
    assert heavy == pytest.approx(plain * 0.108 / 1.008, rel=0.1)


def test_one_cycle_of_delay_shifts_the_motion_by_one_cycle():
    at_once = turn(settings(delay=0), 6, 1.0, cycles=20)
    later = turn(settings(delay=1), 6, 1.0, cycles=21)
    assert later == pytest.approx(at_once, rel=1e-3)
