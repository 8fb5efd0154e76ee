# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Names, namespaces and command lines of nodes, as ROS 2 takes them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from drex_ros.launching.errors import SubstitutionError
from drex_ros.launching.substitutions import Context, Part, Template

_NAME = r'[A-Za-z_][A-Za-z0-9_]*'


def check_name(name: str | None) -> None:
    """Refuse a name that a node cannot have."""
    if name is not None and not re.fullmatch(_NAME, name):
        raise SubstitutionError(
            f"'{name}' is no node name (letters, digits and underscores, not a digit first)"
        )


def join_namespace(base: str | None, namespace: str | None) -> str | None:
    """Return the absolute namespace of `namespace` inside `base`; None when both are open.

    An absolute namespace (with a leading slash) stands for itself.
    """
    if namespace is None:
        joined = base
    elif not base or namespace.startswith('/'):
        joined = namespace
    else:
        joined = base.rstrip('/') + '/' + namespace
    if joined is None:
        return None
    absolute = '/' + joined.rstrip('/').removeprefix('/')
    if not re.fullmatch(rf'/|(/{_NAME})+', absolute):
        raise SubstitutionError(
            f"'{absolute}' is no namespace (names of letters, digits and underscores, "
            'not a digit first, joined by single slashes)'
        )
    return absolute


def full_name(namespace: str | None, name: str | None) -> str | None:
    """Return the fully qualified name of a node, or None when a part of it is left to the node."""
    if namespace is None or name is None:
        return None
    return f'{namespace.rstrip("/")}/{name}'


def ros_arguments(
    name: str | None,
    namespace: str | None,
    global_parameters: Sequence[tuple[str, object]],
    parameter_files: Sequence[str],
    remaps: Sequence[tuple[str, str]],
) -> list[str]:
    """Return `--ros-args` and what follows: name, namespace, parameters, remaps, in this order."""
    arguments = ['--ros-args']
    if name is not None:
        arguments += ['-r', f'__node:={name}']
    if namespace is not None:
        arguments += ['-r', f'__ns:={namespace}']
    for parameter, value in global_parameters:
        arguments += ['-p', f'{parameter}:={value}']
    for file in parameter_files:
        arguments += ['--params-file', file]
    for source, target in remaps:
        arguments += ['-r', f'{source}:={target}']
    return arguments


def words(template: Template, context: Context) -> list[str]:
    """Split a command line into words, as a shell does; what a substitution gives stays whole."""
    result: list[list[Part]] = [[]]
    for part in template.parts:
        if not isinstance(part, str):
            result[-1].append(part)
            continue
        try:
            tokens = shlex.split(part)
        except ValueError:
            raise SubstitutionError(f"an open quote in '{template.source}'") from None
        if not tokens:  # only blanks: they end a word
            result.append([])
            continue
        if part[0].isspace() and result[-1]:
            result.append([])
        result[-1].append(tokens[0])
        result += [[token] for token in tokens[1:]]
        if part[-1].isspace():
            result.append([])
    if not result[-1]:
        result.pop()
    return [Template('', tuple(word)).evaluate(context) for word in result]
