# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Run ROS 2 YAML launch files on machines that have no ROS 2 launch system.

The part of the format that is understood, and what it means, is in `docs/launch.md`.
"""

from drex_ros.launching.errors import LaunchError
from drex_ros.launching.runner import (
    hand_over,
    launch_files,
    resolve_launch_file,
    run,
    should_hand_over,
)

__all__ = [
    'LaunchError',
    'hand_over',
    'launch_files',
    'resolve_launch_file',
    'run',
    'should_hand_over',
]
