# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Values of ROS parameters, by the typing rules of launch's YAML front end.

A value without substitutions keeps the type that it has in YAML, so '3' in quotes is a
string. A value with substitutions is a text first, and is then read as YAML or, when `type`
is given, converted to that type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import yaml

from drex_ros.launching.errors import SubstitutionError, listed
from drex_ros.launching.substitutions import Context, Template, to_bool

_SCALARS = {'bool': bool, 'int': int, 'float': float, 'str': str}
TYPES = ('yaml', *_SCALARS, *(f'list_of_{name}' for name in _SCALARS))
_ALLOWED = 'a bool, an integer, a float, a string, or a list of one of these'


class Fields(Protocol):
    """A `param` entity, as far as it matters here."""

    def __contains__(self, name: str) -> bool:
        """Say whether the file gives a field."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field."""


def check_parameter(param: Fields) -> None:
    """Refuse a `param` that cannot become a parameter; ValueError says why."""
    if 'from' in param:
        for name in ('name', 'value', 'type', 'param'):
            if name in param:
                raise ValueError(f"a param has 'from' or '{name}', not both")
        return
    if 'name' not in param:
        raise ValueError("a param needs 'name' and 'value', or 'from' with a parameter file")
    if 'allow_substs' in param:
        raise ValueError("'allow_substs' goes with 'from' only")
    if ('value' in param) == ('param' in param):
        raise ValueError("a param with a name needs 'value' or nested 'param', one of them")
    if 'param' in param:
        if 'type' in param:
            raise ValueError("a param with nested params has no 'type'")
        if any('from' in nested for nested in param.get('param')):
            raise ValueError("a nested param cannot have 'from'")
        return
    type_name = param.get('type', 'yaml')
    if type_name not in TYPES:
        raise ValueError(f"unknown type '{type_name}' (known: {listed(TYPES)})")
    _check_value(param.get('value'), type_name)


def _check_value(value: Any, type_name: str) -> None:
    """Check a value of the file; text with substitutions can be anything until evaluated."""
    if type_name.startswith('list_of_') and not isinstance(value, list):
        raise ValueError(f'a value of type {type_name} must be a YAML list')
    if type_name in _SCALARS and isinstance(value, list):
        raise ValueError(f'a value of type {type_name} cannot be a list')
    items = value if isinstance(value, list) else [value]
    known = [_literal(item) for item in items if _literal(item) is not None or item is None]
    wanted = _SCALARS.get(type_name.removeprefix('list_of_'))
    for item in known:
        if wanted is not None and type(item) is not wanted:
            raise ValueError(f'{item!r} is not of type {wanted.__name__}')
    _check_plain(known if isinstance(value, list) else known[0] if known else '')


def _check_plain(value: Any) -> None:
    types = {type(item) for item in (value if isinstance(value, list) else [value])}
    if not types <= set(_SCALARS.values()):
        raise ValueError(f'a parameter is {_ALLOWED}, not {value!r}')
    if len(types) > 1:
        names = listed(t.__name__ for t in types)
        raise ValueError(f'a list of one type is needed, got {value} with {names}')


def _literal(item: Any) -> Any:
    return item.literal if isinstance(item, Template) else item


def parameter_values(param: Fields, context: Context, prefix: str = '') -> dict[str, Any]:
    """Return the parameters of one `param` entity, nested names joined by dots."""
    name = prefix + param.get('name').evaluate(context)
    if 'param' in param:
        values: dict[str, Any] = {}
        for nested in param.get('param'):
            values.update(parameter_values(nested, context, f'{name}.'))
        return values
    type_name = param.get('type', 'yaml').removeprefix('list_of_')
    value = param.get('value')
    try:
        if isinstance(value, list):
            result: Any = [_item(item, type_name, context) for item in value]
        else:
            result = _item(value, type_name, context)
        _check_plain(result)
    except ValueError as error:
        raise SubstitutionError(f"parameter '{name}': {error}") from None
    return {name: result}


def _item(item: Any, type_name: str, context: Context) -> Any:
    literal = _literal(item)
    if literal is not None:
        return literal
    return convert(item.evaluate(context), type_name)


def convert(text: str, type_name: str) -> Any:
    """Return a text as a value of a type; `yaml` lets YAML decide."""
    if type_name == 'str' or (type_name == 'yaml' and not text):
        return text
    if type_name == 'bool':
        return to_bool(text)
    if type_name in ('int', 'float'):
        try:
            return _SCALARS[type_name](text)
        except ValueError:
            raise ValueError(f"'{text}' is not of type {type_name}") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise ValueError(f"'{text}' is not valid YAML; give the type str for plain text") from None


def global_parameter(text: str) -> bool | int | float | str:
    """Return the value of `set_parameter`; only scalars reach a node unharmed that way."""
    value = convert(text or "''", 'yaml')
    if type(value) not in _SCALARS.values():
        raise ValueError(
            f'set_parameter takes a bool, integer, float or string, not {text!r}; '
            "use a node's param for lists"
        )
    return value  # type: ignore[no-any-return]


def parameter_file(node_name: str | None, values: Mapping[str, Any]) -> str:
    """Return the text of a parameter file for one node, or for any when its name is open."""
    return yaml.dump(
        {node_name or '/**': {'ros__parameters': dict(values)}}, default_flow_style=False
    )
