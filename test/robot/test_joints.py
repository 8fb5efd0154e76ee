# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The joint order and limits agree with the published URDFs."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from drex_ros.robot.description import robot_urdf
from drex_ros.robot.joints import (
    ARM,
    FINGERS,
    HAND,
    HOME,
    JOINT_NAMES,
    LIMITS,
    N_JOINTS,
    joint_index,
)


def test_limits_are_those_of_the_urdf():
    root = ET.fromstring(robot_urdf())
    for i, name in enumerate(JOINT_NAMES):
        limit = root.find(f"joint[@name='{name}']/limit")
        assert float(limit.get('lower')) == LIMITS.lower[i]
        assert float(limit.get('upper')) == LIMITS.upper[i]
        assert float(limit.get('velocity')) == LIMITS.velocity[i]
        assert float(limit.get('effort')) == LIMITS.effort[i]


def test_home_is_well_inside_the_limits():
    share = (HOME - LIMITS.lower) / (LIMITS.upper - LIMITS.lower)
    assert (share > 0.1).all()
    assert (share < 0.9).all()


def test_order():
    assert JOINT_NAMES[ARM][-1] == 'panda_joint7'
    assert JOINT_NAMES[HAND][0] == 'joint_0.0'
    assert JOINT_NAMES[FINGERS['thumb']][0] == 'joint_12.0'
    assert [joint_index(name) for name in JOINT_NAMES] == list(range(N_JOINTS))


def test_unknown_joint_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"no joint 'elbow'; the joints are: panda_joint1, .*15"):
        joint_index('elbow')


@pytest.mark.parametrize('array', [HOME, *vars(LIMITS).values()])
def test_constants_cannot_be_changed(array):
    assert array.shape == (N_JOINTS,)
    assert not np.isnan(array).any()
    with pytest.raises(ValueError, match='read-only'):
        array[0] = 1.0
