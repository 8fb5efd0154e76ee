# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A launch file as checked entities; every error names file and line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from drex_ros.launching.errors import (
    LaunchError,
    SubstitutionError,
    UnsupportedError,
    UnsupportedSubstitution,
    listed,
)
from drex_ros.launching.parameters import check_parameter
from drex_ros.launching.schema import ACTIONS, PARTS, PLAIN, TEXT, TYPE_NAMES, VALUE
from drex_ros.launching.substitutions import parse, unescape


@dataclass(frozen=True)
class Entity:
    """One action of a launch file, or a part of one, with its fields read and checked."""

    kind: str
    file: Path
    line: int
    fields: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field's value, or `default` when the file does not give it."""
        return self.fields.get(name, default)

    def error(self, message: object, name: str = '') -> LaunchError:
        """Return an error at the line of field `name`, or of the entity itself."""
        unsupported = isinstance(message, UnsupportedSubstitution)
        return (UnsupportedError if unsupported else LaunchError)(
            f'{self.file}:{self.lines.get(name, self.line)}: {message}'
        )

    def unsupported(self, what: str, supported: str, name: str = '') -> LaunchError:
        """Return an error about something that only `ros2 launch` knows."""
        message = f'not supported by drex launch: {what} (supported: {supported})'
        return UnsupportedError(str(self.error(message, name)))


class _Map(dict):  # type: ignore[type-arg]
    """A YAML mapping that knows the lines it came from."""

    line: int
    lines: dict[str, int]


class _Loader(yaml.SafeLoader):
    """The safe YAML loader, keeping line numbers and refusing a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> _Map:
        keys = [key_node for key_node, _ in node.value]  # before merge keys (<<) are resolved
        result = _Map(super().construct_mapping(node, deep=True))
        result.line = node.start_mark.line + 1
        result.lines = {}
        for key_node in keys:
            key = self.construct_object(key_node, deep=True)
            if key in result.lines:
                raise yaml.constructor.ConstructorError(
                    None, None, f"'{key}' is given twice", key_node.start_mark
                )
            result.lines[key] = key_node.start_mark.line + 1
        return result


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> _Map:
    return loader.construct_mapping(node)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def load(file: Path) -> list[Entity]:
    """Read a launch file; return its actions, with every field and substitution checked."""
    if not file.name.endswith(('.yaml', '.yml')):
        raise UnsupportedError(f'{file}: drex launch reads *.launch.yaml files only')
    tree = load_yaml(file)
    root = Entity('launch', file, 1)
    if not isinstance(tree, dict) or list(tree) != ['launch']:
        raise root.error("a launch file has one key at its top, 'launch', with a list of actions")
    actions = tree['launch']
    if isinstance(actions, dict) and list(actions) == ['children']:
        actions = actions['children']
    return _actions(actions, root)


def load_yaml(file: Path) -> Any:
    """Read a YAML file into mappings that know their lines."""
    try:
        return yaml.load(file.read_text(encoding='utf-8'), _Loader)
    except OSError as error:
        raise LaunchError(f'{file}: cannot be read: {error.strerror}') from None
    except UnicodeDecodeError:
        raise LaunchError(f'{file}: cannot be read: it is not UTF-8 text') from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f':{mark.line + 1}' if mark else ''
        problem = str(error.problem)
        if error.context and error.context_mark:
            problem += f' ({error.context} from line {error.context_mark.line + 1})'
        raise LaunchError(f'{file}{line}: not valid YAML: {problem}') from None
    except yaml.YAMLError as error:
        raise LaunchError(f'{file}: not valid YAML: {" ".join(str(error).split())}') from None


def _actions(items: Any, parent: Entity) -> list[Entity]:
    if not isinstance(items, list):
        raise parent.error(f"'{parent.kind}' needs a list of actions")
    actions = []
    for item in items:
        if not isinstance(item, _Map) or len(item) != 1:
            line = item.line if isinstance(item, _Map) else parent.line
            raise Entity('', parent.file, line).error(
                f'an action is a mapping with one key, its kind, not: {_short(item)}'
            )
        ((kind, content),) = item.items()
        line = item.lines.get(kind, item.line)
        if kind not in ACTIONS:
            raise Entity('', parent.file, line).unsupported(str(kind), listed(ACTIONS))
        if kind == 'group' and isinstance(content, list):
            content = {'children': content}
        actions.append(_entity(kind, content, ACTIONS[kind], parent.file, line))
    return actions


def _entity(
    kind: str,
    content: Any,
    schema: tuple[Mapping[str, Any], tuple[str, ...]],
    file: Path,
    line: int,
) -> Entity:
    known, required = schema
    lines = content.lines if isinstance(content, _Map) else {}
    bare = Entity(kind, file, line, lines=lines)
    if not isinstance(content, dict):
        raise bare.error(f"'{kind}' needs a mapping with {listed(known)}, not: {_short(content)}")
    fields = {}
    for name, value in content.items():
        if name not in known:
            raise bare.unsupported(f"'{name}' in {kind}", listed(known), name)
        try:
            fields[name] = _field(name, value, known[name], bare)
        except SubstitutionError as error:
            raise bare.error(error, name) from None
    for name in required:
        if name not in fields:
            raise bare.error(f"'{kind}' needs '{name}'")
    if 'if' in fields and 'unless' in fields:
        raise bare.error(f"'{kind}' has both 'if' and 'unless'; give one", 'unless')
    entity = Entity(kind, file, line, fields, lines)
    _check(entity)
    return entity


def _check(entity: Entity) -> None:
    """Check what fields must be beyond their type."""
    if entity.get('on_exit', 'shutdown') != 'shutdown':
        raise entity.error(
            f"'on_exit' can only be shutdown, not {entity.get('on_exit')}", 'on_exit'
        )
    for name in ('respawn_delay', 'sigterm_timeout', 'sigkill_timeout'):
        if entity.get(name, 0.0) < 0.0:
            raise entity.error(f"'{name}' is a time in seconds, not {entity.get(name)}", name)
    if entity.kind == 'param':
        try:
            check_parameter(entity)
        except ValueError as error:
            raise entity.error(error) from None


def _field(name: str, value: Any, wanted: Any, owner: Entity) -> Any:
    if isinstance(wanted, str):
        if not isinstance(value, list) or not value:
            raise owner.error(f"'{name}' of {owner.kind} must be a list of mappings", name)
        return [
            _entity(
                wanted,
                item,
                PARTS[wanted],
                owner.file,
                getattr(item, 'line', owner.lines.get(name, owner.line)),
            )
            for item in value
        ]
    if wanted is list:
        return _actions(value, owner)
    if wanted is VALUE:
        if isinstance(value, list):
            return [parse(item) if isinstance(item, str) else item for item in value]
        return parse(value) if isinstance(value, str) else value
    expected = str if wanted is TEXT else wanted
    if type(value) is not expected:
        hint = ''
        if expected is str and isinstance(value, (bool, int, float)):
            hint = f": write '{str(value).lower()}' in quotes"
        elif expected is float and type(value) is int:
            hint = f': write {value}.0'
        raise owner.error(
            f"'{name}' of {owner.kind} must be {TYPE_NAMES[wanted]}, not {_short(value)}{hint}",
            name,
        )
    if wanted is TEXT:
        return parse(value)
    return unescape(value) if wanted is PLAIN else value


def _short(value: Any) -> str:
    text = ' '.join(str(value).split())
    return text if len(text) < 60 else text[:57] + '...'
