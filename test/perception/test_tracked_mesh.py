# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Edges, smooth normals, the sides an object stands on, and the ways it may lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from manifold3d import Manifold
from rendered import thing

from drex_ros.objects.solids import loft, mesh_of, revolve
from drex_ros.perception.smooth_normals import corner_normals, edge_normals
from drex_ros.perception.standing_poses import standing_poses
from drex_ros.perception.tracked_mesh import MOST_FACES, TrackedMesh
from drex_ros.robot.joints import Array

RADIUS, HALF = 0.04, 0.05  # [m] of a cylinder about z


def cylinder_body() -> Manifold:
    return loft(revolve([(RADIUS, -HALF), (RADIUS, HALF)], 16))


def cylinder() -> tuple[Array, Array]:
    mesh = mesh_of(cylinder_body())
    return np.array(mesh.vertices), np.array(mesh.faces, dtype=np.int32)


def flat_normals(vertices: Array, faces: Array) -> Array:
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def test_corner_normals_of_a_cylinders_side_are_radial() -> None:
    vertices, faces = cylinder()
    flat, smooth = flat_normals(vertices, faces), corner_normals(vertices, faces)
    side = np.abs(flat[:, 2]) < 0.5
    assert side.sum() == 32
    radial = vertices[faces[side]] * (1.0, 1.0, 0.0) / RADIUS
    # A corner has one or two triangles of either facet: the mean leans to the greater area.
    angle = np.degrees(np.arccos(np.clip((smooth[side] * radial).sum(axis=-1), -1.0, 1.0)))
    assert angle.max() < 0.5 * 360.0 / 16 / 2
    np.testing.assert_allclose(smooth[side][..., 2], 0.0, atol=1e-12)
    # The facets themselves are off by half the angle of one.
    facets = np.degrees(np.arccos((flat[side][:, None] * radial).sum(axis=-1)))
    assert facets.min() == pytest.approx(360.0 / 32, abs=1e-6)


def test_the_ends_of_a_cylinder_stay_flat() -> None:
    vertices, faces = cylinder()
    flat, smooth = flat_normals(vertices, faces), corner_normals(vertices, faces)
    end = np.abs(flat[:, 2]) > 0.5
    assert end.sum() > 16
    np.testing.assert_allclose(smooth[end], np.repeat(flat[end][:, None], 3, axis=1), atol=1e-12)


def test_a_box_keeps_its_creases_and_a_cylinder_only_those_at_its_ends() -> None:
    corners = 0.5 * np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = np.array(
        (
            (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
            (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
        ),
        np.int32,
    )  # fmt: skip
    smooth = corner_normals(corners, faces)
    flat = flat_normals(corners, faces)
    np.testing.assert_allclose(smooth, np.repeat(flat[:, None], 3, axis=1), atol=1e-12)

    tracked = TrackedMesh.of(replace(thing('can'), mesh=mesh_of(cylinder_body())))
    ends = tracked.vertices[tracked.edges]
    length = np.linalg.norm(tracked.edge_normals, axis=-1)
    upright = np.abs(ends[:, 0, 2] - ends[:, 1, 2]) > HALF
    rim = ~upright & (np.hypot(ends[..., 0], ends[..., 1]).min(axis=1) > 0.9 * RADIUS)
    rim &= np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) < 0.5 * RADIUS
    assert upright.sum() == 32
    assert rim.sum() == 32
    np.testing.assert_allclose(length[upright], 1.0, atol=1e-9)
    np.testing.assert_array_equal(length[rim], 0.0)


def test_each_edge_lies_between_its_two_faces() -> None:
    mesh = TrackedMesh.of(thing('mug'))
    # A closed surface of triangles has one and a half edges for each.
    assert len(mesh.edges) == 1.5 * len(mesh.faces)
    for side in range(2):
        face = mesh.faces[mesh.edge_faces[:, side]]
        inside = [(face == each[:, None]).any(axis=1) for each in mesh.edges.T]
        assert np.all(inside)
        opposite = mesh.edge_opposite[:, side]
        assert (face == opposite[:, None]).any(axis=1).all()
        assert not (mesh.edges == opposite[:, None]).any()
    assert (mesh.edge_faces[:, 0] != mesh.edge_faces[:, 1]).all()
    normals = edge_normals(
        mesh.vertices, mesh.faces, mesh.corner_normals, mesh.edges, mesh.edge_faces
    )
    np.testing.assert_array_equal(normals, mesh.edge_normals)


def test_a_mesh_of_too_many_triangles_is_made_coarser_and_keeps_its_shape() -> None:
    rings = revolve([(0.04, z) for z in np.linspace(-0.05, 0.05, 60)], 128)
    model = replace(thing('can'), mesh=mesh_of(loft(rings)))
    assert len(model.mesh.faces) > 2 * MOST_FACES
    mesh = TrackedMesh.of(model)
    assert 100 < len(mesh.faces) <= MOST_FACES
    np.testing.assert_allclose(mesh.vertices.max(axis=0), (0.04, 0.04, 0.05), atol=1e-3)
    assert mesh.radius == pytest.approx(np.hypot(0.04, 0.05), abs=1e-3)


@pytest.mark.parametrize(('name', 'sides'), [('box', 6), ('can', 2), ('ball', 0)])
def test_sides_to_stand_on(name: str, sides: int) -> None:
    mesh = TrackedMesh.of(thing(name))
    assert len(mesh.resting_faces) == sides
    margins = [side.margin for side in mesh.resting_faces]
    assert margins == sorted(margins, reverse=True)
    for side in mesh.resting_faces:
        # The height is that of the origin over the lowest point.
        assert side.height == pytest.approx(-(mesh.vertices @ side.up).min(), abs=1e-4)


def test_a_box_stands_on_its_sides_at_half_its_sizes() -> None:
    sides = TrackedMesh.of(thing('box')).resting_faces
    ups = np.array([side.up for side in sides])
    np.testing.assert_allclose(np.sort(np.abs(ups).max(axis=1)), 1.0, atol=1e-9)
    assert len(np.unique(ups.round(3), axis=0)) == 6
    for side in sides:
        half = 0.5 * thing('box').mesh.extents[np.argmax(np.abs(side.up))]
        assert side.height == pytest.approx(half, abs=1e-6)


def test_free_axes_are_those_that_the_symmetry_names() -> None:
    assert TrackedMesh.of(thing('box')).free_axes.shape == (0, 3)
    assert TrackedMesh.of(thing('ball')).free_axes.shape == (3, 3)
    np.testing.assert_array_equal(TrackedMesh.of(thing('can')).free_axes, ((0.0, 0.0, 1.0),))


def test_ways_to_lie_leave_out_those_that_look_the_same() -> None:
    def ways(name: str) -> dict[float, int]:
        """How many orientations there are at each height [mm]."""
        model = thing(name)
        heights = [
            round(1e3 * each.height) for each in standing_poses(model, TrackedMesh.of(model), 24)
        ]
        return {height: heights.count(height) for height in heights}

    # A can looks the same upside down and however it is turned; it may lie and roll, too.
    assert ways('can') == {41: 1, 36: 24}
    assert ways('ball') == {34: 1}
    # Opposite sides of the box are the same, turns about the vertical are not.
    assert ways('box') == {25: 24, 30: 24, 50: 24}


def test_a_standing_pose_puts_its_side_on_the_table() -> None:
    for name in ('box', 'mug', 'can'):
        model = thing(name)
        mesh = TrackedMesh.of(model)
        for each in standing_poses(model, mesh, 8):
            np.testing.assert_allclose(each.rotation @ each.rotation.T, np.eye(3), atol=1e-9)
            lowest = (mesh.vertices @ each.rotation.T)[:, 2].min() + each.height
            assert abs(lowest) < 2e-4
            if each.side is not None:
                np.testing.assert_allclose(each.rotation @ each.side.up, (0, 0, 1), atol=1e-9)


def test_a_chosen_side_is_the_only_one() -> None:
    model = thing('box')
    mesh = TrackedMesh.of(model)
    poses = standing_poses(model, mesh, 12, mesh.resting_faces[4])
    assert len(poses) == 12
    assert all(each.side is mesh.resting_faces[4] for each in poses)
    # The turns are spread evenly over the whole circle.
    directions = np.array([each.rotation[:2, 1] for each in poses])
    angles = np.sort(np.arctan2(directions[:, 1], directions[:, 0]))
    np.testing.assert_allclose(np.diff(angles), 2.0 * np.pi / 12, atol=1e-9)


def test_knows_what_is_round_but_for_a_part() -> None:
    """A mug without its handle would look the same however it is turned."""
    for name in ('mug', 'can', 'ball', 'box', 'ketchup', 'lego'):
        axes = TrackedMesh.of(thing(name)).round_axes
        assert len(axes) == (name == 'mug'), name
    mesh = TrackedMesh.of(thing('mug'))
    (axis,) = mesh.round_axes
    assert axis.direction.tolist() == [0.0, 0.0, 1.0]
    # On the axis of the body, which the handle puts beside the middle of all.
    away = np.linalg.norm((mesh.vertices - axis.point)[:, :2], axis=1)
    body = np.abs(mesh.vertices[:, 2] - mesh.vertices[:, 2].max()) < 1e-3
    assert np.ptp(away[body]) < 0.006
    assert abs(axis.point[0]) > 0.01
