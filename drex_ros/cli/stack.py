# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The stack as a child of this process: started with `drex launch`, its output in a file."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
# Lines of the launch, and lines of nodes that are errors or no log lines at all.
_BAD_END = re.compile(r'\]: (?:still running |process has (?:ended|died) )')
_PROBLEM = re.compile(
    rf'{_BAD_END.pattern}|\[(?:ERROR|FATAL)\]|^drex launch: |'
    r'^\[\S+-\d+\] (?!\[(?:DEBUG|INFO|WARN)\])'
)


class Stack:
    """A running `drex launch`, which ends with this process, however that ends.

    Args:
        arguments: file and `name:=value` words of `drex launch`.
        log: file that gets everything the nodes write; OSError when it cannot be written.
        environ: variables beside this process's own.
        echo: called with each line, too; None for silence.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        log: Path,
        environ: Mapping[str, str],
        echo: Callable[[str], None] | None = None,
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        self._file = log.open('w', buffering=1)
        self._echo = echo
        self._process = subprocess.Popen(
            # Not ros2 launch: that ends no node when it is told to by SIGTERM or SIGKILL.
            [sys.executable, '-m', 'drex_ros.launching', '--native', *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            # A Ctrl-C at the terminal is for us; we pass it on in order.
            start_new_session=True,
            preexec_fn=_stop_with_parent,
            env={**os.environ, **environ},
        )
        self._reader = threading.Thread(target=self._read, name='stack output', daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._file as file:
            for line in self._process.stdout:
                file.write(line)
                if self._echo is not None:
                    try:
                        self._echo(line.rstrip('\n'))
                    except (OSError, SystemExit):  # nobody reads it any more; the log goes on
                        self._echo = None

    @property
    def code(self) -> int | None:
        """Exit code, or None while it runs."""
        return self._process.poll()

    def stop(self, timeout: float = 15.0) -> int:
        """Bring it down in order, by force when that takes too long; returns the exit code."""
        if self.code is None:
            self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            # Its nodes die with it: drex launch sees to that.
            self._process.kill()
            code = self._process.wait()
        self._reader.join(timeout)
        return code

    def ended_badly(self) -> list[str]:
        """Lines about processes that crashed, or had to be ended by force."""
        return [line for line in self._lines() if _BAD_END.search(line)]

    def problems(self, count: int = 12) -> str:
        """The first errors that were written; empty when there were none."""
        return '\n'.join([line for line in self._lines() if _PROBLEM.search(line)][:count])

    def _lines(self) -> list[str]:
        return self.log.read_text(errors='replace').splitlines()


def _stop_with_parent() -> None:
    """Have the kernel send this process SIGTERM when the one that started it dies."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
