# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Real node processes for tests; `ros_session` has their domain, `ros_client` talks to them."""

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from ros_session import (
    TIMEOUT,
    Leftovers,
    kill_process,
    mapped_segments,
    note_killed,
    note_segments,
    process_group,
    remove_killed_segments,
    session_environment,
    session_processes,
    wait_until,
)

from drex_ros.domain import Domain

__all__ = [
    'TIMEOUT',
    'Domain',
    'Leftovers',
    'Line',
    'NodeProcess',
    'kill_process',
    'mapped_segments',
    'process_group',
    'remove_killed_segments',
    'session_environment',
    'session_processes',
    'wait_until',
]

_BOOTSTRAP_MARK = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


@dataclass(frozen=True)
class Line:
    """A line that a process wrote: when [s, monotonic], on 'stdout' or 'stderr', what."""

    time: float
    stream: str
    text: str


class NodeProcess:
    """A real process in a process group of its own, with its output.

    As a context manager it ends the process with SIGINT, and fails when that needs force or when
    a child of it lives on.
    """

    def __init__(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        self.command = [os.fspath(part) for part in command]
        environment = {**os.environ, **(env or {})}
        # A changed library path with this mark keeps ROS wheels from finding their libraries.
        environment.pop(_BOOTSTRAP_MARK, None)
        self.lines: list[Line] = []
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.command,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors='replace',
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=self._read, args=(name,), daemon=True)
            for name in ('stdout', 'stderr')
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: str) -> None:
        for text in getattr(self.process, stream):
            self.lines.append(Line(time.monotonic(), stream, text.rstrip('\n')))

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    @property
    def returncode(self) -> int | None:
        return self.process.poll()

    @property
    def stdout(self) -> list[str]:
        return [line.text for line in self.lines if line.stream == 'stdout']

    @property
    def stderr(self) -> list[str]:
        return [line.text for line in self.lines if line.stream == 'stderr']

    @property
    def output(self) -> str:
        """Everything written so far, for the message of a failed assertion."""
        return '\n'.join(f'{line.time - self.started:7.3f} {line.text}' for line in self.lines)

    def wait_for_line(
        self, regex: str, timeout: float = TIMEOUT, *, after: int = 0
    ) -> re.Match[str]:
        """Wait for a line in which `regex` is found, from line number `after` on."""
        deadline = time.monotonic() + timeout
        position = after
        while True:
            ended = not self.running
            if ended:
                self._drain()
            while position < len(self.lines):
                match = re.search(regex, self.lines[position].text)
                if match is not None:
                    note_segments(self.pid)
                    return match
                position += 1
            if ended or time.monotonic() > deadline:
                why = f'ended with {self.returncode}' if ended else f'silent for {timeout:g} s'
                raise AssertionError(f'no line like {regex!r}, {why}:\n{self.output}')
            time.sleep(0.005)

    def send_signal(self, number: int) -> None:
        """Send a signal to the process (not to its children)."""
        note_segments(self.pid)
        self.process.send_signal(number)

    def wait(self, timeout: float = TIMEOUT) -> int:
        """Wait for the end of the process and its output; returns the exit code."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f'process {self.command} did not end in {timeout:g} s:\n{self.output}'
            ) from None
        self._drain()
        return code

    def terminate(self, number: int = signal.SIGINT, timeout: float = TIMEOUT) -> int:
        """Ask it to end; returns the exit code."""
        if self.running:
            self.send_signal(number)
        return self.wait(timeout)

    def kill(self) -> int:
        """SIGKILL it and all of its group; returns the exit code."""
        for pid in {self.pid, *process_group(self.pid)}:
            note_killed(pid)
        if self.running or process_group(self.pid):
            os.killpg(self.pid, signal.SIGKILL)
        code = self.wait()
        wait_until(lambda: not process_group(self.pid), what='the process group to be gone')
        # Nobody starts it again by itself: a successor shall find no trace of it.
        remove_killed_segments()
        return code

    def close(self) -> None:
        """End it if it still runs. Fails when force is needed or a child lives on."""
        problem = ''
        if self.running:
            try:
                self.terminate()
            except AssertionError as error:
                problem = str(error)
        if not problem and process_group(self.pid):
            problem = f'children of {self.command} live on: {process_group(self.pid)}'
        if problem:
            self.kill()
            raise AssertionError(problem)
        self._drain()

    def _drain(self) -> None:
        """Read the rest of the output; a child that lives on keeps it open, then give up."""
        for reader in self._readers:
            reader.join(0.5)
            while reader.is_alive() and not process_group(self.pid):
                reader.join(0.1)

    def __enter__(self) -> 'NodeProcess':
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        elif self.running:
            self.kill()
