# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Shapes that are boxes, balls and cylinders, or nearly so. Lengths in m."""

from __future__ import annotations

import numpy as np
from manifold3d import Manifold

from drex_ros.objects.model import ObjectError, Part, primitive_part
from drex_ros.objects.solids import (
    Shape,
    circle,
    loft,
    part_of,
    revolve,
    round_box,
    round_hull,
    shape_of,
    union,
)

SHARP = 0.0015
"""Edges no rounder than this are sharp to contacts."""


def box(*, length: float, width: float, height: float, rounding: float) -> Shape:
    """A carton: length along x, width along y."""
    size = np.array([length, width, height])
    return _nearly(round_box(size, rounding), primitive_part('box', 0.5 * size), rounding)


def sphere(*, diameter: float) -> Shape:
    """A ball."""
    body = Manifold.sphere(0.5 * diameter, 56)
    return Shape(body, (primitive_part('sphere', (0.5 * diameter,)),))


def cylinder(*, diameter: float, height: float, rounding: float) -> Shape:
    """A standing cylinder with round edges."""
    radius, half = 0.5 * diameter, 0.5 * height
    if rounding >= min(radius, half):
        raise ObjectError(f'an edge radius of {rounding:g} m does not fit its size')
    turn = np.linspace(0.0, 0.5 * np.pi, 6)
    upper = [(radius - rounding * (1.0 - np.cos(a)), half - rounding * (1.0 - np.sin(a)))
             for a in turn]  # fmt: skip
    lower = [(r, -z) for r, z in reversed(upper)]
    body = loft(revolve(lower + upper, 64))
    return _nearly(body, primitive_part('cylinder', (radius, half)), rounding)


def _nearly(body: Manifold, primitive: Part, rounding: float) -> Shape:
    """A convex body that is a primitive to contacts when its edges are sharp enough."""
    return Shape(body, (primitive if rounding <= SHARP else part_of(body),))


def can(*, diameter: float, height: float, seam: float) -> Shape:
    """A food can: seams around both ends, lids a little below them, beads around the wall."""
    if seam > SHARP:
        raise ObjectError(f'seam: is {seam:g} m, must be at most {SHARP:g}')
    radius, half = 0.5 * diameter, 0.5 * height
    wall = radius - 0.6 * seam
    bead = np.linspace(-0.22 * height, 0.22 * height, 25)
    beads = [(wall - 0.15 * seam * (1.0 - np.cos(6 * np.pi * t)), z)
             for t, z in zip(np.linspace(0.0, 1.0, 25), bead, strict=True)]  # fmt: skip
    end = [
        (wall, half - 2.2 * seam),
        (radius, half - 1.8 * seam),
        (radius, half - 0.3 * seam),
        (radius - 0.3 * seam, half),
    ]
    profile = [(r, -z) for r, z in reversed(end)] + beads + end
    body = loft(revolve(profile, 64))
    for side in (-1.0, 1.0):
        low, high = sorted((side * (half - seam), side * (half + seam)))
        body -= loft(revolve([(radius - 1.5 * seam, low), (radius - 1.5 * seam, high)], 64))
    return Shape(body, (primitive_part('cylinder', (radius, half)),))


def domino(*, length: float, width: float, height: float, rounding: float) -> Shape:
    """A tile with a groove across and pips, a four and a three, as dents."""
    size = np.array([length, width, height])
    body = round_box(size, rounding)
    dent = min(0.05 * height, 0.8 * SHARP)
    pip = 0.11 * width
    # The sphere that cuts a cap of this radius and depth.
    ball = 0.5 * (pip**2 + dent**2) / dent
    step = 0.26 * width
    places = [(-0.25 * length + step * x, step * y) for x in (-1, 1) for y in (-1, 1)]
    places += [(0.25 * length + step * k, step * k) for k in (-1, 0, 1)]
    cuts = [
        Manifold.sphere(ball, 96).translate((x, y, 0.5 * height - dent + ball)) for x, y in places
    ]
    groove = Manifold.cube((1.2 * dent, 0.8 * width, 2.0 * dent), center=True)
    cuts.append(groove.translate((0.0, 0.0, 0.5 * height)))
    return Shape(body - union(cuts), (primitive_part('box', 0.5 * size),))


def brick(
    *, pitch: float, height: float, stud_diameter: float, stud_height: float, rounding: float
) -> Shape:
    """A solid toy brick with two rows of four studs; `pitch` is the distance of the studs."""
    size = np.array([4.0 * pitch, 2.0 * pitch, height])
    radius, half = 0.5 * stud_diameter, 0.5 * stud_height
    z = 0.5 * height + half
    places = [((i - 1.5) * pitch, (j - 0.5) * pitch, z) for i in range(4) for j in range(2)]
    edge = 0.15 * stud_height
    profile = [(radius, -half - edge), (radius, half - edge), (radius - edge, half)]
    stud = loft(revolve(profile, 32))
    body = union([round_box(size, rounding), *(stud.translate(place) for place in places)])
    studs = [primitive_part('cylinder', (radius, half), place) for place in places]
    return Shape(body, (primitive_part('box', 0.5 * size), *studs))


def tin(*, length: float, width: float, height: float, corner: float, rounding: float) -> Shape:
    """A low tin with round corners and a lid that stands out; a cookie is embossed on top."""
    emboss = 0.02 * height
    rim = 0.25 * rounding
    if not rounding + rim < corner < 0.5 * min(length, width) or 5.0 * rounding > height:
        raise ObjectError('corner: must be over 1.25 of rounding and under half of the short side')
    floor, seam, top = -0.5 * height, 0.18 * height, 0.5 * height - emboss

    def slab(low: float, high: float, grow: float) -> Manifold:
        across = 0.5 * np.array([length, width]) - corner
        turn = 2.0 * np.pi * np.arange(32) / 32
        arc = (corner - rounding - rim + grow) * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        outline = (across * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]))[:, None] + arc
        points = [(x, y, z) for x, y in outline.reshape(-1, 2)
                  for z in (low + rounding, high - rounding)]  # fmt: skip
        return round_hull(points, rounding, 12)

    # The body goes on inside the lid, so that the two make one solid.
    pieces = [slab(floor, seam + 2.0 * rounding, 0.0), slab(seam, top, rim)]
    parts = shape_of(pieces).parts
    cookie = 0.36 * min(length, width)
    relief = loft([circle(cookie, top - emboss), circle(cookie, top + 0.5 * emboss),
                   circle(cookie - 0.5 * emboss, top + emboss)])  # fmt: skip
    chip = Manifold.sphere(0.16 * cookie, 20)
    spots = [(0.0, 0.0)]
    spots += [(0.62 * cookie * np.cos(a), 0.62 * cookie * np.sin(a))
              for a in 2.0 * np.pi * np.arange(6) / 6]  # fmt: skip
    relief -= union(chip.translate((x, y, top + emboss + 0.1 * cookie)) for x, y in spots)
    return Shape(union([*pieces, relief]), parts)
