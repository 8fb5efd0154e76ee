# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the sources themselves: style, types, packages, reference pages."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from catkin_pkg.package import parse_package

ROOT = Path(__file__).resolve().parents[1]
PYTHON_FILES = sorted(
    path
    for folder in ('drex_ros', 'tools', 'test', 'bench', 'examples')
    for path in (ROOT / folder).rglob('*.py')
)


def run(*command: str) -> None:
    """Run a command in the root; its output is the message when it fails."""
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f'{" ".join(command)}\n{result.stdout}{result.stderr}'


def needs(module: str) -> pytest.MarkDecorator:
    """Skip where a tool is not installed, as on a workstation that has ROS alone."""
    missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(missing, reason=f'{module} is not installed here')


@needs('ruff')
def test_ruff() -> None:
    run(sys.executable, '-m', 'ruff', 'check', '.')


@needs('mypy')
def test_mypy() -> None:
    run(sys.executable, '-m', 'mypy')


@pytest.mark.parametrize('name', ['.', 'drex_interfaces'])
def test_package_xml(name: str) -> None:
    """The package files are valid, complete, and agree with each other."""
    warnings: list[str] = []
    package = parse_package(ROOT / name / 'package.xml', warnings=warnings)
    package.validate(warnings=warnings)
    assert not warnings
    assert package.package_format == 3
    assert [str(licence) for licence in package.licenses] == ['Apache-2.0']
    assert (ROOT / name / 'LICENSE').is_file()


@needs('ament_xmllint')
@pytest.mark.parametrize('name', ['.', 'drex_interfaces'])
def test_package_xml_schema(name: str) -> None:
    """The same against ROS's own XML schema, which ament_xmllint has where ROS is installed."""
    run('ament_xmllint', str(ROOT / name / 'package.xml'))


def test_one_version() -> None:
    """The version is the same wherever it stands."""
    found = {
        parse_package(ROOT / 'package.xml').version,
        parse_package(ROOT / 'drex_interfaces/package.xml').version,
        re.search(r"version='([^']+)'", (ROOT / 'setup.py').read_text())[1],
        re.search(r"__version__ = '([^']+)'", (ROOT / 'drex_ros/__init__.py').read_text())[1],
    }
    assert len(found) == 1
    assert f'## {found.pop()}' in (ROOT / 'CHANGELOG.md').read_text()


def test_reference_pages_are_current() -> None:
    run(sys.executable, 'tools/reference.py', '--check')


def imports(path: Path) -> set[str]:
    """Modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_only_nodes_client_and_cli_know_ros() -> None:
    """Everything else is plain Python that a notebook can use."""
    package = ROOT / 'drex_ros'
    allowed = [package / name for name in ('nodes', 'cli', 'client')]
    for path in package.rglob('*.py'):
        if any(path == top or top in path.parents for top in allowed):
            continue
        ros = {name for name in imports(path) if name.startswith(('rclpy', 'drex_interfaces'))}
        assert not ros, f'{path.relative_to(ROOT)} imports {ros}'


# From the top of docs/architecture.md down.
LAYERS = (
    'nodes',
    'evaluation',
    'tasks',
    'policy',
    'twin',
    'perception',
    'control',
    'hardware',
    'objects',
    'robot',
)


def test_data_flows_down_the_layers() -> None:
    """A layer imports only from layers below it."""
    for height, layer in enumerate(LAYERS):
        for path in (ROOT / 'drex_ros' / layer).rglob('*.py'):
            for name in imports(path):
                parts = name.split('.')
                if parts[0] == 'drex_ros' and len(parts) > 1 and parts[1] in LAYERS:
                    below = LAYERS.index(parts[1]) >= height
                    assert below, f'{path.relative_to(ROOT)} imports {name}, a layer above it'


@pytest.mark.parametrize('path', PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_licence_header(path: Path) -> None:
    head = path.read_text().split('\n')[:3]
    assert any('SPDX-License-Identifier: Apache-2.0' in line for line in head)


def test_no_path_of_a_machine() -> None:
    """Nothing committed names a folder of the machine it was written on."""
    listing = subprocess.run(
        ['git', 'ls-files'], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode != 0:
        pytest.skip('not a git checkout')
    folders = {str(path) for path in (ROOT, Path.home()) if len(path.parts) > 2}
    home = re.compile('|'.join(re.escape(f'{folder}/') for folder in folders) or '(?!)')
    for name in listing.stdout.splitlines():
        path = ROOT / name
        if path.suffix in ('.py', '.md', '.yaml', '.yml', '.txt', '.toml', '.cfg', '.xml'):
            found = home.search(path.read_text(errors='replace'))
            assert found is None, f'{name}: {found}'
