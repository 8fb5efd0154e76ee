# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The drawn depth against geometry: planes, boxes and rays through every pixel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from drex_ros.perception.raster import NOTHING, draw, place, region_of
from drex_ros.perception.tracked_mesh import Indices
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import matrix_from_vector

CAMERA = CameraModel.from_pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), width=160, height=120, fx=150.0,
                               fy=140.0, cx=81.3, cy=57.6)  # fmt: skip
LENS = np.array((CAMERA.fx, CAMERA.fy, CAMERA.cx, CAMERA.cy))
WHOLE = np.array((0, 0, CAMERA.width, CAMERA.height))
HALF = np.array((0.05, 0.03, 0.04))  # [m] of the box
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * HALF
# Counter-clockwise from outside; corner number 4 x + 2 y + z.
BOX = np.array(
    (
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ),
    np.int32,
)  # fmt: skip


class Drawing(NamedTuple):
    depth: Array
    face: Indices
    front: Array


def drawn(points: Array, faces: Indices, region: Array = WHOLE) -> Drawing:
    shape = (CAMERA.height, CAMERA.width)
    depth, face = np.full(shape, np.float32(-1.0)), np.full(shape, -7, np.int32)
    front = np.zeros(len(faces), np.bool_)
    draw(points, faces, LENS, region, depth, face, front)
    return Drawing(depth, face, front)


def placed(vertices: Array, position: tuple[float, float, float], turn: Array) -> Array:
    out = np.empty_like(vertices)
    place(vertices, matrix_from_vector(turn), np.array(position), out)
    return out


def box_depth(position: tuple[float, float, float], turn: Array) -> Array:
    """Depth of the box by cutting each pixel's ray with its slabs; infinite beside it."""
    rotation = matrix_from_vector(turn)
    directions = CAMERA.rays() @ rotation
    start = -np.array(position) @ rotation
    with np.errstate(divide='ignore'):
        cuts = np.stack(((-HALF - start) / directions, (HALF - start) / directions))
    enter, leave = cuts.min(axis=0).max(axis=-1), cuts.max(axis=0).min(axis=-1)
    return np.where((enter < leave) & (enter > 0.0), enter, np.inf)


@pytest.mark.parametrize(
    ('position', 'turn'),
    [
        ((0.0, 0.0, 0.5), (0.0, 0.0, 0.0)),
        ((0.05, -0.03, 0.4), (0.4, -0.7, 0.2)),
        ((-0.06, 0.02, 0.3), (-1.1, 0.3, 2.0)),
        ((-0.18, 0.10, 0.35), (0.2, 0.9, -0.4)),
    ],
)
def test_a_box_has_the_depth_of_the_rays_that_hit_it(
    position: tuple[float, float, float], turn: tuple[float, float, float]
) -> None:
    result = drawn(placed(CORNERS, position, np.array(turn)), BOX)
    expected = box_depth(position, np.array(turn))
    hit, inside = result.depth < NOTHING, np.isfinite(expected)
    assert inside.sum() > 300
    # A ray through an edge may be counted either way.
    assert (hit != inside).sum() <= 2
    both = hit & inside
    np.testing.assert_allclose(result.depth[both], expected[both], atol=2e-6)
    np.testing.assert_array_equal(hit, result.face >= 0)


def test_a_tilted_triangle_has_the_depth_of_its_plane() -> None:
    points = np.array(((-0.08, -0.05, 0.3), (0.00, 0.09, 0.9), (0.12, -0.06, 0.45)))
    result = drawn(points, np.array(((0, 1, 2),), np.int32))
    normal = np.cross(points[1] - points[0], points[2] - points[0])
    expected = (normal @ points[0]) / (CAMERA.rays() @ normal)
    hit = result.face == 0
    assert hit.sum() > 800
    np.testing.assert_allclose(result.depth[hit], expected[hit], rtol=1e-6)
    # A pixel in it is right of its three sides, one out of it is not.
    pixels = np.stack(
        (CAMERA.fx * points[:, 0] / points[:, 2] + CAMERA.cx,
         CAMERA.fy * points[:, 1] / points[:, 2] + CAMERA.cy), axis=1,
    )  # fmt: skip
    rows, columns = np.indices(hit.shape)
    sides = []
    for i in range(3):
        (ax, ay), (bx, by) = pixels[i], pixels[(i + 1) % 3]
        sides.append((bx - ax) * (rows - ay) - (by - ay) * (columns - ax))
    inside = (np.array(sides) < 0.0).all(axis=0)
    np.testing.assert_array_equal(hit, inside)


def test_a_triangle_seen_from_behind_is_not_drawn() -> None:
    points = np.array(((-0.08, -0.05, 0.3), (0.00, 0.09, 0.9), (0.12, -0.06, 0.45)))
    result = drawn(points, np.array(((0, 2, 1),), np.int32))
    assert not result.front[0]
    assert (result.face == -1).all()
    assert (result.depth == NOTHING).all()


def test_the_nearer_of_two_surfaces_is_seen() -> None:
    square = np.array(((-0.1, -0.1, 0.0), (-0.1, 0.1, 0.0), (0.1, 0.1, 0.0)))
    away = np.array((0.0, 0.0, 0.2))
    points = np.concatenate((square + 3.0 * away, square + 2.0 * away))
    for faces in (((0, 1, 2), (3, 4, 5)), ((3, 4, 5), (0, 1, 2))):
        result = drawn(points, np.array(faces, np.int32))
        near = faces.index((3, 4, 5))
        overlap = np.isclose(result.depth, 0.4)
        assert overlap.sum() > 500
        assert (result.face[overlap] == near).all()
        assert (result.face == 1 - near).any() == np.isclose(result.depth, 0.6).any()


def test_a_region_is_that_part_of_the_whole_drawing() -> None:
    points = placed(CORNERS, (0.02, 0.01, 0.4), np.array((0.4, -0.7, 0.2)))
    whole = drawn(points, BOX)
    left, top, width, height = region = np.array((70, 50, 31, 22))
    part = drawn(points, BOX, region)
    expected = whole.depth[top : top + height, left : left + width]
    np.testing.assert_allclose(part.depth[:height, :width], expected, rtol=1e-6)
    assert (part.face[:height, :width] >= 0).any()
    # What is beside the region in the buffers is left as it was.
    assert (part.face[height:] == -7).all()
    assert (part.face[:, width:] == -7).all()


@pytest.mark.parametrize(
    ('position', 'touches'),
    [
        ((0.0, 0.0, 0.4), ()),
        ((-0.2, 0.0, 0.4), ('left',)),
        ((0.2, 0.0, 0.4), ('right',)),
        ((0.0, -0.15, 0.4), ('top',)),
        ((0.2, 0.17, 0.4), ('right', 'bottom')),
    ],
)
def test_a_region_ends_at_the_border_of_the_picture(
    position: tuple[float, float, float], touches: tuple[str, ...]
) -> None:
    points = placed(CORNERS, position, np.array((0.4, -0.7, 0.2)))
    region = np.zeros(4, np.int64)
    assert region_of(points, LENS, CAMERA.width, CAMERA.height, 3, region)
    left, top, width, height = region
    ends = {
        'left': left == 0,
        'top': top == 0,
        'right': left + width == CAMERA.width,
        'bottom': top + height == CAMERA.height,
    }
    assert {name for name, at_end in ends.items() if at_end} == set(touches)
    assert left >= 0
    assert top >= 0
    assert left + width <= CAMERA.width
    assert top + height <= CAMERA.height
    # All of it that is in the picture is in the region, with the margin where there is room.
    whole, part = drawn(points, BOX), drawn(points, BOX, region)
    assert (part.face[:height, :width] >= 0).sum() == (whole.face >= 0).sum() > 0
    rows, columns = np.nonzero(whole.face >= 0)
    if not touches:
        assert columns.min() - 5 <= left <= columns.min() - 3
        assert rows.max() + 4 <= top + height <= rows.max() + 6


@pytest.mark.parametrize(
    'position', [(0.0, 0.0, -0.4), (0.0, 0.0, 0.0), (2.0, 0.0, 0.4), (0.0, -2.0, 0.4)]
)
def test_what_is_behind_or_beside_the_camera_is_in_no_region(
    position: tuple[float, float, float],
) -> None:
    points = placed(CORNERS, position, np.zeros(3))
    region = np.zeros(4, np.int64)
    assert not region_of(points, LENS, CAMERA.width, CAMERA.height, 3, region)


def test_what_is_behind_the_camera_is_not_drawn() -> None:
    result = drawn(placed(CORNERS, (0.0, 0.0, -0.4), np.zeros(3)), BOX)
    assert (result.face == -1).all()
    # A triangle with one corner behind the camera would be drawn inside out.
    points = np.array(((-0.1, -0.1, 0.4), (0.0, 0.2, 0.4), (0.1, -0.1, -0.2)))
    for faces in (((0, 1, 2),), ((0, 2, 1),)):
        assert (drawn(points, np.array(faces, np.int32)).face == -1).all()
