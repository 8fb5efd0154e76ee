# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The real `ros2 launch` and our own run start the same processes from the same files.

Both start a probe that writes down its arguments, its parameter files and its environment.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from launch_workspace import Workspace
from parity_scenarios import PART, REFUSED, SCENARIOS

LAUNCH_IS_HERE = shutil.which('ros2') is not None and all(
    importlib.util.find_spec(name) for name in ('launch_ros', 'launch_yaml', 'ros2launch')
)

pytestmark = pytest.mark.skipif(
    not LAUNCH_IS_HERE, reason='needs the real ros2 launch, which is not on PyPI'
)

ROOT = Path(__file__).resolve().parents[2]
OUR_FILES = sorted(file.name for file in (ROOT / 'launch').glob('*.launch.yaml'))

PROBE = """\
import json, os, sys, tempfile
files = {}
for flag, path in zip(sys.argv, sys.argv[1:]):
    if flag == '--params-file':
        with open(path, encoding='utf-8') as stream:
            files[path] = stream.read()
seen = {'arguments': sys.argv[1:], 'files': files, 'cwd': os.getcwd(),
        'environment': {k: v for k, v in os.environ.items() if k.startswith('DEMO_')}}
folder = os.environ['PROBE_FOLDER']
with tempfile.NamedTemporaryFile('w', dir=folder, suffix='.json', delete=False) as stream:
    json.dump(seen, stream)
"""

PROBE_FIELDS = 'pkg: demo_pkg, exec: probe'


def write_files(workspace: Workspace, main: str) -> Path:
    """Write a scenario; return its main file."""
    workspace.executable('probe', f'#!{sys.executable} -IS\n{PROBE}')
    workspace.write('values.yaml', '/**:\n  ros__parameters:\n    text: $(var text)\n')
    workspace.write('sub/part.launch.yaml', PART.replace('PROBE', PROBE_FIELDS))
    return workspace.write('main.launch.yaml', 'launch:\n' + main.replace('PROBE', PROBE_FIELDS))


def started(workspace: Workspace, command: list[str], name: str) -> list[Any]:
    """Run a launch and return what its probes have written down, in a comparable form."""
    folder = workspace.folder / name
    folder.mkdir()
    result = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=workspace.folder,
        env={**workspace.environment, 'PROBE_FOLDER': str(folder), 'DEMO_GIVEN': 'from outside'},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    found = [
        comparable(json.loads(file.read_text(encoding='utf-8'))) for file in folder.glob('*.json')
    ]
    return sorted(found, key=json.dumps)


def comparable(seen: dict[str, Any]) -> dict[str, Any]:
    """Put the contents of parameter files in the place of their names."""
    seen['arguments'] = [
        yaml.safe_load(seen['files'][word]) if word in seen['files'] else word
        for word in seen['arguments']
    ]
    del seen['files']
    return seen


@pytest.mark.parametrize('name', SCENARIOS)
def test_the_same_processes(workspace: Workspace, name: str) -> None:
    main, arguments = SCENARIOS[name]
    file = write_files(workspace, main)
    theirs = started(workspace, ['ros2', 'launch', str(file), *arguments], 'theirs')
    ours = started(
        workspace, [sys.executable, '-m', 'drex_ros.launching', str(file), *arguments], 'ours'
    )
    assert ours == theirs
    assert len(ours) > 0


@pytest.mark.parametrize('name', REFUSED)
def test_the_same_files_are_refused(workspace: Workspace, name: str) -> None:
    main, arguments = REFUSED[name]
    file = write_files(workspace, main)
    for command in (['ros2', 'launch'], [sys.executable, '-m', 'drex_ros.launching']):
        result = subprocess.run(
            [*command, str(file), *arguments],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=workspace.folder,
            env={**workspace.environment, 'PROBE_FOLDER': str(workspace.folder)},
        )
        assert result.returncode != 0, result.stdout
    assert not list(workspace.folder.glob('*.json'))


def test_drex_launch_hands_over_to_ros2_launch(workspace: Workspace) -> None:
    file = write_files(workspace, '- timer: {period: 0.1, children: [{log: {message: fired}}]}\n')
    environment = {**workspace.environment, 'DREX_LAUNCH_NATIVE': ''}
    result = subprocess.run(
        [sys.executable, '-m', 'drex_ros.launching', str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert '[INFO] [launch.user]: fired' in result.stdout
    unknown = subprocess.run(
        [
            sys.executable,
            '-m',
            'drex_ros.launching',
            str(write_files(workspace, '- group: []\n')),
            'colour:=red',
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert unknown.returncode == 2
    assert "has no argument 'colour'" in unknown.stderr


def our_files(workspace: Workspace) -> dict[str, Path]:
    """Install the launch files of drex_ros with probes for nodes; return them by name."""
    index = workspace.prefix / 'share/ament_index/resource_index/packages'
    (index / 'drex_ros').touch()
    share = workspace.prefix / 'share/drex_ros'
    for folder in ('launch', 'config'):
        shutil.copytree(ROOT / folder, share / folder)
    files = {file.name: file for file in sorted((share / 'launch').glob('*.launch.yaml'))}
    for file in files.values():
        for executable in re.findall(r'\bexec: *([\w-]+)', file.read_text(encoding='utf-8')):
            workspace.write(
                workspace.prefix / 'lib/drex_ros' / executable,
                f'#!{sys.executable} -IS\n{PROBE}',
                mode=0o755,
            )
    return files


@pytest.mark.parametrize('name', OUR_FILES)
def test_our_launch_files_declare_the_same_arguments(workspace: Workspace, name: str) -> None:
    file = our_files(workspace)[name]
    shown = []
    for command in (['ros2', 'launch'], [sys.executable, '-m', 'drex_ros.launching']):
        result = subprocess.run(
            [*command, '--show-args', str(file)],
            check=False,
            text=True,
            capture_output=True,
            timeout=120,
            env=workspace.environment,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        shown.append(re.findall(r"^    '(\w+)':", result.stdout, re.MULTILINE))
    theirs, ours = shown
    # ros2 launch does not look into files that are included by $(dirname); we do.
    assert [argument for argument in ours if argument in theirs] == theirs


@pytest.mark.parametrize('arguments', [[], ['namespace:=lab/left', 'log_level:=debug']])
@pytest.mark.parametrize('name', OUR_FILES)
def test_our_launch_files_start_the_same_nodes(
    workspace: Workspace, name: str, arguments: list[str]
) -> None:
    files = our_files(workspace)
    text = files[name].read_text(encoding='utf-8')
    given = [word for word in arguments if f'name: {word.partition(":=")[0]}' in text]
    for file in files.values():  # a probe ends at once, which must not end the others
        file.write_text(
            re.sub(
                r'^ *(on_exit|respawn\w*):.*\n',
                '',
                file.read_text(encoding='utf-8'),
                flags=re.MULTILINE,
            )
        )
    file = files[name]
    theirs = started(workspace, ['ros2', 'launch', str(file), *given], 'theirs')
    ours = started(
        workspace, [sys.executable, '-m', 'drex_ros.launching', str(file), *given], 'ours'
    )
    assert ours == theirs
