# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Who waits for whom: one robot state out, one command in, one control cycle.

In lockstep the cycle waits for the command that answers its state. When none comes within the
patience it goes on alone, at the pace of the wall clock, and is in step again with the next
answer. Free running, it waits for its time only and takes the newest command there is.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from drex_interfaces.msg import RobotCommand as CommandMessage
from drex_ros.nodes.conversions import robot_command
from drex_ros.nodes.entities import PolledSubscription
from drex_ros.robot.joints import N_JOINTS
from drex_ros.robot.state import CommandMode, RobotCommand

SLICE = 0.02
"""Longest wait in one piece [s], so that services are served meanwhile."""

_LATE = 0.1  # [s] behind the pace after which it is not caught up


class Exchange:
    """Waits for the command and the time of the next control cycle."""

    def __init__(
        self,
        commands: PolledSubscription,
        repeat: Callable[[], None],
        *,
        lockstep: bool,
        period: float,
        deadline: float,
    ) -> None:
        """Set up an exchange.

        Args:
            commands: where commands come in.
            repeat: publishes the present state again.
            lockstep: whether to wait for answers.
            period: simulated time of one cycle [s].
            deadline: simulated time that one command counts [s].
        """
        self._commands = commands
        self._repeat = repeat
        self._lockstep = lockstep
        self._period = period
        self._latest = round(deadline / period)
        self.answer: RobotCommand | None = None
        self.in_step = False
        self.repeated = 0
        self.round_trip = 0.0
        self._sequence: int | None = None
        self._patience = 0.0
        self._opened = self._due = self._give_up = time.perf_counter()

    def open(self, sequence: int | None, factor: float, patience: float) -> None:
        """A state was published: begin to wait for its answer.

        Args:
            sequence: number of the state; None: it got lost, and nothing is waited for.
            factor: simulated over wall time; 0: as fast as answers come.
            patience: wall time to wait for the answer [s].
        """
        self.answer = None
        self._sequence = sequence
        self._opened = time.perf_counter()
        self.renew(factor, patience)

    def renew(self, factor: float, patience: float) -> None:
        """Wait anew for the cycle that is open, as after a pause."""
        self._patience = patience
        now = time.perf_counter()
        if factor == 0.0 and self.in_step:
            self._due = now
        else:
            self._due = max(self._due + self._period / (factor or 1.0), now - _LATE)
        # Alone, it listens as long as the pace allows and waits for nobody.
        self._give_up = now + patience if self.in_step else self._due

    def ready(self, *, paced: bool = True) -> bool:
        """Whether the cycle can run now; waits for that, but no longer than about one slice."""
        waits = self._lockstep and self._sequence is not None
        if waits and self.answer is None and not self._settled():
            return False
        left = self._due - time.perf_counter() if paced else 0.0
        if left > 0.0:
            time.sleep(min(left, SLICE))
        if left > SLICE:
            return False
        if not self._lockstep:
            self.answer = self._newest()
        return True

    def _settled(self) -> bool:
        """Whether the answer is here, or is not waited for any longer."""
        left = self._give_up - time.perf_counter()
        # Alone and behind its pace it does not wait, but it looks whether somebody is back.
        self.answer = self._listen(min(left, SLICE)) if left > 0.0 else self._look()
        if self.answer is None and time.perf_counter() < self._give_up:
            # A message can get lost on a busy machine, and here no next one would follow.
            self._repeat()
            self.repeated += 1
            return False
        self.in_step = self.answer is not None
        self.round_trip = time.perf_counter() - self._opened
        return True

    def _listen(self, timeout: float) -> RobotCommand | None:
        """The command for the present state, if it comes in time [s]."""
        until = time.perf_counter() + timeout
        while (left := until - time.perf_counter()) > 0.0:
            message = self._commands.wait(left)
            if message is None:
                return None
            if (answer := self._checked(message)) is not None:
                return answer
        return None

    def _look(self) -> RobotCommand | None:
        """The same among what has come already."""
        while (message := self._commands.take()) is not None:
            if (answer := self._checked(message)) is not None:
                return answer
        return None

    def _checked(self, message: CommandMessage) -> RobotCommand | None:
        """The command, unless it is a late one.

        One that answers no state of late is for the robot to refuse and count: else a controller
        that numbers wrongly would stop the time, and nobody would know why.
        """
        assert self._sequence is not None  # else nothing is waited for
        if not 1 <= self._sequence - message.sequence <= self._latest:
            return _command(message)
        # Late, but somebody is there: be patient with the answer to this state.
        self._give_up = time.perf_counter() + self._patience
        return None

    def _newest(self) -> RobotCommand | None:
        newest = None
        while (message := self._commands.take()) is not None:
            newest = message
        return None if newest is None else _command(newest)


def _command(message: CommandMessage) -> RobotCommand:
    try:
        return robot_command(message)
    except ValueError:  # a mode that there is not: the robot shall refuse it
        return RobotCommand(message.sequence, CommandMode.EFFORT, np.full(N_JOINTS, np.nan))
