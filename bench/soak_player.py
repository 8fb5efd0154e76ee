# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plays the controller of a simulated robot in a soak: at random, right and wrong."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from mischief import LATCHED, RECOVER, WRONG, Mischief, Placement, SoakError, unsound
from rclpy.context import Context
from rosgraph_msgs.msg import Clock
from soak_count import RefusalCount
from soak_watch import Watcher

from drex_interfaces.msg import RobotCommand as CommandMessage
from drex_interfaces.msg import RobotState as StateMessage
from drex_ros.closing import Closing
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


class _Controller(ManagedNode):
    NAME = 'soak_controller'


class Player(Closing):
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
        self._count = RefusalCount(_PATIENCE)
        self._silent = 0
        self._tripped = False  # by a reflex that the last state does not tell of yet
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
        for name in object_names():
            self._watcher.look()
            self._show(name)
            self._watcher.look_away()

    def rest(self) -> None:
        """End all faults and stand before the same scene as after every other rest."""
        self._watcher.look_away()
        self._end_faults()
        for name in ('', 'box'):
            self._show(name)

    def _show(self, name: str) -> None:
        """A second with one object and without mischief [simulated]."""
        self._watcher.place(Placement(HOME, name))
        self._count.line_is_new(self._time)
        until = self._watcher.robot_time() + 1.0
        while self._time < until:
            self._exchange(calm=True)

    @property
    def _time(self) -> float:
        return 0.0 if self._last is None else self._last.time

    @property
    def _lost(self) -> bool:
        """Whether it is not known that the robot waits for answers, but can become known."""
        return not self._count.known and not self._count.line_acts(self._time)

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
        self._last, self._sent, self._tripped = state, None, False
        self.events['states'] += 1
        if self._silent > 0:
            self._silent -= 1
        elif calm or self._happen():
            self._answer(message, state, calm)

    def _nothing_came(self) -> None:
        silence = time.monotonic() - self._heard_at
        if silence > (_GONE if self._last is not None else _START_TIME):
            raise SoakError(f'no robot/state for {silence:.0f} s, last at {self._time:g} s')
        if self._count.line_acts(self._time):
            self.events['no states left: faults ended'] += 1
            self._end_faults()

    def _repeat(self) -> None:
        """The robot shows a state again, in case that it or its answer got lost."""
        self.events['states repeated'] += 1
        if self._sent is not None and self._repeatable:
            self._count.repeated()
            self._publisher.publish(self._sent)

    def _check(self, state: RobotState, last: RobotState) -> None:
        if problem := unsound(state):
            self._fail(problem, state)
        if state.sequence < last.sequence or state.time <= last.time:
            self._fail(f'state {last.sequence} is followed by {state.sequence}', state)
        if state.commands_missed < last.commands_missed:
            self._fail('commands_missed shrinks', state)
        if problem := self._count.check(state, last, self._heard_at):
            self._fail(problem, state)
        if self._count.known:
            self.events['states with a known count'] += 1
            self.events['refusals known and counted'] += (
                state.commands_refused - last.commands_refused
            )
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
        if self._lost:
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
        recovers = mode is CommandMode.RECOVER
        self._count.sent(must_refuse=bool(wrong) or (latched and not recovers), recovers=recovers)
        self._send(message, number, mode, effort, wrong)
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
        self._publisher.publish(message)

    # What else happens

    def _happen(self) -> bool:
        """Now and then a fault, a reset, or silence; whether to answer the state after it."""
        if self._lost:
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
            self._count.lose()
            self.events['silence'] += 1
            return False
        return True

    def _inject(self) -> None:
        fault = self._mischief.fault()
        self._watcher.inject(fault)
        self.events[f'fault: {fault.kind.name.lower()}'] += 1
        if fault.kind is FaultKind.REFLEX:
            self._tripped = True
        elif fault.kind is FaultKind.NONE:
            self._count.line_mended(self._watcher.robot_time())
        elif fault.kind in _LINE:
            until = self._watcher.robot_time() + (fault.duration or math.inf)
            self._count.line_fails(until, fault.magnitude if fault.kind in _DELAYS else 0.0)

    def _end_faults(self) -> None:
        self._watcher.inject_fault(FaultKind.NONE, timeout=_GONE)
        self._count.line_mended(self._watcher.robot_time())

    def _reset(self) -> None:
        if self._random.random() < 0.2 and (problem := self._watcher.refusals()):
            raise SoakError(f'{problem}, at {self._time:g} s')
        self._watcher.place(self._mischief.placement())
        self.events['reset'] += 1
        self._count.line_is_new(self._time)
