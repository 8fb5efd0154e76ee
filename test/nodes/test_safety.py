# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tries to break each safety rule of the controller through ROS; limits must hold in truth."""

from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, Wrench
from grasping import CAN_PLACE, GRASP
from hostile_targets import BAD_NUMBERS, NUMBERS, not_finite
from safety_lab import Lab

from drex_interfaces.msg import ControllerStatus, ControllerTarget, FingertipTarget
from drex_interfaces.srv import InjectFault
from drex_ros.nodes.conversions import seconds
from drex_ros.objects import load_object
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_HAND, Array

HOLDING, TRACKING = ControllerStatus.STATE_HOLDING, ControllerStatus.STATE_TRACKING
STOPPED = ControllerStatus.STATE_STOPPED
JOINT, PALM, EFFORT, FORCE = 1, 2, 3, 4  # ControllerTarget.MODE_*
WITHIN = 0.02  # [s] of the robot, after a deadline


def torques(joint: int, share: float) -> ControllerTarget:
    """A share of the torque limit of one joint."""
    effort = np.zeros(len(HOME))
    effort[joint] = share * LIMITS.effort[joint]
    if joint in range(*ARM.indices(len(HOME))):
        return ControllerTarget(source='test', arm_mode=EFFORT, arm_effort=effort[ARM].tolist())
    return ControllerTarget(source='test', hand_mode=EFFORT, hand_effort=effort[HAND].tolist())


def palm(x: float, y: float, z: float, frame: str = '', **fields: Any) -> ControllerTarget:
    """The palm at a place [m], looking down, or by so much further in its own frame."""
    turn = Quaternion(w=1.0) if frame else Quaternion(x=0.9238795, y=-0.3826834, w=0.0)
    pose = Pose(position=Point(x=x, y=y, z=z), orientation=turn)
    target = ControllerTarget(source='test', arm_mode=PALM, arm_pose=[pose], **fields)
    target.header.frame_id = frame
    return target


def wrench(x: float, y: float, z: float) -> ControllerTarget:
    """A force on the palm [N] that no spring resists."""
    target = ControllerTarget(source='test', arm_mode=PALM, arm_cartesian_stiffness=[0.0] * 6)
    target.arm_wrench = [Wrench(force=Vector3(x=x, y=y, z=z))]
    return target


def stream(lab: Lab, target: ControllerTarget, duration: float, period: float) -> None:
    """Send a target again and again for a time of the robot [s]."""
    until = lab.watch.time + duration
    while lab.watch.time < until:
        lab.send(target)
        lab.run(period)


# Limits of the joints


@pytest.mark.parametrize('joint', [4, 6, 8, 12, 20])
def test_torques_do_not_drive_a_joint_through_its_stop(lab: Lab, joint: int) -> None:
    stream(lab, torques(joint, 1.0), 2.0, 0.05)
    # Its wall turns it back, or its speed ends the drive before.
    assert sum(lab.watch.counted(rule) for rule in ('joint_position', 'joint_velocity')) > 0
    assert lab.watch.worst['position'] > 0.9


@pytest.mark.parametrize('joint', range(7))
@pytest.mark.parametrize('share', [1.0, -1.0])
def test_torques_make_no_joint_too_fast(lab: Lab, joint: int, share: float) -> None:
    stream(lab, torques(joint, share), 0.3, 0.05)
    assert lab.watch.counted('joint_velocity') > 0
    assert lab.watch.worst['velocity'] > 0.5


def test_no_torque_jumps_or_passes_its_limit(lab: Lab) -> None:
    posture = HOME.copy()
    for sign in (1.0, -1.0, 1.0):
        posture[[0, 4, 6]] = HOME[[0, 4, 6]] + sign * 0.5
        stiff = ControllerTarget(source='test', arm_mode=JOINT, hand_mode=JOINT)
        stiff.arm_position, stiff.hand_position = posture[ARM].tolist(), HOME[HAND].tolist()
        stiff.arm_stiffness = [1000.0] * 4 + [500.0, 300.0, 200.0]
        stiff.hand_stiffness = [10.0] * N_HAND
        stiff.arm_damping_ratio = 0.3
        assert lab.send(stiff).reason == ''
        lab.run(0.1)
        stiff = palm(0.4, sign * 0.3, 0.4, arm_cartesian_stiffness=[3000.0] * 3 + [150.0] * 3)
        assert lab.send(stiff).reason == ''
        lab.run(0.1)
        lab.send(torques(0, -sign * 0.2))
        lab.run(0.04)
    assert lab.watch.counted('effort_rate') > 0
    assert lab.watch.worst['effort_rate'] > 0.9


# Space


@pytest.mark.parametrize('push', [(30.0, 0.0, 10.0), (0.0, 30.0, 0.0), (0.0, -30.0, 0.0)])
def test_a_pushed_palm_stays_in_its_box(lab: Lab, push: tuple[float, float, float]) -> None:
    stream(lab, wrench(*push), 4.0, 0.2)
    rules = ('workspace', 'self_collision', 'table', 'joint_position', 'joint_velocity')
    assert sum(lab.watch.counted(rule) for rule in rules) > 0


@pytest.fixture(scope='module')
def table_height(module_lab: Lab) -> float:
    """Height of the palm at which the table's rule acts when it comes down [m]."""
    lab = module_lab
    lab.start_anew()
    stream(lab, palm(0.45, 0.0, 0.25), 1.0, 0.1)
    height = 0.25
    while lab.watch.counted('table') == 0 and height > 0.0:
        height = max(height - 0.005, 0.0)
        assert lab.send(palm(0.45, 0.0, height)).state == TRACKING
        lab.run(0.05)
    return float(lab.watch.status.palm_pose.position.z)


@pytest.mark.parametrize(
    ('speed', 'above', 'way'),
    [(0.0015, -0.004, 0.014), (0.01, 0.01, 0.03), (0.3, 0.04, 0.1)],
)
def test_the_palm_does_not_come_to_the_table(
    lab: Lab, table_height: float, speed: float, above: float, way: float
) -> None:
    """Also when it creeps, for the last of its way [m], at this speed [m/s]."""
    # The rule acts ahead of a palm that comes fast, so a slow one comes lower.
    height, period = table_height + above, 0.1
    stream(lab, palm(0.45, 0.0, height), 1.0, 0.1)
    lab.watch.count_from_here()
    lowest = max(height - way, 0.0)
    while height > lowest:
        height = max(height - speed * period, lowest)
        lab.send(palm(0.45, 0.0, height))
        lab.run(period)
    lab.run(0.3)
    assert lab.watch.counted('table') > 0


def test_the_hand_does_not_come_to_the_arm(lab: Lab) -> None:
    stream(lab, torques(5, -1.0), 1.5, 0.05)
    # By its distance, or before that by its speed.
    assert sum(lab.watch.counted(rule) for rule in ('self_collision', 'joint_velocity')) > 0


# Force of the fingers


def sustained(pressed: list[tuple[float, Array]], begin: float) -> Array:
    """Greatest force of each fingertip that lasts [N], shape (4,): the mean of 50 ms.

    A finger counts from 0.2 s after it touched, and after `begin` [s].
    """
    times = np.array([time for time, _ in pressed])
    forces = np.array([force for _, force in pressed])
    width = round(0.05 / float(np.median(np.diff(times))))
    greatest = np.zeros(4)
    for finger in range(4):
        touched = times[(times >= begin) & (forces[:, finger] > 0.0)]
        if touched.size:
            after = forces[times > touched[0] + 0.2, finger]
            means = np.convolve(after, np.full(width, 1.0 / width), 'valid')
            greatest[finger] = means.max()
    return greatest


@pytest.mark.parametrize('way', ['springs', 'forces and springs'])
def test_fingertips_keep_to_their_force_limit(lab: Lab, way: str) -> None:
    """The limit is of what motors press with, so in truth of what lasts.

    A finger that arrives has momentum, which no torque takes back before its peak has passed; and
    friction in the joints of both sides, 0.2 N each, presses without their motors.
    """
    can = load_object('can')
    pose = Pose(position=Point(x=CAN_PLACE[0], y=CAN_PLACE[1], z=can.rest_height))
    pose.orientation = Quaternion(**dict(zip('xyzw', can.rest_quaternion.tolist(), strict=True)))
    opened = GRASP.copy()
    opened[[8, 12, 21]] -= 0.2
    scene = {'object': 'can', 'object_pose': pose, 'use_object_pose': True, 'object_mass': 1.0}
    lab.reset(joint_position=opened.tolist(), **scene)
    limit = 2.0
    closing = ControllerTarget(source='test', hand_mode=JOINT, finger_force_limit=limit)
    closing.hand_position = GRASP[HAND].tolist()
    closing.hand_stiffness = [0.3] * N_HAND
    lab.send(closing)
    lab.run(1.0)
    beyond = GRASP[HAND].copy()
    beyond[[1, 5, 14]] += 0.6
    beyond = np.clip(beyond, LIMITS.lower[HAND], LIMITS.upper[HAND])
    target = ControllerTarget(source='test', hand_mode=JOINT, hand_position=beyond.tolist())
    target.hand_stiffness = [10.0] * N_HAND
    if way == 'forces and springs':
        target.hand_mode = FORCE
        for finger in (0, 1, 3):
            tip = FingertipTarget(finger=finger, frame_id='grip', force_axes=[True, False, False])
            tip.force.x = 1.01 * limit
            target.fingertips.append(tip)
        assert 'refused: ' in lab.send(target).reason
        for tip in target.fingertips:
            tip.force.x = limit
    begin = lab.watch.time
    assert lab.send(target).reason == ''
    lab.run(1.5)
    assert lab.watch.counted('finger_force') > 0
    forces = sustained(lab.watch.pressed, begin)
    assert forces.max() <= limit + 0.5
    assert forces[3] > 0.5 * limit


# Numbers


def test_what_is_no_number_is_refused_and_counted(lab: Lab) -> None:
    random = np.random.default_rng(1)
    posture = lab.watch.last.position.copy()
    for name in NUMBERS:
        for bad in BAD_NUMBERS:
            before = lab.watch.status
            status = lab.send(not_finite(name, bad, random))
            assert status.targets_refused == before.targets_refused + 1, name
            assert status.state == HOLDING
            assert 'refused: ' in status.reason
    assert lab.watch.counted('bad_target') == len(NUMBERS) * len(BAD_NUMBERS)
    np.testing.assert_allclose(lab.watch.last.position, posture, atol=0.02)


# Time


@pytest.mark.parametrize(
    ('fault', 'magnitude'),
    [(InjectFault.Request.FAULT_DROP_STATES, 1.0), (InjectFault.Request.FAULT_DELAY_STATES, 0.8)],
)
def test_a_state_that_is_stale_stops_it(lab: Lab, fault: int, magnitude: float) -> None:
    away = HOME.copy()
    away[0] += 0.4
    lab.send(ControllerTarget(source='test', arm_mode=JOINT, arm_position=away[ARM].tolist()))
    lab.run(0.2)
    lab.inject(fault, magnitude, duration=1.0)
    status = lab.wait_for_status(lambda s: s.state == STOPPED, 'the stop')
    assert 'no robot state for' in status.reason
    lab.run(0.2)
    assert lab.watch.counted('stale_state') > 0
    lab.trigger('recover')
    lab.wait_for_status(lambda s: s.state == HOLDING, 'the hold')


@pytest.mark.parametrize(('delay', 'stiffness'), [(0.01, 200.0), (0.006, 400.0)])
def test_commands_that_come_late_make_no_jump(lab: Lab, delay: float, stiffness: float) -> None:
    """By a delay [s] at which a palm of this stiffness [N/m] does not yet swing up."""
    lab.inject(InjectFault.Request.FAULT_DELAY_COMMANDS, delay)
    for y in (0.3, -0.3, 0.3):
        stiff = [stiffness] * 3 + [0.1 * stiffness] * 3
        target = palm(0.4, y, 0.4, arm_cartesian_stiffness=stiff)
        assert lab.send(target).reason == ''
        lab.run(0.3)
    assert lab.watch.counted('effort_rate') > 0


def expires(lab: Lab, sent: ControllerStatus, timeout: float) -> None:
    """It holds in time after the deadline, and stops in time after that."""
    deadline = seconds(sent.header.stamp) + timeout
    held = lab.wait_for_status(lambda s: 'has expired' in s.reason, 'the hold')
    assert held.state == HOLDING
    assert deadline - 1e-6 <= seconds(held.header.stamp) <= deadline + WITHIN
    stopped = lab.wait_for_status(lambda s: s.state == STOPPED, 'the stop')
    assert deadline + 0.5 - 1e-6 <= seconds(stopped.header.stamp) <= deadline + 0.5 + WITHIN
    lab.run(0.1)
    assert lab.watch.counted('stale_target') >= 2


def test_a_target_with_a_timeout_expires(lab: Lab) -> None:
    away = HOME[ARM] + 0.3
    target = ControllerTarget(source='test', arm_mode=JOINT, arm_position=away.tolist())
    target.timeout = 0.15
    sent = lab.send(target)
    expires(lab, sent, 0.15)
    still = lab.watch.last.position.copy()
    lab.run(0.5)
    np.testing.assert_allclose(lab.watch.last.position, still, atol=0.01)


def test_torques_expire_by_themselves(lab: Lab) -> None:
    expires(lab, lab.send(torques(0, 0.05)), 0.1)


def test_torques_expire_although_other_targets_come(lab: Lab) -> None:
    sent = lab.send(torques(0, 0.05))
    deadline = seconds(sent.header.stamp) + 0.1
    hand = ControllerTarget(source='test', hand_mode=JOINT, hand_position=HOME[HAND].tolist())
    while lab.watch.time < deadline + WITHIN:
        lab.send(hand)
        lab.run(0.01)
    lab.run(WITHIN)
    assert lab.watch.status.arm_mode != EFFORT
    lab.run(0.5)
    assert np.abs(lab.watch.last.velocity[ARM]).max() < 0.1
