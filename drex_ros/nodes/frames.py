# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""When the simulated camera takes its pictures, and how far the physics may run ahead of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from drex_ros.nodes.entities import PolledSubscription

# While a picture is drawn the physics goes on, until the next one is due.
_AHEAD = 2
_REPEAT = 0.5  # [s] of wall time without an answer after which the frame is sent again


class Frames:
    """Counts camera frames, and in lockstep waits for the camera that draws them."""

    def __init__(
        self,
        rendered: PolledSubscription,
        repeat: Callable[[], None],
        *,
        rate: float,
        wait: bool,
    ) -> None:
        """Set up for one camera.

        Args:
            rendered: where the numbers of finished frames come in (std_msgs/UInt64).
            repeat: publishes the last frame again, for a camera that came after it.
            rate: frames per simulated second [Hz].
            wait: whether the physics waits for the camera.
        """
        self._rendered = rendered
        self._repeat = repeat
        self._repeated = 0.0
        self._rate = rate
        self._wait = wait
        self._due = 0
        self._granted = 0
        self._since = 0.0
        self.taken = 0
        """Number of the last frame that was taken."""
        self.finished = 0
        """Number of the last frame that the camera has drawn."""
        self.in_step = False
        """Whether there is a camera that keeps up."""

    def due(self, now: float) -> bool:
        """Whether a frame is to be taken at a simulated time [s]; counts it."""
        # A nanosecond: simulated times are sums of periods.
        number = math.floor((now + 1e-9) * self._rate)
        if number < self._due:
            return False
        self._due = number + 1
        self.taken += 1
        self._since = self._repeated = time.perf_counter()
        return True

    def ready(self, longest: float, patience: float) -> bool:
        """Whether the camera keeps up; waits for that, but no longer than `longest` [s].

        One that does not for `patience` [s] of wall time is not waited for until it is back.
        """
        if self._granted == self.taken:
            return True
        while (message := self._rendered.take()) is not None:
            self._note(message.data)
        if self._wait and self.in_step and self.taken - self.finished >= _AHEAD:
            now = time.perf_counter()
            if now - self._since > patience:
                self.in_step = False
            else:
                if now - self._repeated > _REPEAT:
                    self._repeated = now
                    self._repeat()
                message = self._rendered.wait(longest)
                if message is not None:
                    self._note(message.data)
                return False
        self._granted = self.taken
        return True

    def _note(self, number: int) -> None:
        # A number above the last is from before a restart of this node.
        if number <= self.taken:
            self.finished = max(self.finished, number)
            # However far behind: from here on it is waited for.
            self.in_step = True
