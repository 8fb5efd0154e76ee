# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the processes of a plan: output, respawn, orderly end, exit code.

One loop in the main thread waits for output, for the end of a child, for a signal and for
the next deadline; nothing else runs beside it.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from drex_ros.launching import guard
from drex_ros.launching.output import Output
from drex_ros.launching.plan import Plan
from drex_ros.launching.running import Running, State

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_BROKEN_OUTPUT = 128 + signal.SIGPIPE


class Supervisor:
    """Runs a plan to its end; `run` returns the exit code of the launch."""

    def __init__(self, plan: Plan, output: Output, folder: Path) -> None:
        self._plan = plan
        self._output = output
        self._folder = folder  # removed by the guard if we are killed
        self._selector = selectors.DefaultSelector()
        self._running: list[Running] = []
        self._stopping = False
        self._failed = False
        self._exit_code = 0

    def run(self) -> int:
        """Start everything in order and stay until all of it has ended."""
        with self._signals(), self._guard() as guard_pipe:
            self._running = [
                Running(process, self._output, self._selector, guard_pipe)
                for process in self._plan.processes
            ]
            try:
                for running in self._running:
                    if not self._stopping:
                        self._on_exit(running, running.start())
                        self._once(0.0)
                while not all(running.state is State.DONE for running in self._running):
                    self._once(self._patience())
            finally:  # an error of our own must leave nothing behind either
                for running in self._running:
                    running.kill()
        return self._exit_code or int(self._failed)

    @contextlib.contextmanager
    def _guard(self) -> Iterator[int]:
        """Have a guard run beside us; give the pipe that tells it what has started."""
        process = subprocess.Popen(
            [sys.executable, '-I', '-S', guard.__file__, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin is not None
        try:
            yield process.stdin.fileno()
        finally:
            process.stdin.close()
            process.wait()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        """Turn signals into bytes on a pipe that the loop waits for."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        self._selector.register(reader, selectors.EVENT_READ, None)
        before = {n: signal.getsignal(n) for n in (*STOP_SIGNALS, signal.SIGCHLD)}
        wakeup = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in before:
            signal.signal(number, _noted)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._selector.close()
            os.close(reader)
            os.close(writer)

    def _patience(self) -> float | None:
        """Seconds until the next deadline, None when there is none."""
        deadlines = [r.deadline for r in self._running if r.deadline is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _once(self, patience: float | None) -> None:
        """Wait for something to happen, at most `patience` seconds, and see to it."""
        for key, _ in self._selector.select(patience):
            if key.data is not None:
                key.data()
            else:
                for number in os.read(key.fd, 4096):
                    if number in STOP_SIGNALS:
                        self._on_stop_signal(signal.Signals(number))
        for running in self._running:
            self._on_exit(running, running.check())
        if self._output.broken and not self._stopping:
            self._exit_code = EXIT_BROKEN_OUTPUT
            self._stop()

    def _on_exit(self, running: Running, code: int | None) -> None:
        if code is None or self._stopping:
            return
        if running.process.required:
            self._output.say(
                'INFO', 'launch', f'{running.process.name} is required: stopping everything'
            )
            self._exit_code = code
            self._stop()
        elif not running.respawn_later():
            self._failed = self._failed or code != 0

    def _on_stop_signal(self, number: signal.Signals) -> None:
        if not self._stopping:
            self._output.say('WARNING', 'launch', f'{number.name}: stopping everything')
            self._stop()
        else:
            self._output.say('WARNING', 'launch', f'{number.name} again: no more patience')
            for running in reversed(self._running):
                running.hurry()

    def _stop(self) -> None:
        """Ask all processes to end, the one started last first."""
        if not self._stopping:
            self._stopping = True
            for running in reversed(self._running):
                running.stop()


def _noted(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal has already woken the loop."""
