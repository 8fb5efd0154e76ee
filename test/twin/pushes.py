# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pushes for the tests of the twin: a fingertip on a spring, along x."""

from __future__ import annotations

from functools import cache

import numpy as np

from drex_ros.objects import load_object
from drex_ros.robot.joints import Array
from drex_ros.twin.parameters import SINK, guess
from drex_ros.twin.simulator import COMMAND, Push, Shape, Twin, at_rest

STIFFNESS = 100.0  # [N/m]
TIP_MASS = 0.2  # [kg]
RADIUS = 0.012  # [m]
STROKE = 0.16  # [m]

_shape = cache(lambda name: Shape.of(load_object(name)))


def push(
    name: str = 'box', *, step: float = 5e-4, duration: float = 2.0, speed: float = 0.3,
    start: Array | None = None, beside: float = 0.0,
) -> Push:  # fmt: skip
    """A push that starts 1 cm before the object and stops after STROKE."""
    shape, model = _shape(name), load_object(name)
    if start is None:
        start = at_rest(shape, np.zeros(3), model.rest_quaternion, SINK)
    time = step * np.arange(round(duration / step))
    first = -np.abs(shape.points).max() - RADIUS - 0.01
    command = np.zeros((len(time), COMMAND))
    command[:, 0] = first + np.minimum(speed * time, STROKE)
    command[:, 1], command[:, 2] = beside, 0.025
    command[:, 3] = np.where(speed * time < STROKE, speed, 0.0)
    command[:, 9:12] = STIFFNESS
    command[:, 15:18] = 2.0 * np.sqrt(STIFFNESS * TIP_MASS)
    command[:, 21:24] = 1.0 / TIP_MASS
    tip = np.array((first, beside, 0.025, 0.0, 0.0, 0.0))
    return Push(start, tip, RADIUS, command, step, np.arange(0.0, duration, 1.0 / 30.0))


def twin(name: str = 'box', **options: object) -> Twin:
    """Of an object of the library."""
    return Twin(_shape(name), push(name, **options))  # type: ignore[arg-type]


def parameters(name: str = 'box', *, mass: float = 0.3, friction: float = 0.3) -> Array:
    """As the shape alone tells them."""
    return guess(load_object(name), mass=mass, friction=friction)
