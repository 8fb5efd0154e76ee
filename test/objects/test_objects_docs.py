# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""docs/objects.md is true: its examples load, and it knows every object, key and shape."""

import re
from pathlib import Path

import pytest
import trimesh

from drex_ros.objects import load_object, object_names
from drex_ros.objects.definition import KEYS
from drex_ros.objects.shapes import GENERATORS, dimensions

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'objects.md'


@pytest.fixture(scope='module')
def page() -> str:
    if not PAGE.is_file():
        pytest.skip('the documentation is not installed')
    return PAGE.read_text()


def test_examples_load(page, tmp_path):
    examples = re.findall(r'```yaml\n(.*?)```', page, re.DOTALL)
    assert len(examples) == 2
    trimesh.creation.cylinder(40.0, 95.0).export(tmp_path / 'my_mug.stl')
    for text in examples:
        path = tmp_path / 'my_mug.yaml'
        path.write_text(text)
        assert load_object(path).description in text


def test_every_key_shape_and_object_is_there(page):
    for key in KEYS:
        assert f'\n| `{key}` |' in page
    for kind in GENERATORS:
        names = ', '.join(f'`{name}`' for name in dimensions(kind))
        assert f'\n| `{kind}` | {names} |' in page
    for name in object_names():
        mass = load_object(name).mass
        shown = f'{1e3 * mass:.0f} g' if mass < 1.0 else f'{mass:g} kg'
        assert f'`{name}` {shown}' in page
