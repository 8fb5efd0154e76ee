# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node base, driven through real processes of the example node."""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ros_harness import NodeProcess
from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

SCRIPT = [sys.executable, Path(__file__).with_name('example_node.py')]
EXAMPLE = [*SCRIPT, '--ros-args']
LOOP = [*SCRIPT, 'loop', '--ros-args']
BOTH_SIGNALS = pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
ALL_SIGNALS = pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
ALL_HOOKS = ['configure', 'activate', 'deactivate', 'cleanup']

Start = Callable[..., NodeProcess]


def parameters(**values: str) -> list[str]:
    return [part for name, value in values.items() for part in ('-p', f'{name}:={value}')]


@ALL_SIGNALS
def test_a_node_starts_works_and_stops_clean(start: Start, ros: Any, number: int) -> None:
    words = ros.collect(String, '/words')
    outputs = ros.collect(Float64, '/output')
    node = start([*EXAMPLE, *parameters(gain='3')])
    node.wait_for_line('^activate$')
    publisher = ros.publisher(Float64, '/input')

    def answered() -> bool:
        publisher.publish(Float64(data=2.0))
        return bool(outputs)

    ros.spin_until(answered, what='an output')
    assert outputs[0].data == 6.0
    ros.spin_until(lambda: ros.node.count_publishers('/words'), what='the words')
    assert ros.state('/example') == 'active'
    assert node.terminate(number) == 0
    assert node.stdout == ALL_HOOKS
    assert node.stderr == []
    ros.spin_until(lambda: any(w.data == 'deactivated' for w in words), what='the last word')


@pytest.mark.parametrize(
    ('arguments', 'line'),
    [
        (['-p', 'rate:=fast'], "parameter 'rate' [Hz]: given 'fast', must be a number from 1 to"),
        (['-p', 'rate:=5000'], "parameter 'rate' [Hz]: given 5000, must be a number from 1 to"),
        (['-p', 'rate:=.nan'], "parameter 'rate' [Hz]: given nan, must be finite"),
        (['-p', 'count:=1.5'], "parameter 'count': given 1.5, must be a whole number from 0 to"),
        (['-p', 'mode:=odd'], "parameter 'mode': given 'odd', must be one of plain, fancy"),
        (['-p', 'raet:=5'], "parameter 'raet': unknown, did you mean 'rate'? This node has: arm"),
        (['-p', 'autostart:=3'], "parameter 'autostart': given 3, must be true or false"),
        (['-p', 'use_sim_time:=3'], "parameter 'use_sim_time': given 3, must be true or false"),
        (['-p', 'refuse:=configure'], 'configure refused, as asked by parameter refuse'),
        (['-p', 'refuse:=activate'], 'activate refused, as asked by parameter refuse'),
        (['-p', 'rate'], "argument '-p rate': must be NAME:=VALUE, the value in YAML"),
        (['-p', 'rate:=[1'], "argument '-p rate:=[1': must be NAME:=VALUE, the value in YAML"),
        (['--nonsense'], 'unknown ROS arguments: --nonsense'),
        (['--', 'rate:=5'], "unknown argument 'rate:=5': arguments of ROS follow --ros-args"),
        (['--params-file', 'missing.yaml'], "parameter file 'missing.yaml': cannot be opened"),
        (['--params-file', 'broken.yaml'], "parameter file 'broken.yaml': "),
        (['--params-file', 'mixed.yaml'], "parameter file 'mixed.yaml': "),
        (['--params-file', 'range.yaml'], "parameter 'arm.stiffness' [N m/rad]: given [1.0, 2.0"),
    ],
)
def test_what_is_wrong_is_one_line(
    start: Start, tmp_path: Path, arguments: list[str], line: str
) -> None:
    (tmp_path / 'broken.yaml').write_text('example:\n  ros__parameters:\n    rate: : [\n')
    (tmp_path / 'mixed.yaml').write_text('/**:\n  ros__parameters:\n    rate: [1, a]\n')
    (tmp_path / 'range.yaml').write_text(
        '/**:\n  ros__parameters:\n    arm:\n      stiffness: [1.0, 2.0, 200.0]\n'
    )
    node = start([*EXAMPLE, *arguments], cwd=tmp_path)
    assert node.wait() == 2, node.output
    assert len(node.stderr) == 1, node.output
    assert node.stderr[0].startswith(f'example: {line}')


def test_parameters_come_from_a_file(start: Start, ros: Any, tmp_path: Path) -> None:
    file = tmp_path / 'example.yaml'
    file.write_text(
        '/**:\n  ros__parameters:\n    rate: 20\n    arm:\n      stiffness: [1, 2, 3]\n'
        '    names: [ann, bob]\n'
    )
    node = start([*EXAMPLE, '--params-file', file, '-r', '__node:=other'])
    node.wait_for_line('^activate$')
    assert ros.get_parameter('/other', 'rate') == 20.0
    assert list(ros.get_parameter('/other', 'arm.stiffness')) == [1.0, 2.0, 3.0]
    assert ros.call(Trigger, '/greet').message == 'hello ann, bob'


def test_parameters_are_checked_when_set(start: Start, ros: Any) -> None:
    node = start(EXAMPLE)
    node.wait_for_line('^activate$')
    result = ros.set_parameter('/example', 'gain', 5)
    assert result.successful, result.reason
    node.wait_for_line(r'^changed gain=5\.0$')
    result = ros.set_parameter('/example', 'gain', 50.0)
    assert (result.successful, result.reason) == (
        False,
        "parameter 'gain': given 50.0, must be a number from -10 to 10",
    )
    assert not ros.set_parameter('/example', 'seed', 1).successful
    assert not ros.set_parameter('/example', 'nonsense', 1).successful
    assert ros.get_parameter('/example', 'gain') == 5.0
    assert ros.describe_parameter('/example', 'rate').description == 'ticks per second [Hz]'


# Signals


@BOTH_SIGNALS
@pytest.mark.parametrize('delay', [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6])
def test_a_signal_at_any_moment_of_the_start(start: Start, number: int, delay: float) -> None:
    # As an installed entry point does: our package first, then the module with its imports.
    loader = 'import runpy, sys, drex_ros.nodes; print("loading", flush=True); '
    loader += f'runpy.run_path({str(SCRIPT[1])!r}, run_name="__main__")'
    node = start([sys.executable, '-c', loader, '--ros-args'])
    node.wait_for_line('^loading$')
    time.sleep(delay)
    # Before `run` has the signals, there is nothing to tidy up and the signal ends the process.
    assert node.terminate(number) in (0, -number), node.output
    assert node.stderr == []
    assert ('activate' in node.stdout) == ('deactivate' in node.stdout)
    assert ('configure' in node.stdout) == ('cleanup' in node.stdout)


@BOTH_SIGNALS
def test_a_signal_during_configure(start: Start, number: int) -> None:
    node = start([*EXAMPLE, *parameters(configure_time='0.5')])
    node.wait_for_line('^configure$')
    assert node.terminate(number) == 0
    assert node.stdout == ['configure', 'cleanup']
    assert node.stderr == []


def test_more_than_one_signal(start: Start) -> None:
    node = start(EXAMPLE)
    node.wait_for_line('^activate$')
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
        node.send_signal(number)
    while node.running:
        node.send_signal(signal.SIGTERM)
        time.sleep(0.01)
    assert node.wait() == 0, node.output
    assert node.stdout == ALL_HOOKS
    assert node.stderr == []


def test_a_service_is_answered_before_the_node_stops(start: Start, ros: Any) -> None:
    node = start(EXAMPLE)
    node.wait_for_line('^activate$')
    client = ros.node.create_client(Trigger, '/greet')
    ros.spin_until(client.service_is_ready, what='service /greet')
    future = client.call_async(Trigger.Request())
    node.wait_for_line('^greeting$')
    node.send_signal(signal.SIGINT)
    ros.spin_until(future.done, what='the answer')
    assert future.result().success
    assert node.wait() == 0
    assert node.stderr == []


def test_a_late_second_signal_ends_a_node_that_hangs(start: Start) -> None:
    node = start([*EXAMPLE, *parameters(configure_time='60')])
    node.wait_for_line('^configure$')
    node.send_signal(signal.SIGINT)
    time.sleep(3.2)
    assert node.running
    assert node.terminate(signal.SIGTERM) == 1
    assert node.stderr == ['example: did not stop within 3 s, ended by SIGTERM']


# Crashes


@pytest.mark.parametrize(
    ('place', 'hooks'),
    [
        ('configure', ['configure']),
        ('activate', ALL_HOOKS),
        ('timer', ALL_HOOKS),
        ('deactivate', ALL_HOOKS),
        ('cleanup', ALL_HOOKS),
    ],
)
def test_a_crash_ends_the_node_with_its_traceback(
    start: Start, place: str, hooks: list[str]
) -> None:
    node = start([*EXAMPLE, *parameters(crash=place)])
    if place in ('deactivate', 'cleanup'):
        node.wait_for_line('^activate$')
        node.send_signal(signal.SIGINT)
    assert node.wait() == 1, node.output
    assert node.stdout == hooks
    assert node.stderr[-1] == f'ZeroDivisionError: broken in {place}'
    assert sum(line.startswith('Traceback') for line in node.stderr) == 1


def test_a_crash_in_a_subscription(start: Start, ros: Any) -> None:
    node = start([*EXAMPLE, *parameters(crash='callback')])
    node.wait_for_line('^activate$')
    ros.publisher(Float64, '/input').publish(Float64(data=1.0))
    assert node.wait() == 1, node.output
    assert node.stdout == ALL_HOOKS
    assert node.stderr[-1] == 'ZeroDivisionError: broken in callback'


# Lifecycle driven from outside


def test_a_node_that_does_not_start_by_itself(start: Start, ros: Any) -> None:
    node = start([*EXAMPLE, *parameters(autostart='false', refuse='configure')])
    ros.wait_for_state('/example', 'unconfigured')
    assert node.stdout == []

    assert not ros.change_state('/example', 'activate')
    node.wait_for_line('transition .* refused: the node is unconfigured')
    assert not ros.change_state('/example', 'no_such_transition')
    assert not ros.change_state('/example', 'configure')
    node.wait_for_line('configure refused, as asked by parameter refuse')
    assert ros.state('/example') == 'unconfigured'
    assert ros.node.count_subscribers('/input') == 0

    assert ros.set_parameter('/example', 'refuse', 'activate').successful
    assert ros.change_state('/example', 'configure')
    assert not ros.change_state('/example', 'activate')
    assert ros.state('/example') == 'inactive'
    assert ros.set_parameter('/example', 'refuse', '').successful

    outputs = ros.collect(Float64, '/output')
    publisher = ros.publisher(Float64, '/input')
    publisher.publish(Float64(data=1.0))
    ros.spin(0.3)
    assert outputs == []
    assert ros.change_state('/example', 'activate')

    def answered() -> bool:
        publisher.publish(Float64(data=1.0))
        return bool(outputs)

    ros.spin_until(answered, what='an output of the active node')
    assert ros.change_state('/example', 'deactivate')
    ros.spin(0.2)
    count = len(outputs)
    publisher.publish(Float64(data=1.0))
    ros.spin(0.3)
    assert len(outputs) == count

    assert ros.change_state('/example', 'cleanup')
    ros.spin_until(
        lambda: ros.node.count_subscribers('/input') == 0, what='the subscription to be gone'
    )
    assert ros.change_state('/example', 'configure')
    assert ros.change_state('/example', 'activate')
    assert ros.state('/example') == 'active'
    assert ros.change_state('/example', 'shutdown')
    assert node.wait() == 0
    assert node.stdout[-2:] == ['deactivate', 'cleanup']


# A loop of the node's own


@BOTH_SIGNALS
def test_a_loop_steps_and_everything_else_is_served(start: Start, ros: Any, number: int) -> None:
    answers = ros.collect(Float64, '/answer')
    node = start([*LOOP, '-p', 'diagnostics_period:=0.2'])
    node.wait_for_line('^activate$')
    last = ros.diagnostics()
    publisher = ros.publisher(Float64, '/question')
    ros.spin_until(lambda: ros.node.count_publishers('/answer'), what='the answers')

    def answered() -> bool:
        publisher.publish(Float64(data=1.0))
        return bool(answers)

    ros.spin_until(answered, what='an answer')
    assert answers[0].data == 2.0
    assert ros.set_parameter('/loop', 'offset', 10).successful
    ros.spin(0.1)
    answers.clear()
    ros.spin_until(answered, what='an answer')
    assert answers[-1].data == 11.0
    before = int(ros.call(Trigger, '/count').message)
    assert int(ros.call(Trigger, '/count').message) > before
    ros.spin_until(lambda: '/loop: question' in last, what='diagnostics')

    assert ros.change_state('/loop', 'deactivate')
    paused = int(ros.call(Trigger, '/count').message)
    ros.spin(0.2)
    assert int(ros.call(Trigger, '/count').message) == paused
    assert ros.change_state('/loop', 'activate')
    ros.spin_until(lambda: int(ros.call(Trigger, '/count').message) > paused, what='more steps')
    assert node.terminate(number) == 0
    assert node.stdout == ['activate', 'deactivate', 'activate', 'deactivate']
    assert node.stderr == []
