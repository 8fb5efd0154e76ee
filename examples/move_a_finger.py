# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bend the index finger of a running stack, and straighten it again.

Start the stack in one terminal (`drex launch drex.launch.yaml`), this in another.
"""

import numpy as np

from drex_ros.client import Drex
from drex_ros.robot.joints import FINGERS, HAND

with Drex() as drex:
    drex.wait_until_ready()
    open_hand = drex.state().position

    closed_hand = open_hand.copy()
    closed_hand[FINGERS['index']] += [0.0, 0.7, 0.6, 0.5]
    drex.move_to(hand=closed_hand[HAND])
    reached = drex.state().position
    print('index finger [deg]:', np.degrees(reached[FINGERS['index']]).round(1))

    drex.move_to(hand=open_hand[HAND])
