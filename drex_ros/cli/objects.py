# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex objects`: what is in the object library, and whether an object of one's own is right."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from drex_ros.objects import (
    ObjectError,
    ObjectModel,
    Part,
    collision_parts,
    load_object,
    object_names,
)
from drex_ros.objects.mass import solid
from drex_ros.objects.mesh_file import write_mesh


def show_objects(which: str | None, mesh: Path | None, as_json: bool) -> int:
    """List all objects, or check and show one; returns 1 when an object is not right."""
    try:
        if which is None:
            if mesh is not None:
                raise ObjectError('--mesh needs the name of an object')
            return _list(as_json)
        model = load_object(which)
        _show(model, as_json)
        if mesh is not None:
            write_mesh(model.mesh, mesh)
            print(f'{mesh}: {len(model.mesh.faces)} triangles, in m', file=sys.stderr)
        return 0
    except (ObjectError, OSError) as error:
        print(f'drex objects: {error}', file=sys.stderr)
        return 1


def facts(model: ObjectModel) -> dict[str, Any]:
    """What is known of an object, ready for JSON. SI units."""
    limit = model.crush_force
    return {
        'name': model.name,
        'description': model.description,
        'source': str(model.source),
        'mass': model.mass,
        'density': model.mass / solid(model.mesh).volume,
        'size': model.mesh.extents.tolist(),
        'centre_of_mass': model.centre_of_mass.tolist(),
        'inertia': model.inertia.tolist(),
        'friction': model.friction,
        'finger_friction': model.finger_friction,
        'crush_force': None if np.isinf(limit) else limit,
        'rgba': model.rgba.tolist(),
        'symmetry': [
            {'axis': each.axis.tolist(), 'angle': each.angle} for each in model.symmetry
        ],
        'rest_quaternion': model.rest_quaternion.tolist(),
        'rest_height': model.rest_height,
        'triangles': len(model.mesh.faces),
        'parts': _kinds(collision_parts(model)),
    }


def _list(as_json: bool) -> int:
    found: list[dict[str, Any]] = []
    problems = []
    for name in object_names():
        try:
            found.append(facts(load_object(name)))
        except ObjectError as error:
            problems.append(str(error))
    if as_json:
        print(json.dumps(found, indent=1))
    else:
        Console(highlight=False).print(_table(found))
    for problem in problems:
        print(f'drex objects: {problem}', file=sys.stderr)
    return int(bool(problems))


def _table(found: Iterable[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style='bold')
    table.add_column('name', no_wrap=True)
    table.add_column('mass', justify='right', no_wrap=True)
    table.add_column('size', justify='right', no_wrap=True)
    table.add_column('friction\ntable  finger', justify='right', no_wrap=True)
    table.add_column('parts', justify='right')
    table.add_column('what it is')
    for each in found:
        red, green, blue = (round(255 * value) for value in each['rgba'][:3])
        table.add_row(
            Text.assemble(('■ ', f'rgb({red},{green},{blue})'), each['name']),
            f'{1e3 * each["mass"]:.0f} g',
            _millimetres(each['size'], ' x ', 0) + ' mm',
            f'{each["friction"]:.2f}    {each["finger_friction"]:.2f}',
            str(sum(each['parts'].values())),
            each['description'],
        )
    return table


def _show(model: ObjectModel, as_json: bool) -> None:
    known = facts(model)
    if as_json:
        print(json.dumps(known, indent=1))
        return
    moments = np.linalg.eigvalsh(model.inertia)
    limit = model.crush_force
    lines = {
        'file': known['source'],
        'what it is': model.description or '-',
        'mass': f'{1e3 * model.mass:.4g} g, {known["density"]:.0f} kg/m^3 of its volume',
        'size': _millimetres(known['size'], ' x ') + ' mm',
        'centre of mass': _millimetres(known['centre_of_mass'], ', ') + ' mm',
        'inertia': ', '.join(f'{value:.3g}' for value in moments) + ' kg m^2 (principal)',
        'friction': f'{model.friction:g} on the table, {model.finger_friction:g} on fingertips',
        'crush force': 'none stated' if np.isinf(limit) else f'{limit:g} N',
        'symmetry': '; '.join(_symmetry(each) for each in known['symmetry']) or 'none stated',
        'stands': f'{1e3 * model.rest_height:.1f} mm from the table to its origin',
        'mesh': f'{known["triangles"]} triangles, closed',
        'parts': ', '.join(f'{count} {kind}' for kind, count in known['parts'].items()),
    }
    console = Console(highlight=False)
    console.print(Text(model.name, 'bold'))
    for name, value in lines.items():
        console.print(Text(f'  {name:<15} {value}'), soft_wrap=True)


def _kinds(parts: Iterable[Part]) -> dict[str, int]:
    """How many parts there are of each kind."""
    kinds = [part.kind for part in parts]
    return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def _symmetry(each: dict[str, Any]) -> str:
    axis = ', '.join(f'{value:g}' for value in each['axis'])
    turn = f'{np.degrees(each["angle"]):.4g} deg' if each['angle'] else 'any turn'
    return f'{turn} about [{axis}]'


def _millimetres(lengths: Iterable[float], between: str, digits: int = 1) -> str:
    # Adding zero turns a rounded -0.0 into 0.0.
    return between.join(f'{round(1e3 * length, digits) + 0.0:.{digits}f}' for length in lengths)
