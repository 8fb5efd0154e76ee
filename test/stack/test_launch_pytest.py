# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The launch file inside launch_pytest, where ROS's own launch system is installed.

The same scenario runs through `drex launch` everywhere: test_launch_files.py.
"""

import os

import launchers
import pytest

from drex_ros.launching.packages import package_share

launch_pytest = pytest.importorskip('launch_pytest', reason='launch_pytest is not installed here')


@launch_pytest.fixture
def stack():
    """drex.launch.yaml in a namespace."""
    from launch.actions import IncludeLaunchDescription
    from launch_pytest.actions import ReadyToTest
    from launch_yaml.launch_description_sources import YAMLLaunchDescriptionSource

    from launch import LaunchDescription

    file = package_share('drex_ros', os.environ) / 'launch/drex.launch.yaml'
    return LaunchDescription(
        [
            IncludeLaunchDescription(
                YAMLLaunchDescriptionSource(str(file)),
                launch_arguments={'namespace': 'tested', 'real_time_factor': '0.0'}.items(),
            ),
            ReadyToTest(),
        ]
    )


@pytest.mark.launch(fixture=stack)
def test_stack_gets_well(ros):
    """All nodes come up and answer each other."""
    status = launchers.wait_until_well(ros, '/tested')
    expected = {'/tested/mock_hardware', '/tested/hybrid_impedance_controller'}
    assert expected <= {node.name for node in status.nodes}
