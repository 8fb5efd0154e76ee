# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Start the project's launch files with `drex launch` or `ros2 launch`, and look at the graph."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python
from ros_harness import NodeProcess

from drex_interfaces.msg import SystemStatus
from drex_ros.nodes.conversions import LATCHED

_PACKAGES = ('launch', 'launch_ros', 'launch_yaml', 'ros2launch')
ROS2_LAUNCH = shutil.which('ros2') is not None and all(map(importlib.util.find_spec, _PACKAGES))
LAUNCHERS = {
    'drex': [sys.executable, '-m', 'drex_ros.launching', '--native'],
    'ros2': ['ros2', 'launch', 'drex_ros'],
}


def launch_command(launcher: str, *words: str) -> list[str]:
    """Command line of a launcher for drex.launch.yaml with `name:=value` words."""
    return [*LAUNCHERS[launcher], 'drex.launch.yaml', *words]


def wait_until_well(ros: Any, namespace: str = '') -> SystemStatus:
    """Wait until system/status says that every node is well."""
    statuses = ros.collect(SystemStatus, f'{namespace}/system/status', LATCHED)
    try:
        ros.spin_until(lambda: statuses and statuses[-1].level == SystemStatus.LEVEL_OK)
    except AssertionError as error:
        last = statuses[-1].message if statuses else 'no system/status'
        raise AssertionError(f'the stack did not get well: {last}') from error
    return statuses[-1]


def pids(process: NodeProcess) -> dict[str, list[int]]:
    """Process numbers of each node that the launcher has started so far, oldest first."""
    found: dict[str, list[int]] = {}
    for line in process.lines:
        match = re.search(r'\[(\w+)-\d+\]: process started with pid \[(\d+)\]', line.text)
        if match:
            found.setdefault(match[1], []).append(int(match[2]))
    return found


def graph(ros: Any, namespace: str) -> dict[str, dict[str, Any]]:
    """What each node of a namespace is: its topics, services and parameter values."""
    node = ros.node
    result: dict[str, dict[str, Any]] = {}
    for name, where in node.get_node_names_and_namespaces():
        if name == node.get_name():
            continue
        full = f'{where.rstrip("/")}/{name}'
        result[full] = {
            'publishes': dict(node.get_publisher_names_and_types_by_node(name, where)),
            'subscribes': dict(node.get_subscriber_names_and_types_by_node(name, where)),
            'serves': dict(node.get_service_names_and_types_by_node(name, where)),
            'parameters': parameters(ros, full) if where == namespace else {},
        }
    return result


def parameters(ros: Any, node: str) -> dict[str, Any]:
    """Values of all parameters of a node."""
    request = ListParameters.Request(depth=ListParameters.Request.DEPTH_RECURSIVE)
    names = sorted(ros.call(ListParameters, f'{node}/list_parameters', request).result.names)
    values = ros.call(GetParameters, f'{node}/get_parameters', GetParameters.Request(names=names))
    return {
        name: _plain(parameter_value_to_python(value))
        for name, value in zip(names, values.values, strict=True)
    }


def _plain(value: Any) -> Any:
    return list(value) if hasattr(value, '__len__') and not isinstance(value, str) else value
