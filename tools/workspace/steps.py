# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Progress on the terminal, commands with their output in a log file, and the error they raise."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class SetupError(RuntimeError):
    """Set-up cannot go on; the message says why and what to do."""


class Progress:
    """One line a step, with its time; quiet for steps that had nothing to do."""

    def __init__(self) -> None:
        self.steps = 0
        self._colour = sys.stderr.isatty() and 'NO_COLOR' not in os.environ

    @contextmanager
    def step(self, text: str, expect: str = '') -> Iterator[None]:
        """Announce a step, with the time it is expected to take, and say how long it took."""
        self.steps += 1
        start = time.monotonic()
        self._write(f'{self._mark("..", 36)} {text}{expect and "; " + expect}')
        yield
        self._write(f'{self._mark("ok", 32)} {text} ({time.monotonic() - start:.0f} s)')

    def note(self, text: str) -> None:
        """Say something that is neither a step nor a failure."""
        self._write(f'{self._mark("--", 36)} {text}')

    def warn(self, text: str) -> None:
        """Say something the user should act on some day."""
        self._write(f'{self._mark("!!", 33)} {text}')

    def failed(self, text: str) -> None:
        """Say why set-up stopped."""
        self._write(f'{self._mark("failed:", 31)} {text}')

    def _mark(self, text: str, colour: int) -> str:
        return f'\033[{colour}m{text}\033[0m' if self._colour else text

    def _write(self, text: str) -> None:
        print(f'[setup] {text}', file=sys.stderr, flush=True)


def run(
    command: Sequence[str | Path],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run a command with all its output in `log`; on failure show the log's end."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open('w') as output:
        try:
            result = subprocess.run(
                [str(part) for part in command],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env=dict(env) if env is not None else None,
                cwd=cwd,
                check=False,
                preexec_fn=_end_with_parent,
            )
        except FileNotFoundError as error:
            raise SetupError(f'{command[0]}: command not found') from error
    if result.returncode != 0:
        tail = '\n'.join(log.read_text(errors='replace').splitlines()[-25:])
        raise SetupError(
            f'`{" ".join(str(part) for part in command[:4])} ...` ended with '
            f'{result.returncode}. The end of {log}:\n{tail}'
        )


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _end_with_parent() -> None:
    """Have this process ended when set-up is killed: nothing may write on into what it made."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
