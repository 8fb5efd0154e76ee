# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of one's own: what is accepted, what is mended, and what each refusal says."""

import re
from pathlib import Path

import numpy as np
import pytest
import trimesh

from drex_ros.objects import ObjectError, load_object, object_names

BOX = 'shape: {kind: box, length: 0.1, width: 0.06, height: 0.05, rounding: 0.001}\n'
GOOD = 'mass: 0.15\nfriction: 0.4\n'


def write(folder: Path, text: str, name: str = 'thing.yaml') -> Path:
    """Write the file of an object."""
    path = folder / name
    path.write_text(text)
    return path


def box_mesh(size=(0.1, 0.06, 0.05), at=(0.0, 0.0, 0.0)) -> trimesh.Trimesh:
    """A box of triangles."""
    mesh = trimesh.creation.box(size)
    mesh.apply_translation(at)
    return mesh


def with_mesh(folder: Path, mesh: trimesh.Trimesh, extra: str = '', file: str = 'b.stl') -> Path:
    """An object that has its mesh in a file beside it."""
    mesh.export(folder / file)
    return write(folder, f'mesh: {file}\n{GOOD}{extra}')


def test_little_is_needed(tmp_path):
    model = load_object(write(tmp_path, BOX + GOOD))
    assert model.name == 'thing'
    assert model.finger_friction == model.friction == 0.4
    assert model.crush_force == np.inf
    assert model.symmetry == ()
    assert model.rest_height == pytest.approx(0.025)
    assert model.inertia[0, 0] == pytest.approx(0.15 / 12.0 * (0.06**2 + 0.05**2), rel=0.01)
    for array in (model.mesh.vertices, model.mesh.faces, model.inertia, model.rgba):
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 0


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a: [', 'is not YAML: .*line 1'),
        ('- 1', 'must be a list of "key: value"; the keys are: name, .*, rest'),
        (BOX + GOOD + 'wieght: 3', 'unknown key wieght; the keys are: .*mass'),
        (BOX + 'friction: 0.4', 'mass: is missing'),
        (BOX + 'mass: 0.1', 'friction: is missing'),
        (BOX + 'friction: 0.4\nmass: 0', 'mass: is 0 kg, must be over 0 and at most 20 kg'),
        (BOX + 'friction: 0.4\nmass: -1', 'mass: is -1 kg'),
        (BOX + 'friction: 0.4\nmass: 150', 'mass: is 150 kg'),
        (BOX + 'friction: 0.4\nmass: .nan', 'mass: is nan kg'),
        (BOX + 'friction: 0.4\nmass: heavy', "mass: is 'heavy', must be a number"),
        (BOX + 'friction: 0.4\nmass: true', 'mass: is True, must be a number'),
        (BOX + 'friction: 0.4\nmass: 0.001', r'mass: 0.001 kg in 299.8 cm\^3 is 3.34 kg/m\^3'),
        (BOX + 'friction: 0.4\nmass: 19', r'is 6.34e\+04 kg/m\^3, must be 20 to 20000'),
        (BOX + 'friction: 2.5\nmass: 0.1', 'friction: is 2.5, must be at least 0 and at most 2'),
        (BOX + GOOD + 'finger_friction: -1', 'finger_friction: is -1'),
        (BOX + GOOD + 'crush_force: 0', 'crush_force: is 0 N, must be over 0'),
        (BOX + GOOD + 'colour: reddish', "colour: is 'reddish', must be like '#c0392b'"),
        (BOX + GOOD + 'colour: [1, 2, 3]', 'colour: is'),
        (BOX + GOOD + 'name: other', "name: is 'other', must be 'thing'"),
        (BOX + GOOD + 'units: mm', 'units: is for mesh files, a shape is in m'),
        (BOX + GOOD + 'uniform: 1', 'uniform: is 1, must be true or false'),
        (BOX + GOOD + 'rest: [1, 1, 0, 0]', 'rest: has length 1.41421'),
        (BOX + GOOD + 'centre_of_mass: [0, 0]', 'must be a list of 3 numbers'),
        (BOX + GOOD + 'centre_of_mass: [0, 0, 5]', 'centre_of_mass: is 4.98e+03 mm outside'),
        (BOX + GOOD + 'inertia: {ixx: 1.0}', 'inertia: has ixx; must have ixx, iyy, izz'),
        (BOX + GOOD + 'inertia: {ixx: 1, iyy: 1, izz: 1}', 'too large for its size.*in kg m^2'),
        (BOX + GOOD + 'inertia: {ixx: 1e-8, iyy: 1e-8, izz: 1e-8}', 'too small for its size'),
        (BOX + GOOD + 'inertia: {ixx: 1e-5, iyy: 1e-5, izz: 1e-4}', 'sum of the other two'),
        (BOX + GOOD + 'inertia: {ixx: 1e-4, iyy: 1e-4, izz: -1e-4}', 'all must be positive'),
        (BOX + GOOD + 'uniform: true\ncentre_of_mass: [0.01, 0, 0]', 'centre_of_mass: is not'),
        (BOX + GOOD + 'symmetry: {axis: [0, 0, 1], angle: 90}', 'symmetry: a turn of 90 deg'),
        (BOX + GOOD + 'symmetry: {axis: [0, 0, 1], angle: 50}', 'does not divide a full turn'),
        (BOX + GOOD + 'symmetry: {axis: [0, 0, 1]}', 'symmetry: has .*must be like'),
        (GOOD, 'needs either shape .* or mesh'),
        (BOX + 'mesh: a.stl\n' + GOOD, 'needs either shape .* or mesh'),
        ('mesh: a.stl\n' + GOOD, 'mesh: there is no file .*a.stl'),
        ('mesh: a.step\n' + GOOD, r'mesh: a.step must be one of \*.stl, \*.obj, \*.ply'),
        ('shape: {length: 1.0}\n' + GOOD, 'shape: kind is missing'),
        ('shape: {kind: blob}\n' + GOOD, "shape: no kind 'blob'; the kinds are: banana, box"),
        ('shape: {kind: sphere}\n' + GOOD, 'shape: sphere needs diameter; its dimensions are'),
        ('shape: {kind: sphere, size: 1}\n' + GOOD, 'shape: sphere has no size'),
        ('shape: {kind: sphere, diameter: 60}\n' + GOOD, 'shape: diameter: is 60 m, must be'),
        ('shape: {kind: sphere, diameter: 0.001}\n' + GOOD, 'shape: is 1 mm long, must be 5 mm'),
    ],
)
def test_refused_with_one_line_that_names_file_and_key(tmp_path, text, message):
    path = write(tmp_path, text)
    message = message.replace('4.98e+03', r'4.98e\+03').replace('m^2', r'm\^2')
    with pytest.raises(ObjectError, match=message) as error:
        load_object(path)
    assert str(error.value).startswith(f'{path}: ')
    assert '\n' not in str(error.value)


def test_a_number_that_yaml_takes_for_text(tmp_path):
    model = load_object(write(tmp_path, BOX + 'mass: 15e-2\nfriction: 0.4'))
    assert model.mass == 0.15


def test_a_binary_file(tmp_path):
    path = tmp_path / 'thing.yaml'
    path.write_bytes(bytes(range(128, 256)))
    with pytest.raises(ObjectError, match='is not YAML: not a text file'):
        load_object(path)


@pytest.mark.parametrize('file', ['b.stl', 'b.obj', 'b.ply', 'B.STL'])
def test_mesh_formats(tmp_path, file):
    model = load_object(with_mesh(tmp_path, box_mesh(at=(0.3, 0.0, 0.0)), file=file))
    np.testing.assert_allclose(model.mesh.extents, [0.1, 0.06, 0.05], atol=1e-6)
    assert len(model.mesh.faces) == 12
    np.testing.assert_allclose(model.centre_of_mass, 0.0, atol=1e-6)


def test_centre_of_mass_is_in_the_frame_of_the_mesh_file(tmp_path):
    mesh = box_mesh(at=(0.3, 0.0, 0.0))
    model = load_object(with_mesh(tmp_path, mesh, 'centre_of_mass: [0.31, 0, 0]'))
    np.testing.assert_allclose(model.centre_of_mass, [0.01, 0.0, 0.0], atol=1e-6)


def test_wrong_units_are_named(tmp_path):
    large = box_mesh((100.0, 60.0, 50.0))
    with pytest.raises(ObjectError, match=r'b.stl is 100 m long, .* write `units: mm`'):
        load_object(with_mesh(tmp_path, large))
    model = load_object(with_mesh(tmp_path, large, 'units: mm'))
    assert model.mesh.extents[0] == pytest.approx(0.1)
    with pytest.raises(ObjectError, match=r'is 0.1 mm long, .* write `units: m`'):
        load_object(with_mesh(tmp_path, box_mesh(), 'units: mm'))
    doubled = load_object(with_mesh(tmp_path, box_mesh(), 'scale: 2.0'))
    assert doubled.mesh.extents[0] == pytest.approx(0.2)


def test_open_mesh(tmp_path):
    mesh = box_mesh()
    mesh.update_faces(np.arange(12) != 3)
    with pytest.raises(ObjectError, match=r'b.stl is not watertight: 3 open edges'):
        load_object(with_mesh(tmp_path, mesh))


@pytest.mark.parametrize('wrong', [range(12), [2, 7]])
def test_inverted_triangles_are_turned_round(tmp_path, wrong, caplog):
    mesh = box_mesh()
    mesh.faces[list(wrong)] = mesh.faces[list(wrong)][:, ::-1]
    model = load_object(with_mesh(tmp_path, mesh))
    result = trimesh.Trimesh(model.mesh.vertices, model.mesh.faces)
    assert result.volume == pytest.approx(3e-4, rel=1e-5)
    assert f'b.stl: {len(wrong)} inverted triangles turned round' in caplog.text


def test_several_bodies(tmp_path, caplog):
    touching = box_mesh() + box_mesh(at=(0.05, 0.0, 0.0))
    model = load_object(with_mesh(tmp_path, touching))
    result = trimesh.Trimesh(model.mesh.vertices, model.mesh.faces)
    assert result.volume == pytest.approx(4.5e-4, rel=1e-5)  # what overlaps counts once
    assert '2 closed surfaces made one body' in caplog.text
    apart = box_mesh() + box_mesh(at=(0.2, 0.0, 0.0))
    with pytest.raises(ObjectError, match='has 2 bodies that do not touch'):
        load_object(with_mesh(tmp_path, apart))


def test_a_cavity_stays_empty(tmp_path):
    inner = box_mesh((0.08, 0.04, 0.03))
    inner.invert()
    model = load_object(with_mesh(tmp_path, box_mesh() + inner))
    result = trimesh.Trimesh(model.mesh.vertices, model.mesh.faces)
    assert result.volume == pytest.approx(3e-4 - 0.96e-4, rel=1e-5)


def test_no_solid(tmp_path):
    flat = trimesh.Trimesh([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]], [[0, 1, 2]])
    with pytest.raises(ObjectError, match=r'b.stl has 1 triangles with an area: no solid'):
        load_object(with_mesh(tmp_path, flat))
    path = write(tmp_path, f'mesh: b.obj\n{GOOD}')
    for content in ('', 'v 1 2 3\n', 'nonsense'):
        (tmp_path / 'b.obj').write_text(content)
        with pytest.raises(ObjectError, match=re.escape(f'{path}: mesh: b.obj ')):
            load_object(path)
    bad = box_mesh()
    bad.vertices[0] = np.nan
    with pytest.raises(ObjectError, match='not finite'):
        load_object(with_mesh(tmp_path, bad, file='b.ply'))


def test_rest_on_another_side(tmp_path):
    model = load_object(write(tmp_path, BOX + GOOD + 'rest: [0.70711, 0, 0, 0.70711]'))
    assert model.rest_height == pytest.approx(0.03, abs=1e-6)
    # Leaning over to its nozzle by 30 degrees, which is not leaning back.
    spray = load_object('spray_bottle').source.read_text()
    model = load_object(write(tmp_path, spray + 'rest: [0, 0.258819, 0, 0.965926]'))
    x, z = model.mesh.vertices[:, 0], model.mesh.vertices[:, 2]
    lowest = (-np.sin(np.pi / 6) * x + np.cos(np.pi / 6) * z).min()
    assert model.rest_height == pytest.approx(-lowest, abs=1e-6)


def test_look_up(tmp_path, monkeypatch):
    first, second = tmp_path / 'first', tmp_path / 'second'
    for folder in (first, second):
        folder.mkdir()
        write(folder, BOX + GOOD, 'mine.yaml')
    write(second, BOX + GOOD, 'mug.yaml')
    monkeypatch.setenv('DREX_OBJECTS', f'{first}:{second}:{tmp_path / "missing"}')
    assert load_object('mine').source == first / 'mine.yaml'
    assert load_object('mug').source == second / 'mug.yaml'  # ahead of the library's own
    assert {'mine', 'mug', 'ball'} <= set(object_names())
    with pytest.raises(ObjectError, match=r"no object 'cat'; the objects are: ball, .*mine"):
        load_object('cat')
    with pytest.raises(ObjectError, match='there is no such file'):
        load_object(tmp_path / 'none.yaml')
    with pytest.raises(ObjectError, match=r'must be the name of an object or a .yaml file'):
        load_object('config/objects')


def test_a_mesh_file_that_breaks_off(tmp_path):
    path = with_mesh(tmp_path, box_mesh())
    whole = (tmp_path / 'b.stl').read_bytes()
    (tmp_path / 'b.stl').write_bytes(whole[:300])
    with pytest.raises(ObjectError, match=r'b\.stl') as error:
        load_object(path)
    assert 'No module' not in str(error.value)
    assert '\n' not in str(error.value)
