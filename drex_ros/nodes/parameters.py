# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Node parameters: described once, checked when they are declared and whenever they are set.

The rules, for a value from a file, from the command line or from a `set_parameters` call:

- the type is the type of the default; a whole number is taken where a float is wanted;
- numbers are finite and inside `range`, also each element of an array;
- strings are one of `choices`, arrays have `size` elements;
- a read-only parameter can be given at start only;
- a name that the node does not have is an error, never ignored.

A value that breaks a rule gives one line: what was given, and what would be right.
"""

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter
from rclpy.validate_parameter_name import validate_parameter_name

_ROS_TYPES = {
    'bool': RosParameter.Type.BOOL,
    'int': RosParameter.Type.INTEGER,
    'float': RosParameter.Type.DOUBLE,
    'str': RosParameter.Type.STRING,
    'bool[]': RosParameter.Type.BOOL_ARRAY,
    'int[]': RosParameter.Type.INTEGER_ARRAY,
    'float[]': RosParameter.Type.DOUBLE_ARRAY,
    'str[]': RosParameter.Type.STRING_ARRAY,
}
_WORDS = {'bool': 'true or false', 'int': 'a whole number', 'float': 'a number', 'str': 'a string'}
_PLURALS = {'bool': 'true or false', 'int': 'whole numbers', 'float': 'numbers', 'str': 'strings'}

# Overrides with these names are for the ROS client library, not for the node.
_INFRASTRUCTURE = ('use_sim_time', 'start_type_description_service')
_INFRASTRUCTURE_PREFIXES = ('qos_overrides.',)

Scalar = bool | int | float | str
Value = Scalar | tuple[Any, ...]


class ParameterError(ValueError):
    """A parameter is wrong; the message is one line for the user."""


@dataclass(frozen=True)
class Parameter:
    """The description of one parameter.

    Attributes:
        name: name, dots allowed ('arm.stiffness').
        default: value when nothing is given; it also fixes the type.
        description: what it does, without the unit.
        unit: SI unit, '' for none; shown in descriptions and error texts.
        range: smallest and largest value allowed (inclusive); of each element for arrays.
        choices: the strings allowed.
        read_only: True when it can be given at start only.
        size: number of elements an array must have; None for any.
        kind: type name ('float', 'str[]', ...); needed only when the default is an empty array.
    """

    name: str
    default: Scalar | Sequence[Scalar]
    description: str
    unit: str = ''
    range: tuple[float, float] | None = None
    choices: tuple[str, ...] | None = None
    read_only: bool = False
    size: int | None = None
    kind: str = ''

    def __post_init__(self) -> None:
        validate_parameter_name(self.name)
        if not self.kind:
            object.__setattr__(self, 'kind', _kind_of(self.default))
        if self.kind not in _ROS_TYPES:
            known = ', '.join(_ROS_TYPES)
            raise ParameterError(
                f'{self.label}: no type can be told from the default {_show(self.default)}, '
                f'give kind: one of {known}'
            )
        object.__setattr__(self, 'default', self.check(self.default))

    @property
    def label(self) -> str:
        """How error texts name the parameter: `parameter 'rate' [Hz]`."""
        return f"parameter '{self.name}'" + (f' [{self.unit}]' if self.unit else '')

    @property
    def is_array(self) -> bool:
        return self.kind.endswith('[]')

    @property
    def constraint(self) -> str:
        """What a right value is, in words: 'a number from 1 to 1000'."""
        scalar = self.kind.removesuffix('[]')
        words = _PLURALS[scalar] if self.is_array else _WORDS[scalar]
        if self.is_array:
            words = f'a list of {"" if self.size is None else f"{self.size} "}{words}'
        if self.choices is not None:
            words = 'one of ' if not self.is_array else f'{words}, each one of '
            words += ', '.join(self.choices)
        if self.range is not None:
            words += f' from {self.range[0]:.12g} to {self.range[1]:.12g}'
        return words

    def check(self, value: Any) -> Value:
        """Return `value` in the parameter's own type (arrays as tuples).

        Raises ParameterError when it is wrong.
        """
        if not self.is_array:
            return self._check_scalar(value, self.kind, value)
        if value is None:  # what ROS makes of an empty list in YAML
            value = ()
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            raise self._error(value)
        elements = tuple(value)
        scalar = self.kind.removesuffix('[]')
        checked = tuple(self._check_scalar(element, scalar, elements) for element in elements)
        if self.size is not None and len(checked) != self.size:
            raise self._error(elements, f' ({len(elements)} values)')
        return checked

    def _check_scalar(self, value: Any, kind: str, given: Any) -> Scalar:
        if kind == 'float' and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        # type() and not isinstance(): a bool is an int in Python, but not in a parameter file.
        if type(value).__name__ != kind:
            raise self._error(given)
        if kind == 'float' and not math.isfinite(value):
            raise self._error(given, rule='finite')
        if self.range is not None and not self.range[0] <= value <= self.range[1]:
            raise self._error(given)
        if self.choices is not None and value not in self.choices:
            raise self._error(given)
        return value  # type: ignore[no-any-return]

    def _error(self, given: Any, note: str = '', rule: str = '') -> ParameterError:
        rule = rule or self.constraint
        return ParameterError(f'{self.label}: given {_show(given)}{note}, must be {rule}')

    def descriptor(self) -> ParameterDescriptor:
        """The same as ROS tools show it (`ros2 param describe`)."""
        unit = f' [{self.unit}]' if self.unit else ''
        descriptor = ParameterDescriptor(
            name=self.name,
            type=_ROS_TYPES[self.kind].value,
            description=self.description + unit,
            additional_constraints=self.constraint,
            read_only=self.read_only,
        )
        if self.range is not None:
            low, high = self.range
            if self.kind == 'float':
                descriptor.floating_point_range = [
                    FloatingPointRange(from_value=float(low), to_value=float(high))
                ]
            elif self.kind == 'int':
                descriptor.integer_range = [
                    IntegerRange(from_value=math.ceil(low), to_value=math.floor(high))
                ]
        return descriptor

    def to_ros(self, value: Value) -> RosParameter:
        """A checked value as a ROS parameter of the declared type."""
        plain = list(value) if isinstance(value, tuple) else value
        return RosParameter(self.name, _ROS_TYPES[self.kind], plain)


class ParameterValues(Mapping[str, Any]):
    """The values of a node's parameters: `params.rate`, or `params['arm.stiffness']`.

    Read-only for the node's code; it changes after a successful set only.
    """

    def __init__(self, descriptions: Iterable[Parameter]) -> None:
        self._descriptions: dict[str, Parameter] = {}
        for description in descriptions:
            if description.name in self._descriptions:
                raise ParameterError(f'{description.label}: described twice')
            if hasattr(type(self), description.name):
                raise ParameterError(
                    f'{description.label}: the name is taken by params.{description.name}()'
                )
            self._descriptions[description.name] = description
        self._values = {name: p.check(p.default) for name, p in self._descriptions.items()}

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[name]
        except KeyError:
            raise KeyError(self.unknown(name)) from None

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__['_values'][name]
        except KeyError:
            raise AttributeError(f"no parameter '{name}'") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def descriptions(self) -> tuple[Parameter, ...]:
        return tuple(self._descriptions.values())

    def unknown(self, name: str) -> str:
        """The line for a name that the node does not have."""
        close = difflib.get_close_matches(name, self._descriptions, n=1)
        hint = f", did you mean '{close[0]}'?" if close else '.'
        known = ', '.join(sorted(self._descriptions)) or 'none'
        return f"parameter '{name}': unknown{hint} This node has: {known}"

    def admit(self, given: Sequence[RosParameter]) -> list[RosParameter]:
        """Check parameters that someone wants to set on a running node.

        Returns them in their declared types. Raises ParameterError when one cannot be set.
        """
        admitted = []
        for parameter in given:
            description = self._descriptions.get(parameter.name)
            if description is None:
                if not _is_infrastructure(parameter.name):
                    raise ParameterError(self.unknown(parameter.name))
                admitted.append(parameter)
                continue
            if description.read_only:
                raise ParameterError(
                    f'{description.label}: read-only, it can be given at start only'
                )
            if parameter.type_ == RosParameter.Type.NOT_SET:
                raise ParameterError(
                    f'{description.label}: given no value, must be {description.constraint}'
                )
            admitted.append(description.to_ros(description.check(parameter.value)))
        return admitted

    def update(self, parameters: Iterable[RosParameter]) -> frozenset[str]:
        """Take over values that were set; returns the names of those described here."""
        names = set()
        for parameter in parameters:
            description = self._descriptions.get(parameter.name)
            if description is not None:
                self._values[parameter.name] = description.check(parameter.value)
                names.add(parameter.name)
        return frozenset(names)


def declare(node: Node, parameters: Iterable[Parameter]) -> ParameterValues:
    """Declare `parameters` on `node`, with what the user gave in files and arguments.

    Raises ParameterError for a wrong value and for a name that is not among `parameters`.
    """
    values = ParameterValues(parameters)
    overrides: dict[str, RosParameter] = node._parameter_overrides  # rclpy has no public reader
    for name in overrides:
        if name not in values and not _is_infrastructure(name):
            raise ParameterError(values.unknown(name))
    for description in values.descriptions:
        given = overrides.get(description.name)
        value = description.check(description.default if given is None else given.value)
        parameter = description.to_ros(value)
        _declare_one(node, description, parameter)
        values.update([parameter])
    return values


def _declare_one(node: Node, description: Parameter, parameter: RosParameter) -> None:
    descriptor = description.descriptor()
    if parameter.value != []:
        node.declare_parameter(description.name, parameter.value, descriptor, ignore_override=True)
        return
    # rclpy cannot tell the type of an empty list: declare by type alone, then set.
    read_only, descriptor.read_only = descriptor.read_only, False
    kind = _ROS_TYPES[description.kind]
    node._parameter_overrides.pop(description.name, None)
    node.declare_parameter(description.name, kind, descriptor)
    Node.set_parameters_atomically(node, [parameter])
    descriptor.read_only = read_only


def _is_infrastructure(name: str) -> bool:
    return name in _INFRASTRUCTURE or name.startswith(_INFRASTRUCTURE_PREFIXES)


def _kind_of(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        kinds = {type(element).__name__ for element in value}
        if kinds == {'int', 'float'}:
            return 'float[]'
        return f'{kinds.pop()}[]' if len(kinds) == 1 else ''
    return type(value).__name__


def _show(value: Any) -> str:
    """A value as a user would write it in YAML."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, (list, tuple)):
        return '[' + ', '.join(_show(element) for element in value) + ']'
    return 'nothing' if value is None else f'{value}'


__all__ = ['Parameter', 'ParameterError', 'ParameterValues', 'declare']
