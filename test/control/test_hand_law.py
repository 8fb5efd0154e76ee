# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The law of the hand: springs, fingertip forces in their frames, balance and limits."""

import numpy as np
import pytest
from grasping import GRASP

from drex_ros.control.hand_law import hand_effort, hand_memory, press
from drex_ros.control.supervisor import limit_fingertips
from drex_ros.control.targets import FingerForce
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import FINGERS, HAND, LIMITS, N_HAND, N_JOINTS

PERIOD = 0.002
ZERO = np.zeros(N_HAND)
X = (True, False, False)
NAMES = tuple(FINGERS)


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture
def terms(dynamics):
    return dynamics.terms(GRASP, np.zeros(N_JOINTS))


def torques(terms, forces=(), *, velocity=ZERO, target=None, stiffness=0.0, memory=None):
    """Of the law at the grasp, in its first cycle, without the weight."""
    position = GRASP[HAND].copy()
    effort = hand_effort(
        *(terms, position, velocity, position if target is None else target, ZERO),
        *(np.full(N_HAND, stiffness), np.ones(N_HAND), press(forces)),
        *(hand_memory() if memory is None else memory, PERIOD),
    )
    return effort - terms.gravity[HAND]


def grip(fingers, force):
    return [FingerForce(i, 'grip', np.array((force, 0.0, 0.0)), X) for i in fingers]


def spring_force(terms, finger, torque):
    """Of a finger's torques at its tip [N]: F = (J M^-1 J^T)^-1 J M^-1 torque."""
    joints = FINGERS[NAMES[finger]]
    jacobian = terms.tip_jacobian[finger]
    through = np.linalg.solve(terms.mass[joints, joints], jacobian.T)
    return np.linalg.solve(jacobian @ through, through.T @ torque[4 * finger : 4 * finger + 4])


@pytest.mark.parametrize('fingers', [(0, 1, 3), (0, 1, 2, 3), (1, 3)])
def test_a_grip_is_in_balance(terms, fingers):
    memory = hand_memory()
    torques(terms, grip(fingers, 3.0), memory=memory)
    force, tips = memory.tips.force, terms.tip_position
    np.testing.assert_allclose(force.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(tips, force).sum(axis=0), 0.0, atol=1e-12)
    sizes = np.linalg.norm(force, axis=1)
    assert sizes.max() == pytest.approx(3.0)
    assert sorted(np.flatnonzero(sizes)) == list(fingers)


def test_the_strongest_wish_counts_in_a_grip(terms):
    memory = hand_memory()
    torques(terms, [*grip((0, 1), 1.0), *grip((3,), 2.5)], memory=memory)
    assert np.linalg.norm(memory.tips.force, axis=1).max() == pytest.approx(2.5)


def test_forces_are_given_in_palm_or_base(terms):
    memory = hand_memory()
    force = np.array((0.3, -0.7, 1.1))
    every = (True, True, True)
    forces = [FingerForce(0, '', force, every), FingerForce(3, 'panda_link0', force, every)]
    torques(terms, forces, memory=memory)
    np.testing.assert_allclose(memory.tips.force[0], terms.palm_rotation @ force, atol=1e-12)
    np.testing.assert_allclose(memory.tips.force[3], force)


def test_a_force_counts_along_its_axes_only(terms):
    memory = hand_memory()
    torques(terms, [FingerForce(1, 'panda_link0', np.array((1.0, 2.0, 3.0)), X)], memory=memory)
    np.testing.assert_allclose(memory.tips.force[1], (1.0, 0.0, 0.0))


def test_an_unknown_frame_is_named(terms):
    with pytest.raises(ValueError, match=r"'wrist', must be one of: ''.*'grip'"):
        press([FingerForce(0, 'wrist', np.zeros(3), X)])


def test_one_finger_has_nothing_to_grip(terms):
    """There is no middle to press towards: it keeps its spring instead."""
    target = GRASP[HAND] + 0.1
    alone = torques(terms, grip((0,), 3.0), target=target, stiffness=1.0)
    np.testing.assert_allclose(alone, torques(terms, target=target, stiffness=1.0))


@pytest.mark.parametrize('finger', [0, 1, 3])
def test_springs_do_not_press_along_a_force_axis(terms, finger):
    target = GRASP[HAND] + np.tile((0.05, 0.15, 0.1, 0.1), 4)
    free = torques(terms, target=target, stiffness=1.0)
    nothing = FingerForce(finger, 'panda_link0', np.zeros(3), X)
    selected = torques(terms, [nothing], target=target, stiffness=1.0)
    before = spring_force(terms, finger, free)
    after = spring_force(terms, finger, selected)
    assert abs(before[0]) > 0.2
    assert abs(after[0]) < 0.1 * abs(before[0])
    np.testing.assert_allclose(after[1:], before[1:], atol=0.05 * np.abs(before).max())


def test_damping_is_critical_and_never_none(terms):
    velocity = np.linspace(-1.0, 1.0, N_HAND)
    inertia = terms.mass.diagonal()[HAND]
    stiff = torques(terms, velocity=velocity, stiffness=4.0)
    np.testing.assert_allclose(stiff, -2.0 * np.sqrt(4.0 * inertia) * velocity)
    loose = torques(terms, velocity=velocity, stiffness=0.0)
    np.testing.assert_allclose(loose, -0.02 * velocity)


def test_a_force_beyond_the_joints_is_made_smaller(terms):
    memory = hand_memory()
    effort = torques(terms, grip((0, 1, 3), 40.0), memory=memory) + terms.gravity[HAND]
    assert np.abs(effort).max() <= 0.85 * LIMITS.effort[HAND].min() + 1e-9
    scale = memory.tips.scale[[0, 1, 3]]
    assert scale[0] < 0.9
    np.testing.assert_allclose(scale, scale[0])  # one for all, or the grip is out of balance
    assert memory.tips.scale[2] == 1.0


def test_a_finger_that_is_too_strong_is_limited(terms):
    effort = np.zeros(N_HAND)
    for finger, size in ((0, 4.0), (3, 1.5)):
        force = np.array((size, 0.0, 0.0))
        effort[4 * finger : 4 * finger + 4] = terms.tip_jacobian[finger].T @ force
    limited = effort.copy()
    cut = limit_fingertips(terms.tip_jacobian, 2.0, limited)
    assert cut
    np.testing.assert_allclose(limited[:4], effort[:4] * 0.5, rtol=0.03)
    np.testing.assert_array_equal(limited[4:], effort[4:])
    again = limited.copy()
    cut = limit_fingertips(terms.tip_jacobian, 2.0001, again)
    assert not cut
    np.testing.assert_array_equal(again, limited)
