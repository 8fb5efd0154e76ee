# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One process of a launch while it runs, with its output, its end and its respawn."""

from __future__ import annotations

import contextlib
import enum
import os
import selectors
import signal
import subprocess
import time
from functools import partial
from typing import IO

from drex_ros.launching.guard import alive
from drex_ros.launching.output import Output
from drex_ros.launching.plan import Process

_ESCALATION = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
_CANNOT_START = 127  # exit code, as a shell has it
_CHUNK = 65536  # bytes, also the longest line
_FULL_PIPE = 20  # reads that surely empty a pipe, however full; not more: others may still write
LEFTOVER_SIGNALS = (signal.SIGTERM, signal.SIGKILL)
LEFTOVER_TIMEOUT = 1.0  # s that leftovers have after each signal
_LEFTOVER_POLL = 0.05  # s; the kernel tells us nothing about processes that are not our children


class State(enum.Enum):
    """Where a process is between its first start and its last end."""

    WAITING = enum.auto()  # to be started, or started again
    ALIVE = enum.auto()
    LEFTOVERS = enum.auto()  # ended, but processes that it has started may still run
    DONE = enum.auto()


class Running:
    """A process from its first start to its last end.

    Each start has a process group of its own, so that signals reach what it starts itself,
    and so that the terminal's Ctrl-C goes to the launch alone, which then stops in order.
    """

    def __init__(
        self, process: Process, output: Output, selector: selectors.BaseSelector, guard_pipe: int
    ) -> None:
        self.process = process
        self.state = State.WAITING
        self.deadline: float | None = None  # time.monotonic() at which `check` has work to do
        self._output = output
        self._selector = selector
        self._guard_pipe = guard_pipe
        self._child: subprocess.Popen[bytes] | None = None
        self._partial_lines: dict[IO[bytes], bytes] = {}
        self._signals_sent = 0
        self._leftover_signals = 0
        self._leftover_deadline = 0.0
        self._respawn = False
        self._retries = 0

    def start(self) -> int | None:
        """Start the process; return an exit code when that is not possible."""
        self._signals_sent = self._leftover_signals = 0
        self._respawn = False
        try:
            self._child = subprocess.Popen(
                self.process.command,
                env=dict(self.process.environment),
                cwd=self.process.cwd,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=partial(_tell_guard, self._guard_pipe),
            )
        except OSError as error:
            self._say('ERROR', f'cannot be started: {error} ({self.process.where})')
            self._to_leftovers()
            return _CANNOT_START
        self.state, self.deadline = State.ALIVE, None
        self._say('INFO', f'process started with pid [{self._child.pid}]')
        for stream in (self._child.stdout, self._child.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            self._partial_lines[stream] = b''
            self._selector.register(stream, selectors.EVENT_READ, partial(self._read, stream))
        return None

    def check(self) -> int | None:
        """See to the end of the process and to deadlines; return its exit code when it ends."""
        if self.state is State.ALIVE:
            assert self._child is not None
            if self._child.poll() is not None:
                return self._ended(self._child)
            if self._due():
                patience = (self.process.sigterm_timeout, self.process.sigkill_timeout)
                sent = self._signals_sent - 1
                self._say(
                    'ERROR', f'still running {patience[sent]:g} s after {_ESCALATION[sent].name}'
                )
                self._escalate()
        elif self.state is State.LEFTOVERS:
            self._see_to_leftovers()
        elif self.state is State.WAITING and self._due():
            return self.start()
        return None

    def respawn_later(self) -> bool:
        """Have an ended process started again after its delay; False when it has had its tries."""
        limit = self.process.respawn_max_retries
        if not self.process.respawn or 0 <= limit <= self._retries:
            return False
        self._retries += 1
        self._respawn = True
        return True

    def stop(self) -> None:
        """Begin the end: SIGINT, then stronger signals when the process takes too long."""
        self._respawn = False
        if self.state is State.WAITING:
            self.state, self.deadline = State.DONE, None
        elif self.state is State.ALIVE and self._signals_sent == 0:
            self._escalate()

    def hurry(self) -> None:
        """Send the next stronger signal now."""
        if self.state is State.ALIVE:
            self._escalate()

    def kill(self) -> None:
        """End the process and its group at once."""
        if self._child is not None:
            _signal_group(self._child.pid, signal.SIGKILL)
            self._child.wait()
            self._close()

    def _due(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _escalate(self) -> None:
        """Send the next signal and set the deadline for the one after it."""
        assert self._child is not None
        number = _ESCALATION[min(self._signals_sent, len(_ESCALATION) - 1)]
        self._signals_sent += 1
        self._say('INFO', f'sending {number.name}')
        _signal_group(self._child.pid, number)
        timeouts = (self.process.sigterm_timeout, self.process.sigkill_timeout)
        self.deadline = None
        if self._signals_sent <= len(timeouts):
            self.deadline = time.monotonic() + timeouts[self._signals_sent - 1]

    def _ended(self, child: subprocess.Popen[bytes]) -> int:
        for stream in list(self._partial_lines):
            self._read(stream, _FULL_PIPE)  # what it said last comes before that it died
        code = child.returncode
        if code == 0:
            self._say('INFO', f'process has finished cleanly [pid {child.pid}]')
        elif self._signals_sent:
            self._say('INFO', f'process has ended [pid {child.pid}, exit code {code}]')
        else:
            command = ' '.join(self.process.command)
            self._say(
                'ERROR', f"process has died [pid {child.pid}, exit code {code}, cmd '{command}']."
            )
        self._to_leftovers()
        return code if code >= 0 else 128 - code

    def _to_leftovers(self) -> None:
        self.state = State.LEFTOVERS
        self.deadline = self._leftover_deadline = time.monotonic()

    def _see_to_leftovers(self) -> None:
        """End what the process has left behind, then close its books."""
        now = time.monotonic()
        group = self._child.pid if self._child else None
        if group is not None and alive(group):
            if now < self._leftover_deadline:
                self.deadline = now + _LEFTOVER_POLL
                return
            if self._leftover_signals < len(LEFTOVER_SIGNALS):
                _signal_group(group, LEFTOVER_SIGNALS[self._leftover_signals])
                self._leftover_signals += 1
                self._leftover_deadline = now + LEFTOVER_TIMEOUT
                self.deadline = now + _LEFTOVER_POLL
                return
        self._close()
        if self._respawn:
            self.state, self.deadline = State.WAITING, now + self.process.respawn_delay
        else:
            self.state, self.deadline = State.DONE, None

    def _close(self) -> None:
        for stream in list(self._partial_lines):
            self._read(stream, _FULL_PIPE)
            self._close_stream(stream)
        if self._child is not None:
            _tell_guard(self._guard_pipe, f'-{self._child.pid}\n')
            self._child = None

    def _read(self, stream: IO[bytes], times: int = 1) -> None:
        """Print the lines that have come; an unfinished one waits for its end."""
        for _ in range(times):
            if stream not in self._partial_lines:
                return
            try:
                data = os.read(stream.fileno(), _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self._close_stream(stream)
                return
            *lines, rest = (self._partial_lines[stream] + data).split(b'\n')
            if len(rest) > _CHUNK:
                lines, rest = [*lines, rest], b''
            self._partial_lines[stream] = rest
            for line in lines:
                self._print(stream, line)

    def _close_stream(self, stream: IO[bytes]) -> None:
        if stream not in self._partial_lines:  # its end has been read
            return
        rest = self._partial_lines.pop(stream)
        if rest:
            self._print(stream, rest)
        self._selector.unregister(stream)
        stream.close()

    def _print(self, stream: IO[bytes], line: bytes) -> None:
        """Print a line where the launch file wants it; `log` shows stderr on the screen too."""
        from_stderr = self._child is not None and stream is self._child.stderr
        where = self.process.output
        self._output.line(
            self.process.name,
            line.decode('utf-8', 'replace').rstrip('\r'),
            screen=where != 'log' or from_stderr,
            log=where != 'screen',
        )

    def _say(self, level: str, message: str) -> None:
        self._output.say(level, self.process.name, message)


def _tell_guard(pipe: int, message: str = '') -> None:
    """Tell the guard of a group; the child itself says that it begins, before it does."""
    with contextlib.suppress(OSError):  # without its guard a launch works all the same
        os.write(pipe, (message or f'+{os.getpid()}\n').encode())


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
