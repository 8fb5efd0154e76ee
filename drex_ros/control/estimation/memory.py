# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""All that the estimators remember in one array, so that one compiled call takes one argument.

Handing an array to a compiled function costs 0.2 us, cutting it there costs nothing: with forty
arrays handed over, the estimators would take twice as long as they need (bench/estimators.py).
"""

from __future__ import annotations

from typing import NamedTuple

from drex_ros.control.estimation.contact_force import Contacts
from drex_ros.control.estimation.joint_friction import Friction
from drex_ros.control.estimation.momentum_observer import Momentum
from drex_ros.control.estimation.payload import Payload
from drex_ros.control.estimation.slip import Slip
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array

_ROWS = 27  # of joint values
_OTHERS = 23 * _ROWS  # where the others begin
SIZE = _OTHERS + 12 + 12 + 4 + 4 + 12 + 12 + 4 + 6 + 6 + 7 + 5 * 7 + 3
"""Numbers in the array."""


class Memory(NamedTuple):
    """Views of the one array."""

    momentum: Momentum
    friction: Friction
    contacts: Contacts
    payload: Payload
    slip: Slip
    external: Array
    """Torque of the world on the joints, the arm's against its tare [N m]. Shape (23,)."""
    sigma: Array
    """Its standard deviation [N m]. Shape (23,)."""
    wrench: Array
    """Of the world on the palm [N, N m]. Shape (6,)."""
    wrench_sigma: Array
    """Shape (6,)."""


@kernel
def _row(memory, row):  # type: ignore[no-untyped-def]
    return memory[23 * row : 23 * row + 23]


@kernel
def split(memory):  # type: ignore[no-untyped-def]
    """The views of an array of SIZE numbers; `split.py_func` gives the same outside."""
    momentum = Momentum(
        _row(memory, 0),
        _row(memory, 1),
        _row(memory, 2),
        _row(memory, 3),
        _row(memory, 4),
        _row(memory, 5),
        _row(memory, 6),
        _row(memory, 7),
        _row(memory, 8),
        _row(memory, 9),
        _row(memory, 10),
        _row(memory, 11),
        _row(memory, 12),
        _row(memory, 13),
        _row(memory, 14),
    )
    friction = Friction(
        _row(memory, 15),
        _row(memory, 16),
        _row(memory, 17),
        _row(memory, 18),
        _row(memory, 19),
        _row(memory, 20),
        _row(memory, 21),
        _row(memory, 22),
        _row(memory, 23),
        _row(memory, 24),
    )
    rest = memory[_OTHERS:]
    contacts = Contacts(
        rest[0:12].reshape((4, 3)), rest[12:24].reshape((4, 3)), rest[24:28], rest[28:32]
    )
    slip = Slip(rest[32:44].reshape((4, 3)), rest[44:56].reshape((4, 3)), rest[56:60])
    payload = Payload(
        rest[72:79],
        rest[79:86],
        rest[86:93],
        rest[93:100],
        rest[100:107],
        rest[107:114],
        rest[114:117],
    )
    return Memory(
        momentum,
        friction,
        contacts,
        payload,
        slip,
        _row(memory, 25),
        _row(memory, 26),
        rest[60:66],
        rest[66:72],
    )
