# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex doctor`: well where all is well, and a remedy for each thing that is not."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from drex_command import run_drex

# The command of the same name hides the module from a plain import.
doctor = importlib.import_module('drex_ros.cli.doctor')

NAMES = ['Python', 'ROS 2', 'ROS domain', 'DDS', 'Shared memory', 'Rendering', 'Libraries',
         'Robot', 'Compiler', 'Interfaces', 'Package', 'Disk']  # fmt: skip


def findings(tmp_path: Path, **environ: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code, and what was found, by name."""
    result = run_drex('doctor', '--json', cwd=tmp_path, env=environ)
    assert result.stderr == ''
    found = json.loads(result.stdout)
    assert [finding['name'] for finding in found] == NAMES
    for finding in found:
        assert finding['level'] in ('ok', 'warn', 'fail')
        assert bool(finding['remedy']) == (finding['level'] != 'ok')
        assert finding['detail']
    return result.returncode, {finding['name']: finding for finding in found}


def test_all_is_well_here(tmp_path: Path) -> None:
    result = run_drex('doctor', cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    lines = [line for line in result.stdout.splitlines() if 'remedy:' not in line]
    assert [line[5:19].strip() for line in lines] == NAMES
    assert {line[:5] for line in lines} <= {'ok   ', 'warn '}
    assert 'a message arrives' in result.stdout


def test_each_failure_has_its_remedy(tmp_path: Path) -> None:
    """All at once, because every run sends a real message and draws a real picture."""
    code, found = findings(
        tmp_path,
        AMENT_PREFIX_PATH='',
        RMW_IMPLEMENTATION='rmw_of_nobody',
    )
    assert code == 1
    assert found['Package']['level'] == 'fail'
    assert 'AMENT_PREFIX_PATH' in found['Package']['detail']
    assert 'setup.bash' in found['Package']['remedy']
    assert found['DDS']['level'] == 'fail'
    assert 'RMW_IMPLEMENTATION' in found['DDS']['remedy']
    assert found['ROS 2']['level'] == 'fail'
    assert 'rmw_of_nobody' in found['ROS 2']['detail']
    assert 'RMW_IMPLEMENTATION' in found['ROS 2']['remedy']
    assert {found[name]['level'] for name in ('Interfaces', 'Libraries', 'Disk')} == {'ok'}


@pytest.mark.parametrize(
    'name', ['compiler', 'domain', 'interfaces', 'rendering', 'shared_memory', 'disk']
)
def test_what_the_machine_lacks(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if name == 'compiler':
        monkeypatch.setenv('PATH', str(tmp_path))
        expected = ('warn', 'cannot be built', 'g++')
    elif name == 'domain':
        monkeypatch.setenv('ROS_DOMAIN_ID', '500')
        expected = ('fail', "'500'", 'from 0 to 232')
    elif name == 'interfaces':
        package = tmp_path / 'drex_interfaces'
        package.mkdir()
        (package / '__init__.py').write_text('raise ImportError("not built")\n')
        monkeypatch.setenv('PYTHONPATH', str(tmp_path))
        expected = ('fail', 'not built', 'colcon build')
    elif name == 'rendering':
        (tmp_path / 'mujoco.py').write_text('raise OSError("no [/opt/gl] found")\n')
        monkeypatch.setenv('PYTHONPATH', str(tmp_path))
        expected = ('warn', 'no [/opt/gl] found', 'libegl1')
    elif name == 'shared_memory':
        monkeypatch.setattr(doctor, 'MIN_FREE_SHM', 1e12)
        expected = ('warn', 'MB free in /dev/shm', 'rm /dev/shm/fastrtps_*')
    else:
        monkeypatch.setattr(doctor, 'MIN_FREE_DISK', 1e12)
        expected = ('warn', 'GB free', 'free 1e+12 GB')
    finding = getattr(doctor, f'check_{name}')()
    level, detail, remedy = expected
    assert finding.level == level
    assert detail in finding.detail
    assert remedy in finding.remedy


def test_words_in_brackets_are_shown_as_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = doctor.Finding('GL', 'fail', 'no [/opt/gl] [red]', 'make [it]')
    monkeypatch.setattr(doctor, 'CHECKS', (lambda: finding,))
    assert doctor.report() == 1
    assert capsys.readouterr().out == (
        'fail GL            no [/opt/gl] [red]\n     remedy: make [it]\n'
    )
