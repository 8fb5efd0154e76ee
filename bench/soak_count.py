# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A controller's own count of refused commands, against that of the robot.

commands_refused must grow by exactly one from a state to the next when the command that answered
it must be refused, and not at all otherwise. That can be known

- while no fault acts on the line between robot and controller (commands or states lost or
  delayed), from the injection until its end and until what it delayed has arrived, and
- while the robot is sure to have waited for the answer: it said 'recovered' when it was told to
  recover, and since then each state was answered, two exchanges always in less wall time than
  the robot's patience.

At other times it must grow by no more than the commands that were sent, and never shrink.
"""

from __future__ import annotations

import math
import time

from drex_ros.robot.state import RobotState

_NEVER = -math.inf
_MARGIN = 0.05  # [s] simulated
_MOST_DELAY = 1.0  # [s] simulated, of a line fault


class RefusalCount:
    """Knows when a refusal must be counted, and when that cannot be known."""

    def __init__(self, patience: float) -> None:
        """For a robot that waits this long for an answer [s, wall time]."""
        self._patience = patience
        self.known = False
        """Whether each refusal is known at the moment."""
        self._must_refuse = False
        self._recovers = False
        self._answered = (_NEVER, _NEVER)  # [s] wall time of the answer before the last, and last
        self._line_until = _NEVER  # [s] simulated
        self._base = self._open = 0  # refused when last known, commands sent since

    def sent(self, *, must_refuse: bool, recovers: bool) -> None:
        """The last state was answered."""
        self._must_refuse, self._recovers = must_refuse, recovers
        self._open += 1
        self._answered = (self._answered[1], time.monotonic())

    def repeated(self) -> None:
        """The last answer was sent again."""
        self._open += 1

    def lose(self) -> None:
        """The robot will not wait: from here on nothing is known until it recovers."""
        self.known = False

    # The line between robot and controller, simulated times [s]

    def line_fails(self, until: float, delay: float) -> None:
        """Commands or states get lost or late until a time, by this delay."""
        self.known = False
        self._line_until = max(self._line_until, until + delay + _MARGIN)

    def line_mended(self, now: float) -> None:
        """No fault any more, but what was delayed until now arrives yet."""
        self._line_until = min(self._line_until, now + _MOST_DELAY + _MARGIN)

    def line_is_new(self, now: float) -> None:
        """A reset: what was on the way is gone, but for what is between here and there."""
        self.known &= not self.line_acts(now)
        self._line_until = _NEVER

    def line_acts(self, now: float) -> bool:
        """Whether the line may lose or delay something."""
        return now <= self._line_until

    # The states

    def check(self, state: RobotState, last: RobotState, heard_at: float) -> str:
        """Compare with a new state, heard at a wall time [s]; what is wrong, or empty."""
        grown = state.commands_refused - last.commands_refused
        total = state.commands_refused - self._base
        if grown < 0:
            return f'commands_refused shrinks by {-grown}'
        self.known &= state.sequence == last.sequence + 1
        self.known &= heard_at - self._answered[0] < self._patience
        if self.known:
            if grown != self._must_refuse:
                was = 'illegal' if self._must_refuse else 'legal'
                return f'{grown} refusals counted after one {was} command'
        elif total > self._open:
            return f'{total} refusals counted after {self._open} commands'
        elif state.reason == 'recovered' and not self.line_acts(state.time):
            self.known = self._recovers
        if self.known:
            self._base, self._open = state.commands_refused, 0
        # Nothing is sent in answer to the new one yet.
        self._must_refuse = self._recovers = False
        return ''
