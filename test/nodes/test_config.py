# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parameter files in config/ say what the nodes say."""

import importlib
from pathlib import Path

import pytest
import yaml

from drex_ros.nodes.base import ManagedNode

CONFIG = Path(__file__).resolve().parents[2] / 'config'
FILES = sorted(CONFIG.glob('*.yaml'))


def node_class(name: str) -> type[ManagedNode]:
    module = importlib.import_module(f'drex_ros.nodes.{name}')
    (found,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, ManagedNode) and 'NAME' in vars(value)
    )
    return found


def test_there_are_files():
    names = {path.stem for path in FILES}
    assert names >= {'mock_hardware', 'hybrid_impedance_controller', 'system_monitor'}


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_file_has_every_parameter_with_its_default(path):
    declared = {
        parameter.name: parameter.default for parameter in node_class(path.stem).PARAMETERS
    }
    written = yaml.safe_load(path.read_text())['/**']['ros__parameters']
    as_declared = {
        name: tuple(value) if isinstance(value, list) else value for name, value in written.items()
    }
    assert as_declared == declared
    assert {name: type(value) for name, value in as_declared.items()} == {
        name: type(value) for name, value in declared.items()
    }


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.stem)
def test_every_parameter_has_a_comment(path):
    lines = path.read_text().splitlines()
    start = lines.index('  ros__parameters:') + 1
    for comment, line in zip(lines[start::2], lines[start + 1 :: 2], strict=True):
        assert comment.startswith('    # '), line
        assert ':' in line
