# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of the simulated scene fall, slide and rest as closed formulas say."""

import numpy as np
import pytest

from drex_ros.hardware.faults import FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.hardware.sliding import CONDIM
from drex_ros.objects import load_object
from drex_ros.robot.joints import HOME, LIMITS, N_JOINTS

GRAVITY = 9.81  # [m/s^2]
PERIOD = 0.002  # [s]

ASIDE = HOME.copy()
ASIDE[0] = 1.5  # the arm is turned away from the object


@pytest.fixture(scope='module')
def robot():
    with MujocoBackend(MujocoSettings.ideal()) as backend:
        yield backend


def place(robot, thing, *, above=0.0, x=0.4):
    position = np.array((x, 0.0, thing.rest_height + above))
    robot.reset(ASIDE, thing=thing, pose=ObjectPose(position, thing.rest_quaternion))


def settle(robot, seconds=0.2):
    for _ in range(round(seconds / PERIOD)):
        robot.step()


def set_velocity(robot, velocity):
    robot.simulation.data.qvel[N_JOINTS : N_JOINTS + 3] = velocity


def where(robot):
    return robot.simulation.truth.object()


def slide(robot, speed):
    """Give the object a speed along x [m/s]; velocities of each cycle until it rests."""
    set_velocity(robot, (speed, 0.0, 0.0))
    velocities = [speed]
    while velocities[-1] > 1e-4:
        robot.step()
        velocities.append(float(where(robot).velocity[0]))
        assert len(velocities) < 2000, 'does not come to rest'
    return np.array(velocities)


def check_slide(robot, friction, speed=0.8):
    """Distance, time and path of a slide to rest are those of Coulomb friction."""
    start = where(robot)
    velocities = slide(robot, speed)
    end = where(robot)
    distance = float(end.position[0] - start.position[0])
    assert distance == pytest.approx(speed**2 / (2.0 * friction * GRAVITY), rel=0.02)
    # Time in which nine tenths of the speed are gone, between two cycles.
    slower = int(np.argmax(velocities < 0.1 * speed))
    fast, slow = velocities[slower - 1 : slower + 1]
    time = PERIOD * (slower - 1 + (fast - 0.1 * speed) / (fast - slow))
    assert time == pytest.approx(0.9 * speed / (friction * GRAVITY), rel=0.02)
    assert abs(end.position[1]) < 1e-3
    np.testing.assert_allclose(end.quaternion, start.quaternion, atol=5e-3)


@pytest.mark.parametrize(('name', 'height'), [('ball', 0.5), ('box', 0.2), ('ketchup', 0.3)])
def test_free_fall(robot, name, height):
    place(robot, load_object(name), above=height)
    start = where(robot).position[2]
    cycles = 0
    while not robot.simulation.truth.contacts():
        before = where(robot)
        robot.step()
        cycles += 1
    assert cycles * PERIOD == pytest.approx(np.sqrt(2.0 * height / GRAVITY), abs=1.5 * PERIOD)
    fallen = start - before.position[2]
    # Per kilogram: kinetic energy gained, potential energy lost.
    assert before.velocity[2] ** 2 / 2.0 == pytest.approx(GRAVITY * fallen, rel=0.01)
    np.testing.assert_allclose(before.angular_velocity, 0.0, atol=1e-9)


@pytest.mark.parametrize('friction', [0.2, 0.4, 0.8])
@pytest.mark.parametrize('mass', [0.05, 1.0])
def test_box_slides_to_rest(robot, friction, mass):
    place(robot, overridden(load_object('box'), mass=mass, friction=friction))
    settle(robot)
    check_slide(robot, friction)


@pytest.mark.parametrize('name', ['can', 'letter_u', 'mug', 'domino', 'spray_bottle'])
def test_other_shapes_slide_to_rest(robot, name):
    """With the friction that the library gives them; the bottle is as tall as the others."""
    thing = load_object(name)
    place(robot, thing)
    settle(robot)
    check_slide(robot, thing.friction)


def test_a_sliding_object_keeps_touching(robot):
    """It neither hops nor sinks: every contact bears, all the way."""
    place(robot, overridden(load_object('box'), friction=0.8))
    settle(robot)
    height = where(robot).position[2]
    set_velocity(robot, (1.0, 0.0, 0.0))
    for _ in range(50):
        robot.step()
        assert len(robot.simulation.truth.contacts()) == 4
        assert where(robot).position[2] == pytest.approx(height, abs=2e-4)
    assert where(robot).velocity[0] < 0.3


def test_friction_fault_and_its_end(robot):
    thing = load_object('domino')
    place(robot, thing)
    settle(robot)
    robot.inject(FaultKind.FRICTION, '', 0.6, 1.0)
    check_slide(robot, 0.6)
    settle(robot, 1.0)
    assert not robot.faults
    check_slide(robot, thing.friction)
    robot.inject(FaultKind.FRICTION, '', 0.6, 0.0)
    place(robot, thing)  # a reset ends every fault
    settle(robot)
    check_slide(robot, thing.friction)


@pytest.mark.parametrize('friction', [0.25, 0.6])
def test_a_push_moves_it_when_it_exceeds_friction(robot, friction):
    mass = 0.5
    place(robot, overridden(load_object('box'), mass=mass, friction=friction))
    settle(robot)
    applied = robot.simulation.data.body('object').xfrc_applied
    applied[:3] = (0.95 * friction * mass * GRAVITY, 0.0, 0.0)
    start = where(robot).position
    settle(robot, 0.5)
    assert np.linalg.norm(where(robot).position - start) < 1e-3
    applied[:3] = (1.5 * friction * mass * GRAVITY, 0.0, 0.0)
    settle(robot, 0.2)
    first = where(robot).velocity[0]
    settle(robot, 0.2)
    gained = where(robot).velocity[0] - first
    assert gained == pytest.approx(0.5 * friction * GRAVITY * 0.2, rel=0.02)


def test_a_tall_object_tips_where_friction_is_high(robot):
    """Beyond half its width over its height, friction turns it over instead of slowing it."""
    thing = overridden(load_object('ketchup'), friction=0.8)
    place(robot, thing)
    settle(robot)
    set_velocity(robot, (1.0, 0.0, 0.0))
    settle(robot, 1.5)
    assert where(robot).position[2] < 0.5 * thing.rest_height


@pytest.mark.parametrize('name', ['ball', 'can', 'letter_a', 'spray_bottle'])
def test_contacts_carry_the_weight(robot, name):
    thing = load_object(name)
    place(robot, thing)
    settle(robot, 1.0)
    force = np.zeros(3)
    moment = np.zeros(3)
    centre = robot.simulation.data.body('object').xipos
    for each in robot.simulation.truth.contacts():
        assert {each.body1, each.body2} == {'table', 'object'}
        on_object = each.force if each.body2 == 'object' else -each.force
        force += on_object
        moment += np.cross(each.position - centre, on_object)
    weight = thing.mass * GRAVITY
    np.testing.assert_allclose(force, (0.0, 0.0, weight), atol=0.01 * weight)
    np.testing.assert_allclose(moment, 0.0, atol=0.01 * weight * thing.rest_height)
    assert where(robot).position[2] == pytest.approx(thing.rest_height, abs=2e-4)


@pytest.mark.parametrize('name', ['can', 'mug'])
def test_a_resting_object_stays_where_it_is(robot, name):
    place(robot, load_object(name))
    settle(robot, 0.5)
    start = where(robot).position
    settle(robot, 5.0)
    assert np.linalg.norm(where(robot).position - start) < 1e-4


def test_the_ball_rolls(robot):
    """Pushed flat it slides until it rolls, at five sevenths of its speed (solid ball)."""
    thing = load_object('ball')
    place(robot, thing)
    settle(robot)
    set_velocity(robot, (0.5, 0.0, 0.0))
    settle(robot, 0.5)
    ball = where(robot)
    radius = thing.rest_height
    share = float(thing.inertia[0, 0]) / (thing.mass * radius**2)
    assert ball.velocity[0] == pytest.approx(0.5 / (1.0 + share), rel=0.02)
    assert ball.angular_velocity[1] * radius == pytest.approx(ball.velocity[0], rel=0.02)


def test_every_contact_has_the_rows_that_the_correction_expects(robot):
    random = np.random.default_rng(1)
    seen = 0
    for _ in range(50):
        posture = random.uniform(LIMITS.lower, LIMITS.upper)
        robot.reset(posture, thing=load_object('mug') if seen == 0 else robot.simulation.thing)
        data = robot.simulation.data
        assert (data.contact.dim == CONDIM).all()
        address = data.contact.efc_address[data.contact.efc_address >= 0]
        count = len(address)
        expected = data.nefc + CONDIM * (np.arange(count) - count)
        np.testing.assert_array_equal(address, expected)
        seen += count
    assert seen > 100
