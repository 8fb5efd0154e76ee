# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Blocking Python calls over the stack's topics and services.

    from drex_ros.client import Drex
    from drex_ros.robot.joints import HAND

    with Drex() as drex:
        drex.wait_until_ready()
        hand = drex.state().position[HAND]
        hand[1] += 0.5
        drex.move_to(hand=hand)

Drex works on any robot; Simulator is what only a simulated one can do. Every call waits until the
thing has happened, or raises a DrexError that names the cause.
"""

from drex_ros.client.connection import DrexError, DrexTimeoutError
from drex_ros.client.detections import DetectResult
from drex_ros.client.drex import Drex
from drex_ros.client.hand import Hand, Touch
from drex_ros.client.moves import MoveResult
from drex_ros.client.observer import PayloadEstimate
from drex_ros.client.simulator import Pictures, Simulator
from drex_ros.client.targets import TipForce
from drex_ros.hardware.faults import FaultKind as Fault

__all__ = [
    'DetectResult',
    'Drex',
    'DrexError',
    'DrexTimeoutError',
    'Fault',
    'Hand',
    'MoveResult',
    'PayloadEstimate',
    'Pictures',
    'Simulator',
    'TipForce',
    'Touch',
]
