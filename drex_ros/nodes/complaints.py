# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One line in the log for what is wrong, not one for each time that it is found wrong."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 3.0
"""What is wrong for less than this [s] of wall time is not worth a line."""
CHANGE_PERIOD = 5.0
"""Least time between two lines [s]."""
REPEAT_PERIOD = 60.0
"""Time after which the same is said again [s]."""


class Complaints:
    """Says what is wrong: once, again when it changes, and when it is over."""

    def __init__(
        self,
        warn: Callable[[str], object],
        inform: Callable[[str], object],
        over: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing wrong.

        Args:
            warn: writes a warning.
            inform: writes that all is well again.
            over: what is written then.
            clock: steady clock [s].
        """
        self._warn, self._inform, self._over, self._clock = warn, inform, over, clock
        self._since: float | None = None
        self._said = ''
        self._said_at = 0.0

    def note(self, text: str) -> None:
        """Note what is wrong at this moment; empty: nothing."""
        now = self._clock()
        if not text:
            if self._said:
                self._inform(self._over)
            self._since, self._said = None, ''
            return
        if self._since is None:
            self._since = now
        if now - self._since < PATIENCE:
            return
        wait = CHANGE_PERIOD if text != self._said else REPEAT_PERIOD
        if not self._said or now - self._said_at >= wait:
            self._said, self._said_at = text, now
            self._warn(text)
