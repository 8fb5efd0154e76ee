# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random commands, faults and resets for a long simulated time; nothing may go wrong.

    python bench/soak.py [--minutes 30] [--seed 0]

Legal commands must be followed and illegal ones refused and counted, the state must always be a
number, the physics must never be given up, and memory must not grow. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache

import mujoco
import numpy as np
from mischief import (
    LATCHED,
    MEMORY_GROWTH,
    RECOVER,
    WARM_UP,
    WRONG,
    Bar,
    Mischief,
    SoakError,
    memory,
    unsound,
)

from drex_ros.hardware.faults import FaultError, FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.objects import ObjectModel, collision_parts, load_object, object_names
from drex_ros.robot.joints import LIMITS, N_JOINTS, Array
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

# How often things happen, per control cycle.
_ILLEGAL, _SILENCE, _HOLD, _STOP, _FAULT, _RESET = 0.01, 0.002, 0.002, 0.0002, 0.002, 0.0006
_BROKEN_NUMBERS = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class Soak:
    """A simulated robot and somebody who does everything to it."""

    def __init__(self, seed: int = 0, settings: MujocoSettings | None = None) -> None:
        """The same seed does the same things."""
        self._things = _library()
        self.robot = MujocoBackend(settings)
        self.robot.connect()
        self._period = 1.0 / self.robot.settings.control_rate
        self._mischief = Mischief(seed, self._period)
        self._random = self._mischief.random
        self._refused = 0
        self._silent = 0
        self._first_sequence = 0
        self.events: Counter[str] = Counter()
        """How often what happened."""

    def run(self, seconds: float, progress: Callable[[float], None] | None = None) -> None:
        """Go on for a simulated time [s]. Raises SoakError."""
        cycles = round(seconds / self._period)
        for cycle in range(cycles):
            self._cycle()
            if progress is not None and cycle % 500 == 0:
                progress(cycle / cycles)

    def _cycle(self) -> None:
        before = self.robot.read()
        self._happen()
        state = self.robot.read()
        if self._silent > 0:
            self._silent -= 1
        else:
            self._command(state)
        self.robot.step()
        self._check(state, before)

    def _happen(self) -> None:
        """Now and then a fault, a reset, a stop, or silence of the controller."""
        chance = self._random.random(5)
        if chance[0] < _FAULT:
            self._inject()
        if chance[1] < _RESET:
            self._reset()
        if chance[2] < _STOP:
            self.robot.stop('soak')
            self.events['stop'] += 1
        if chance[3] < _SILENCE:
            self._silent = self._mischief.silence()
            self.events['silence'] += 1
        if chance[4] < _HOLD:
            self.robot.hold('soak')

    def _command(self, state: RobotState) -> None:
        random, legal = self._random, self._mischief.legal
        if state.mode in LATCHED:
            if random.random() < RECOVER:
                self._send(state.sequence, CommandMode.RECOVER, legal(state), True)
                self.events[f'recovered from {state.mode.name.lower()}'] += 1
            else:
                self._send(state.sequence, CommandMode.EFFORT, legal(state), False)
            return
        if random.random() < _ILLEGAL:
            self._illegal(state)
        elif random.random() < _HOLD:
            self._send(state.sequence, CommandMode.HOLD, np.full(N_JOINTS, np.nan), True)
        else:
            # Answers to a state of a few cycles ago count too, but not of before a reset.
            behind = int(random.integers(10)) if random.random() < 0.1 else 0
            sequence = max(state.sequence - behind, self._first_sequence)
            self._send(sequence, CommandMode.EFFORT, legal(state), True)

    def _illegal(self, state: RobotState) -> None:
        kind = str(self._random.choice((*WRONG, 'shape')))
        sequence, effort = self._mischief.wrong(state, kind)
        if kind == 'shape':
            effort = effort[: int(self._random.integers(N_JOINTS))]
        self._send(sequence, CommandMode.EFFORT, effort, False)
        self.events[f'illegal: {kind}'] += 1

    def _send(self, sequence: int, mode: CommandMode, effort: Array, legal: bool) -> None:
        followed = self.robot.write(RobotCommand(sequence, mode, effort))
        self._refused += not legal
        self.events['commands followed' if legal else 'commands refused'] += 1
        if followed is not legal:
            words = 'legal {} command was refused' if legal else 'illegal {} command was followed'
            self._fail(words.format(mode.name))

    def _inject(self) -> None:
        fault = self._mischief.fault()
        self.robot.inject(fault.kind, fault.joint, fault.magnitude, fault.duration)
        self.events[f'fault: {fault.kind.name.lower()}'] += 1
        for wrong in ((99, '', 0.5), (FaultKind.FRICTION, '', np.nan)):
            try:
                self.robot.inject(wrong[0], wrong[1], wrong[2], 0.0)
            except FaultError:
                continue
            self._fail(f'a fault that cannot be was taken: {wrong}')

    def _reset(self) -> None:
        put = self._mischief.placement()
        thing = pose = None
        if put.name:
            thing = overridden(
                self._things[put.name],
                mass=put.mass,
                friction=put.friction,
                finger_friction=put.finger_friction,
            )
        if put.position is not None and put.quaternion is not None:
            pose = ObjectPose(put.position, put.quaternion)
        self.robot.reset(put.posture, thing=thing, pose=pose, seed=put.seed)
        self._first_sequence = self.robot.read().sequence
        self.events['reset'] += 1
        try:
            self.robot.reset(LIMITS.upper + 1.0)
        except ValueError:
            return
        self._fail('a posture beyond the limits was taken')

    def _check(self, commanded: RobotState, before: RobotState) -> None:
        state = self.robot.read()
        if problem := unsound(state):
            self._fail(problem)
        warnings = self.robot.simulation.data.warning
        if any(warnings[kind].number for kind in _BROKEN_NUMBERS):
            self._fail('MuJoCo gave the physics up')
        if state.commands_refused != self._refused:
            self._fail(f'{self._refused} commands refused, {state.commands_refused} counted')
        if state.sequence != commanded.sequence + 1 or state.time <= before.time:
            self._fail(f'state {commanded.sequence} is followed by {state.sequence}')
        if state.mode is RobotMode.REFLEX and commanded.mode is not RobotMode.REFLEX:
            self.events[f'reflex: {state.reason.split(": ")[1]}'] += 1

    def _fail(self, what: str) -> None:
        state = self.robot.read()
        raise SoakError(f'{what}, at {state.time:g} s, {state.mode.name} {state.reason}')


@cache
def _library() -> dict[str, ObjectModel]:
    things = {name: load_object(name) for name in object_names()}
    for thing in things.values():
        collision_parts(thing)  # made once, kept on disk
    return things


def main() -> int:
    """Soak and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--minutes', type=float, default=30.0, help='simulated time')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    seconds = 60.0 * options.minutes
    soak, start = Soak(options.seed), time.monotonic()
    bar = Bar()
    try:
        soak.run(WARM_UP * seconds, lambda share: bar(WARM_UP * share))
        first = memory()
        soak.run((1.0 - WARM_UP) * seconds, lambda share: bar(WARM_UP + (1 - WARM_UP) * share))
        last = memory()
        if last - first > MEMORY_GROWTH:
            raise SoakError(f'memory grew from {first:.1f} to {last:.1f} MB')
    except SoakError as error:
        print(f'\nseed {options.seed}: {error}', file=sys.stderr)
        return 1
    for name, count in sorted(soak.events.items()):
        print(f'{name:32} {count:9}')
    print(f'{"memory after the warm-up":32} {first:9.1f} MB')
    print(f'{"memory at the end":32} {last:9.1f} MB')
    print(f'{"real-time factor":32} {seconds / (time.monotonic() - start):9.1f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
