# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The stack as a child of this process: started with `drex launch`, its output in a file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path


class Stack:
    """A running `drex launch`.

    Args:
        arguments: file and `name:=value` words of `drex launch`.
        log: file that gets everything the nodes write.
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
        self._echo = echo
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'drex_ros.launching', *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors='replace',
            # A Ctrl-C at the terminal is for us; we pass it on in order.
            start_new_session=True,
            env={**os.environ, **environ},
        )
        self._reader = threading.Thread(target=self._read, name='stack output', daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self.log.open('w', buffering=1) as file:
            for line in self._process.stdout:
                file.write(line)
                if self._echo is not None:
                    self._echo(line.rstrip('\n'))

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
            # Its children die with it: drex launch sees to that.
            self._process.kill()
            code = self._process.wait()
        self._reader.join(timeout)
        return code

    def last_lines(self, count: int = 12) -> str:
        """The end of what the nodes wrote."""
        try:
            return '\n'.join(self.log.read_text(errors='replace').splitlines()[-count:])
        except OSError:
            return ''
