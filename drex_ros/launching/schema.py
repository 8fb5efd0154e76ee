# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The dialect: which actions a launch file may hold and which fields they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drex_ros.launching.substitutions import Template

# Kinds of fields: text with substitutions, text without, or a parameter's value.
# A field that is a list of sub-entities has their kind as a string.
TEXT = Template
PLAIN = str
VALUE = object

_CONDITION = {'if': TEXT, 'unless': TEXT}
_NAME_VALUE = {'name': TEXT, 'value': TEXT}
_PROCESS: Mapping[str, Any] = {
    'output': TEXT,
    'respawn': TEXT,
    'respawn_delay': float,
    'respawn_max_retries': int,
    'on_exit': PLAIN,
    'cwd': TEXT,
    'env': 'env',
    'sigterm_timeout': float,
    'sigkill_timeout': float,
    'name': TEXT,
    **_CONDITION,
}

# kind: (fields, the ones that must be there)
ACTIONS: Mapping[str, tuple[Mapping[str, Any], tuple[str, ...]]] = {
    'arg': (
        {'name': PLAIN, 'default': TEXT, 'description': PLAIN, 'choice': 'choice', **_CONDITION},
        ('name',),
    ),
    'let': ({**_NAME_VALUE, **_CONDITION}, ('name', 'value')),
    'include': ({'file': TEXT, 'arg': 'include arg', **_CONDITION}, ('file',)),
    'group': ({'scoped': bool, 'children': list, **_CONDITION}, ('children',)),
    'node': (
        {
            **_PROCESS,
            'pkg': TEXT,
            'exec': TEXT,
            'exec_name': TEXT,
            'namespace': TEXT,
            'args': TEXT,
            'ros_args': TEXT,
            'param': 'param',
            'remap': 'remap',
        },
        ('exec',),
    ),
    'executable': ({**_PROCESS, 'cmd': TEXT}, ('cmd',)),
    'log': ({'message': TEXT, **_CONDITION}, ('message',)),
    'shutdown': ({'reason': TEXT, **_CONDITION}, ()),
    'set_env': ({**_NAME_VALUE, **_CONDITION}, ('name', 'value')),
    'unset_env': ({'name': TEXT, **_CONDITION}, ('name',)),
    'set_parameter': ({**_NAME_VALUE, **_CONDITION}, ('name', 'value')),
    'set_remap': ({'from': TEXT, 'to': TEXT, **_CONDITION}, ('from', 'to')),
    'push_ros_namespace': ({'namespace': TEXT, **_CONDITION}, ('namespace',)),
}
PARTS: Mapping[str, tuple[Mapping[str, Any], tuple[str, ...]]] = {
    'choice': ({'value': PLAIN}, ('value',)),
    'include arg': (_NAME_VALUE, ('name', 'value')),
    'env': (_NAME_VALUE, ('name', 'value')),
    'remap': ({'from': TEXT, 'to': TEXT}, ('from', 'to')),
    'param': (
        {
            'name': TEXT,
            'value': VALUE,
            'type': PLAIN,
            'from': TEXT,
            'allow_substs': bool,
            'param': 'param',
        },
        (),
    ),
}
TYPE_NAMES = {
    TEXT: 'a string',
    PLAIN: 'a string',
    bool: 'true or false',
    float: 'a number with a decimal point',
    int: 'an integer',
}
