# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that a simulated robot can be told to have, and the lossy line they act on."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

import numpy as np

from drex_ros.robot.joints import joint_index

T = TypeVar('T')


class FaultKind(IntEnum):
    """What fails (numbers as in drex_interfaces/InjectFault)."""

    NONE = 0
    DROP_COMMANDS = 1
    DELAY_COMMANDS = 2
    DROP_STATES = 3
    DELAY_STATES = 4
    FREEZE_JOINT = 5
    BIAS_JOINT = 6
    REFLEX = 7
    BLANK_CAMERA = 8
    DELAY_CAMERA = 9
    FRICTION = 10
    BIAS_EFFORT = 11


_OF_A_JOINT = (FaultKind.FREEZE_JOINT, FaultKind.BIAS_JOINT, FaultKind.BIAS_EFFORT)
# What the magnitude is, its least and its greatest value.
_MAGNITUDE = {
    FaultKind.DROP_COMMANDS: ('probability', 0.0, 1.0),
    FaultKind.DROP_STATES: ('probability', 0.0, 1.0),
    FaultKind.DELAY_COMMANDS: ('delay [s]', 0.0, 1.0),
    FaultKind.DELAY_STATES: ('delay [s]', 0.0, 1.0),
    FaultKind.DELAY_CAMERA: ('delay [s]', 0.0, 5.0),
    FaultKind.BIAS_JOINT: ('bias [rad]', -math.pi, math.pi),
    FaultKind.BIAS_EFFORT: ('bias [N m]', -100.0, 100.0),
    FaultKind.FRICTION: ('friction', 0.0, 2.0),
}


class FaultError(ValueError):
    """A fault that there is not; the message says what there is."""


@dataclass(frozen=True)
class _Active:
    magnitude: float
    until: float


class Faults:
    """The faults of the moment: one of each kind, for joint faults one of each joint."""

    def __init__(self) -> None:
        self._active: dict[tuple[FaultKind, int], _Active] = {}
        self._next_end = math.inf

    def inject(
        self, kind: int, joint: str, magnitude: float, duration: float, now: float
    ) -> FaultKind:
        """Add a fault, or with NONE clear them all. Raises FaultError and changes nothing.

        Args:
            kind: one of FaultKind.
            joint: name, for faults of one joint.
            magnitude: how much, as the kind asks.
            duration: time until it is over [s]; 0: until it is cleared.
            now: present time [s].
        """
        try:
            fault = FaultKind(kind)
        except ValueError:
            names = ', '.join(f'{k.name} {int(k)}' for k in FaultKind)
            raise FaultError(f'no fault {kind}; there are: {names}') from None
        if fault is FaultKind.NONE:
            self.clear()
            return fault
        place = _joint_of(fault, joint)
        if fault in _MAGNITUDE:
            what, least, greatest = _MAGNITUDE[fault]
            if not least <= magnitude <= greatest:  # false for NaN too
                raise FaultError(
                    f'magnitude of {fault.name} is {magnitude:g}, '
                    f'must be a {what} in {least:g} .. {greatest:g}'
                )
        if not 0.0 <= duration < math.inf:
            raise FaultError(f'duration is {duration:g} s, must be 0 or more')
        if fault is not FaultKind.REFLEX:  # which is over at once
            until = now + duration if duration > 0.0 else math.inf
            self._active[fault, place] = _Active(magnitude, until)
            self._next_end = min(self._next_end, until)
        return fault

    def clear(self) -> None:
        """End them all."""
        self._active.clear()
        self._next_end = math.inf

    def expire(self, now: float) -> bool:
        """End those whose time is over; whether there were any."""
        if now < self._next_end:
            return False
        self._active = {key: each for key, each in self._active.items() if each.until > now}
        self._next_end = min((each.until for each in self._active.values()), default=math.inf)
        return True

    def __bool__(self) -> bool:
        return bool(self._active)

    def get(self, kind: FaultKind) -> float | None:
        """Magnitude of a fault that is of no joint, None while there is none."""
        if not self._active:
            return None
        fault = self._active.get((kind, -1))
        return None if fault is None else fault.magnitude

    def of_joints(self, kind: FaultKind) -> dict[int, float]:
        """Magnitude by joint of the faults of one kind."""
        return {j: each.magnitude for (k, j), each in self._active.items() if k is kind}

    def names(self) -> list[str]:
        """What is broken now, for people."""
        return sorted({kind.name.lower() for kind, _ in self._active})


def _joint_of(fault: FaultKind, joint: str) -> int:
    if fault in _OF_A_JOINT:
        try:
            return joint_index(joint)
        except ValueError as error:
            raise FaultError(f'{fault.name}: {error}') from None
    if joint:
        raise FaultError(f'{fault.name} is not of a joint, given joint {joint!r}: leave it empty')
    return -1


class LossyLine(Generic[T]):
    """A line between robot and controller that loses and delays what is sent.

    When the delay ends or shrinks, what was on its way arrives at once, and the newest counts.
    """

    def __init__(self, *seed: int) -> None:
        """An empty line; lines of different seeds lose different things."""
        self._on_the_way: deque[tuple[float, T]] = deque()
        self._random = np.random.default_rng(seed)

    def pass_on(
        self, item: T | None, now: float, loss: float | None, delay: float | None
    ) -> T | None:
        """Send something, or nothing, at a time [s]; what arrives then, the newest if several do.

        Args:
            item: what is sent.
            now: present time [s].
            loss: probability that it gets lost; None: never.
            delay: time that it takes [s]; None: none.
        """
        if loss is None and delay is None and not self._on_the_way:
            return item
        if item is not None and not (loss is not None and self._random.random() < loss):
            self._on_the_way.append((now, item))
        newest = None
        # Half a microsecond: simulated times are sums of periods.
        while self._on_the_way and self._on_the_way[0][0] <= now - (delay or 0.0) + 5e-7:
            newest = self._on_the_way.popleft()[1]
        return newest

    def clear(self) -> None:
        """Forget what is on its way; the random numbers go on."""
        self._on_the_way.clear()
