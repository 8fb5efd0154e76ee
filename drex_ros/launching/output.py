# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where a launch writes: the screen, and one log file a run."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TextIO

_COLOURS = {'ERROR': '31', 'WARNING': '33', 'INFO': '32'}
_NAME_COLOURS = ('36', '35', '34', '33', '32')


def log_folder() -> Path:
    """Return the folder for log files, as ROS 2 chooses it."""
    if os.environ.get('ROS_LOG_DIR'):
        return Path(os.environ['ROS_LOG_DIR']).expanduser()
    return Path(os.environ.get('ROS_HOME') or '~/.ros').expanduser() / 'log'


class Output:
    """Prints lines with the name of who wrote them in front.

    `broken` turns true when the reader of our output has gone.
    """

    def __init__(self, screen: TextIO | None = None) -> None:
        self._screen = screen or sys.stdout
        self._colour = self._screen.isatty() and not os.environ.get('NO_COLOR')
        self.broken = False
        stamp = time.strftime('%Y-%m-%d-%H-%M-%S')
        self.file = log_folder() / f'{stamp}-drex-launch-{os.getpid()}.log'
        self._log: TextIO | None = None
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._log = self.file.open('w', encoding='utf-8', buffering=1)
        except OSError as error:
            self.say('WARNING', 'launch', f'no log file: {self.file}: {error.strerror}')
        else:
            self.say('INFO', 'launch', f'log file: {self.file}')

    def say(self, level: str, name: str, message: str) -> None:
        """Print a line of the launch itself about `name`."""
        self._write_log(f'[{level}] [{name}]: {message}')
        self._write_screen(f'[{self._paint(level, _COLOURS[level])}] [{name}]: {message}')

    def line(self, name: str, text: str, *, screen: bool, log: bool) -> None:
        """Print a line that the process `name` has written."""
        if log:
            self._write_log(f'[{name}] {text}')
        if screen:
            colour = _NAME_COLOURS[int(name.rpartition('-')[2]) % len(_NAME_COLOURS)]
            self._write_screen(f'{self._paint(f"[{name}]", colour)} {text}')

    def close(self) -> None:
        """Close the log file."""
        if self._log:
            self._log.close()
            self._log = None

    def _paint(self, text: str, colour: str) -> str:
        return f'\x1b[{colour}m{text}\x1b[0m' if self._colour else text

    def _write_log(self, line: str) -> None:
        if self._log:
            try:
                self._log.write(f'{time.time():.7f} {line}\n')
            except OSError:  # a full disk must not end the launch
                self._log = None

    def _write_screen(self, line: str) -> None:
        if self.broken:
            return
        encoding = self._screen.encoding or 'utf-8'
        try:
            self._screen.write(line.encode(encoding, 'replace').decode(encoding) + '\n')
            self._screen.flush()
        except (BrokenPipeError, OSError):
            self.broken = True
            # The interpreter would try to flush once more at its end, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._screen.fileno())
