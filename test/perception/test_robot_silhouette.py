# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The drawn robot against MuJoCo's picture of it."""

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from drex_ros.hardware.rendering import SceneRenderer
from drex_ros.hardware.scene import scene_spec
from drex_ros.hardware.scene_file import load_scene
from drex_ros.perception.reduced_mesh import reduce_surface
from drex_ros.perception.robot_silhouette import RobotSilhouette, draw_triangle
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME, Array

SCENE = load_scene('table')


def reaching(*arm: float) -> Array:
    """The home posture with another arm [rad], the fingers half closed."""
    posture = HOME.copy()
    posture[:7] = arm
    posture[8:19] += 0.3
    return posture


POSTURES = (
    HOME,
    reaching(0.0, 0.1, 0.0, -2.3, 0.0, 2.4, 0.8),
    reaching(0.3, 0.2, -0.2, -2.0, 0.3, 1.6, 0.5),
)


@pytest.fixture(scope='module')
def silhouette() -> RobotSilhouette:
    return RobotSilhouette(SCENE.camera)


@pytest.fixture(scope='module')
def renderer() -> Iterator[SceneRenderer]:
    model = scene_spec(SCENE, None, timestep=0.001, visuals=True).compile()
    # The table is seen elsewhere; here all that is near is the robot or the stand under it.
    with SceneRenderer(model, SCENE.camera) as renderer:
        yield renderer


@pytest.mark.parametrize('posture', POSTURES)
def test_agrees_with_the_rendered_robot(
    silhouette: RobotSilhouette, renderer: SceneRenderer, posture: Array
) -> None:
    renderer.pose(posture)
    seen = renderer.render().depth
    drawn = silhouette.picture(posture)
    robot = np.isfinite(drawn)
    assert robot.sum() > 5000
    inner = cv2.erode(robot.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    error = drawn[inner] - seen[inner]
    assert abs(np.median(error)) < 0.5e-3
    assert np.mean(np.abs(error) < 4e-3) > 0.95
    # What is nearer than the drawn robot and not close to it would be robot that was missed.
    grown = cv2.dilate(robot.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    above = SCENE.camera.unproject(seen)[..., 2] > 0.03
    missed = above & ~grown
    assert missed.sum() < 0.002 * robot.sum()


def test_another_posture_does_not_agree(
    silhouette: RobotSilhouette, renderer: SceneRenderer
) -> None:
    renderer.pose(POSTURES[1])
    seen = renderer.render().depth
    drawn = silhouette.picture(POSTURES[1] + 0.05)
    robot = np.isfinite(drawn)
    assert np.mean(np.abs(drawn[robot] - seen[robot]) < 4e-3) < 0.5


def test_a_region_is_a_part_of_the_picture(silhouette: RobotSilhouette) -> None:
    whole = silhouette.picture(POSTURES[1])
    out = np.full((90, 120), 7.0, np.float32)
    count = silhouette.draw(POSTURES[1], (180, 20, 120, 90), out)
    assert np.array_equal(out, whole[20:110, 180:300])
    assert count == np.isfinite(out).sum() > 0


def test_a_region_over_the_edge_of_the_picture_has_more_of_the_robot(
    silhouette: RobotSilhouette,
) -> None:
    out = np.empty((200, 200), np.float32)
    silhouette.draw(HOME, (100, -100, 200, 200), out)
    assert np.isfinite(out[:100]).any()
    assert np.array_equal(out[100:], silhouette.picture(HOME)[:100, 100:300])


def test_a_camera_that_looks_away_sees_no_robot(silhouette: RobotSilhouette) -> None:
    out = np.empty((480, 640), np.float32)
    silhouette.aim(CameraModel.from_pose((1.1, 0.0, 0.5), (0.0, 0.3, 0.0)))
    try:
        assert silhouette.draw(HOME, (0, 0, 640, 480), out) == 0
    finally:
        silhouette.aim(SCENE.camera)
    assert np.isinf(out).all()


def test_wrong_sizes_are_refused(silhouette: RobotSilhouette) -> None:
    with pytest.raises(ValueError, match=r'out has shape \(3, 4\), must be \(4, 3\)'):
        silhouette.draw(HOME, (0, 0, 3, 4), np.empty((3, 4), np.float32))
    with pytest.raises(ValueError, match='7 joint positions, must be 23'):
        silhouette.draw(HOME[:7], (0, 0, 3, 4), np.empty((4, 3), np.float32))


def test_a_posture_that_is_not_a_number_draws_the_base_alone(silhouette: RobotSilhouette) -> None:
    out = np.empty((480, 640), np.float32)
    count = silhouette.draw(np.full(23, np.nan), (0, 0, 640, 480), out)
    assert count == np.isfinite(out).sum()
    assert np.nanmax(out[np.isfinite(out)]) < 2.0
    assert 0 < count < np.isfinite(silhouette.picture(HOME)).sum()


def test_depth_of_a_slanted_triangle_is_that_of_its_plane() -> None:
    image = np.zeros((20, 20))
    corners = np.array(((2.0, 2.0, 1.0), (2.0, 17.0, 2.0), (17.0, 2.0, 0.5)))
    draw_triangle(*corners, image)
    assert image[2, 2] == pytest.approx(1.0)
    assert image[17, 2] == pytest.approx(2.0)
    assert image[5, 8] == pytest.approx(1.0 + 3 / 15 - 0.5 * 6 / 15)
    assert (image > 0).sum() == 16 * 17 / 2
    back = np.zeros((20, 20))
    draw_triangle(*corners[::-1], back)
    assert not back.any()


def test_a_reduced_surface_keeps_its_size() -> None:
    angle = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    ring = np.stack((np.cos(angle), np.sin(angle)), axis=1) * 0.05
    heights = np.linspace(0.0, 0.2, 50)
    vertices = np.array([(x, y, z) for z in heights for x, y in ring])
    i = np.arange(200)
    j = (i + 1) % 200
    low = np.arange(49)[:, None] * 200
    faces = np.concatenate(
        (
            np.stack((low + i, low + j, low + j + 200), axis=-1).reshape(-1, 3),
            np.stack((low + i, low + j + 200, low + i + 200), axis=-1).reshape(-1, 3),
        )
    )
    points, triangles = reduce_surface(vertices, faces, 300)
    assert len(triangles) <= 300
    assert len(triangles) > 100
    radius = np.linalg.norm(points[:, :2], axis=1)
    assert radius.max() < 0.053
    middle = points[triangles].mean(axis=1)
    side = (middle[:, 2] > 0.02) & (middle[:, 2] < 0.18)
    assert np.linalg.norm(middle[side, :2], axis=1).min() > 0.048
