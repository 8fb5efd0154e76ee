# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The joint order, and the limits that everything has from urdf/joint_limits.yaml."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from drex_ros.hardware.mujoco_model import JointMap, robot_spec
from drex_ros.resources import share_file
from drex_ros.robot.description import HANDS, find_robot_data, robot_urdf
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joint_table import JointTableError, read_joint_table
from drex_ros.robot.joints import (
    ARM,
    FINGERS,
    HAND,
    HOME,
    JOINT_DAMPING,
    JOINT_FRICTION,
    JOINT_NAMES,
    LIMITS,
    N_JOINTS,
    ROTOR_INERTIA,
    joint_index,
)

TABLE = share_file('urdf/joint_limits.yaml')


@pytest.mark.parametrize('hand', HANDS)
def test_urdf_has_these_limits(hand):
    root = ET.fromstring(robot_urdf(hand))
    for i, name in enumerate(JOINT_NAMES):
        limit = root.find(f"joint[@name='{name}']/limit")
        assert float(limit.get('lower')) == LIMITS.lower[i]
        assert float(limit.get('upper')) == LIMITS.upper[i]
        assert float(limit.get('velocity')) == LIMITS.velocity[i]
        assert float(limit.get('effort')) == LIMITS.effort[i]
        dynamics = root.find(f"joint[@name='{name}']/dynamics")
        assert float(dynamics.get('friction')) == JOINT_FRICTION[i]
        assert float(dynamics.get('damping')) == JOINT_DAMPING[i]


@pytest.mark.parametrize('hand', HANDS)
def test_mujoco_has_these_limits(hand):
    model = robot_spec(0.001, hand=hand).compile()
    joints = [model.joint(name).id for name in JOINT_NAMES]
    dofs = JointMap(model).velocity
    np.testing.assert_array_equal(model.jnt_range[joints], np.c_[LIMITS.lower, LIMITS.upper])
    np.testing.assert_array_equal(model.jnt_limited[joints], 1)
    np.testing.assert_array_equal(model.dof_frictionloss[dofs], JOINT_FRICTION)
    np.testing.assert_array_equal(model.dof_damping[dofs], JOINT_DAMPING)
    np.testing.assert_array_equal(model.dof_armature[dofs], ROTOR_INERTIA)


@pytest.mark.parametrize('hand', HANDS)
def test_pinocchio_has_these_limits(hand):
    model = Dynamics(hand=hand).model
    places = [model.joints[model.getJointId(name)].idx_q for name in JOINT_NAMES]
    np.testing.assert_array_equal(model.lowerPositionLimit[places], LIMITS.lower)
    np.testing.assert_array_equal(model.upperPositionLimit[places], LIMITS.upper)
    np.testing.assert_array_equal(model.upperVelocityLimit[places], LIMITS.velocity)
    np.testing.assert_array_equal(model.upperEffortLimit[places], LIMITS.effort)


@pytest.mark.parametrize('hand', HANDS)
def test_limits_are_the_published_ones(hand):
    """But for the hand's torque, of which the published files make fifteen newton metres."""
    robots = find_robot_data() / 'robots'
    arm = ET.parse(robots / 'panda_description/urdf/panda.urdf')
    fingers = ET.parse(robots / f'allegro_hand_description/urdf/allegro_{hand}_hand.urdf')
    for i, name in enumerate(JOINT_NAMES):
        source = arm if name.startswith('panda') else fingers
        limit = source.find(f"joint[@name='{name}']/limit")
        assert float(limit.get('lower')) == LIMITS.lower[i]
        assert float(limit.get('upper')) == LIMITS.upper[i]
        assert float(limit.get('velocity')) == LIMITS.velocity[i]
        if source is arm:
            assert float(limit.get('effort')) == LIMITS.effort[i]


def test_home_is_well_inside_the_limits():
    share = (HOME - LIMITS.lower) / (LIMITS.upper - LIMITS.lower)
    assert (share > 0.1).all()
    assert (share < 0.9).all()


def test_friction_leaves_torque_to_move():
    assert (LIMITS.effort > 20.0 * JOINT_FRICTION).all()


def test_order():
    assert JOINT_NAMES[ARM][-1] == 'panda_joint7'
    assert JOINT_NAMES[HAND][0] == 'joint_0.0'
    assert JOINT_NAMES[FINGERS['thumb']][0] == 'joint_12.0'
    assert [joint_index(name) for name in JOINT_NAMES] == list(range(N_JOINTS))


def test_unknown_joint_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"no joint 'elbow'; the joints are: panda_joint1, .*15"):
        joint_index('elbow')


@pytest.mark.parametrize(
    'array', [HOME, ROTOR_INERTIA, JOINT_FRICTION, JOINT_DAMPING, *vars(LIMITS).values()]
)
def test_constants_cannot_be_changed(array):
    assert array.shape == (N_JOINTS,)
    assert not np.isnan(array).any()
    with pytest.raises(ValueError, match='read-only'):
        array[0] = 1.0


@pytest.mark.parametrize(
    ('old', 'new', 'message'),
    [
        ('  joint_3.0: *distal\n', '', r"differ in: \['joint_3\.0'\]"),
        ('  joint_3.0: ', '  joint_3: ', r"differ in: \['joint_3', 'joint_3\.0'\]"),
        ('velocity: 7.0, ', '', 'joint_0.0 must have exactly: lower, upper, velocity'),
        ('velocity: 7.0, ', 'velocity: 7.0, colour: 1, ', 'must have exactly'),
        ('velocity: 7.0', 'velocity: fast', "velocity of joint_0.0 is 'fast', must be a number"),
        ('velocity: 7.0', 'velocity: true', 'velocity of joint_0.0 is True, must be a number'),
        ('velocity: 7.0', 'velocity: .inf', 'velocity of joint_0.0 is inf, must be a number'),
        ('effort_rate: .inf', 'effort_rate: .nan', 'effort_rate of joint_0.0 is nan'),
        ('effort: 12.0', 'effort: 0', 'effort of panda_joint5 is 0, must be more than 0'),
        ('friction: 0.02', 'friction: -1', 'friction of joint_0.0 is -1, must be 0 or more'),
        ('upper: 0.47', 'upper: -0.5', 'lower of joint_0.0 must be less than upper'),
        ('joints:', 'joint:', 'has no mapping `joints`'),
        ('joints:', 'joints: {', 'not a readable YAML file'),
    ],
)
def test_wrong_table_is_refused(tmp_path, old, new, message):
    text = TABLE.read_text()
    assert old in text
    path = tmp_path / 'limits.yaml'
    path.write_text(text.replace(old, new))
    with pytest.raises(JointTableError, match=message) as caught:
        read_joint_table(path, JOINT_NAMES)
    assert '\n' not in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_table_is_named(tmp_path):
    with pytest.raises(JointTableError, match=r'absent\.yaml: not a readable YAML file'):
        read_joint_table(tmp_path / 'absent.yaml', JOINT_NAMES)
