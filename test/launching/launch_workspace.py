# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A throw-away ROS package with small executables, and launches of it as real processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import drex_ros

PATIENCE = 30.0  # s; far more than anything here takes, also on a busy machine
PACKAGE = 'demo_pkg'

# Arguments that ROS gives to every node are not for these.
EXECUTABLES = {
    # Sleeps until it is ended.
    'sleeper': 'exec sleep 300',
    # Ignores everything but SIGKILL; its sleeps die with the group, so it starts new ones.
    'stubborn': "trap '' INT TERM\necho ready\nwhile :; do sleep 0.2; done",
    # Starts a process of its own, which outlives it.
    'parent': 'sleep 300 &\necho "child $!"\nwait',
    # Ends with the exit code it is given first.
    'quitter': 'exit $1',
    'speaker': 'echo to stdout\necho to stderr >&2\nprintf unfinished',
    'unstartable': None,
}


class Launch:
    """A running launch, with what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes], printed: Path) -> None:
        self.process = process
        self._printed = printed

    @property
    def text(self) -> str:
        """All that has been printed."""
        return self._printed.read_text(encoding='utf-8')

    def wait_for(self, pattern: str, count: int = 1) -> list[str]:
        """Wait until a pattern has been printed `count` times; return its matches."""

        def found() -> list[str]:
            return re.findall(pattern, self.text)

        wait_until(lambda: len(found()) >= count or self.process.poll() is not None)
        assert len(found()) >= count, f'{pattern!r} {count} times in:\n{self.text}'
        return found()

    def pids(self, name: str, count: int = 1) -> list[int]:
        """Wait until process `name` has been started `count` times; return the pids."""
        pattern = rf'\[{name}\]: process started with pid \[(\d+)\]'
        return [int(pid) for pid in self.wait_for(pattern, count)]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the launch itself."""
        self.process.send_signal(number)

    def exit_code(self) -> int:
        """Wait for the end."""
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail(f'the launch did not end:\n{self.text}')


class Workspace:
    """A folder with an install prefix and launch files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.prefix = folder / 'prefix'
        index = self.prefix / 'share/ament_index/resource_index/packages'
        index.mkdir(parents=True)
        (index / PACKAGE).touch()
        (self.prefix / 'share' / PACKAGE).mkdir()
        for name, body in EXECUTABLES.items():
            self.executable(name, f'#!/bin/sh\n{body}\n' if body else '#!/no/such/interpreter\n')
        self.environment = {
            **os.environ,
            'AMENT_PREFIX_PATH': os.pathsep.join(
                filter(None, [str(self.prefix), os.environ.get('AMENT_PREFIX_PATH')])
            ),
            'PYTHONPATH': os.pathsep.join(
                filter(
                    None, [str(Path(drex_ros.__file__).parents[1]), os.environ.get('PYTHONPATH')]
                )
            ),
            'ROS_LOG_DIR': str(folder / 'log'),
            'TMPDIR': str(folder / 'tmp'),
            'DREX_LAUNCH_NATIVE': '1',
        }
        (folder / 'tmp').mkdir()
        self._launches: list[Launch] = []

    def executable(self, name: str, text: str) -> Path:
        """Add an executable to the package."""
        return self.write(self.prefix / 'lib' / PACKAGE / name, text, mode=0o755)

    def write(self, name: str | Path, text: str, mode: int = 0o644) -> Path:
        """Write a file of the workspace."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding='utf-8')
        file.chmod(mode)
        return file

    def start(self, text: str, *arguments: str) -> Launch:
        """Start a launch of a file with this text."""
        file = self.write('started.launch.yaml', text)
        printed = self.folder / f'printed_{len(self._launches)}'
        with printed.open('wb') as stream:
            process = subprocess.Popen(
                [sys.executable, '-m', 'drex_ros.launching', str(file), *arguments],
                stdout=stream,
                stderr=subprocess.STDOUT,
                env=self.environment,
                cwd=self.folder,
            )
        launch = Launch(process, printed)
        self._launches.append(launch)
        return launch

    def end(self) -> None:
        """End what a failed test has left."""
        for launch in self._launches:
            if launch.process.poll() is None:
                launch.process.terminate()
                launch.process.wait(PATIENCE)


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, at most PATIENCE; the caller asserts it."""
    deadline = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Say whether a process exists and is no zombie."""
    try:
        state = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != 'Z'
