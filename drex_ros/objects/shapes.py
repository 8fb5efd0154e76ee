# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The shapes that an object's file can name, made from their dimensions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from drex_ros.objects import blocks, bottles, letters, tools, vessels
from drex_ros.objects.model import Mesh, ObjectError, Part
from drex_ros.objects.solids import Shape, mesh_of

LONGEST = 1.0  # [m]

GENERATORS: dict[str, Callable[..., Shape]] = {
    'banana': tools.banana,
    'box': blocks.box,
    'brick': blocks.brick,
    'can': blocks.can,
    'cup': vessels.cup,
    'cylinder': blocks.cylinder,
    'domino': blocks.domino,
    'dumbbell': tools.dumbbell,
    'letter_a': letters.letter_a,
    'letter_u': letters.letter_u,
    'mug': vessels.mug,
    'screwdriver': tools.screwdriver,
    'sphere': blocks.sphere,
    'spray_bottle': bottles.spray_bottle,
    'squeeze_bottle': bottles.squeeze_bottle,
    'tin': blocks.tin,
}


def dimensions(kind: str) -> tuple[str, ...]:
    """Names of the dimensions that a kind of shape has."""
    try:
        generator = GENERATORS[kind]
    except KeyError:
        known = ', '.join(sorted(GENERATORS))
        raise ObjectError(f'no kind {kind!r}; the kinds are: {known}') from None
    return tuple(inspect.signature(generator).parameters)


def generate(kind: str, values: Mapping[str, float]) -> tuple[Mesh, tuple[Part, ...]]:
    """Mesh and convex parts of a shape about the centre of its bounding box; lengths in m."""
    names = dimensions(kind)
    unknown = [name for name in values if name not in names]
    missing = [name for name in names if name not in values]
    for problem, found in (('has no', unknown), ('needs', missing)):
        if found:
            raise ObjectError(
                f'{kind} {problem} {", ".join(found)}; its dimensions are: {", ".join(names)}'
            )
    for name, value in values.items():
        if not 0.0 < value <= LONGEST:
            raise ObjectError(f'{name}: is {value:g} m, must be over 0 and at most {LONGEST:g}')
    shape = GENERATORS[kind](**values)
    if shape.body.is_empty() or len(shape.body.decompose()) != 1:
        raise ObjectError(f'these dimensions make no {kind} of one piece')
    mesh = mesh_of(shape.body)
    lower, upper = mesh.bounds
    offset = -0.5 * (lower + upper)
    return mesh.moved(offset), tuple(part.moved(offset) for part in shape.parts)
