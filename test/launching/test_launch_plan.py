# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Launch files become the right processes: names, namespaces, parameters, remaps, scopes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from launch_workspace import Workspace

from drex_ros.launching import LaunchError
from drex_ros.launching.actions import plan
from drex_ros.launching.arguments import declared_arguments, format_arguments
from drex_ros.launching.plan import Plan, Process


def planned(workspace: Workspace, text: str, **arguments: str) -> Plan:
    """Return the plan of a launch file with these actions."""
    file = workspace.write('a.launch.yaml', 'launch:\n' + text)
    folder = workspace.folder / 'parameters'
    folder.mkdir(exist_ok=True)
    return plan(file, arguments, folder, workspace.environment)


def node(fields: str = '') -> str:
    """Return the text of a node with these fields."""
    return f'- node: {{pkg: demo_pkg, exec: sleeper{", " if fields else ""}{fields}}}\n'


def after_ros_args(process: Process) -> list[str]:
    """Return what stands behind the last --ros-args."""
    command = list(process.command)
    return command[len(command) - command[::-1].index('--ros-args') :]


def parameters(process: Process) -> list[dict[str, Any]]:
    """Return the contents of the parameter files, in order."""
    command = process.command
    return [
        yaml.safe_load(Path(command[i + 1]).read_text(encoding='utf-8'))
        for i, word in enumerate(command)
        if word == '--params-file'
    ]


def value_of(workspace: Workspace, value: str, **arguments: str) -> Any:
    """Return what a parameter with this YAML value comes to."""
    (process,) = planned(workspace, node(f'param: [{{name: p, {value}}}]'), **arguments).processes
    (content,) = parameters(process)
    return content['/**']['ros__parameters']['p']


def test_a_node_is_named_only_where_the_file_names_it(workspace: Workspace) -> None:
    bare, named = planned(workspace, node() + node('name: one, namespace: arm')).processes
    assert bare.command == (str(workspace.prefix / 'lib/demo_pkg/sleeper'), '--ros-args')
    assert after_ros_args(named) == ['-r', '__node:=one', '-r', '__ns:=/arm']
    assert (bare.name, named.name) == ('sleeper-1', 'sleeper-2')
    assert named.node == '/arm/one'


@pytest.mark.parametrize(
    ('pushed', 'own', 'expected'),
    [
        (['a', 'b'], 'c', '/a/b/c'),
        (['a', 'b'], '/c', '/c'),
        (['a', '/b'], None, '/b'),
        (['a'], '', '/a'),
        ([''], None, '/'),
        (['/'], 'c', '/c'),
        ([], 'c/', '/c'),
        ([], None, None),
    ],
)
def test_namespaces_join(
    workspace: Workspace, pushed: list[str], own: str | None, expected: str | None
) -> None:
    pushes = ''.join(f"- push_ros_namespace: {{namespace: '{name}'}}\n" for name in pushed)
    (process,) = planned(
        workspace, pushes + node(f"namespace: '{own}'" if own is not None else '')
    ).processes
    arguments = after_ros_args(process)
    assert arguments == (['-r', f'__ns:={expected}'] if expected else [])


def test_arguments_keep_their_order(workspace: Workspace) -> None:
    workspace.write('p.yaml', '/**: {ros__parameters: {a: 1}}')
    (process,) = planned(
        workspace,
        """
- set_parameter: {name: use_sim_time, value: 'true'}
- set_remap: {from: x, to: y}
"""
        + node(
            'args: "--fast $(var x) -v", ros_args: --log-level debug, name: n, '
            'param: [{from: $(dirname)/p.yaml}, {name: b, value: 2}], '
            'remap: [{from: chatter, to: /talk}]'
        ),
        x='a b',
    ).processes
    assert process.command[1:6] == ('--fast', 'a b', '-v', '--ros-args', '--log-level')
    arguments = after_ros_args(process)
    assert arguments[:4] == ['-r', '__node:=n', '-p', 'use_sim_time:=True']
    assert arguments[-4:] == ['-r', 'x:=y', '-r', 'chatter:=/talk']
    assert parameters(process) == [
        {'/**': {'ros__parameters': {'a': 1}}},
        {'/**': {'ros__parameters': {'b': 2}}},
    ]


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('value: 3', 3),
        ("value: '3'", '3'),
        ('value: 3.0', 3.0),
        ('value: true', True),
        ('value: [1, 2]', [1, 2]),
        ('value: []', []),
        ('value: $(var n)', 3),
        ('value: $(var n).5', 3.5),
        ('value: a$(var n)', 'a3'),
        ('value: $(var n), type: str', '3'),
        ('value: $(var n), type: float', 3.0),
        ('value: $(var n), type: yaml', 3),
        ('value: $(var one), type: bool', True),
        ('value: $(var on), type: bool', True),
        ('value: $(var empty)', ''),
        ('value: $(var list)', [1.5, 2.5]),
        ('value: [1, $(var n)]', [1, 3]),
        ('value: [a, $(var n)], type: list_of_str', ['a', '3']),
        ('value: [$(var n), 1.0], type: list_of_float', [3.0, 1.0]),
    ],
)
def test_parameter_types(workspace: Workspace, value: str, expected: object) -> None:
    found = value_of(workspace, value, n='3', one='1', on='on', empty='', list='[1.5, 2.5]')
    assert found == expected
    assert type(found) is type(expected)


def test_nested_parameters_and_full_names(workspace: Workspace) -> None:
    (process,) = planned(
        workspace,
        node(
            'name: n, namespace: a, param: [{name: gains, param: [{name: p, value: 1.5}, '
            '{name: i, param: [{name: max, value: 2}]}]}]'
        ),
    ).processes
    assert parameters(process) == [
        {'/a/n': {'ros__parameters': {'gains.p': 1.5, 'gains.i.max': 2}}}
    ]


def test_a_parameter_file_with_substitutions(workspace: Workspace) -> None:
    workspace.write('p.yaml', '/**:\n  ros__parameters:\n    rate: $(var rate)\n')
    (process,) = planned(
        workspace, node('param: [{from: $(dirname)/p.yaml, allow_substs: true}]'), rate='50.0'
    ).processes
    assert parameters(process) == [{'/**': {'ros__parameters': {'rate': 50.0}}}]


def test_scopes(workspace: Workspace) -> None:
    inside, after, unscoped = planned(
        workspace,
        """
- let: {name: x, value: outer}
- group:
  - let: {name: x, value: inner}
  - set_env: {name: DEMO, value: $(var x)}
  - set_remap: {from: a, to: b}
  - push_ros_namespace: {namespace: ns}
  - node: {pkg: demo_pkg, exec: sleeper, args: $(var x)}
- node: {pkg: demo_pkg, exec: sleeper, args: $(var x)}
- group:
    scoped: false
    children:
    - let: {name: x, value: leaked}
- node: {pkg: demo_pkg, exec: sleeper, args: $(var x)}
""",
    ).processes
    assert [p.command[1] for p in (inside, after, unscoped)] == ['inner', 'outer', 'leaked']
    assert inside.environment['DEMO'] == 'inner'
    assert 'DEMO' not in after.environment
    assert after_ros_args(inside) == ['-r', '__ns:=/ns', '-r', 'a:=b']
    assert after_ros_args(after) == []


def test_includes_share_their_variables(workspace: Workspace) -> None:
    workspace.write(
        'sub/b.launch.yaml',
        """launch:
- arg: {name: speed}
- arg: {name: mode, default: slow}
- let: {name: made, value: $(dirname)/$(var speed)/$(var mode)}
""",
    )
    (process,) = planned(
        workspace,
        """
- include: {file: $(dirname)/sub/b.launch.yaml, arg: [{name: speed, value: '5'}]}
- node: {pkg: demo_pkg, exec: sleeper, args: $(var made) $(var speed)}
""",
        mode='fast',
    ).processes
    assert process.command[1:3] == (str(workspace.folder / 'sub/5/fast'), '5')


def test_conditions(workspace: Workspace) -> None:
    result = planned(
        workspace,
        ''.join(
            node(f'name: n{i}, {condition}')
            for i, condition in enumerate(
                [
                    "if: 'true'",
                    "if: ' True '",
                    "if: '1'",
                    "if: 'false'",
                    "unless: '0'",
                    "unless: '1'",
                    'if: $(not $(var on))',
                    'if: $(and $(var on) yes)',
                    'if: $(equals 1.0 1)',
                    "if: $(equals $(var on) 'true')",
                    'if: $(not-equals a b)',
                ]
            )
        ),
        on='true',
    )
    names = [process.command[-1].removeprefix('__node:=') for process in result.processes]
    assert names == ['n0', 'n1', 'n2', 'n4', 'n7', 'n8', 'n9', 'n10']


def test_a_changed_library_path_drops_the_mark_of_the_wheels(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('LD_LIBRARY_PATH', '/a')
    workspace.environment.update(LD_LIBRARY_PATH='/a', _ROS_WHEELS_BOOTSTRAP_COMPLETE='1')
    same, changed = planned(
        workspace, node() + node('env: [{name: LD_LIBRARY_PATH, value: /b}]')
    ).processes
    assert same.environment['_ROS_WHEELS_BOOTSTRAP_COMPLETE'] == '1'
    assert '_ROS_WHEELS_BOOTSTRAP_COMPLETE' not in changed.environment


def test_an_executable_is_a_plain_command(workspace: Workspace) -> None:
    (process,) = planned(
        workspace,
        """
- executable: {cmd: "sh -c 'exit 0' $(var x)tail", name: shell, cwd: $(dirname),
               env: [{name: A, value: '1'}], sigterm_timeout: 1.5}
""",
        x='mid ',
    ).processes
    assert process.command == ('sh', '-c', 'exit 0', 'mid tail')
    assert process.name == 'shell-1'
    assert process.cwd == str(workspace.folder)
    assert process.environment['A'] == '1'
    assert (process.sigterm_timeout, process.sigkill_timeout) == (1.5, 3.0)


def test_two_nodes_of_one_name_are_warned_about(workspace: Workspace) -> None:
    result = planned(workspace, node('name: n, namespace: /') * 2)
    assert result.messages == [
        ('WARNING', 'sleeper-2', 'another node of this launch has the name /n too')
    ]


def test_arguments_are_shown_with_those_of_includes(workspace: Workspace) -> None:
    workspace.write('b.launch.yaml', "launch:\n- arg: {name: inner, default: '1'}\n")
    file = workspace.write(
        'a.launch.yaml',
        """launch:
- arg: {name: which, default: b}
- arg: {name: object, description: What to weigh, choice: [{value: box}, {value: can}]}
- include: {file: $(dirname)/$(var which).launch.yaml, if: $(equals a b)}
""",
    )
    arguments = declared_arguments(file, {}, workspace.environment)
    assert [(a.name, a.conditional) for a in arguments] == [
        ('which', False),
        ('object', False),
        ('inner', True),
    ]
    shown = format_arguments(arguments)
    assert "'object':\n        What to weigh. Choices: box, can\n        (required)" in shown
    assert "(default: '1')" in shown


def test_a_folder_that_moved_is_not_guessed(workspace: Workspace) -> None:
    workspace.write('sub/b.launch.yaml', 'launch: []\n')
    include = '- include: {file: $(dirname)/sub/b.launch.yaml}\n'
    with pytest.raises(LaunchError, match=r'a.launch.yaml:3: \$\(dirname\) in the arguments'):
        planned(workspace, include + node('args: $(dirname)'))
