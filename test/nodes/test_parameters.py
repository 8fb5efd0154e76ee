# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters: descriptions, checks, and a real node that declares and sets them."""

from collections.abc import Iterator
from typing import Any

import pytest
from rcl_interfaces.msg import SetParametersResult
from rclpy.context import Context
from rclpy.parameter import Parameter as RosParameter

from drex_ros.nodes.base import ManagedNode
from drex_ros.nodes.parameters import Parameter, ParameterError

RATE = Parameter('rate', 50.0, 'ticks per second', unit='Hz', range=(1.0, 1000.0))
COUNT = Parameter('count', 3, 'how many', range=(0, 10))
MODE = Parameter('mode', 'plain', 'what to do', choices=('plain', 'fancy'))
ARM = Parameter('arm.stiffness', [1.0, 2.0, 3.0], 'stiffness', unit='N m/rad', size=3)
NAMES = Parameter('names', [], 'names', kind='str[]')
SEED = Parameter('seed', 7, 'seed', read_only=True)
FLAG = Parameter('flag', False, 'a switch')
EMPTY = Parameter('empty', [], 'fixed empty list', kind='float[]', read_only=True)


class Fixture(ManagedNode):
    NAME = 'fixture'
    PARAMETERS = (RATE, COUNT, MODE, ARM, NAMES, SEED, FLAG, EMPTY)

    def __init__(self, **options: Any) -> None:
        self.changes: list[frozenset[str]] = []
        super().__init__(**options)

    def parameters_changed(self, names: frozenset[str]) -> None:
        self.changes.append(names)


@pytest.fixture
def node(context: Context) -> Iterator[Fixture]:
    node = Fixture(context=context)
    yield node
    node.destroy_node()


def make(context: Context, **overrides: Any) -> dict[str, Any]:
    """Values of a node that was started with `overrides`."""
    given = [RosParameter(name.replace('__', '.'), value=v) for name, v in overrides.items()]
    node = Fixture(context=context, parameter_overrides=given)
    values = dict(node.params)
    node.destroy_node()
    return values


def test_check_takes_what_is_right() -> None:
    assert RATE.check(500) == 500.0
    assert type(RATE.check(500)) is float
    assert RATE.check(1.0) == 1.0
    assert RATE.check(1000.0) == 1000.0
    assert COUNT.check(10) == 10
    assert ARM.check([1, 2.5, 3]) == (1.0, 2.5, 3.0)
    assert NAMES.check(None) == ()
    assert FLAG.check(True) is True


@pytest.mark.parametrize(
    ('parameter', 'value', 'text'),
    [
        (RATE, 'fast', "parameter 'rate' [Hz]: given 'fast', must be a number from 1 to 1000"),
        (RATE, True, "parameter 'rate' [Hz]: given true, must be a number from 1 to 1000"),
        (RATE, [1.0], "parameter 'rate' [Hz]: given [1.0], must be a number from 1 to 1000"),
        (RATE, 0.5, "parameter 'rate' [Hz]: given 0.5, must be a number from 1 to 1000"),
        (RATE, float('nan'), "parameter 'rate' [Hz]: given nan, must be finite"),
        (RATE, float('inf'), "parameter 'rate' [Hz]: given inf, must be finite"),
        (COUNT, 3.0, "parameter 'count': given 3.0, must be a whole number from 0 to 10"),
        (COUNT, 11, "parameter 'count': given 11, must be a whole number from 0 to 10"),
        (COUNT, False, "parameter 'count': given false, must be a whole number from 0 to 10"),
        (MODE, 'odd', "parameter 'mode': given 'odd', must be one of plain, fancy"),
        (MODE, 1, "parameter 'mode': given 1, must be one of plain, fancy"),
        (FLAG, 1, "parameter 'flag': given 1, must be true or false"),
        (FLAG, 'yes', "parameter 'flag': given 'yes', must be true or false"),
        (NAMES, 'ann', "parameter 'names': given 'ann', must be a list of strings"),
        (NAMES, [1], "parameter 'names': given [1], must be a list of strings"),
        (
            ARM,
            [1.0, 2.0],
            "parameter 'arm.stiffness' [N m/rad]: given [1.0, 2.0] (2 values), "
            'must be a list of 3 numbers',
        ),
        (
            ARM,
            [1.0, 2.0, float('nan')],
            "parameter 'arm.stiffness' [N m/rad]: given [1.0, 2.0, nan], must be finite",
        ),
    ],
)
def test_check_says_what_is_wrong(parameter: Parameter, value: Any, text: str) -> None:
    with pytest.raises(ParameterError) as error:
        parameter.check(value)
    assert str(error.value) == text


def test_range_holds_for_each_element() -> None:
    limits = Parameter('limits', [1.0], 'limits', range=(0.0, 2.0))
    assert limits.check([0, 2]) == (0.0, 2.0)
    with pytest.raises(ParameterError, match=r'given \[0\.0, 2\.1\].*numbers from 0 to 2'):
        limits.check([0.0, 2.1])


@pytest.mark.parametrize(
    'wrong',
    [
        {'default': 5.0, 'range': (0.0, 1.0)},
        {'default': 'c', 'choices': ('a', 'b')},
        {'default': [1.0], 'size': 2},
        {'default': []},
        {'default': [1, 'a']},
        {'default': None},
    ],
)
def test_a_wrong_description_is_noticed_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="parameter 'x'"):
        Parameter('x', description='x', **wrong)


def test_values_read_by_attribute_and_by_name(node: Fixture) -> None:
    assert node.params.rate == 50.0
    assert node.params['arm.stiffness'] == (1.0, 2.0, 3.0)
    assert node.params.autostart is True
    assert node.params.names == ()
    with pytest.raises(AttributeError, match='raet'):
        _ = node.params.raet
    with pytest.raises(KeyError, match="did you mean 'rate'"):
        _ = node.params['raet']


def test_overrides_are_taken_and_converted(context: Context) -> None:
    values = make(
        context, rate=500, mode='fancy', arm__stiffness=[1, 2, 3], names=['a', 'b'], seed=1
    )
    assert type(values['rate']) is float
    assert values['rate'] == 500.0
    assert values['mode'] == 'fancy'
    assert values['arm.stiffness'] == (1.0, 2.0, 3.0)
    assert values['names'] == ('a', 'b')
    assert values['seed'] == 1
    assert values['count'] == 3


def test_wrong_overrides_are_refused(context: Context) -> None:
    with pytest.raises(ParameterError, match=r"'rate' \[Hz\]: given 'fast'"):
        make(context, rate='fast')
    with pytest.raises(ParameterError, match=r"'rtae': unknown, did you mean 'rate'\? .*seed"):
        make(context, rtae=1.0)
    with pytest.raises(ParameterError, match=r"'zzz': unknown\. This node has: .*seed"):
        make(context, zzz=1.0)


def test_overrides_of_the_client_library_are_left_alone(context: Context) -> None:
    values = make(context, use_sim_time=True, qos_overrides__x__publisher__depth=3)
    assert 'use_sim_time' not in values


def set_one(node: Fixture, name: str, value: Any) -> SetParametersResult:
    return node.set_parameters([RosParameter(name, value=value)])[0]


def test_a_successful_set_shows_in_params(node: Fixture) -> None:
    assert set_one(node, 'rate', 100).successful
    assert node.params.rate == 100.0
    assert node.get_parameter('rate').value == 100.0
    assert set_one(node, 'names', ['x']).successful
    assert node.params.names == ('x',)
    assert set_one(node, 'names', []).successful
    assert node.params.names == ()
    assert node.changes == [frozenset({'rate'}), frozenset({'names'}), frozenset({'names'})]


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('rate', 'fast', "parameter 'rate' [Hz]: given 'fast', must be a number from 1 to 1000"),
        ('rate', 2000.0, "parameter 'rate' [Hz]: given 2000.0, must be a number from 1 to 1000"),
        ('rate', float('nan'), "parameter 'rate' [Hz]: given nan, must be finite"),
        ('rate', None, "parameter 'rate' [Hz]: given no value, must be a number from 1 to 1000"),
        ('mode', 'odd', "parameter 'mode': given 'odd', must be one of plain, fancy"),
        ('seed', 8, "parameter 'seed': read-only, it can be given at start only"),
        ('autostart', False, "parameter 'autostart': read-only, it can be given at start only"),
        ('empty', [1.0], "parameter 'empty': read-only, it can be given at start only"),
    ],
)
def test_a_refused_set_changes_nothing(node: Fixture, name: str, value: Any, reason: str) -> None:
    before = dict(node.params)
    result = set_one(node, name, value)
    assert not result.successful
    assert result.reason == reason
    assert dict(node.params) == before
    assert node.changes == []


def test_an_unknown_name_is_refused_with_the_nearest(node: Fixture) -> None:
    result = set_one(node, 'arm.stifness', [1.0, 2.0, 3.0])
    assert not result.successful
    assert "did you mean 'arm.stiffness'?" in result.reason


def test_an_atomic_set_is_all_or_nothing(node: Fixture) -> None:
    result = node.set_parameters_atomically(
        [RosParameter('count', value=5), RosParameter('rate', value=-1.0)]
    )
    assert not result.successful
    assert node.params.count == 3
    result = node.set_parameters_atomically(
        [RosParameter('count', value=5), RosParameter('rate', value=10)]
    )
    assert result.successful
    assert (node.params.count, node.params.rate) == (5, 10.0)


def test_a_veto_of_the_node_keeps_the_old_value(node: Fixture) -> None:
    node.add_on_set_parameters_callback(
        lambda given: SetParametersResult(successful=False, reason='not now')
    )
    assert set_one(node, 'rate', 100.0).reason == 'not now'
    assert node.params.rate == 50.0


def test_use_sim_time_can_be_set(node: Fixture) -> None:
    assert set_one(node, 'use_sim_time', True).successful
    assert node.get_clock().ros_time_is_active
    assert set_one(node, 'use_sim_time', False).successful


def test_descriptors_say_the_same(node: Fixture) -> None:
    rate = node.describe_parameter('rate')
    assert rate.description == 'ticks per second [Hz]'
    assert rate.additional_constraints == 'a number from 1 to 1000'
    assert rate.floating_point_range[0].to_value == 1000.0
    assert node.describe_parameter('count').integer_range[0].to_value == 10
    assert node.describe_parameter('seed').read_only
    assert node.describe_parameter('empty').read_only
    assert node.describe_parameter('names').type == RosParameter.Type.STRING_ARRAY.value


def test_a_name_that_would_hide_a_method_is_an_error(context: Context) -> None:
    class Hiding(ManagedNode):
        NAME = 'hiding'
        PARAMETERS = (Parameter('items', 1, 'a bad name'),)

    with pytest.raises(ParameterError, match=r"'items': the name is taken"):
        Hiding(context=context)


def test_a_name_described_twice_is_an_error(context: Context) -> None:
    class Twice(ManagedNode):
        NAME = 'twice'
        PARAMETERS = (RATE, RATE)

    with pytest.raises(ParameterError, match=r"'rate'.*described twice"):
        Twice(context=context)
