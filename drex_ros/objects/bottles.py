# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bottles, as full solids: what they hold is in the mass of their files. Lengths in m."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold

from drex_ros.objects.model import Array, ObjectError
from drex_ros.objects.solids import (
    Shape,
    ellipse,
    loft,
    loft_parts,
    part_of,
    revolve,
    round_hull,
    union,
)


def squeeze_bottle(
    *, width: float, depth: float, height: float, neck_diameter: float, rounding: float
) -> Shape:
    """A flat bottle with a cap and a pointed nozzle."""
    neck = 0.5 * neck_diameter
    rings = _flask(width, depth, 0.56 * height, 0.73 * height, neck, rounding)
    cap = 1.12 * neck
    profile = [(cap, 0.73), (cap, 0.81), (0.92 * cap, 0.83), (0.5 * cap, 0.84), (0.44 * cap, 0.87),
               (0.2 * cap, 0.99), (0.13 * cap, 1.0)]  # fmt: skip
    rings += revolve([(radius, z * height) for radius, z in profile])
    return Shape(loft(rings), tuple(part_of(piece) for piece in loft_parts(rings)))


def spray_bottle(
    *, width: float, depth: float, height: float, neck_diameter: float, rounding: float
) -> Shape:
    """A bottle with a spray head: trigger and nozzle point along x, the long side of the body."""
    neck = 0.5 * neck_diameter
    rings = _flask(width, depth, 0.47 * height, 0.66 * height, neck, rounding)
    collar = 1.2 * neck
    rings += revolve([(collar, 0.66 * height), (collar, 0.715 * height),
                      (0.8 * collar, 0.73 * height), (0.7 * collar, 0.80 * height)])  # fmt: skip
    pieces = [*loft_parts(rings), *_spray_head(0.5 * width, height, collar)]
    parts = tuple(part_of(piece) for piece in pieces)
    return Shape(union([loft(rings), *pieces[-5:]]), parts)


def _flask(
    width: float, depth: float, shoulder: float, top: float, neck: float, rounding: float
) -> list[Array]:
    """Rings of a flat body that narrows to a round neck between two heights."""
    a, b = 0.5 * width, 0.5 * depth
    if neck >= min(a, b) or rounding >= min(a, b, shoulder):
        raise ObjectError('neck and edge radius must be smaller than width and depth')
    rings = []
    for angle in np.linspace(0.0, 0.5 * np.pi, 6):
        less = rounding * (1.0 - np.sin(angle))
        z = rounding * (1.0 - np.cos(angle))
        rings.append(ellipse(a - less, b - less, z, power=2.5))
    for t in np.linspace(0.0, 1.0, 15):
        blend = 0.5 * (1.0 + np.cos(np.pi * t))
        z = shoulder + 0.95 * t * (top - shoulder)
        rings.append(ellipse(neck + (a - neck) * blend, neck + (b - neck) * blend, z,
                             power=2.0 + 0.5 * blend))  # fmt: skip
    rings.append(ellipse(neck, neck, top))
    return rings


def _spray_head(reach: float, height: float, collar: float) -> list[Manifold]:
    """Five convex pieces: the head, its nozzle, and the trigger in three."""
    edge = 0.012 * height

    def side(outline: list[tuple[float, float]], half: float, radius: float) -> Manifold:
        points = [(x * reach, y, z * height) for x, z in outline
                  for y in (radius - half, half - radius)]  # fmt: skip
        return round_hull(points, radius, 12)

    head = side([(-0.85, 0.90), (-0.75, 0.965), (0.55, 0.985), (0.80, 0.955), (0.80, 0.915),
                 (0.35, 0.84), (0.25, 0.79), (-0.30, 0.79)], 0.75 * collar, edge)  # fmt: skip
    nozzle = loft([ring[:, [2, 0, 1]] for ring in revolve(
        [(0.035 * height, 0.6 * reach), (0.035 * height, 1.02 * reach),
         (0.028 * height, 1.08 * reach)], 24)])  # fmt: skip
    nozzle = nozzle.translate((0.0, 0.0, 0.935 * height))
    way = [(0.52, 0.88), (0.66, 0.82), (0.76, 0.765), (0.98, 0.715)]
    trigger = [side([way[i], way[i + 1]], 0.5 * collar, edge) for i in range(3)]
    return [head, nozzle, *trigger]
