# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a launch file comes to: the processes to run, before any of them is started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

# Seconds that a process has after SIGINT, and after SIGTERM, before the next stronger signal.
# A launch file or the command line changes them by variables of these names.
TIMEOUTS = {'sigterm_timeout': 4.0, 'sigkill_timeout': 3.0}

OUTPUTS = ('both', 'log', 'screen')


@dataclass(frozen=True)
class Process:
    """One process to run; times in seconds."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    where: str
    cwd: str | None = None
    output: str = 'log'
    required: bool = False
    respawn: bool = False
    respawn_delay: float = 0.0
    respawn_max_retries: int = -1
    sigterm_timeout: float = TIMEOUTS['sigterm_timeout']
    sigkill_timeout: float = TIMEOUTS['sigkill_timeout']
    node: str | None = None


@dataclass
class Plan:
    """Processes in start order, and what the launch file has to say."""

    processes: list[Process] = field(default_factory=list)
    messages: list[tuple[str, str, str]] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    shutdown: str | None = None


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a child process."""
    result = dict(environment)
    # Prints of Python nodes must come line by line although they go through a pipe.
    result.setdefault('PYTHONUNBUFFERED', '1')
    # ROS from PyPI marks an environment whose library path it has completed; with another
    # library path the mark is a lie and the node would not find its libraries.
    if result.get('LD_LIBRARY_PATH') != os.environ.get('LD_LIBRARY_PATH'):
        result.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
    return result
