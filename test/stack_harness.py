# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Starts our nodes as processes of their own, and speaks to them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import drex_ros

NODES = ('mock_hardware', 'hybrid_impedance_controller', 'system_monitor')


def node_command(
    name: str,
    *,
    namespace: str = '',
    params: Mapping[str, Any] | None = None,
    remaps: Mapping[str, str] | None = None,
) -> list[str]:
    """Command line of one node."""
    command = [sys.executable, '-m', f'drex_ros.nodes.{name}', '--ros-args']
    if namespace:
        command += ['-r', f'__ns:={namespace}']
    for key, value in (params or {}).items():
        command += ['-p', f'{key}:={value}']
    for key, value in (remaps or {}).items():
        command += ['-r', f'{key}:={value}']
    return command


def node_environment() -> dict[str, str]:
    """Environment in which a child finds the same drex_ros as this process."""
    folder = str(Path(drex_ros.__file__).resolve().parents[1])
    paths = [folder, os.environ.get('PYTHONPATH', '')]
    return {'PYTHONPATH': os.pathsep.join(path for path in paths if path)}
