# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Block letters that lie flat, upright as seen from above. Lengths in m.

Each is a skeleton of flat convex pieces, made thick by balls: round edges without seams.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from manifold3d import Manifold

from drex_ros.objects.model import ObjectError
from drex_ros.objects.solids import Shape, inset, part_of, round_hull, shape_of, union

ARCS = 6
"""Convex parts of the half circle in a U."""


def letter_u(
    *, width: float, height: float, stroke: float, thickness: float, rounding: float
) -> Shape:
    """A U: two legs and half a ring."""
    _check(stroke, thickness, rounding)
    outer, inner = 0.5 * width - rounding, 0.5 * width - stroke + rounding
    if inner <= rounding or height <= 0.5 * width:
        raise ObjectError(f'a stroke of {stroke:g} m leaves no U')
    top = height - 0.5 * width - rounding
    legs = [
        _thick([(side * inner, 0.0), (side * outer, 0.0), (side * outer, top),
                (side * inner, top)], thickness, rounding)
        for side in (-1.0, 1.0)
    ]  # fmt: skip

    def arcs(count: int) -> list[Manifold]:
        pieces = []
        for i in range(count):
            angle = np.pi * (1.0 + (i + np.linspace(0.0, 1.0, 24 // count + 1)) / count)
            ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
            pieces.append(_thick([*outer * ring, *inner * ring[[0, -1]]], thickness, rounding))
        return pieces

    body = union([*legs, *arcs(2 * ARCS)])
    return Shape(body, tuple(part_of(piece) for piece in [*legs, *arcs(ARCS)]))


def letter_a(
    *,
    width: float,
    height: float,
    stroke: float,
    bar_height: float,
    bar_stroke: float,
    thickness: float,
    rounding: float,
) -> Shape:
    """An A: two legs, `stroke` wide along x, and a bar `bar_height` above the feet."""
    _check(min(stroke, bar_stroke), thickness, rounding)
    lean = 0.5 * (width - stroke) / height
    low, high = bar_height + rounding, bar_height + bar_stroke - rounding
    # From the middle of a leg to the middle of the other, at the height y.
    reach = [0.5 * (width - stroke) - lean * y for y in (low, high)]
    if min(reach) <= 0.5 * stroke:
        raise ObjectError(f'a bar at {bar_height:g} m leaves no hole above it')
    pieces = [_thick([(-reach[0], low), (reach[0], low), (reach[1], high), (-reach[1], high)],
                     thickness, rounding)]  # fmt: skip
    foot, tip = 0.5 * width - stroke, 0.5 * stroke
    leg = np.array([(foot, 0.0), (foot + stroke, 0.0), (tip, height), (-tip, height)])
    right = inset(leg, rounding)
    for side in (-1.0, 1.0):
        pieces.append(_thick(right * (side, 1.0), thickness, rounding))
    return shape_of(pieces)


def _check(stroke: float, thickness: float, rounding: float) -> None:
    if 2.0 * rounding >= min(stroke, thickness):
        raise ObjectError(f'an edge radius of {rounding:g} m does not fit its size')


def _thick(
    polygon: Sequence[npt.ArrayLike] | npt.NDArray[np.float64], thickness: float, rounding: float
) -> Manifold:
    """Balls about a flat convex polygon, shape (n, 2), up to the thickness."""
    half = 0.5 * thickness - rounding
    flat = np.asarray(polygon, dtype=float)
    points = [(x, y, z) for x, y in flat for z in (-half, half)]
    return round_hull(points, rounding)
