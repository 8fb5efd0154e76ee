# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The `drex` command as a user types it: help, versions, and errors of one line."""

from pathlib import Path

import pytest
from drex_command import run_drex

from drex_ros import __version__

# Errors are the same where ros2 launch is installed; what runs is not.
NATIVE = {'DREX_LAUNCH_NATIVE': '1'}
NODE = '- node: {pkg: drex_ros, exec: system_monitor}\n'


def fails(tmp_path: Path, *arguments: str) -> str:
    """The one line with which `drex launch` refuses."""
    result = run_drex('launch', *arguments, cwd=tmp_path, env=NATIVE)
    assert (result.returncode, result.stdout) == (2, '')
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith('drex launch: ')
    return result.stderr.removeprefix('drex launch: ').rstrip()


def test_version(tmp_path: Path) -> None:
    result = run_drex('--version', cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, f'drex {__version__}\n', '')


@pytest.mark.parametrize('words', [('--help',), ('-h',), ()])
def test_help_lists_the_commands(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = run_drex(*words, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, '')
    text = result.stdout
    for word in ('launch', 'doctor', 'demo', 'view', '--version', 'A Franka arm with an Allegro'):
        assert word in text
    assert max(map(len, text.splitlines())) <= 80
    assert '\x1b' not in text


@pytest.mark.parametrize(
    ('command', 'words'),
    [
        ('launch', ('NAME:=VALUE', '--show-args', '--native', 'Ctrl-C stops everything')),
        ('doctor', ('--json', 'remedy')),
        ('demo', ('--verbose', '--log', 'simulation')),
        ('view', ('--object', '--output', '--live', 'video')),
    ],
)
def test_help_of_a_command(tmp_path: Path, command: str, words: tuple[str, ...]) -> None:
    result = run_drex(command, '--help', cwd=tmp_path)
    assert result.returncode == 0
    assert f'Usage: drex {command}' in result.stdout
    for word in words:
        assert word in result.stdout


@pytest.mark.parametrize(
    ('words', 'path', 'said'),
    [
        (('lunch',), 'drex', ("'lunch'", '(there are: launch, doctor, demo, view')),
        (('--wersion',), 'drex', ('--wersion', '--version')),
        (('doctor', '--jason'), 'drex doctor', ('--jason', '--json')),
        (('launch',), 'drex launch', ("'file'", '(try: drex launch --help)')),
        (('doctor', 'me'), 'drex doctor', ('(me)', '(try: drex doctor --help)')),
    ],
)
def test_wrong_usage_is_one_line(
    tmp_path: Path, words: tuple[str, ...], path: str, said: tuple[str, ...]
) -> None:
    result = run_drex(*words, cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr.startswith(f'{path}: ')
    assert len(result.stderr.splitlines()) == 1
    for word in said:
        assert word in result.stderr


def test_show_args(tmp_path: Path) -> None:
    result = run_drex('launch', 'drex.launch.yaml', '--show-args', cwd=tmp_path, env=NATIVE)
    assert (result.returncode, result.stderr) == (0, '')
    for name in ('mock_hardware', 'namespace', 'object', 'use_dashboard', 'log_level'):
        assert f"'{name}'" in result.stdout


def test_an_unknown_file_names_those_there_are(tmp_path: Path) -> None:
    assert fails(tmp_path, 'dinner.launch.yaml') == (
        "there is no launch file 'dinner.launch.yaml' (drex_ros has: drex.launch.yaml, "
        'perception.launch.yaml, policy.launch.yaml, robot.launch.yaml, twin.launch.yaml)'
    )


def test_an_unknown_argument_names_those_there_are(tmp_path: Path) -> None:
    line = fails(tmp_path, 'robot.launch.yaml', 'mock:=true')
    assert "'mock'" in line
    assert 'camera, config, hand, log_level, mock_hardware, object, real_time_factor' in line


def test_a_value_that_is_no_choice(tmp_path: Path) -> None:
    line = fails(tmp_path, 'drex.launch.yaml', 'log_level:=loud')
    assert 'drex.launch.yaml:' in line
    assert "'loud'" in line
    assert 'debug' in line


def test_an_include_that_is_missing(tmp_path: Path) -> None:
    file = tmp_path / 'a.launch.yaml'
    file.write_text(f'launch:\n{NODE}- include: {{file: $(dirname)/b.launch.yaml}}\n')
    line = fails(tmp_path, 'a.launch.yaml')
    assert line.startswith(f'{file}:3: ')
    assert str(tmp_path / 'b.launch.yaml') in line


def test_yaml_that_does_not_parse(tmp_path: Path) -> None:
    file = tmp_path / 'a.launch.yaml'
    file.write_text('launch:\n- node: {pkg: [\n')
    assert fails(tmp_path, 'a.launch.yaml').startswith(f'{file}:')


def test_what_is_not_supported(tmp_path: Path) -> None:
    file = tmp_path / 'a.launch.yaml'
    file.write_text('launch:\n- timer: {period: 1.0, children: []}\n')
    line = fails(tmp_path, 'a.launch.yaml')
    assert line.startswith(f'{file}:2: ')
    assert 'not supported by drex launch: timer' in line
