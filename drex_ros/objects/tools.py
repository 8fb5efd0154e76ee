# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Long things that lie on the table, along x. Lengths in m."""

from __future__ import annotations

import numpy as np

from drex_ros.objects.model import Array, ObjectError
from drex_ros.objects.solids import (
    Shape,
    loft,
    loft_parts,
    loft_shape,
    part_of,
    revolve,
    round_prism,
    shape_of,
)

CORNER_POINTS = 4


def screwdriver(
    *, handle_length: float, handle_diameter: float, shaft_length: float, shaft_diameter: float
) -> Shape:
    """A six-sided handle that lies on a flat, a shaft and a flat tip."""
    flat, shaft = 0.5 * handle_diameter, 0.5 * shaft_diameter
    if shaft >= 0.4 * flat:
        raise ObjectError('the shaft must be thinner than 0.4 of the handle')
    hexagon = _round_polygon(6, flat, 0.3)
    grip = [(0.0, 0.70), (0.015, 0.84), (0.04, 0.94), (0.08, 1.0), (0.48, 1.0), (0.54, 0.96),
            (0.62, 0.83), (0.70, 0.76), (0.78, 0.80), (0.85, 0.95), (0.88, 1.0), (0.95, 1.0),
            (0.985, 0.9), (1.0, 0.72)]  # fmt: skip
    rings = [_across(scale * hexagon, x * handle_length) for x, scale in grip]
    turn = 2.0 * np.pi * np.arange(len(hexagon)) / len(hexagon)
    round_section = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ferrule = min(1.7 * shaft, 0.65 * flat)
    for radius, x in ((ferrule, 1.0), (ferrule, 1.08), (shaft, 1.09)):
        rings.append(_across(radius * round_section, x * handle_length))
    end = handle_length + shaft_length
    # The tip is forged flat: broader along y, thin along z.
    for y, z, back in ((1.0, 1.0, 5.0), (1.25, 0.8, 3.5), (1.4, 0.3, 0.8), (1.3, 0.22, 0.0)):
        rings.append(_across(shaft * round_section * (y, z), end - back * shaft))
    return loft_shape(rings)


def dumbbell(
    *, length: float, head_length: float, head_diameter: float, grip_diameter: float,
    rounding: float
) -> Shape:  # fmt: skip
    """Two six-sided heads, `head_diameter` from flat to flat, and a grip that bulges."""
    grip = length - 2.0 * head_length
    if grip <= 0.0 or grip_diameter >= head_diameter:
        raise ObjectError('the heads leave no grip between them')
    angle = np.pi / 3.0 * np.arange(6)
    hexagon = head_diameter / np.sqrt(3.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    head = round_prism(hexagon, head_length, rounding)
    # From an upright prism to one along x, with its flats up and down.
    lying = head.rotate((90.0, 0.0, 90.0))
    place = 0.5 * (length - head_length)
    radius, reach = 0.5 * grip_diameter, 0.5 * (grip + rounding)
    bulge = [(radius * (1.0 - 0.16 * t**2), t * reach) for t in np.linspace(-1.0, 1.0, 15)]
    bar = loft([ring[:, [2, 0, 1]] for ring in revolve(bulge)])
    return shape_of([bar, lying.translate((place, 0.0, 0.0)), lying.translate((-place, 0.0, 0.0))])


def banana(*, length: float, diameter: float, bend: float) -> Shape:
    """A five-sided fruit along an arc with the radius `bend`, tapering to stem and tip."""
    half = 0.5 * length / bend
    if half >= 0.5 * np.pi:
        raise ObjectError(f'a bend of {bend:g} m is too tight for its length')
    # Turned so that one side lies on the table.
    pentagon = _round_polygon(5, 0.5 * diameter, 0.5)
    outline = [(-1.0, 0.26), (-0.985, 0.29), (-0.86, 0.27), (-0.80, 0.36), (-0.70, 0.66),
               (-0.58, 0.86), (-0.42, 0.96), (-0.25, 1.0), (0.0, 1.0), (0.25, 1.0), (0.45, 0.95),
               (0.62, 0.84), (0.76, 0.66), (0.88, 0.42), (0.94, 0.26), (1.0, 0.2)]  # fmt: skip
    places = np.linspace(-1.0, 1.0, 41)
    scales = np.interp(places, *np.array(outline).T)
    rings = []
    for place, scale in zip(places, scales, strict=True):
        angle = place * half
        radial, up = scale * pentagon.T
        radius = bend + radial
        rings.append(np.stack([radius * np.sin(angle), radius * np.cos(angle), up], axis=1))
    pieces = loft_parts(rings, 1e-3)
    return Shape(loft(rings), tuple(part_of(piece) for piece in pieces))


def _round_polygon(sides: int, flat: float, roundness: float) -> Array:
    """A regular polygon, `flat` from the centre to a side, one side down. Shape (n, 2).

    Its corners are arcs with the radius `roundness` times `flat`.
    """
    radius = roundness * flat
    corner = (flat - radius) / np.cos(np.pi / sides)
    step = 2.0 * np.pi / sides
    points = []
    for i in range(sides):
        middle = -0.5 * np.pi + (i + 0.5) * step
        for angle in middle + np.linspace(-0.5, 0.5, CORNER_POINTS) * step:
            points.append([corner * np.cos(middle) + radius * np.cos(angle),
                           corner * np.sin(middle) + radius * np.sin(angle)])  # fmt: skip
    return np.array(points)


def _across(section: Array, x: float) -> Array:
    """A ring at x from a section in y and z. Shape (n, 3)."""
    return np.concatenate([np.full((len(section), 1), x), section], axis=1)
