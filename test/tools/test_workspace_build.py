# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The set-up tool builds what has changed, all of it, and nothing else."""

import importlib.util
import json
import shutil
import sys
from pathlib import Path

import environment
import pytest
import system
from steps import Progress, SetupError

import build

HERE = system.find_python(system.Ros('jazzy', Path('/')))
SETUP_PY = """\
from setuptools import setup
setup(name='drex_ros', version='0.0.1', packages=['drex_ros'], data_files=[
    ('share/ament_index/resource_index/packages', ['resource/drex_ros']),
    ('share/drex_ros', ['package.xml'])])
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.8)
project(drex_interfaces NONE)
install(FILES package.xml DESTINATION share/drex_interfaces)
"""
PACKAGE_XML = """\
<?xml version="1.0"?>
<package format="3">
  <name>{name}</name><version>0.0.1</version><description>test</description>
  <maintainer email="a@example.com">a</maintainer><license>Apache-2.0</license>
  <export><build_type>{kind}</build_type></export>
</package>
"""


@pytest.fixture
def workspace(tmp_path: Path) -> build.Workspace:
    """Small packages of our packages' names and kinds, and the environment of these tests."""
    if importlib.util.find_spec('colcon_core') is None:
        pytest.skip('colcon is not installed here')
    for name, kind in (('drex_interfaces', 'cmake'), ('drex_ros', 'ament_python')):
        folder = tmp_path / ('.' if name == 'drex_ros' else name)
        folder.mkdir(exist_ok=True)
        (folder / 'package.xml').write_text(PACKAGE_XML.format(name=name, kind=kind))
    (tmp_path / 'drex_interfaces/CMakeLists.txt').write_text(CMAKE)
    (tmp_path / 'setup.py').write_text(SETUP_PY)
    (tmp_path / 'setup.cfg').write_text('')
    for file in ('drex_ros/__init__.py', 'drex_ros/part.py', 'resource/drex_ros'):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    bin_folder = tmp_path / '.venv/bin'
    bin_folder.mkdir(parents=True)
    # A symbolic link would be an environment of its own, without packages.
    (bin_folder / 'python').write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (bin_folder / 'python').chmod(0o755)
    env = environment.Environment(tmp_path, HERE, system.find_ros())
    env.stamp_path.write_text('{}')
    return build.Workspace(tmp_path, env)


def test_builds_what_has_changed_and_nothing_else(
    workspace: build.Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    def built() -> list[str]:
        workspace.build(Progress())
        lines = capfd.readouterr().err.splitlines()
        return [line.split()[4] for line in lines if line.startswith('[setup] ok')]

    installed = workspace.root / 'install/drex_ros/lib'
    assert built() == ['drex_interfaces', 'drex_ros']
    assert built() == []
    assert list(installed.rglob('part.py'))

    (workspace.root / 'drex_ros/part.py').unlink()
    (workspace.root / 'drex_ros/__pycache__').mkdir(exist_ok=True)
    assert built() == ['drex_ros']
    assert not list(installed.rglob('part.py'))

    (workspace.root / 'drex_ros/__pycache__/new.pyc').touch()
    assert built() == []

    shutil.rmtree(workspace.root / 'install/drex_interfaces')
    assert built() == ['drex_interfaces']

    next(installed.rglob('__init__.py')).unlink()
    assert built() == ['drex_ros']

    (workspace.root / 'install/local_setup.bash').unlink()
    assert built() == ['drex_interfaces']

    workspace.env.stamp_path.write_text(json.dumps({'another': 'environment'}))
    stale = workspace.root / 'build/drex_interfaces/stale'
    stale.touch()
    assert not any(workspace.is_current(package) for package in build.SOURCES)
    (workspace.root / 'drex_interfaces/CMakeLists.txt').write_text('this is no CMake\n')
    with pytest.raises(SetupError, match=r'(?s)ended with [1-9].*drex_interfaces\.log'):
        workspace.build(Progress())
    assert not stale.exists()
    assert not workspace.stamp_path('drex_interfaces').exists()


@pytest.mark.parametrize('layer', ['control', 'perception'])
def test_kernels_are_compiled_once_for_each_build(workspace: build.Workspace, layer: str) -> None:
    """A run that failed in either layer, or was cut short, counts as none."""
    log = workspace.root / 'log/setup/compile.log'
    (workspace.env.path / 'setup.bash').write_text('export PYTHONPATH="$PWD/../kernels"\n')
    programs = {
        name: workspace.root / f'kernels/drex_ros/{name}/warm_up.py'
        for name in ('control', 'perception')
    }
    for program in programs.values():
        program.parent.mkdir(parents=True)
        program.touch()
    program = programs[layer]

    def compiled() -> bool:
        log.unlink(missing_ok=True)
        workspace.compile(Progress())
        return log.is_file()

    workspace.build(Progress())
    program.write_text('raise SystemExit("no compiler")')
    for _ in range(2):
        with pytest.raises(SetupError, match='no compiler'):
            compiled()
    program.write_text('')
    assert compiled()
    assert not compiled()
    (workspace.root / 'drex_ros/part.py').write_text('# changed')
    workspace.build(Progress())
    assert compiled()
    assert not compiled()
