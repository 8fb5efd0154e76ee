# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is done to a robot at random in a soak: commands, right and wrong, faults and resets."""

from __future__ import annotations

import gc
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drex_ros.hardware.faults import FaultKind
from drex_ros.objects import object_names
from drex_ros.robot.joints import ARM, HOME, JOINT_NAMES, LIMITS, N_ARM, N_JOINTS, Array
from drex_ros.robot.state import RobotMode, RobotState

MEMORY_GROWTH = 20.0
"""Memory that may be gained after the warm-up [MB]: what allocators keep, not what leaks."""
WARM_UP = 0.2
"""Share of the time after which memory is first looked at."""
RECOVER = 0.1
"""Chance of a recovery in each cycle of a stopped robot."""
LATCHED = (RobotMode.STOPPED, RobotMode.REFLEX)
"""Modes in which every command but a recovery is refused."""
WRONG = ('nan', 'infinite', 'over', 'stale', 'early', 'jump')
"""Commands that every robot must refuse."""

_OF_A_JOINT = (FaultKind.FREEZE_JOINT, FaultKind.BIAS_JOINT, FaultKind.BIAS_EFFORT)
_FREE_POSTURE = 0.2  # share of the resets that put the robot anywhere
_FAR = 1000  # cycles by which a wrong sequence is wrong at most
_OLD = 11  # cycles after which an answer is too old, with the default deadline


class SoakError(AssertionError):
    """The simulated robot broke a promise; the message says which and when."""


@dataclass(frozen=True)
class Injection:
    """A fault, as mock/inject_fault takes it."""

    kind: FaultKind
    joint: str
    magnitude: float
    duration: float


@dataclass(frozen=True)
class Placement:
    """A reset, as mock/reset takes it; numbers that are 0: the object's own."""

    posture: Array
    name: str = ''
    mass: float = 0.0
    friction: float = 0.0
    finger_friction: float = 0.0
    position: Array | None = None
    quaternion: Array | None = None
    seed: int | None = None


class Mischief:
    """Somebody who does everything to a robot. The same seed does the same things."""

    def __init__(self, seed: int, period: float) -> None:
        """For a robot with a control cycle of this period [s]."""
        self.random = np.random.default_rng(seed)
        self._period = period
        self._names = object_names()
        self._aim = np.zeros(N_JOINTS)
        self._has_object = False

    def legal(self, state: RobotState) -> Array:
        """Torques towards a random aim, no faster than the arm takes [N m]."""
        random = self.random
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

    def wrong(self, state: RobotState, kind: str) -> tuple[int, Array]:
        """Sequence and torques [N m] of a command that is wrong in one of the ways of WRONG."""
        random, sequence = self.random, state.sequence
        effort = self.legal(state)
        joint = int(random.integers(N_JOINTS))
        if kind == 'nan':
            effort[joint] = np.nan
        elif kind == 'infinite':
            effort[joint] = random.choice((-np.inf, np.inf))
        elif kind == 'over':
            effort[joint] = random.choice((-1.0, 1.0)) * LIMITS.effort[joint] * 1.001
        elif kind == 'stale' and sequence > _OLD:
            sequence -= int(random.integers(_OLD, min(_FAR, sequence)))
        elif kind in ('early', 'stale'):
            sequence += int(random.integers(1, _FAR))
        elif kind == 'jump':
            joint %= N_ARM
            effort[joint] = -np.copysign(0.9 * LIMITS.effort[joint], state.effort_commanded[joint])
        return sequence, effort

    def silence(self) -> int:
        """States to leave unanswered: some longer than the deadline, few until a stop."""
        return int(self.random.exponential(40.0))

    def fault(self) -> Injection:
        """A fault of any kind."""
        random = self.random
        kind = FaultKind(int(random.integers(len(FaultKind))))
        if kind is FaultKind.FRICTION and not self._has_object:
            kind = FaultKind.NONE  # it would be refused
        joint = str(random.choice(JOINT_NAMES)) if kind in _OF_A_JOINT else ''
        duration = float(random.choice((0.0, 0.1, 1.0)))
        return Injection(kind, joint, float(random.random()), duration)

    def placement(self) -> Placement:
        """A reset of robot and object."""
        random = self.random
        posture = HOME + random.uniform(-0.3, 0.3, N_JOINTS)
        if random.random() < _FREE_POSTURE:
            posture = random.uniform(LIMITS.lower, LIMITS.upper)
        posture = np.clip(posture, LIMITS.lower, LIMITS.upper)
        seed = int(random.integers(1, 2**31)) if random.random() < 0.5 else None
        self._has_object = random.random() >= 0.2
        if not self._has_object:
            return Placement(posture, seed=seed)
        name = str(random.choice(self._names))
        mass = friction = finger = 0.0
        if random.random() < 0.5:
            mass, friction, finger = random.uniform((0.04, 0.1, 0.1), (1.0, 1.0, 1.2)).tolist()
        position = quaternion = None
        if random.random() < 0.5:
            position = random.uniform((0.3, -0.4, 0.05), (0.9, 0.4, 0.6))
            quaternion = random.standard_normal(4)
            quaternion /= np.linalg.norm(quaternion)
        return Placement(posture, name, mass, friction, finger, position, quaternion, seed)


def unsound(state: RobotState) -> str:
    """What no state may be; empty when it is sound."""
    values = (state.position, state.velocity, state.effort, state.effort_commanded)
    if not all(np.isfinite(each).all() for each in values):
        return 'the state is not a number'
    if (np.abs(state.effort_commanded) > LIMITS.effort).any():
        return 'a torque over its limit is commanded'
    return ''


def memory(process: int | None = None) -> float:
    """Memory of a process (this one) that is in use now [MB]."""
    if process is None:
        gc.collect()
    pages = int(Path(f'/proc/{process or "self"}/statm').read_text().split()[1])
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
