# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes with a cavity: walls are rings of wedges, so that it stays open. Lengths in m."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from manifold3d import Manifold

from drex_ros.objects.model import Array, ObjectError
from drex_ros.objects.solids import Shape, hull, loft, loft_parts, part_of, revolve

WEDGES = 16
"""Convex parts of a wall."""
SEGMENTS = 64
"""Corners of a full circle, a multiple of the wedges."""

Profile = Sequence[tuple[float, float]]


def mug(
    *,
    diameter: float,
    height: float,
    wall: float,
    floor: float,
    handle_reach: float,
    handle_height: float,
    handle_width: float,
) -> Shape:
    """A mug; its handle stands out by `handle_reach` along x, `handle_width` thick."""
    if handle_width > 0.6 * handle_reach or not 3.0 * handle_width < handle_height < 0.9 * height:
        raise ObjectError(
            'a handle needs a width of at most 0.6 of its reach, and a height over three times '
            'its width but under 0.9 of that of the mug'
        )
    radius = 0.5 * diameter
    foot = min(0.35 * wall + 0.001, floor)
    outer = [(radius - foot, 0.0), (radius - 0.3 * foot, 0.3 * foot), (radius, foot)]
    outside, cavity, inner = _wall(outer, radius, height, wall, floor)
    rings = _handle(radius - 0.6 * wall, handle_reach + 0.6 * wall, handle_height, handle_width,
                    0.52 * height)  # fmt: skip
    handle = loft(rings)
    body = (outside + handle) - cavity
    pieces = _wedges(outer, inner, radius, height, floor) + loft_parts(rings, 1e-3)
    return Shape(body, tuple(part_of(piece) for piece in pieces))


def cup(*, diameter: float, foot_diameter: float, height: float, wall: float,
        floor: float) -> Shape:  # fmt: skip
    """A cup that gets wider upwards, without a handle."""
    if foot_diameter > diameter:
        raise ObjectError('foot_diameter: must not exceed diameter')
    radius, foot = 0.5 * diameter, 0.5 * foot_diameter
    outer = [(foot - 0.5 * wall, 0.0), (foot, 0.5 * wall)]
    outside, cavity, inner = _wall(outer, radius, height, wall, floor)
    pieces = _wedges(outer, inner, radius, height, floor)
    return Shape(outside - cavity, tuple(part_of(piece) for piece in pieces))


def _wall(
    foot: Profile, radius: float, height: float, wall: float, floor: float
) -> tuple[Manifold, Manifold, Profile]:
    """The full outside, the cavity, and the inner (radius, z) at floor and lip."""
    base = foot[-1][0]
    inner = [(base - wall + (radius - base) * floor / height, floor), (radius - wall, height)]
    if inner[0][0] <= wall or floor >= 0.5 * height:
        raise ObjectError(f'a wall of {wall:g} m and a floor of {floor:g} m leave no cavity')
    # A round lip.
    lip = [(radius - 0.5 * wall * (1.0 - np.cos(a)), height - 0.5 * wall * (1.0 - np.sin(a)))
           for a in np.linspace(0.0, 0.5 * np.pi, 5)]  # fmt: skip
    outside = loft(revolve([*foot, *lip], SEGMENTS))
    # The parts have a sharp corner here: a wide curve would be missing in them.
    soft = 0.7 * wall
    bowl = [(inner[0][0] - soft * (1.0 - np.sin(a)), floor + soft * (1.0 - np.cos(a)))
            for a in np.linspace(0.0, 0.5 * np.pi, 5)]  # fmt: skip
    mouth = [(radius - 0.5 * wall - 0.5 * wall * np.cos(a),
              height - 0.5 * wall * (1.0 - np.sin(a)))
             for a in np.linspace(0.0, 0.45 * np.pi, 5)]  # fmt: skip
    mouth.append((mouth[-1][0], height + wall))
    return outside, loft(revolve([*bowl, *mouth], SEGMENTS)), inner


def _wedges(
    foot: Profile, inner: Profile, radius: float, height: float, floor: float
) -> list[Manifold]:
    """The floor, and the wall cut into wedges along its height."""
    slope = (radius - foot[-1][0]) / (height - foot[-1][1])
    at_floor = foot[-1][0] + slope * (floor - foot[-1][1])
    base = hull(revolve([*foot, (at_floor, floor)], SEGMENTS))
    lip = 0.5 * (radius - inner[1][0])
    section = [
        (inner[0][0], floor), (at_floor, floor), (radius - slope * lip, height - lip),
        (radius - 0.3 * lip, height - 0.3 * lip), (radius - lip, height),
        (inner[1][0] + 0.3 * lip, height - 0.3 * lip), (inner[1][0], height - lip),
    ]  # fmt: skip
    steps = SEGMENTS // WEDGES
    pieces = [base]
    for i in range(WEDGES):
        angle = 2.0 * np.pi * (i * steps + np.arange(steps + 1)) / SEGMENTS
        pieces.append(hull([(r * np.cos(a), r * np.sin(a), z) for r, z in section for a in angle]))
    return pieces


def _handle(start: float, reach: float, height: float, width: float, middle: float) -> list[Array]:
    """Rings along an ear in the x-z plane, from its top to its bottom end in the wall."""
    rings = []
    half = 0.5 * (height - width)
    turn = 2.0 * np.pi * np.arange(16) / 16
    # The ear keeps its thickness in the plane, and is broader across.
    for angle in np.linspace(0.5 * np.pi, -0.5 * np.pi, 25):
        # A superellipse: straighter near the wall than half a circle.
        cosine, sine = np.cos(angle), np.sin(angle)
        along = np.array([(reach - 0.5 * width) * abs(cosine) ** 0.8,
                          half * np.sign(sine) * abs(sine) ** 0.8])  # fmt: skip
        normal = np.array([cosine * half, sine * (reach - 0.5 * width)])
        normal /= np.linalg.norm(normal)
        point = np.array([start, middle]) + along
        section = point + 0.5 * width * np.cos(turn)[:, None] * normal
        rings.append(np.stack([section[:, 0], 0.7 * width * np.sin(turn), section[:, 1]], axis=1))
    return rings
