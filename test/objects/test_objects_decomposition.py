# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Convex parts of meshes from files, and the cache that keeps them."""

import logging

import numpy as np
import pytest
from mesh_measure import depths, parts_error

from drex_ros.objects import Mesh, decomposition
from drex_ros.objects.decomposition import decompose
from drex_ros.objects.solids import mesh_of, round_box, union


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    return tmp_path / 'drex_ros' / 'convex'


@pytest.fixture(scope='module')
def frame() -> Mesh:
    """A picture frame: four bars around a hole."""
    long, short = (round_box(size, 0.002, 8) for size in ((0.12, 0.02, 0.02), (0.02, 0.1, 0.02)))
    bars = [long.translate((0.0, y, 0.0)) for y in (-0.04, 0.04)]
    bars += [short.translate((x, 0.0, 0.0)) for x in (-0.05, 0.05)]
    return mesh_of(union(bars))


def test_parts_fit_and_the_hole_stays_open(frame):
    parts = decompose(frame)
    assert 4 <= len(parts) < 24
    assert parts_error(frame, parts) < 1.5e-3
    assert max(depths(np.zeros((1, 3)), part)[0] for part in parts) < -0.025


def test_kept_and_the_same_on_every_machine(frame, folder, monkeypatch, caplog, capfd):
    caplog.set_level(logging.INFO)
    first = decompose(frame)
    assert 'convex parts after' in caplog.text
    (kept,) = folder.iterdir()
    kept.unlink()
    again = decompose(frame)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.mesh.vertices, other.mesh.vertices)
    monkeypatch.setattr(decomposition, '_cut', None)  # must not be called
    for one, other in zip(first, decompose(frame), strict=True):
        np.testing.assert_array_equal(one.mesh.vertices, other.mesh.vertices)
        np.testing.assert_array_equal(one.mesh.faces, other.mesh.faces)
    assert capfd.readouterr().out == ''


@pytest.mark.parametrize('damage', [b'', b'PK\x03\x04 cut off', None])
def test_damaged_cache_is_made_again(frame, folder, monkeypatch, damage, caplog):
    calls = []
    piece = mesh_of(round_box((0.1, 0.1, 0.1), 0.01, 8))
    monkeypatch.setattr(decomposition, '_cut', lambda mesh: calls.append(mesh) or [piece])
    decompose(frame)
    (kept,) = folder.iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    decompose(frame)
    assert len(calls) == 2
    assert 'is damaged and made again' in caplog.text
    decompose(frame)
    assert len(calls) == 2
    assert list(folder.iterdir()) == [kept]


def test_other_settings_or_meshes_do_not_share(frame, folder, monkeypatch):
    piece = mesh_of(round_box((0.1, 0.1, 0.1), 0.01, 8))
    monkeypatch.setattr(decomposition, '_cut', lambda mesh: [piece])
    decompose(frame)
    decompose(Mesh.of(1.01 * frame.vertices, frame.faces))
    monkeypatch.setitem(decomposition.SETTINGS, 'seed', 2)
    decompose(frame)
    assert len(list(folder.iterdir())) == 3


def test_works_without_a_place_to_keep_it(frame, tmp_path, monkeypatch, caplog):
    piece = mesh_of(round_box((0.1, 0.1, 0.1), 0.01, 8))
    monkeypatch.setattr(decomposition, '_cut', lambda mesh: [piece])
    (tmp_path / 'file').touch()
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))
    assert len(decompose(frame)) == 1
    assert 'convex parts are not kept' in caplog.text


def test_convex_meshes_are_one_part(folder):
    (part,) = decompose(mesh_of(round_box((0.1, 0.06, 0.05), 0.01)))
    assert part.kind == 'mesh'
    assert not folder.exists()
