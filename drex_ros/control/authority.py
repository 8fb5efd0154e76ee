# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Who commands the robot, and for how long his last word counts."""

from __future__ import annotations

import math


class Authority:
    """One source commands at a time; another waits until it has been silent for a while."""

    def __init__(self, silence: float) -> None:
        """Another source may take over after a silence [s]."""
        self._silence = silence
        self.release()

    def release(self) -> None:
        """Nobody commands."""
        self.source = ''
        self._last = -math.inf
        self.deadline = math.inf
        """Until when the last word counts [s]."""

    def refusal(self, source: str, time: float) -> str:
        """Why a source cannot command at a time [s], in words; empty when it can."""
        silence = time - self._last
        if source == self.source or not silence < self._silence:
            return ''
        return f'{self.source or "unnamed"!r} commands, its last target is {silence:.2f} s old'

    def take(self, source: str, time: float, timeout: float) -> None:
        """A source commands at a time [s]; its word counts for a timeout [s], 0: for ever."""
        self.source = source
        self._last = time
        self.deadline = time + timeout if timeout > 0.0 else math.inf

    def expire(self, time: float) -> None:
        """The last word counts no more from a time [s] on."""
        self.deadline = min(self.deadline, time)
