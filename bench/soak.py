# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random commands, faults and resets for a long simulated time; nothing may go wrong.

    python bench/soak.py [--minutes 30] [--seed 0]

Legal commands must be followed and illegal ones refused and counted, the state must always be a
number, the physics must never be given up, and memory must not grow. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import mujoco
import numpy as np

from drex_ros.hardware.faults import FaultError, FaultKind
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.objects import ObjectModel, collision_parts, load_object, object_names
from drex_ros.robot.joints import ARM, HOME, JOINT_NAMES, LIMITS, N_ARM, N_JOINTS, Array
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

MEMORY_GROWTH = 20.0
"""Memory that may be gained after the warm-up [MB]: what allocators keep, not what leaks."""

_WARM_UP = 0.2  # share of the time after which memory is first looked at
_LATCHED = (RobotMode.STOPPED, RobotMode.REFLEX)
_OF_A_JOINT = (FaultKind.FREEZE_JOINT, FaultKind.BIAS_JOINT, FaultKind.BIAS_EFFORT)
# How often things happen, per control cycle.
_ILLEGAL, _SILENCE, _HOLD, _STOP, _FAULT, _RESET = 0.01, 0.002, 0.002, 0.0002, 0.002, 0.0006
_RECOVER = 0.1  # while stopped
_FREE_POSTURE = 0.2  # share of the resets that put the robot anywhere
_BROKEN_NUMBERS = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)


class SoakError(AssertionError):
    """The simulated robot broke a promise; the message says which and when."""


class Soak:
    """A simulated robot and somebody who does everything to it."""

    def __init__(self, seed: int = 0, settings: MujocoSettings | None = None) -> None:
        """The same seed does the same things."""
        self._random = np.random.default_rng(seed)
        self._things = _library()
        self.robot = MujocoBackend(settings)
        self.robot.connect()
        self._period = 1.0 / self.robot.settings.control_rate
        self._refused = 0
        self._silent = 0
        self._first_sequence = 0
        self._aim = np.zeros(N_JOINTS)
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
            # Some longer than the deadline, few longer than until a stop.
            self._silent = int(self._random.exponential(40.0))
            self.events['silence'] += 1
        if chance[4] < _HOLD:
            self.robot.hold('soak')

    def _command(self, state: RobotState) -> None:
        random = self._random
        if state.mode in _LATCHED:
            if random.random() < _RECOVER:
                self._send(state.sequence, CommandMode.RECOVER, self._legal(state), True)
                self.events[f'recovered from {state.mode.name.lower()}'] += 1
            else:
                self._send(state.sequence, CommandMode.EFFORT, self._legal(state), False)
            return
        if random.random() < _ILLEGAL:
            self._illegal(state)
        elif random.random() < _HOLD:
            self._send(state.sequence, CommandMode.HOLD, np.full(N_JOINTS, np.nan), True)
        else:
            # Answers to a state of a few cycles ago count too, but not of before a reset.
            behind = int(random.integers(10)) if random.random() < 0.1 else 0
            sequence = max(state.sequence - behind, self._first_sequence)
            self._send(sequence, CommandMode.EFFORT, self._legal(state), True)

    def _legal(self, state: RobotState) -> Array:
        """Torques towards a random aim, no faster than the arm takes."""
        random = self._random
        if random.random() < 0.005:
            self._aim = random.uniform(-1.0, 1.0, N_JOINTS) * LIMITS.effort
            self._aim[ARM] *= 0.15 if random.random() < 0.9 else 0.5
        effort = self._aim.copy()
        # Brakes keep the arm below its speed limit most of the time.
        effort[ARM] -= np.clip(0.15 * state.velocity[ARM], -0.4, 0.4) * LIMITS.effort[ARM]
        step = 0.95 * LIMITS.effort_rate[ARM] * self._period
        now = state.effort_commanded[ARM]
        effort[ARM] = now + np.clip(effort[ARM] - now, -step, step)
        return effort

    def _illegal(self, state: RobotState) -> None:
        random, sequence = self._random, state.sequence
        effort = self._legal(state)
        joint = int(random.integers(N_JOINTS))
        kind = random.choice(['nan', 'infinite', 'over', 'stale', 'early', 'shape', 'jump'])
        if kind == 'nan':
            effort[joint] = np.nan
        elif kind == 'infinite':
            effort[joint] = random.choice((-np.inf, np.inf))
        elif kind == 'over':
            effort[joint] = random.choice((-1.0, 1.0)) * LIMITS.effort[joint] * 1.001
        elif kind == 'stale':
            sequence -= int(random.integers(11, 1000))
        elif kind == 'early':
            sequence += int(random.integers(1, 1000))
        elif kind == 'shape':
            effort = effort[: int(random.integers(N_JOINTS))]
        else:
            joint %= N_ARM
            effort[joint] = -np.copysign(0.9 * LIMITS.effort[joint], state.effort_commanded[joint])
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
        random = self._random
        kind = FaultKind(int(random.integers(len(FaultKind))))
        joint = str(random.choice(JOINT_NAMES)) if kind in _OF_A_JOINT else ''
        duration = float(random.choice((0.0, 0.1, 1.0)))
        self.robot.inject(kind, joint, float(random.random()), duration)
        self.events[f'fault: {kind.name.lower()}'] += 1
        for wrong in ((99, '', 0.5), (FaultKind.FRICTION, '', np.nan)):
            try:
                self.robot.inject(wrong[0], wrong[1], wrong[2], 0.0)
            except FaultError:
                continue
            self._fail(f'a fault that cannot be was taken: {wrong}')

    def _reset(self) -> None:
        random = self._random
        posture = HOME + random.uniform(-0.3, 0.3, N_JOINTS)
        if random.random() < _FREE_POSTURE:
            posture = random.uniform(LIMITS.lower, LIMITS.upper)
        posture = np.clip(posture, LIMITS.lower, LIMITS.upper)
        thing = self._thing() if random.random() < 0.8 else None
        pose = None
        if thing is not None and random.random() < 0.5:
            quaternion = random.standard_normal(4)
            position = random.uniform((0.3, -0.4, 0.05), (0.9, 0.4, 0.6))
            pose = ObjectPose(position, quaternion / np.linalg.norm(quaternion))
        seed = int(random.integers(2**31)) if random.random() < 0.5 else None
        self.robot.reset(posture, thing=thing, pose=pose, seed=seed)
        self._first_sequence = self.robot.read().sequence
        self.events['reset'] += 1
        try:
            self.robot.reset(LIMITS.upper + 1.0)
        except ValueError:
            return
        self._fail('a posture beyond the limits was taken')

    def _thing(self) -> ObjectModel:
        random = self._random
        thing = self._things[int(random.integers(len(self._things)))]
        if random.random() < 0.5:
            return thing
        mass, friction, finger = random.uniform((0.04, 0.1, 0.1), (1.0, 1.0, 1.2))
        return overridden(thing, mass=mass, friction=friction, finger_friction=finger)

    def _check(self, commanded: RobotState, before: RobotState) -> None:
        state = self.robot.read()
        values = (state.position, state.velocity, state.effort, state.effort_commanded)
        if not all(np.isfinite(each).all() for each in values):
            self._fail('the state is not a number')
        warnings = self.robot.simulation.data.warning
        if any(warnings[kind].number for kind in _BROKEN_NUMBERS):
            self._fail('MuJoCo gave the physics up')
        if state.commands_refused != self._refused:
            self._fail(f'{self._refused} commands refused, {state.commands_refused} counted')
        if state.sequence != commanded.sequence + 1 or state.time <= before.time:
            self._fail(f'state {commanded.sequence} is followed by {state.sequence}')
        if (np.abs(state.effort_commanded) > LIMITS.effort).any():
            self._fail('a torque over its limit is commanded')
        if state.mode is RobotMode.REFLEX and commanded.mode is not RobotMode.REFLEX:
            self.events[f'reflex: {state.reason.split(": ")[1]}'] += 1

    def _fail(self, what: str) -> None:
        state = self.robot.read()
        raise SoakError(f'{what}, at {state.time:g} s, {state.mode.name} {state.reason}')


@cache
def _library() -> list[ObjectModel]:
    things = [load_object(name) for name in object_names()]
    for thing in things:
        collision_parts(thing)  # made once, kept on disk
    return things


def memory() -> float:
    """Memory of this process that is in use now [MB]."""
    gc.collect()
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 1e6


class Bar:
    """How far it is, and how long it will take, on standard error."""

    def __init__(self) -> None:
        self._start = self._shown = time.monotonic()

    def __call__(self, share: float) -> None:
        """Show a share of the whole, not too often."""
        now = time.monotonic()
        if now - self._shown < (0.2 if sys.stderr.isatty() else 20.0):
            return
        self._shown = now
        took = now - self._start
        left = took * (1.0 - share) / max(share, 1e-9)
        bar = ('#' * round(30 * share)).ljust(30, '.')
        text = f'{bar} {100 * share:5.1f} %  {left:5.0f} s left'
        print(text, end='\r' if sys.stderr.isatty() else '\n', file=sys.stderr, flush=True)


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
        soak.run(_WARM_UP * seconds, lambda share: bar(_WARM_UP * share))
        first = memory()
        soak.run((1.0 - _WARM_UP) * seconds, lambda share: bar(_WARM_UP + (1 - _WARM_UP) * share))
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
