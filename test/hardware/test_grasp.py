# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated hand holds 1 kg by friction alone, and loses it where friction is too low."""

import numpy as np
import pytest
from grasping import Grasp, heavy_can

from drex_ros.cli.performance import controller_settings
from drex_ros.control.controller import Controller
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HAND, LIMITS
from drex_ros.robot.state import RobotMode

GRIP = 11.0
"""Force of the thumb [N]; at friction 0.8, 1.9 times what carries 1 kg."""


@pytest.fixture
def robot():
    """The robot as it is by default, with all its friction, delay and noise."""
    with MujocoBackend() as backend:
        yield backend


def table_touches_object(robot):
    contacts = robot.simulation.truth.contacts()
    return any({'table', 'object'} == {each.body1, each.body2} for each in contacts)


def test_holds_one_kilogram_for_thirty_seconds(robot):
    grasp = Grasp(robot, heavy_can(finger_friction=0.8))
    grasp.lift(GRIP)
    before = grasp.object_in_palm()
    assert robot.simulation.truth.object().position[2] > 0.15
    grasp.hold(30.0)
    after = grasp.object_in_palm()
    assert after.shift(before) < 1e-3
    assert after.turn(before) < 0.01
    assert not table_touches_object(robot)
    # Only the hand touches it, nothing else acts on it: together they carry its weight.
    forces = robot.simulation.truth.fingers(robot.simulation.truth.contacts())
    carried = sum(finger.force for finger in forces.values())
    np.testing.assert_allclose(carried, (0.0, 0.0, 9.81), atol=0.1)
    # And the hand did no more than a real one can.
    assert grasp.greatest_effort < LIMITS.effort[HAND].min()
    state = robot.read()
    assert (state.mode, state.commands_refused, state.commands_missed) == (RobotMode.EFFORT, 0, 0)


def test_slips_where_friction_cannot_carry(robot):
    """2 * 0.2 * 11 N are less than half of the weight."""
    thing = heavy_can(finger_friction=0.2)
    grasp = Grasp(robot, thing)
    ratios = []
    for cycle, _ in enumerate(grasp.lifting(GRIP)):
        for each in robot.simulation.truth.contacts() if cycle % 5 == 0 else ():
            # While it slips, the fingers' friction on it is fully used.
            if each.slip > 0.01 and 'table' not in (each.body1, each.body2):
                normal = float(each.force @ each.normal)
                if normal > 1.0:
                    ratios.append(np.linalg.norm(each.force - normal * each.normal) / normal)
    assert table_touches_object(robot)
    np.testing.assert_allclose(robot.simulation.truth.object().position[2], 0.041, atol=1e-3)
    assert len(ratios) > 20
    assert np.median(ratios) == pytest.approx(0.2, rel=0.02)


def test_the_grip_decides_what_is_carried(robot):
    """A quarter of the force does not lift it, with the same friction as above."""
    grasp = Grasp(robot, heavy_can(finger_friction=0.8))
    grasp.lift(GRIP / 4.0)
    assert table_touches_object(robot)


def test_nothing_is_dropped_when_the_controller_goes(robot):
    """Mid-lift no command comes any more: hold, stop, a new controller; the can stays in hand."""
    grasp = Grasp(robot, heavy_can(finger_friction=0.8))
    lifting = grasp.lifting(GRIP)
    while robot.simulation.truth.object().position[2] < 0.1:
        next(lifting)
    before = grasp.object_in_palm()
    for _ in range(1000):
        robot.step()
    assert robot.read().mode is RobotMode.STOPPED
    assert grasp.object_in_palm().shift(before) < 1e-3
    successor = Controller(Dynamics(), controller_settings('right'))
    for _ in range(1000):
        assert robot.write(successor.update(robot.read())), robot.read().reason
        robot.step()
    assert robot.read().mode is RobotMode.EFFORT
    assert grasp.object_in_palm().shift(before) < 1e-3
    assert robot.simulation.truth.object().position[2] > 0.09
