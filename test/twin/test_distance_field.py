# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances from a surface: exact on balls and boxes, signed right on hollow things."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from drex_ros.objects import load_object
from drex_ros.twin.distance_field import DistanceField, distance_field


def field_of(mesh: trimesh.Trimesh, **options: float) -> DistanceField:
    return distance_field(np.asarray(mesh.vertices), np.asarray(mesh.faces), **options)


def test_around_a_ball() -> None:
    field = field_of(trimesh.creation.icosphere(5, 0.03))
    ways = np.random.default_rng(1).normal(size=(200, 3))
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    for depth in (-0.003, 0.0, 0.01):
        value, gradient = field.distance((0.03 + depth) * ways)
        np.testing.assert_allclose(value, depth, atol=5e-5)
        np.testing.assert_allclose(gradient, ways, atol=0.02)


def test_around_a_box() -> None:
    half = np.array((0.02, 0.03, 0.04))
    field = field_of(trimesh.creation.box(2.0 * half))
    points = np.random.default_rng(2).uniform(-0.05, 0.05, (500, 3))
    beyond = np.abs(points) - half
    outside = np.linalg.norm(np.maximum(beyond, 0.0), axis=1)
    exact = outside + np.minimum(beyond.max(axis=1), 0.0)
    points, exact = points[np.abs(exact) < 0.012], exact[np.abs(exact) < 0.012]
    np.testing.assert_allclose(field.distance(points)[0], exact, atol=4e-4)


@pytest.mark.parametrize('name', ['mug', 'letter_u', 'banana'])
def test_signs_are_those_of_the_winding_number(name: str) -> None:
    mesh = load_object(name).mesh
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.faces)
    field = distance_field(vertices, faces)
    random = np.random.default_rng(3)
    points = random.uniform(vertices.min(axis=0) - 0.01, vertices.max(axis=0) + 0.01, (300, 3))
    a, b, c = np.moveaxis(vertices[faces][None] - points[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(each, axis=2) for each in (a, b, c))
    volume = np.einsum('nfi,nfi->nf', a, np.cross(b, c))
    dots = [np.einsum('nfi,nfi->nf', *pair) for pair in ((a, b), (a, c), (b, c))]
    whole = la * lb * lc + dots[0] * lc + dots[1] * lb + dots[2] * la
    winding = np.arctan2(volume, whole).sum(axis=1) / (2.0 * np.pi)
    value, _ = field.distance(points)
    sure = np.abs(value) > 1e-4
    np.testing.assert_array_equal(value[sure] < 0.0, winding[sure] > 0.5)


def test_far_away_is_far() -> None:
    value, gradient = field_of(trimesh.creation.icosphere(3, 0.03)).distance(np.ones((1, 3)))
    assert value[0] == 1.0
    assert not gradient.any()


def test_meshes_that_cannot_be_are_refused() -> None:
    ball = trimesh.creation.icosphere(2, 0.03)
    with pytest.raises(ValueError, match='must be at most 2000000: is the mesh in metres'):
        distance_field(1e3 * np.asarray(ball.vertices), np.asarray(ball.faces))
    with pytest.raises(ValueError, match='must be closed with finite vertices'):
        distance_field(np.full((4, 3), np.nan), np.asarray(ball.faces))
