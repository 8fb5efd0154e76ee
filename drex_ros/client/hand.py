# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The hand, seen from a script: it opens, closes with a force, and says what it feels.

Closing goes as a careful hand does it: the fingers come together with little force and soft
springs until each of them touches, the springs are laid where the fingers are, and only then the
force grows. Stiff springs before contact would bear a part of the grip, and full force while
closing would push the object away.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from drex_interfaces.msg import ControllerStatus, ControllerTarget
from drex_ros.client.checks import FINGER_NAMES, finger_number, number, numbers, positive
from drex_ros.client.connection import PATIENCE, DrexError, DrexTimeoutError
from drex_ros.nodes.conversions import seconds
from drex_ros.robot.joints import FINGERS, HAND, HOME, N_ARM, N_HAND, Array

if TYPE_CHECKING:
    from drex_ros.client.drex import Drex

_Check = Callable[[ControllerStatus], bool | None]
_Wait = Callable[[_Check, str], object]

STIFFNESS = 3.0
"""Of the joints of a hand that presses on nothing [N m/rad]."""
_CLOSING_STIFFNESS = 0.3  # [N m/rad] of fingers on their way to the object
_GRIP_STIFFNESS = 1.0  # [N m/rad] of fingers that hold it
_TOUCH_FORCE = 0.8  # [N] while closing
_TOUCH_TIME = 0.2  # [s] that all fingers must have touched for
_STILL = 0.02  # [rad] a finger that moves by less in the next [s] comes no further
_STILL_TIME = 2.0
_FORCE_RATE = 3.0  # [N/s]
_FORCE_STEP = 0.25  # [N]; the controller goes from one to the next without a jump
_SETTLING = 0.5  # [s] after the force has grown, before it is measured


class Touch(NamedTuple):
    """What a fingertip feels."""

    force: Array
    """Of the fingertip on what it touches [N], in the arm's base frame. Shape (3,)."""
    sigma: float
    """Standard deviation of each component [N]."""
    in_contact: bool
    """The force is above what noise can explain."""
    slipping: bool
    """The fingertip moves along what it touches."""


class Hand:
    """The fingers of a Drex; made by it, as `drex.hand`."""

    def __init__(self, drex: Drex) -> None:
        self._drex = drex

    def forces(self, timeout: float = PATIENCE) -> dict[str, Touch]:
        """What each fingertip feels, by the next estimate: index, middle, ring, thumb."""
        return self._drex.wait_for_status(
            lambda status: _touches(status) or None, 'the forces of the fingertips', timeout
        )

    def open(
        self,
        posture: npt.ArrayLike = HOME[HAND],
        *,
        speed: float | None = None,
        timeout: float = 60.0,
    ) -> None:
        """Let go and open the hand.

        Args:
            posture: joint positions of the open hand [rad], 16 numbers.
            speed: share of the robot's speed, 0.01 to 1; None: the controller's own.
            timeout: wall time to wait [s].
        """
        numbers('posture', posture, N_HAND)
        if speed is not None:
            number('speed', speed, least=0.01, most=1.0)
        self.relax()
        self._drex.move_to(hand=posture, speed=speed, timeout=timeout)

    def relax(self, stiffness: float = STIFFNESS, timeout: float = PATIENCE) -> None:
        """Press with nothing, and hold the fingers where they are.

        Args:
            stiffness: of the joints from now on [N m/rad].
            timeout: wall time to wait until it is accepted [s].
        """
        springs = np.full(N_HAND, positive('stiffness', stiffness))
        posture = self._drex.state(timeout).position[HAND]
        self._drex.set_target(hand=posture, hand_stiffness=springs, timeout=timeout)

    def close(
        self,
        force: float = 2.0,
        fingers: Sequence[str] = ('index', 'middle', 'thumb'),
        *,
        timeout: float = 60.0,
    ) -> dict[str, Touch]:
        """Close fingers around what is between them, and press.

        Fingers that hold something already go to the new force at once, without letting go.
        Fingers that meet each other touch, too. When one touches nothing, or loses touch, the
        hand is held where it is without force, and a DrexError says which.

        Args:
            force: of the strongest finger [N]; those of the others balance it.
            fingers: two or more that press towards their middle; the others stay where they are.
            timeout: wall time to wait in all [s].

        Returns:
            What the fingers feel, measured at the end.
        """
        force = positive('force', force)
        if isinstance(fingers, str) or len(set(fingers)) != len(fingers) or len(fingers) < 2:
            raise DrexError(f'fingers is {fingers!r}, must name two or more, each once')
        for name in fingers:
            finger_number(name)
        limit = self._drex.status(timeout).finger_force_limit
        if force > limit:
            raise DrexError(f'force is {force:g} N, the limit of the fingertips is {limit:g} N')
        try:
            return self._close(force, tuple(fingers), timeout)
        except BaseException:
            self._let_go()
            raise

    def _close(self, force: float, fingers: tuple[str, ...], timeout: float) -> dict[str, Touch]:
        drex, deadline = self._drex, time.monotonic() + timeout
        wait = partial(drex.wait_for_status, timeout=timeout, deadline=deadline)
        touch = min(_TOUCH_FORCE, force)
        held = self._held_with(fingers, drex.status())
        if held > touch:
            touch = force  # to begin anew would drop what it holds
        else:
            drex.set_target(
                fingertips=dict.fromkeys(fingers, touch),
                hand_stiffness=_stiffness(fingers, _CLOSING_STIFFNESS),
            )
            self._wait_for_touch(fingers, wait)
        posture = drex.status().target_position[HAND].copy()
        measured = drex.state().position
        for name in fingers:
            joints = FINGERS[name]
            posture[joints.start - N_ARM : joints.stop - N_ARM] = measured[joints]
        steps = math.ceil((force - touch) / _FORCE_STEP)
        for step in range(steps + 1):
            drex.set_target(
                hand=posture,
                hand_stiffness=_stiffness(fingers, _GRIP_STIFFNESS),
                fingertips=dict.fromkeys(fingers, min(touch + step * _FORCE_STEP, force)),
            )
            self._grip_for(_FORCE_STEP / _FORCE_RATE if step < steps else _SETTLING, wait)
        felt = self.forces()
        lost = [name for name in fingers if not felt[name].in_contact]
        if lost:
            raise DrexError(f'{_these(lost)} lost touch: did the object slip out?')
        return {name: felt[name] for name in fingers}

    def _held_with(self, fingers: tuple[str, ...], status: ControllerStatus) -> float:
        """Greatest force of these fingers if all of them hold something by now [N]; else 0."""
        felt = _touches(status)
        if not all(name in felt and felt[name].in_contact for name in fingers):
            return 0.0
        return max(float(np.linalg.norm(felt[name].force)) for name in fingers)

    def _wait_for_touch(self, fingers: tuple[str, ...], wait: _Wait) -> None:
        """Wait until all of the fingers have touched something for a while."""
        since = still_since = math.nan
        missing = list(fingers)
        posture = np.full(N_HAND, np.inf)

        def touching(status: ControllerStatus) -> bool | None:
            nonlocal since, still_since, missing, posture
            self._check_grip(status)
            felt = _touches(status)
            missing = [name for name in fingers if not (felt and felt[name].in_contact)]
            now = seconds(status.header.stamp)
            measured = self._drex.last_position()
            if measured is not None and np.abs(measured[HAND] - posture).max() > _STILL:
                posture, still_since = measured[HAND], now
            elif missing and now - still_since > _STILL_TIME:
                raise DrexError(f'{_these(missing)} touched nothing, and came no further')
            if missing:
                since = math.nan
            elif math.isnan(since):
                since = now
            return True if now - since >= _TOUCH_TIME else None  # false for NaN

        try:
            wait(touching, 'the fingers to touch')
        except DrexTimeoutError as error:
            which = f'{_these(missing)} touched nothing' if missing else 'the touch did not last'
            raise DrexTimeoutError(f'{error}: {which}') from None

    def _grip_for(self, duration: float, wait: _Wait) -> None:
        """Wait for some time of the robot [s]; a DrexError when the grip ends in it."""
        began = math.nan

        def passed(status: ControllerStatus) -> bool | None:
            nonlocal began
            self._check_grip(status)
            now = seconds(status.header.stamp)
            began = now if math.isnan(began) else began
            return True if now - began >= duration else None

        wait(passed, 'the grip to be firm')

    def _check_grip(self, status: ControllerStatus) -> None:
        if status.source not in ('', self._drex.name):
            raise DrexError(f'no longer in command: {status.source!r} is')
        stopped = status.state == ControllerStatus.STATE_STOPPED
        if stopped or status.hand_mode != ControllerTarget.MODE_HYBRID_FORCE:
            raise DrexError(f'the grip ended on its way: {status.reason}')

    def _let_go(self) -> None:
        """Relax after a failure, where that is still possible; what failed is told anyway."""
        with contextlib.suppress(DrexError):
            status = self._drex.status()
            if status.source == self._drex.name and status.state != ControllerStatus.STATE_STOPPED:
                self.relax()


def _touches(status: ControllerStatus) -> dict[str, Touch]:
    """What the fingers feel; empty while that is not estimated."""
    return {
        FINGER_NAMES[tip.finger]: Touch(
            np.array((tip.force.x, tip.force.y, tip.force.z)),
            float(tip.sigma),
            bool(tip.in_contact),
            bool(tip.slipping),
        )
        for tip in status.fingertips
    }


def _stiffness(fingers: tuple[str, ...], value: float) -> Array:
    """Of all joints [N m/rad], shape (16,): that of the fingers that grip, and of the others."""
    result = np.full(N_HAND, STIFFNESS)
    for name in fingers:
        joints = FINGERS[name]
        result[joints.start - N_ARM : joints.stop - N_ARM] = value
    return result


def _these(names: Sequence[str]) -> str:
    return ' and '.join(names)
