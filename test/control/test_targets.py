# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Targets are taken or refused with a reason that says what would be right."""

import numpy as np
import pytest

from drex_ros.control.targets import MAX_STIFFNESS, PartTarget, Target, TargetMode, target_refusal
from drex_ros.robot.joints import ARM, HAND, HOME

ARM_HOME, HAND_HOME = HOME[ARM], HOME[HAND]
JOINT = TargetMode.JOINT_IMPEDANCE


def arm(**values):
    return Target(arm=PartTarget(**{'mode': JOINT, **values}))


def hand(**values):
    return Target(hand=PartTarget(**{'mode': JOINT, **values}))


@pytest.mark.parametrize(
    'target',
    [
        Target(),
        arm(),
        arm(position=ARM_HOME),
        arm(stiffness=MAX_STIFFNESS[ARM], damping_ratio=0.7),
        hand(position=HAND_HOME, stiffness=np.zeros(16)),
    ],
)
def test_taken(target):
    assert target_refusal(target) == ''


@pytest.mark.parametrize(
    ('target', 'reason'),
    [
        (arm(position=np.zeros(6)), 'arm_position has 6 values, must have 7'),
        (hand(stiffness=np.ones(7)), 'hand_stiffness has 7 values, must have 16'),
        (
            arm(position=ARM_HOME * np.nan),
            'arm_position of panda_joint1 is nan rad, must be in -2.8973 .. 2.8973',
        ),
        (
            hand(position=HAND_HOME + 9.0),
            'hand_position of joint_0.0 is 9 rad, must be in -0.47 .. 0.47',
        ),
        (
            hand(stiffness=-np.ones(16)),
            'hand_stiffness of joint_0.0 is -1 N m/rad, must be in 0 .. 10',
        ),
        (arm(damping_ratio=np.nan), 'arm_damping_ratio is nan, must be in 0.1 .. 2'),
        (
            arm(mode=TargetMode.CARTESIAN_IMPEDANCE),
            'arm_mode CARTESIAN_IMPEDANCE is not supported: use JOINT_IMPEDANCE',
        ),
        (
            hand(mode=TargetMode.HYBRID_FORCE),
            'hand_mode HYBRID_FORCE is not supported: use JOINT_IMPEDANCE',
        ),
        (hand(mode=77), 'hand_mode 77 is not supported: use JOINT_IMPEDANCE'),
        (
            arm(mode=TargetMode.KEEP, position=ARM_HOME),
            'arm_position given with arm_mode KEEP: use JOINT_IMPEDANCE',
        ),
        (
            Target(unsupported=('arm_wrench', 'fingertips')),
            'arm_wrench, fingertips given, which is not supported: leave it empty',
        ),
    ],
)
def test_refused(target, reason):
    assert target_refusal(target) == reason
