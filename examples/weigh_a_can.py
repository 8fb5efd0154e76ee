# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Grip the can of a running stack, lift it a little, weigh it, and put it back.

Start the stack in one terminal (`drex launch drex.launch.yaml object:=can`), this in another.
Where the can stands is told by the simulator. What it weighs is not: the arm feels that.
"""

import numpy as np

from drex_ros.client import Drex, Simulator, Touch

CAN = (0.45, 0.0, 0.041)  # [m] where a hand that points down can reach it
LIFT = (0.0, 0.0, 0.15)  # [m]
FORCE = 6.0  # [N] of the thumb

# The palm over the can: its x axis, along which the fingers stretch, points down.
FINGERS_DOWN = [[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]]
PALM_FROM_CAN = (0.0147, 0.0226, 0.1026)  # [m]
# Index, middle finger and thumb a little farther apart than the can is wide; ring finger away.
OPEN_HAND = [
    *(-0.04, 0.37, 0.71, 0.83),
    *(-0.01, 0.38, 0.73, 0.85),
    *(0.0, -0.1, 0.0, 0.0),
    *(0.91, 0.99, 0.46, 1.23),
]  # [rad]


def show(touches: dict[str, Touch]) -> None:
    """Print what the fingers feel."""
    for finger, touch in touches.items():
        force = np.linalg.norm(touch.force)
        print(f'  {finger:6} presses with {force:.2f} +- {touch.sigma:.2f} N')


with Drex() as drex, Simulator() as simulator:
    drex.wait_until_ready()
    simulator.reset(thing='can', position=CAN)
    drex.recover()
    around = simulator.object_position() + PALM_FROM_CAN
    above = around + LIFT

    drex.hand.open(OPEN_HAND)
    drex.move_to(position=above, rotation=FINGERS_DOWN)
    drex.tare()
    drex.move_to(position=around, straight=True)

    print('closed:')
    show(drex.hand.close(FORCE))

    drex.move_to(position=above, straight=True)
    mass, sigma = drex.payload()
    print(f'lifted: {1e3 * mass:.0f} +- {1e3 * sigma:.0f} g')

    drex.move_to(position=around, straight=True, speed=0.1)
    drex.hand.open(OPEN_HAND)
    drex.move_to(position=above, straight=True)
    shift = np.linalg.norm(simulator.object_position() - (around - PALM_FROM_CAN))
    print(f'put back, {1e3 * shift:.1f} mm from where it stood')
