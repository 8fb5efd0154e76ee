# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every object of the library: a closed mesh, honest mass, parts that fit, a stable stand."""

import mujoco
import numpy as np
import pytest
import trimesh
from mesh_measure import depths, distances, parts_error, surface_points

from drex_ros.objects import ObjectModel, collision_parts, load_object, object_names
from drex_ros.objects.definition import read_definition
from drex_ros.objects.library import rotation
from drex_ros.objects.mass import solid

NAMES = object_names()
PAPER = {'letter_u': 0.125, 'letter_a': 0.134, 'lego': 0.059, 'cookie': 0.210, 'ketchup': 0.726,
         'domino': 0.106}  # fmt: skip


@pytest.fixture(scope='module')
def models() -> dict[str, ObjectModel]:
    return {name: load_object(name) for name in NAMES}


def test_the_library_has_what_it_promises(models):
    assert len(NAMES) >= 13
    assert {name: models[name].mass for name in PAPER} == PAPER
    everyday = {'ball', 'box', 'can', 'mug', 'screwdriver', 'spray_bottle'}
    assert everyday <= set(NAMES)
    assert all(0.04 <= model.mass <= 1.0 for model in models.values())


@pytest.mark.parametrize('name', NAMES)
def test_mesh_is_closed_and_centred(models, name):
    mesh = models[name].mesh
    other = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    assert other.is_watertight
    assert other.is_winding_consistent
    assert other.volume == pytest.approx(solid(mesh).volume, rel=1e-9)
    lower, upper = mesh.bounds
    assert np.abs(lower + upper).max() < 1e-9
    assert 200 <= len(mesh.faces) <= 6000
    # A hand takes it somewhere between thumb and fingers.
    assert 0.024 <= mesh.extents.min() <= 0.09


@pytest.mark.parametrize('name', NAMES)
def test_truth_is_stated_and_physical(models, name):
    model = models[name]
    given = read_definition(model.source)
    assert given.centre_of_mass is not None
    assert given.inertia is not None
    assert 'finger_friction' in model.source.read_text()
    assert 0.25 <= model.friction <= 0.6
    assert 0.6 <= model.finger_friction <= 1.0
    moments = np.linalg.eigvalsh(model.inertia)
    assert moments[0] > 0.0
    assert moments[2] <= moments[0] + moments[1]
    filled = solid(model.mesh)
    even = model.mass / filled.volume * filled.inertia
    if given.uniform:
        np.testing.assert_allclose(model.inertia, even, atol=0.01 * np.abs(even).max())
        np.testing.assert_allclose(model.centre_of_mass, filled.centroid, atol=1e-4)
    else:
        # Steel or liquid at one end changes much, but not the order of magnitude.
        ratio = np.diag(model.inertia) / np.diag(even)
        assert (ratio > 1.0 / 3.0).all()
        assert (ratio < 3.0).all()


def test_mass_distribution_against_closed_formulas(models):
    """The integrals over triangles are those of the solids that they approach."""
    box = models['box']
    a, b, c = box.mesh.extents
    expected = box.mass / 12.0 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    np.testing.assert_allclose(np.diag(box.inertia), expected, rtol=0.01)
    radius = 0.5 * models['ball'].mesh.extents[0]
    filled = solid(models['ball'].mesh)
    assert filled.volume == pytest.approx(4.0 / 3.0 * np.pi * radius**3, rel=0.01)
    assert filled.inertia[0, 0] == pytest.approx(0.4 * filled.volume * radius**2, rel=0.01)


@pytest.mark.parametrize('name', NAMES)
def test_parts_fill_the_object_and_nothing_else(models, name):
    model = models[name]
    parts = collision_parts(model)
    assert len(parts) < 24
    assert model.exact_parts, 'an object of the library must not cost a decomposition'
    assert parts_error(model.mesh, parts) < 1.5e-3


@pytest.mark.parametrize(
    ('name', 'place'),
    [
        ('mug', (-0.017, 0.0, 0.02)),  # in the cavity
        ('mug', (0.037, 0.0, 0.002)),  # through the handle
        ('cup', (0.0, 0.0, 0.0)),
        ('letter_u', (0.0, 0.02, 0.0)),  # between the legs
        ('letter_a', (0.0, -0.006, 0.0)),  # the hole
    ],
)
def test_what_is_open_stays_open(models, name, place):
    for part in collision_parts(models[name]):
        assert depths(np.array([place]), part)[0] < -2e-3


@pytest.mark.parametrize('name', NAMES)
def test_symmetry_maps_the_surface_onto_itself(models, name):
    model = models[name]
    points = surface_points(model.mesh, 100)
    for each in model.symmetry:
        angle = each.angle or 1.0
        turn = rotation(np.array([*np.sin(0.5 * angle) * each.axis, np.cos(0.5 * angle)]))
        assert distances(points @ turn.T, model.mesh).max() < 1.5e-3


@pytest.mark.parametrize('name', NAMES)
def test_stays_as_it_is_put_down(models, name):
    """On a plane in MuJoCo, with its parts and its mass, it neither tips nor wanders."""
    model = models[name]
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.002
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1.0, 1.0, 0.1])
    start = np.array([0.0, 0.0, model.rest_height, *np.roll(model.rest_quaternion, 1)])
    body = spec.worldbody.add_body(pos=start[:3], quat=start[3:])
    body.add_freejoint()
    body.explicitinertial = True
    body.mass = model.mass
    body.ipos = model.centre_of_mass
    tensor = model.inertia
    body.fullinertia = [*np.diag(tensor), tensor[0, 1], tensor[0, 2], tensor[1, 2]]
    for i, part in enumerate(collision_parts(model)):
        kind = getattr(mujoco.mjtGeom, f'mjGEOM_{part.kind.upper()}')
        options = {'size': part.size}
        if part.mesh is not None:
            spec.add_mesh(
                name=f'part_{i}',
                uservert=part.mesh.vertices.ravel().tolist(),
                userface=part.mesh.faces.ravel().tolist(),
            )
            options = {'meshname': f'part_{i}'}
        body.add_geom(
            type=kind, pos=part.position, quat=np.roll(part.quaternion, 1), **options
        )
    compiled = spec.compile()
    assert compiled.body_mass[1] == pytest.approx(model.mass)
    data = mujoco.MjData(compiled)
    mujoco.mj_step(compiled, data, nstep=500)
    assert np.abs(data.qpos[:3] - start[:3]).max() < 1e-3
    assert abs(data.qpos[3:] @ start[3:]) > np.cos(np.radians(0.5))
    assert np.abs(data.qvel).max() < 0.02
