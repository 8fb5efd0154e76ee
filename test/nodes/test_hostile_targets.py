# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random hostile targets, and sources that fight for the robot: no limit is ever passed."""

from collections.abc import Callable
from typing import Any

import pytest
from hostile import Assault
from ros_harness import NodeProcess
from safety_lab import CONTROLLER, Lab
from stack_harness import node_command, node_environment

from drex_interfaces.msg import ControllerStatus, ControllerTarget
from drex_ros.robot.joints import ARM, HOME

JOINT = ControllerTarget.MODE_JOINT_IMPEDANCE
COUNT = 300


@pytest.mark.parametrize('thing', ['', 'can'])
def test_no_hostile_target_breaks_a_limit(lab: Lab, thing: str) -> None:
    assault = Assault(lab, seed=7)
    assault.place(thing)
    assault.run(COUNT)
    status = lab.watch.status
    print(assault.table())
    assert assault.problems == []
    assert assault.accepted + assault.refused == COUNT
    assert status.targets_accepted + status.targets_refused == lab.sent
    assert min(assault.accepted, assault.refused) > COUNT // 20
    assert lab.watch.truths > 100


def aim(source: str, turn: float = 0.1) -> ControllerTarget:
    arm = HOME[ARM].copy()
    arm[6] += turn
    return ControllerTarget(source=source, arm_mode=JOINT, arm_position=arm.tolist())


def test_a_second_source_is_refused_named_and_waits(lab: Lab) -> None:
    assert lab.send(aim('first')).source == 'first'
    status = lab.send(aim('second', -0.5))
    assert status.source == 'first'
    assert "target of 'second' refused: 'first' commands" in status.reason
    assert lab.watch.counted('second_source') == 1
    lab.run(0.3)
    # Each word of the first keeps the second out.
    lab.send(aim('first'))
    lab.run(0.3)
    assert lab.send(aim('second', -0.5)).source == 'first'
    lab.run(0.6)
    status = lab.send(aim('second'))
    assert (status.source, status.reason) == ('second', '')
    assert status.state == ControllerStatus.STATE_TRACKING


def test_the_second_publisher_of_one_name_is_refused_and_named(lab: Lab) -> None:
    other = lab.ros.node.create_publisher(ControllerTarget, 'controller/target', 10)
    lab.wait(other.get_subscription_count, 'the second publisher')
    for _ in range(3):
        lab.send(aim('twin', 0.6))  # it has counted further than the other, by what came before
    before = lab.watch.status
    other.publish(aim('twin', -0.6))
    lab.sent += 1
    status = lab.wait_for_status(
        lambda s: s.targets_refused > before.targets_refused, 'the refusal'
    )
    assert 'another publisher sends under this name; they are: ' in status.reason
    assert lab.ros.node.get_name() in status.reason
    assert status.targets_accepted == before.targets_accepted


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('effort_share', 1.5),
        ('finger_force_limit', 100.0),
        ('speed', 2.0),
        ('arm_stiffness', [5000.0] * 7),
        ('hand_stiffness', [50.0] * 16),
        ('arm_cartesian_stiffness', [1e6] * 6),
        ('damping_ratio', 0.0),
    ],
)
def test_no_parameter_is_above_the_robot(
    start: Callable[..., NodeProcess], name: str, value: Any
) -> None:
    process = start(node_command(CONTROLLER, params={name: value}), env=node_environment())
    assert process.wait(120.0) == 2
    process.wait_for_line(name)


def test_limits_stay_while_it_runs(lab: Lab) -> None:
    name = f'/{CONTROLLER}'
    for parameter, value in (('finger_force_limit', 15.0), ('effort_share', 0.5)):
        before = lab.ros.get_parameter(name, parameter)
        assert not lab.ros.set_parameter(name, parameter, value).successful
        assert lab.ros.get_parameter(name, parameter) == before
    status = lab.send(ControllerTarget(source='test', finger_force_limit=10.5))
    assert 'finger_force_limit is 10.5 N, must be above 0 and at most 10 N' in status.reason
    assert lab.send(ControllerTarget(source='test', finger_force_limit=3.0)).reason == ''
    # It was lowered, so it can be raised again, but never above what it was.
    assert lab.send(ControllerTarget(source='test', finger_force_limit=10.0)).reason == ''
    assert lab.watch.status.finger_force_limit == 10.0


def test_every_intervention_is_on_diagnostics(lab: Lab) -> None:
    diagnostics = lab.ros.diagnostics()
    lab.send(ControllerTarget(source='test', finger_force_limit=-1.0))
    lab.send(aim('first'))
    lab.send(aim('second'))
    counts = {each.rule: each.count for each in lab.watch.status.interventions}
    assert min(lab.watch.counted(rule) for rule in ('bad_target', 'second_source')) == 1

    def told() -> Any:
        lab.ros.executor.spin_once(timeout_sec=0.0)
        for each in diagnostics.values():
            values = {value.key: value.value for value in each.values}
            if values.get('second_source', '').startswith(f'{counts["second_source"]} '):
                return values
        return None

    values = lab.wait(told, 'the diagnostics')
    told_first = f"{counts['bad_target']} target of 'test' refused: finger_force_limit"
    assert values['bad_target'].startswith(told_first)
    assert "'first' commands" in values['second_source']
    assert set(counts) <= set(values)
