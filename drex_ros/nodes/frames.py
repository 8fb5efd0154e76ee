# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""When simulated pictures are taken and handed on, and where the physics waits for them."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

from drex_ros.nodes.entities import PolledSubscription

CLOSE = 1e-6
"""Simulated times that differ by less are one [s]: they are sums of periods, and rounded."""

# However late pictures are handed on: the next is taken while one is drawn, no third.
_AHEAD = 2
_REPEAT = 0.5  # [s] of wall time without an answer after which the frame is sent again


class Frames:
    """Counts camera frames, and in lockstep waits for the camera that draws them.

    A picture is handed on some time after it was taken. Until then the physics goes on while it
    is drawn; at that moment it waits until it is finished.
    """

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
        self._rate = rate
        self._wait = wait
        self._next = 0
        self._delay = 0.0
        self._not_handed_on: deque[float] = deque()  # when they were taken [s], simulated
        self._unfinished: deque[tuple[int, float]] = deque()  # the same with their numbers
        self._free_until = math.inf  # [s], simulated: the camera need not be looked at before
        self._since = self._repeated = 0.0
        self.taken = 0
        """Number of the last frame that was taken."""
        self.finished = 0
        """Number of the last frame that the camera has drawn."""
        self.in_step = False
        """Whether there is a camera that keeps up."""

    def due(self, now: float) -> bool:
        """Whether a frame is to be taken at a simulated time [s]."""
        return self._number(now) >= self._next

    def take(self, now: float, delay: float) -> int:
        """Count a frame that is taken now; its number.

        Args:
            now: simulated time [s].
            delay: simulated time from the taking of a picture until it is handed on [s]; from
                here on of all that are not handed on yet.
        """
        self._next = self._number(now) + 1
        self._delay = delay
        self.taken += 1
        self._not_handed_on.append(now)
        self._unfinished.append((self.taken, now))
        self._free_until = -math.inf
        self._since = self._repeated = time.perf_counter()
        return self.taken

    def hand_on(self, now: float) -> bool:
        """Whether the moment of a picture has come since this was asked last.

        The camera waits for that and must be told the time.
        """
        waiting, latest = self._not_handed_on, now - self._delay + CLOSE
        if not waiting or waiting[0] > latest:
            return False
        while waiting and waiting[0] <= latest:
            waiting.popleft()
        return True

    def ready(self, now: float, longest: float, patience: float) -> bool:
        """Whether the physics may go on; waits for that, but no longer than `longest` [s].

        A camera that is not done for `patience` [s] of wall time is not waited for until it is
        back.

        Args:
            now: simulated time [s].
            longest: wall time [s].
            patience: wall time [s].
        """
        if now < self._free_until:
            return True
        while (message := self._rendered.take()) is not None:
            self._note(message.data)
        if self._wait and self.in_step and self._behind(now):
            wall = time.perf_counter()
            if wall - self._since > patience:
                self.in_step = False
            else:
                if wall - self._repeated > _REPEAT:
                    self._repeated = wall
                    self._repeat()
                message = self._rendered.wait(longest)
                if message is not None:
                    self._note(message.data)
                return False
        if not self.in_step:
            self._unfinished.clear()  # nobody draws them
        self._free_until = self._limit if self._wait and self._unfinished else math.inf
        return True

    def _number(self, now: float) -> int:
        """How many periods of the camera have passed."""
        return math.floor((now + 1e-9) * self._rate)

    @property
    def _limit(self) -> float:
        """When the oldest picture that is not finished is to be handed on [s], simulated."""
        return self._unfinished[0][1] + self._delay - CLOSE

    def _behind(self, now: float) -> bool:
        """Whether the camera is so late that the physics has to wait."""
        waiting = len(self._unfinished)
        return waiting >= _AHEAD or (waiting > 0 and now >= self._limit)

    def _note(self, number: int) -> None:
        # A number above the last is from before a restart of this node.
        if number > self.taken:
            return
        self.finished = max(self.finished, number)
        while self._unfinished and self._unfinished[0][0] <= number:
            self._unfinished.popleft()
        # However far behind: from here on it is waited for.
        self.in_step = True
