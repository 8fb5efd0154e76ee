# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input: one line that says where, what was given and what would be right."""

from __future__ import annotations

import subprocess
import sys

import pytest
from launch_workspace import Workspace

FINE = '- node: {pkg: demo_pkg, exec: sleeper}\n'

# text of the launch file, arguments, part of the message
BAD = {
    'unknown argument': (
        '- arg: {name: mode, default: a}\n',
        ['mood:=b'],
        "bad.launch.yaml has no argument 'mood' (it has: mode)",
    ),
    'no assignment': ('', ['mode=b'], "argument 'mode=b' must be name:=value"),
    'not a choice': (
        '- arg: {name: mode, default: a, choice: [{value: a}, {value: b}]}\n',
        ['mode:=c'],
        "bad.launch.yaml:2: argument 'mode' cannot be 'c' (choices: a, b)",
    ),
    'required argument': (
        '- arg: {name: object, description: what to weigh}\n',
        [],
        "bad.launch.yaml:2: argument 'object' (what to weigh) has no default: "
        'give it as object:=value',
    ),
    'missing include': (
        FINE + '- include:\n    file: $(dirname)/gone.launch.yaml\n',
        [],
        'bad.launch.yaml:4: included file',
    ),
    'include needs an argument': (
        '- include: {file: $(dirname)/needy.launch.yaml}\n',
        [],
        "bad.launch.yaml:2: included file 'needy.launch.yaml' needs the argument 'mass'",
    ),
    'endless include': (
        '- include: {file: $(filename)}\n',
        [],
        'is included within itself without end',
    ),
    'broken YAML': (
        '- node: {pkg: demo_pkg\n- node: {}\n',
        [],
        'bad.launch.yaml:3: not valid YAML: ',
    ),
    'key twice': (
        '- node:\n    pkg: demo_pkg\n    exec: sleeper\n    exec: stubborn\n',
        [],
        "bad.launch.yaml:5: not valid YAML: 'exec' is given twice",
    ),
    'unsupported action': (
        FINE + '- timer: {period: 1.0, children: []}\n',
        [],
        'bad.launch.yaml:3: not supported by drex launch: timer (supported: arg, executable',
    ),
    'unsupported field': (
        '- node:\n    pkg: demo_pkg\n    exec: sleeper\n    emulate_tty: true\n',
        [],
        "bad.launch.yaml:5: not supported by drex launch: 'emulate_tty' in node (supported: ",
    ),
    'unsupported substitution': (
        "- let: {name: a, value: $(eval '1 + 1'), if: 'false'}\n",
        [],
        'bad.launch.yaml:2: not supported by drex launch: $(eval) (supported: and',
    ),
    'unsupported output': (
        '- node: {pkg: demo_pkg, exec: sleeper, output: own_log}\n',
        [],
        "bad.launch.yaml:2: not supported by drex launch: output 'own_log' (supported: both",
    ),
    'open substitution': (
        "- let: {name: a, value: '$(var b'}\n",
        [],
        "bad.launch.yaml:2: substitution '$(var b' is not closed",
    ),
    'unset variable': (
        '- let: {name: a, value: x}\n- let: {name: b, value: $(var c)}\n',
        [],
        'bad.launch.yaml:3: $(var c) is not set (set here: a)',
    ),
    'unset environment variable': (
        '- let: {name: b, value: $(env NO_SUCH_VARIABLE)}\n',
        [],
        'bad.launch.yaml:2: environment variable NO_SUCH_VARIABLE is not set',
    ),
    'condition': (
        "- node: {pkg: demo_pkg, exec: sleeper, if: 'maybe'}\n",
        [],
        "bad.launch.yaml:2: 'if' must be true, 1, false or 0, not 'maybe'",
    ),
    'missing package': (
        '- node: {pkg: no_pkg, exec: sleeper}\n',
        [],
        "bad.launch.yaml:2: package 'no_pkg' is not installed",
    ),
    'missing executable': (
        FINE + '- node: {pkg: demo_pkg, exec: sleper}\n',
        [],
        "bad.launch.yaml:3: package 'demo_pkg' has no executable 'sleper' (it has: parent, ",
    ),
    'missing program': (
        '- executable: {cmd: no_such_program -v}\n',
        [],
        "bad.launch.yaml:2: program 'no_such_program' is not on the PATH",
    ),
    'missing parameter file': (
        '- node: {pkg: demo_pkg, exec: sleeper, param: [{from: /no/such.yaml}]}\n',
        [],
        "bad.launch.yaml:2: parameter file '/no/such.yaml' does not exist",
    ),
    'broken parameter file': (
        '- node: {pkg: demo_pkg, exec: sleeper, param: [{from: $(dirname)/broken.yaml}]}\n',
        [],
        "broken.yaml:3: not valid YAML: expected ',' or ']', but got '<stream end>' "
        '(while parsing a flow sequence from line 2)',
    ),
    'boolean instead of text': (
        '- node: {pkg: demo_pkg, exec: sleeper, respawn: true}\n',
        [],
        "bad.launch.yaml:2: 'respawn' of node must be a string, not True: write 'true' in quotes",
    ),
    'integer instead of float': (
        '- node: {pkg: demo_pkg, exec: sleeper, respawn_delay: 2}\n',
        [],
        "bad.launch.yaml:2: 'respawn_delay' of node must be a number with a decimal point, "
        'not 2: write 2.0',
    ),
    'on_exit': (
        '- node: {pkg: demo_pkg, exec: sleeper, on_exit: restart}\n',
        [],
        "bad.launch.yaml:2: 'on_exit' can only be shutdown, not restart",
    ),
    'parameter type': (
        "- let: {name: x, value: '2.5'}\n"
        '- node: {pkg: demo_pkg, exec: sleeper, param: [{name: a, value: $(var x), type: int}]}\n',
        [],
        "bad.launch.yaml:3: parameter 'a': '2.5' is not of type int",
    ),
    'literal of another type': (
        "- node: {pkg: demo_pkg, exec: sleeper, param: [{name: a, value: '2', type: int}]}\n",
        [],
        "bad.launch.yaml:2: '2' is not of type int",
    ),
    'mixed list': (
        '- node: {pkg: demo_pkg, exec: sleeper, param: [{name: a, value: [1, 2.5]}]}\n',
        [],
        'bad.launch.yaml:2: a list of one type is needed, got [1, 2.5] with float, int',
    ),
    'null parameter': (
        '- node: {pkg: demo_pkg, exec: sleeper, param: [{name: a, value: null}]}\n',
        [],
        'bad.launch.yaml:2: a parameter is a bool, an integer, a float, a string',
    ),
    'node name': (
        '- node: {pkg: demo_pkg, exec: sleeper, name: 2nd}\n',
        [],
        "bad.launch.yaml:2: '2nd' is no node name",
    ),
    'namespace': (
        '- push_ros_namespace: {namespace: a//b}\n',
        [],
        "bad.launch.yaml:2: '/a//b' is no namespace",
    ),
    'both conditions': (
        "- let: {name: a, value: b, if: '1', unless: '1'}\n",
        [],
        "bad.launch.yaml:2: 'let' has both 'if' and 'unless'; give one",
    ),
    'two kinds in one action': (
        '- let: {name: a, value: b}\n  log: {message: c}\n',
        [],
        'bad.launch.yaml:2: an action is a mapping with one key',
    ),
}


@pytest.mark.parametrize('case', BAD)
def test_bad_input_is_one_line_and_starts_nothing(workspace: Workspace, case: str) -> None:
    text, arguments, message = BAD[case]
    workspace.write('needy.launch.yaml', 'launch:\n- arg: {name: mass}\n')
    workspace.write('broken.yaml', '/**:\n  ros__parameters: {a: [1\n')
    file = workspace.write('bad.launch.yaml', f'launch:\n{text}' if text else 'launch: []\n')
    result = subprocess.run(
        [sys.executable, '-m', 'drex_ros.launching', str(file), *arguments],
        check=False,
        env=workspace.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count('\n') == 1
    assert result.stdout == ''


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('[]\n', "one key at its top, 'launch'"),
        ('launch:\n', "'launch' needs a list of actions"),
        ('', "one key at its top, 'launch'"),
    ],
)
def test_a_file_that_is_no_launch_file(workspace: Workspace, text: str, message: str) -> None:
    launch = workspace.start(text)
    assert launch.exit_code() == 2
    assert message in launch.text


def test_an_unknown_file_lists_the_known_ones(workspace: Workspace) -> None:
    prefix = workspace.folder / 'other'
    (prefix / 'share/ament_index/resource_index/packages').mkdir(parents=True)
    (prefix / 'share/ament_index/resource_index/packages/drex_ros').touch()
    workspace.write(prefix / 'share/drex_ros/launch/drex.launch.yaml', 'launch: []\n')
    workspace.environment['AMENT_PREFIX_PATH'] = str(prefix)

    def run(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, '-m', 'drex_ros.launching', name],
            check=False,
            text=True,
            env=workspace.environment,
            capture_output=True,
            timeout=60,
            cwd=workspace.folder,
        )

    result = run('dreks')
    assert result.returncode == 2
    assert "there is no launch file 'dreks' (drex_ros has: drex.launch.yaml)" in result.stderr
    assert run('drex').returncode == 0
    assert run('drex.launch.yaml').returncode == 0
