# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex objects`: the list, one object, a file that is not right, and the mesh as a file."""

import json

import pytest
import trimesh

from drex_ros.cli.objects import show_objects
from drex_ros.objects import object_names

WRONG = 'shape: {kind: sphere, diameter: 0.06}\nfriction: 0.4\n'


def test_list(capsys, monkeypatch):
    monkeypatch.setenv('COLUMNS', '120')
    assert show_objects(None, None, as_json=False) == 0
    shown = capsys.readouterr().out
    rows = {line.split()[1]: line for line in shown.splitlines() if line.startswith('■')}
    assert tuple(rows) == object_names()
    assert '726 g' in rows['ketchup']
    assert '67 x 67 x 67 mm' in rows['ball']


def test_list_goes_on_after_a_file_that_is_wrong(capsys, monkeypatch, tmp_path):
    (tmp_path / 'odd.yaml').write_text(WRONG)
    monkeypatch.setenv('DREX_OBJECTS', str(tmp_path))
    assert show_objects(None, None, as_json=True) == 1
    output = capsys.readouterr()
    assert [each['name'] for each in json.loads(output.out)] == [
        name for name in object_names() if name != 'odd'
    ]
    assert output.err == f'drex objects: {tmp_path / "odd.yaml"}: mass: is missing\n'


def test_one(capsys):
    assert show_objects('mug', None, as_json=False) == 0
    shown = capsys.readouterr().out
    assert '300 g' in shown
    assert '23 mesh' in shown


def test_one_as_json(capsys):
    assert show_objects('lego', None, as_json=True) == 0
    known = json.loads(capsys.readouterr().out)
    assert known['mass'] == 0.059
    assert known['parts'] == {'box': 1, 'cylinder': 8}
    assert known['crush_force'] is None


@pytest.mark.parametrize('suffix', ['stl', 'obj', 'ply'])
def test_mesh_as_a_file(tmp_path, suffix, capsys):
    path = tmp_path / f'mug.{suffix}'
    assert show_objects('mug', path, as_json=False) == 0
    mesh = trimesh.load_mesh(path)
    assert mesh.is_watertight
    assert mesh.extents[2] == pytest.approx(0.095, abs=1e-6)


@pytest.mark.parametrize(
    ('which', 'mesh', 'message'),
    [
        ('cat', None, "no object 'cat'; the objects are: "),
        ('odd.yaml', None, 'odd.yaml: mass: is missing'),
        ('mug', 'mug.step', 'mug.step must be one of *.stl, *.obj, *.ply'),
        ('mug', 'nowhere/mug.stl', 'nowhere/mug.stl'),
        (None, 'mug.stl', '--mesh needs the name of an object'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, monkeypatch, capsys, which, mesh, message):
    (tmp_path / 'odd.yaml').write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    assert show_objects(which, tmp_path / mesh if mesh else None, as_json=False) == 1
    said = capsys.readouterr().err
    assert said.startswith('drex objects: ')
    assert message in said
    assert said.count('\n') == 1
