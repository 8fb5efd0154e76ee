# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments that a launch file and the files it includes declare, without executing it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drex_ros.launching.errors import LaunchError, SubstitutionError, listed
from drex_ros.launching.plan import TIMEOUTS
from drex_ros.launching.source import Entity, load


@dataclass(frozen=True)
class Argument:
    """One declared argument; `conditional` when it only counts under some condition."""

    name: str
    default: str | None
    description: str
    choices: tuple[str, ...]
    conditional: bool


@dataclass
class _Static:
    """What is known of the context before anything is executed."""

    configurations: dict[str, str]
    environment: dict[str, str]
    file: Path

    def file_name(self) -> str:
        return str(self.file)

    def file_folder(self) -> str:
        return str(self.file.parent)


def parse_arguments(arguments: Sequence[str]) -> dict[str, str]:
    """Read `name:=value` words of the command line."""
    result = {}
    for argument in arguments:
        name, separator, value = argument.partition(':=')
        if not name or not separator:
            raise LaunchError(f"argument '{argument}' must be name:=value")
        result[name] = value
    return result


def needed_arguments(entities: Sequence[Entity]) -> Iterator[str]:
    """Yield the arguments that these actions surely declare and that have no default."""
    for entity in entities:
        if 'if' in entity or 'unless' in entity:
            continue
        if entity.kind == 'arg' and 'default' not in entity:
            yield entity.get('name')
        if entity.kind == 'group':
            yield from needed_arguments(entity.get('children'))


def declared_arguments(
    file: Path, given: Mapping[str, str], environment: Mapping[str, str] | None = None
) -> list[Argument]:
    """Return all arguments of a file and of what it includes, in order, each name once.

    Every file on the way is read and checked, also below conditions that do not hold; an
    include is skipped when its path depends on what only the execution knows.
    """
    file = Path(os.path.abspath(file))
    context = _Static(dict(given), dict(os.environ if environment is None else environment), file)
    found: dict[str, Argument] = {}
    _collect(load(file), context, found, conditional=False, seen={file})
    return list(found.values())


def _collect(
    entities: Sequence[Entity],
    context: _Static,
    found: dict[str, Argument],
    *,
    conditional: bool,
    seen: set[Path],
) -> None:
    for entity in entities:
        under_condition = conditional or 'if' in entity or 'unless' in entity
        if entity.kind == 'arg':
            name = entity.get('name')
            default = entity.get('default')
            if name not in found:
                found[name] = Argument(
                    name,
                    default.source if default else None,
                    entity.get('description', ''),
                    tuple(choice.get('value') for choice in entity.get('choice', [])),
                    under_condition,
                )
            if name not in context.configurations and default is not None:
                value = _try(entity, 'default', context)
                if value is not None:
                    context.configurations[name] = value
        elif entity.kind == 'let' and not under_condition:
            name, value = _try(entity, 'name', context), _try(entity, 'value', context)
            if name is not None and value is not None:
                context.configurations[name] = value
        elif entity.kind == 'group':
            _collect(
                entity.get('children'), context, found, conditional=under_condition, seen=seen
            )
        elif entity.kind == 'include':
            path = _try(entity, 'file', context)
            file = Path(os.path.abspath(path)) if path else None
            if file is None or file in seen or not file.is_file():
                continue  # the execution complains if it gets there
            seen.add(file)
            inner = _Static(context.configurations, context.environment, file)
            _collect(load(file), inner, found, conditional=under_condition, seen=seen)


def _try(entity: Entity, name: str, context: _Static) -> str | None:
    """Evaluate a text field as far as it is known already."""
    try:
        text: str = entity.get(name).evaluate(context)
    except SubstitutionError:
        return None
    return text


def check_known(given: Mapping[str, str], known: set[str], file: Path) -> None:
    """Refuse arguments that nobody declares; the timeouts of the way down are always known."""
    unknown = [name for name in given if name not in known | {*TIMEOUTS}]
    if unknown:
        raise LaunchError(f"{file.name} has no argument '{unknown[0]}' (it has: {listed(known)})")


def format_arguments(arguments: Sequence[Argument]) -> str:
    """Return the arguments for a reader, in the layout of `ros2 launch --show-args`."""
    lines = ["Arguments (pass arguments as '<name>:=<value>'):"]
    for argument in arguments:
        description = argument.description or ('' if argument.choices else 'no description given')
        if argument.choices:
            ending = '' if not description or description.endswith('.') else '.'
            description = f'{description}{ending} Choices: {", ".join(argument.choices)}'.strip()
        lines += [
            '',
            f"    '{argument.name}':{'*' if argument.conditional else ''}",
            f'        {description}',
        ]
        if argument.default is not None:
            lines.append(f"        (default: '{argument.default}')")
        else:
            lines.append('        (required)')
    if not arguments:
        lines += ['', '  No arguments.']
    if any(argument.conditional for argument in arguments):
        lines += ['', '* only under some condition']
    return '\n'.join(lines)
