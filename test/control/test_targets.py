# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Targets are taken or refused with a reason that says what would be right."""

import numpy as np
import pytest

from drex_ros.control.target_checks import (
    MAX_CARTESIAN_STIFFNESS,
    MAX_STIFFNESS,
    Bounds,
    target_refusal,
)
from drex_ros.control.targets import (
    ArmTarget,
    FingerForce,
    HandTarget,
    Payload,
    Pose,
    Target,
    TargetMode,
)
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS

ARM_HOME, HAND_HOME = HOME[ARM], HOME[HAND]
JOINT, PALM = TargetMode.JOINT_IMPEDANCE, TargetMode.CARTESIAN_IMPEDANCE
EFFORT, FORCE = TargetMode.JOINT_EFFORT, TargetMode.HYBRID_FORCE
BOUNDS = Bounds(np.array((-0.2, -0.7, 0.0)), np.array((0.9, 0.7, 1.2)), 5.0)
NO_TURN = np.array((0.0, 0.0, 0.0, 1.0))


def arm(**values):
    return Target(arm=ArmTarget(**{'mode': JOINT, **values}))


def palm(x=0.5, y=0.0, z=0.3, quaternion=NO_TURN, **values):
    pose = Pose(np.array((x, y, z)), np.asarray(quaternion, dtype=float))
    return Target(arm=ArmTarget(**{'mode': PALM, 'pose': pose, **values}))


def hand(**values):
    return Target(hand=HandTarget(**{'mode': JOINT, **values}))


def press(*forces):
    return Target(hand=HandTarget(FORCE, fingertips=forces))


def force(finger=0, frame='', x=1.0, y=0.0, axes=(True, False, False)):
    return FingerForce(finger, frame, np.array((x, y, 0.0)), axes)


@pytest.mark.parametrize(
    'target',
    [
        Target(),
        arm(),
        arm(position=ARM_HOME),
        arm(stiffness=MAX_STIFFNESS[ARM], damping_ratio=0.7),
        arm(mode=EFFORT, effort=LIMITS.effort[ARM]),
        hand(position=HAND_HOME, stiffness=np.zeros(16)),
        hand(mode=EFFORT, effort=-LIMITS.effort[HAND]),
        palm(),
        palm(quaternion=-NO_TURN, frame='palm_link', wrench=np.full(6, 5.0)),
        palm(x=5.0, frame='palm_link'),
        palm(
            cartesian_stiffness=MAX_CARTESIAN_STIFFNESS,
            cartesian_damping=np.zeros(6),
            position=ARM_HOME,
            frame='world',
        ),
        press(force(), force(3, 'grip', 5.0)),
        press(),
        Target(payload=Payload(0.3, np.zeros(3)), finger_force_limit=2.0, timeout=0.1),
    ],
)
def test_taken(target):
    assert target_refusal(target, BOUNDS) == ''


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
        (
            arm(mode=EFFORT, effort=np.full(7, 13.0)),
            'arm_effort of panda_joint5 is 13 N m, must be in -12 .. 12',
        ),
        (arm(mode=EFFORT), 'arm_mode JOINT_EFFORT without arm_effort'),
        (arm(damping_ratio=np.nan), 'arm_damping_ratio is nan, must be in 0.3 .. 2'),
        (
            arm(mode=FORCE),
            'arm_mode is HYBRID_FORCE, must be one of: '
            'KEEP, JOINT_IMPEDANCE, CARTESIAN_IMPEDANCE, JOINT_EFFORT',
        ),
        (
            hand(mode=77),
            'hand_mode is 77, must be one of: KEEP, JOINT_IMPEDANCE, JOINT_EFFORT, HYBRID_FORCE',
        ),
        (
            arm(mode=TargetMode.KEEP, position=ARM_HOME),
            'arm_position given with arm_mode KEEP: say which mode',
        ),
        (
            arm(cartesian_stiffness=np.ones(6), wrench=np.ones(6)),
            'arm_cartesian_stiffness, arm_wrench given, '
            'which arm_mode JOINT_IMPEDANCE does not use',
        ),
        (
            Target(hand=HandTarget(JOINT, fingertips=(force(),))),
            'fingertips given, which hand_mode JOINT_IMPEDANCE does not use',
        ),
        (palm(x=1.5), 'arm_pose has x = 1.5 m, the workspace is -0.2 .. 0.9'),
        (palm(z=-0.1), 'arm_pose has z = -0.1 m, the workspace is 0 .. 1.2'),
        (
            palm(x=0.9, y=0.7, z=1.2),
            'arm_pose is out of reach: 1.432 m from the shoulder, the palm comes to 1.05 m',
        ),
        (palm(x=np.inf), 'arm_pose has the position [inf, 0.0, 0.3], must be finite'),
        (palm(quaternion=4 * (0.0,)), 'arm_pose has a quaternion of length 0, must be 1'),
        (
            palm(frame='table'),
            "frame_id is 'table', must be one of: panda_link0, world, palm_link",
        ),
        (
            palm(cartesian_stiffness=np.full(6, 1e6)),
            f'arm_cartesian_stiffness of x is 1e+06 N/m or N m/rad, '
            f'must be in 0 .. {MAX_CARTESIAN_STIFFNESS[0]:g}',
        ),
        (
            palm(wrench=np.array((0, 0, 0, 0, 0, np.nan))),
            'arm_wrench of about z is nan N or N m, must be in -10 .. 10',
        ),
        (
            press(force(7)),
            'fingertips name finger 7, must be one of: 0 index, 1 middle, 2 ring, 3 thumb',
        ),
        (press(force(), force()), 'fingertips name the fingers [0, 0], each only once'),
        (
            press(force(1, 'flange')),
            "frame of the force of middle is 'flange', "
            'must be one of: palm_link, panda_link0, grip',
        ),
        (press(force(x=np.nan)), 'the force of index is [nan, 0.0, 0.0] N, must be finite'),
        (press(force(x=6.0)), 'the force of index is 6 N, its limit is 5 N'),
        (
            press(force(3, 'grip', -1.0)),
            'the force of thumb is -1 N, in frame grip it must press',
        ),
        (
            press(force(y=1.0)),
            'the force of index has a part along an axis that is not force-controlled',
        ),
        (
            press(force(axes=(False, False, False))),
            'the force of index has no axis that is force-controlled',
        ),
        (Target(timeout=-1.0), 'timeout is -1 s, must be in 0 .. 3600'),
        (Target(timeout=np.nan), 'timeout is nan s, must be in 0 .. 3600'),
        (
            Target(payload=Payload(9.0, np.zeros(3))),
            'mass of the payload is 9 kg, must be in 0 .. 3',
        ),
        (
            Target(payload=Payload(1.0, np.full(3, np.nan))),
            'the payload is nan m from the palm, must be within 0.5 m',
        ),
        (
            Target(finger_force_limit=6.0),
            'finger_force_limit is 6 N, must be above 0 and at most 5 N',
        ),
    ],
)
def test_refused(target, reason):
    assert target_refusal(target, BOUNDS) == reason
