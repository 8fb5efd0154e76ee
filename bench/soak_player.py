# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plays the controller of a simulated robot in a soak: at random, right and wrong.

The rule of counting. commands_refused must grow by exactly one from a state to the next when the
command that answered it must be refused, and not at all otherwise. That can be known

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
from collections import Counter
from collections.abc import Callable
from types import TracebackType

import numpy as np
from mischief import LATCHED, RECOVER, WRONG, Mischief, Placement, SoakError, unsound
from rclpy.context import Context
from rosgraph_msgs.msg import Clock
from soak_watch import Watcher

from drex_interfaces.msg import RobotCommand as CommandMessage
from drex_interfaces.msg import RobotState as StateMessage
from drex_ros.hardware.faults import FaultKind
from drex_ros.nodes.base import ManagedNode
from drex_ros.nodes.conversions import NEWEST, fill_command, robot_state, seconds
from drex_ros.objects import object_names
from drex_ros.robot.joints import HOME, N_JOINTS, Array
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

_PERIOD = 0.002  # [s] control cycle of mock_hardware, by default
_PATIENCE = 0.5  # [s] its lockstep_patience, by default
_START_TIME = 60.0  # [s] wall time for both nodes to start
_LOST = 1.0  # [s] wall time without a state after which line faults are ended
_GONE = 20.0  # [s] wall time without a state after which the robot is gone
_MARGIN = 0.05  # [s] simulated
_MOST_DELAY = 1.0  # [s] simulated, of a line fault
# How often things happen, per control cycle.
_ILLEGAL, _HOLD = 0.01, 0.002
_SILENCE, _SLOW, _FAULT, _RESET, _LOOK, _PAUSE = 0.0004, 0.0004, 0.0006, 0.0003, 0.001, 0.0002
_LINE = (
    FaultKind.DROP_COMMANDS,
    FaultKind.DELAY_COMMANDS,
    FaultKind.DROP_STATES,
    FaultKind.DELAY_STATES,
)
_DELAYS = (FaultKind.DELAY_COMMANDS, FaultKind.DELAY_STATES)
_NEVER = -math.inf


class _Controller(ManagedNode):
    NAME = 'soak_controller'


class Player:
    """A controller that does everything to the nodes; the same seed draws the same things."""

    def __init__(self, seed: int = 0) -> None:
        self._context = Context()
        self._context.init()
        self._node = _Controller(context=self._context)
        self._states = self._node.polled_subscription(StateMessage, 'robot/state', NEWEST)
        self._clocks = self._node.polled_subscription(Clock, '/clock', NEWEST)
        self._publisher = self._node.create_publisher(CommandMessage, 'robot/command', NEWEST)
        self._watcher = Watcher()
        self._mischief = Mischief(seed, _PERIOD)
        self._random = self._mischief.random
        self._last: RobotState | None = None
        self._clock = 0.0
        self._heard_at = time.monotonic()
        self._sent: CommandMessage | None = None  # the answer to the last state
        self._repeatable = False
        self._must_refuse = False
        self._answered = (_NEVER, _NEVER)  # [s] wall time of the answers before the last, and last
        self._silent = 0
        self._tripped = False  # by a reflex that the last state does not tell of yet
        self._known = False  # whether the count can be known
        self._line_until = _NEVER  # [s] simulated
        self._base = self._open = 0  # refused when last known, commands sent since
        self.events: Counter[str] = Counter()
        """How often what happened."""

    @property
    def heard(self) -> Counter[str]:
        """Messages by topic."""
        return Counter({f'heard: {name}': count for name, count in self._watcher.heard.items()})

    def close(self) -> None:
        """Leave the graph."""
        self._watcher.close()
        self._node.destroy_node()
        self._context.try_shutdown()

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, seconds: float, progress: Callable[[float], None] | None = None) -> None:
        """Go on for a simulated time [s]. Raises SoakError."""
        start = self._time
        shown = 0.0
        while self._time < start + seconds:
            self._exchange(calm=False)
            if progress is not None and time.monotonic() - shown > 0.2:
                shown = time.monotonic()
                progress((self._time - start) / seconds)

    def tour(self) -> None:
        """Show each object of the library once: what is loaded then is loaded."""
        self.rest(0.0)
        for name in object_names():
            self._watcher.look()
            self._watcher.place(Placement(HOME, name))
            self.rest(0.5)

    def rest(self, seconds: float = 2.0) -> None:
        """End all faults and go on for a while without mischief [s, simulated]."""
        self._end_faults()
        until = self._watcher.robot_time() + seconds
        while self._time < until:
            self._exchange(calm=True)
        self._watcher.look_away()

    @property
    def _time(self) -> float:
        return 0.0 if self._last is None else self._last.time

    # One state, one answer

    def _exchange(self, *, calm: bool) -> None:
        message = self._states.wait(_LOST)
        if self._watcher.problem:
            raise SoakError(self._watcher.problem)
        if (clock := self._clocks.take()) is not None:
            before, self._clock = self._clock, seconds(clock.clock)
            if self._clock < before:
                raise SoakError(f'/clock goes back from {before:g} to {self._clock:g} s')
        if message is None:
            self._nothing_came()
            return
        self._heard_at = time.monotonic()
        state, last = robot_state(message), self._last
        if last is not None and state.sequence == last.sequence:
            self._repeat()
            return
        if last is not None:
            self._check(state, last)
        elif problem := unsound(state):
            self._fail(problem, state)
        self._last, self._sent, self._must_refuse, self._tripped = state, None, False, False
        self.events['states'] += 1
        if self._silent > 0:
            self._silent -= 1
        elif calm or self._happen():
            self._answer(message, state, calm)

    def _nothing_came(self) -> None:
        silence = time.monotonic() - self._heard_at
        if silence > (_GONE if self._last is not None else _START_TIME):
            raise SoakError(f'no robot/state for {silence:.0f} s, last at {self._time:g} s')
        if self._line_until > self._time:
            self.events['no states left: faults ended'] += 1
            self._end_faults()

    def _repeat(self) -> None:
        """The robot shows a state again, in case that it or its answer got lost."""
        self.events['states repeated'] += 1
        if self._sent is not None and self._repeatable:
            self._open += 1
            self._publisher.publish(self._sent)

    def _check(self, state: RobotState, last: RobotState) -> None:
        if problem := unsound(state):
            self._fail(problem, state)
        if state.sequence < last.sequence or state.time <= last.time:
            self._fail(f'state {last.sequence} is followed by {state.sequence}', state)
        if state.commands_missed < last.commands_missed:
            self._fail('commands_missed shrinks', state)
        grown = state.commands_refused - last.commands_refused
        if grown < 0:
            self._fail(f'commands_refused shrinks by {-grown}', state)
        if self._known:
            self._known = (
                state.sequence == last.sequence + 1
                and self._heard_at - self._answered[0] < _PATIENCE
            )
        if self._known:
            if grown != self._must_refuse:
                was = 'illegal' if self._must_refuse else 'legal'
                self._fail(f'{grown} refusals counted after one {was} command', state)
            self.events['refusals counted as known'] += grown
            self.events['states with a known count'] += 1
        elif state.commands_refused - self._base > self._open:
            count = state.commands_refused - self._base
            self._fail(f'{count} refusals counted after {self._open} commands', state)
        elif state.time > self._line_until and state.reason == 'recovered':
            self._known = self._sent is not None and self._sent.mode == CommandMode.RECOVER
        if self._known:
            self._base, self._open = state.commands_refused, 0
        if state.mode is not last.mode and state.mode in LATCHED:
            name = state.reason.split(': ')[1] if state.mode is RobotMode.REFLEX else ''
            self.events[f'{state.mode.name.lower()}: {name}'.rstrip(': ')] += 1

    def _fail(self, what: str, state: RobotState) -> None:
        raise SoakError(f'{what}, at {state.time:g} s, {state.mode.name} {state.reason}'.rstrip())

    # What is answered

    def _answer(self, message: StateMessage, state: RobotState, calm: bool) -> None:
        random, number = self._random, state.sequence
        latched = state.mode in LATCHED or self._tripped
        chance = float(random.random())
        mode, effort, wrong = CommandMode.EFFORT, self._mischief.legal(state), ''
        if not self._known and state.time > self._line_until:
            mode = CommandMode.RECOVER  # whose effect tells that the robot waits for answers
        elif latched and (calm or chance < RECOVER):
            mode = CommandMode.RECOVER
            self.events[f'recovered from {state.mode.name.lower()}'] += 1
        elif calm:
            mode = CommandMode.HOLD
        elif chance < _ILLEGAL:
            wrong = str(random.choice((*WRONG, 'mode')))
            number, effort = self._mischief.wrong(state, wrong)
            self.events[f'illegal: {wrong}'] += 1
        elif chance < _ILLEGAL + _HOLD:
            mode, effort = CommandMode.HOLD, np.full(N_JOINTS, np.nan)
        self._send(message, number, mode, effort, wrong)
        self._must_refuse = bool(wrong) or (latched and mode is not CommandMode.RECOVER)
        self.events['commands sent'] += 1

    def _send(
        self, state: StateMessage, number: int, mode: CommandMode, effort: Array, wrong: str
    ) -> None:
        self._sent = message = CommandMessage()
        fill_command(message, RobotCommand(number, mode, effort), state)
        if wrong == 'mode':
            message.mode = int(self._random.integers(len(CommandMode), 256))
        # Answers to another state would be refused twice.
        self._repeatable = wrong not in ('stale', 'early')
        self._open += 1
        self._publisher.publish(message)
        self._answered = (self._answered[1], time.monotonic())

    # What else happens

    def _happen(self) -> bool:
        """Now and then a fault, a reset, or silence; whether to answer the state after it."""
        if not self._known and self._time > self._line_until:
            return True
        chance = self._random.random(6)
        if chance[0] < _FAULT:
            self._inject()
        if chance[1] < _SLOW:
            self.events['slow answer'] += 1
            time.sleep(0.1 * float(self._random.random()))
        if chance[2] < _PAUSE:
            self._watcher.pause()
            self._watcher.pause(False)
            self.events['pause'] += 1
        if chance[3] < _LOOK:
            (self._watcher.look_away if self._watcher.looks else self._watcher.look)()
        if chance[4] < _RESET:
            self._reset()
            return False
        if chance[5] < _SILENCE:
            self._silent = self._mischief.silence()
            self._doubt()
            self.events['silence'] += 1
            return False
        return True

    def _doubt(self) -> None:
        self._known = False

    def _inject(self) -> None:
        fault = self._mischief.fault()
        self._watcher.inject(fault)
        self.events[f'fault: {fault.kind.name.lower()}'] += 1
        if fault.kind is FaultKind.REFLEX:
            self._tripped = True
        elif fault.kind is FaultKind.NONE:
            self._line_ends()
        elif fault.kind in _LINE:
            self._doubt()
            end = self._watcher.robot_time() + (fault.duration or math.inf) + _MARGIN
            end += fault.magnitude if fault.kind in _DELAYS else 0.0
            self._line_until = max(self._line_until, end)

    def _end_faults(self) -> None:
        self._watcher.inject_fault(FaultKind.NONE, timeout=_GONE)
        self._line_ends()

    def _line_ends(self) -> None:
        """What was delayed until now arrives yet."""
        latest = self._watcher.robot_time() + _MOST_DELAY + _MARGIN
        self._line_until = min(self._line_until, latest)

    def _reset(self) -> None:
        if self._random.random() < 0.2 and (problem := self._watcher.refusals()):
            raise SoakError(f'{problem}, at {self._time:g} s')
        self._watcher.place(self._mischief.placement())
        self.events['reset'] += 1
        if self._line_until > self._time:
            # The lines are new, but an answer may be between here and there.
            self._doubt()
        self._line_until = _NEVER
