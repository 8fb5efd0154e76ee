# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The launch files with the real nodes, under both launchers where both are installed."""

import os
import subprocess
import time

import launchers
import pytest
from ros_client import RosClient
from ros_harness import kill_process

from drex_ros.launching.packages import package_share

NODES = (
    'mock_hardware',
    'mock_camera',
    'hybrid_impedance_controller',
    'pose_tracker',
    'system_monitor',
)
needs_ros2_launch = pytest.mark.skipif(
    not launchers.ROS2_LAUNCH, reason='ros2 launch is not installed here'
)
both = pytest.mark.parametrize(
    'launcher', ['drex', pytest.param('ros2', marks=needs_ros2_launch)]
)


def live_graph(launcher, start, words, namespace, nodes=NODES):
    process = start(launchers.launch_command(launcher, *words))
    # A client of its own for each launch: it has never heard of the nodes of the one before.
    with RosClient() as ros:
        launchers.wait_until_well(ros, namespace.rstrip('/'))
        ros.spin_until(
            lambda: len(launchers.graph(ros, '-')) == len(nodes), what=f'a graph of {nodes}'
        )
        found = launchers.graph(ros, namespace)
    process.terminate()
    return found


@both
def test_whole_stack_in_a_namespace(launcher, start):
    """Names, namespace and parameters of the command line reach the nodes."""
    words = ['namespace:=lab', 'real_time_factor:=0.5', 'log_level:=warn', 'object:=can']
    found = live_graph(launcher, start, words, '/lab')
    assert set(found) == {f'/lab/{name}' for name in NODES}
    assert found['/lab/mock_hardware']['parameters']['real_time_factor'] == 0.5
    assert found['/lab/hybrid_impedance_controller']['parameters']['use_sim_time'] is True
    assert found['/lab/mock_hardware']['parameters']['use_sim_time'] is False
    assert found['/lab/mock_hardware']['parameters']['object'] == 'can'
    assert found['/lab/mock_camera']['parameters']['use_sim_time'] is True
    assert '/lab/mock/scene' in found['/lab/mock_camera']['subscribes']
    assert '/lab/camera/color/image_raw' in found['/lab/mock_camera']['publishes']
    assert '/lab/robot/state' in found['/lab/mock_hardware']['publishes']
    assert '/lab/robot/state' in found['/lab/hybrid_impedance_controller']['subscribes']
    assert '/diagnostics' in found['/lab/system_monitor']['subscribes']
    assert found['/lab/pose_tracker']['parameters']['object'] == 'can'
    assert found['/lab/pose_tracker']['parameters']['use_sim_time'] is True
    assert '/lab/camera/color/image_raw' in found['/lab/pose_tracker']['subscribes']
    assert '/lab/object/track' in found['/lab/pose_tracker']['publishes']
    assert '/lab/tracker/detect' in found['/lab/pose_tracker']['serves']


@both
def test_left_hand_and_no_camera(launcher, start):
    nodes = [name for name in NODES if name not in ('mock_camera', 'pose_tracker')]
    found = live_graph(launcher, start, ['hand:=left', 'camera:=false'], '/', nodes)
    assert set(found) == {f'/{name}' for name in nodes}
    assert found['/mock_hardware']['parameters']['hand'] == 'left'
    assert found['/hybrid_impedance_controller']['parameters']['hand'] == 'left'
    expected = found['/system_monitor']['parameters']['expected_nodes']
    assert list(expected) == ['mock_hardware', 'hybrid_impedance_controller']


def test_the_tracker_can_be_left_out(start):
    nodes = [name for name in NODES if name != 'pose_tracker']
    found = live_graph('drex', start, ['tracker:=false'], '/', nodes)
    assert set(found) == {f'/{name}' for name in nodes}
    assert 'pose_tracker' not in found['/system_monitor']['parameters']['expected_nodes']


@needs_ros2_launch
@pytest.mark.parametrize('words', [[], ['namespace:=a/b', 'real_time_factor:=0.0']])
def test_both_launchers_make_the_same_graph(words, start):
    namespace = '/a/b' if words else '/'
    graphs = [live_graph(each, start, words, namespace) for each in ('drex', 'ros2')]
    assert graphs[0] == graphs[1]


@both
def test_all_but_the_robot_come_back(launcher, start, ros):
    """What is set to respawn comes back after kill -9, and stays."""
    process = start(launchers.launch_command(launcher))
    launchers.wait_until_well(ros)
    for name in ('mock_camera', 'hybrid_impedance_controller', 'pose_tracker', 'system_monitor'):
        kill_process(launchers.pids(process)[name][-1])
        ros.spin_until(lambda: len(launchers.pids(process)[name]) == 2, what=f'a second {name}')  # noqa: B023
        process.wait_for_line(rf'\[{name}-\d+\].*died')
    ros.spin_until(lambda: len(launchers.graph(ros, '-')) == len(NODES), what='every node')
    # Not that they hear each other again: after a kill -9 that has been seen to fail in DDS.
    for started in launchers.pids(process).values():
        os.kill(started[-1], 0)


@both
def test_death_of_the_robot_ends_the_stack(launcher, start, ros):
    """The robot is required: its kill -9 brings the rest down in order within 10 s."""
    process = start(launchers.launch_command(launcher))
    launchers.wait_until_well(ros)
    killed = time.monotonic()
    kill_process(launchers.pids(process)['mock_hardware'][-1])
    code = process.wait(timeout=10.0)
    # ros2 launch of Jazzy reports success whatever its processes did.
    assert code == (137 if launcher == 'drex' else 0)
    for name in ('hybrid_impedance_controller', 'system_monitor'):
        process.wait_for_line(rf'\[{name}-\d+\]: process has finished cleanly')
    assert time.monotonic() - killed < 10.0


@both
def test_end_by_interrupt_is_clean(launcher, start, ros):
    process = start(launchers.launch_command(launcher))
    launchers.wait_until_well(ros)
    assert process.terminate() == 0
    for name in NODES:
        process.wait_for_line(rf'\[{name}-\d+\]: process has finished cleanly')


@pytest.mark.parametrize(
    ('word', 'message'),
    [
        ('real_time_factor:=-1.0', "parameter 'real_time_factor'.*-1.*0.*100"),
        ('real_time_factor:=fast', "parameter 'real_time_factor'.*fast"),
    ],
)
def test_wrong_parameter_of_the_robot(word, message, start):
    """One readable line from the node, everything down, and its exit code."""
    process = start(launchers.launch_command('drex', word))
    assert process.wait() == 2
    process.wait_for_line(message)
    assert 'Traceback' not in process.output


def test_unknown_parameter_in_a_config_file(start, tmp_path):
    """A typing error in the user's own parameter file is named."""
    for path in (package_share('drex_ros', os.environ) / 'config').glob('*.yaml'):
        (tmp_path / path.name).write_text(path.read_text())
    file = tmp_path / 'mock_hardware.yaml'
    file.write_text(file.read_text().replace('control_rate', 'controll_rate'))
    process = start(launchers.launch_command('drex', f'config:={tmp_path}'))
    assert process.wait() == 2
    process.wait_for_line('controll_rate.*control_rate')


def test_real_robot_is_refused_with_the_reason(start):
    process = start(launchers.launch_command('drex', 'mock_hardware:=false'))
    assert process.wait() == 1
    process.wait_for_line('no driver for the real robot')
    assert not {'mock_hardware', 'hybrid_impedance_controller'} & set(launchers.pids(process))


@pytest.mark.parametrize(
    'name', ['drex', 'robot', 'perception', 'twin', 'policy']
)
def test_show_args(name):
    """Every file shows its arguments, each with a description."""
    command = [*launchers.LAUNCHERS['drex'], f'{name}.launch.yaml', '--show-args']
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "'object'" in result.stdout or "'mock_hardware'" in result.stdout
    assert 'no description' not in result.stdout.lower()
