# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera model: which pixel sees which point."""

import numpy as np
import pytest

from drex_ros.robot.camera import CameraError, CameraModel
from drex_ros.robot.rotations import (
    quaternion_from_rpy,
    quaternion_from_vector,
    quaternion_product,
    rotation_matrix,
    to_wxyz,
)

POSE = {'xyz': (1.1, -0.35, 0.5), 'rpy': (0.1, 0.6, 2.6)}


def test_a_level_camera_sees_right_what_is_right():
    camera = CameraModel.from_pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    # camera_link looks along x, with y to the left and z up.
    ahead, left, up = camera.project(((2.0, 0.0, 0.0), (2.0, 0.2, 0.0), (2.0, 0.0, 0.2)))
    assert ahead == pytest.approx((319.5, 239.5))
    assert left == pytest.approx((319.5 - 61.5, 239.5))
    assert up == pytest.approx((319.5, 239.5 - 61.5))
    np.testing.assert_allclose(camera.rotation[:, 2], (1.0, 0.0, 0.0), atol=1e-15)


def test_pitch_down_and_yaw_are_those_of_urdf():
    camera = CameraModel.from_pose((0.0, 0.0, 1.0), (0.0, np.pi / 4, np.pi / 2))
    # Down by 45 degrees and turned to y: it looks at (0, 1, 0).
    np.testing.assert_allclose(camera.project((0.0, 1.0, 0.0)), (319.5, 239.5), atol=1e-9)
    assert camera.to_optical((0.0, 1.0, 0.0))[2] == pytest.approx(np.sqrt(2.0))


def test_unproject_undoes_project():
    camera = CameraModel.from_pose(**POSE, width=64, height=48, fx=70.0, fy=60.0, cx=20.2, cy=30.7)
    depth = np.random.default_rng(1).uniform(0.3, 2.0, (48, 64))
    points = camera.unproject(depth)
    columns, rows = np.meshgrid(np.arange(64), np.arange(48))
    np.testing.assert_allclose(camera.project(points), np.stack((columns, rows), -1), atol=1e-9)
    np.testing.assert_allclose(camera.to_optical(points)[..., 2], depth)
    np.testing.assert_allclose(camera.to_world(camera.rays()), camera.unproject(np.ones((48, 64))))


def test_the_intrinsic_matrix_projects():
    camera = CameraModel.from_pose(**POSE, fx=600.0, fy=620.0, cx=310.0)
    point = camera.to_world((0.1, -0.2, 0.8))
    pixel = camera.matrix @ (0.1, -0.2, 0.8)
    np.testing.assert_allclose(camera.project(point), pixel[:2] / pixel[2])


def test_nothing_is_seen_behind_or_where_there_is_no_depth():
    camera = CameraModel.from_pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), width=3, height=2)
    assert np.isnan(camera.project((-1.0, 0.0, 0.0))).all()
    points = camera.unproject([[0.0, np.inf, np.nan], [1.0, 1.0, 1.0]])
    assert np.isnan(points[0]).all()
    assert np.isfinite(points[1]).all()


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'width': 0}, 'width is 0 px'),
        ({'height': 4.5}, 'height is 4.5 px, must be a whole number'),
        ({'fx': -1.0}, 'fx is -1.0 px, must be positive'),
        ({'fy': np.nan}, 'fy is nan px'),
        ({'cx': np.inf}, 'cx, cy are inf'),
        ({'xyz': (0.0, np.nan, 0.0)}, 'position'),
        ({'rpy': (0.0, 0.0)}, '3 and 2 values'),
    ],
)
def test_impossible_cameras_are_refused(change, words):
    with pytest.raises(CameraError, match=words):
        CameraModel.from_pose(**{**POSE, **change})


def test_a_quaternion_must_have_length_one():
    zero = np.zeros(3)
    with pytest.raises(CameraError, match='length 1'):
        CameraModel(640, 480, 600.0, 600.0, 319.5, 239.5, zero, np.array((0, 0, 0, 2.0)))


def test_depth_of_another_size_is_refused():
    with pytest.raises(CameraError, match=r'shape \(2, 2\), must be \(480, 640\)'):
        CameraModel.from_pose(**POSE).unproject(np.ones((2, 2)))


def test_quaternions_turn_as_matrices_do():
    generator = np.random.default_rng(2)
    for _ in range(20):
        first, second = (quaternion_from_vector(generator.normal(size=3)) for _ in range(2))
        np.testing.assert_allclose(
            rotation_matrix(quaternion_product(first, second)),
            rotation_matrix(first) @ rotation_matrix(second),
            atol=1e-14,
        )
        matrix = rotation_matrix(first)
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-14)
    quarter = rotation_matrix(quaternion_from_vector((0.0, 0.0, np.pi / 2)))
    np.testing.assert_allclose(quarter @ (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), atol=1e-15)
    assert quaternion_from_vector((0.0, 0.0, 0.0)).tolist() == [0.0, 0.0, 0.0, 1.0]
    # Roll is done first, yaw last.
    turned = rotation_matrix(quaternion_from_rpy((np.pi / 2, 0.0, np.pi / 2)))
    np.testing.assert_allclose(turned @ (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), atol=1e-15)
    assert to_wxyz((1.0, 2.0, 3.0, 4.0)).tolist() == [4.0, 1.0, 2.0, 3.0]
