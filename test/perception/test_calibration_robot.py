# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's pose from the simulated robot and table; and the check that it still fits."""

from dataclasses import replace

import numpy as np
import pytest

from drex_ros.hardware.depth_noise import DepthSensor, frame_generator
from drex_ros.hardware.rendering import SceneRenderer
from drex_ros.hardware.scene import scene_spec
from drex_ros.hardware.scene_file import load_scene
from drex_ros.perception.calibration_file import CalibrationError
from drex_ros.perception.calibration_robot import RobotView, calibrate_with_robot
from drex_ros.perception.calibration_search import levelled, moved
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.silhouette_check import SilhouetteCheck, silhouette_check
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME, Array
from drex_ros.robot.rotations import rotation_matrix, vector_from_matrix

_FULL = load_scene('table')
# Half the pixels in each direction: a quarter of the time.
CAMERA = CameraModel(
    320,
    240,
    fx=307.5,
    fy=307.5,
    cx=159.5,
    cy=119.5,
    position=_FULL.camera.position,
    quaternion=_FULL.camera.quaternion,
)
SCENE = replace(_FULL, camera=CAMERA)
(X, Y), (LENGTH, WIDTH) = SCENE.table_position, SCENE.table_size
EXTENT = (X - LENGTH / 2, Y - WIDTH / 2, X + LENGTH / 2, Y + WIDTH / 2)
ARMS = (
    (0.3, 0.2, -0.2, -2.0, 0.3, 2.2, 0.5),
    (-0.3, 0.3, 0.2, -1.9, -0.3, 2.2, 1.2),
    (-0.2, 0.0, 0.3, -2.2, 0.4, 2.6, 1.4),
    (-0.15, -0.3, 0.2, -2.4, -0.2, 2.0, 0.1),
)
POSTURES = [np.concatenate((arm, HOME[7:])) for arm in ARMS]
ROUGH = np.array((0.03, -0.02, 0.02, 0.04, -0.03, 0.05))
"""By how much the first pose is off: 4 cm and 4 deg."""


@pytest.fixture(scope='module')
def silhouette() -> RobotSilhouette:
    return RobotSilhouette(CAMERA)


@pytest.fixture(scope='module')
def views() -> list[RobotView]:
    """The postures with the noise of a real camera."""
    model = scene_spec(SCENE, None, timestep=0.001, visuals=True).compile()
    sensor = DepthSensor(CAMERA, seed=2)
    found = []
    with SceneRenderer(model, CAMERA) as renderer:
        for number, posture in enumerate(POSTURES):
            renderer.pose(posture)
            depth = sensor.measure(renderer.render().depth, frame_generator(2, number))
            found.append(RobotView(posture, depth))
    return found


def off(camera_position: Array, quaternion: Array) -> tuple[float, float]:
    """Distance [m] and angle [rad] from the true pose."""
    turn = vector_from_matrix(CAMERA.rotation @ rotation_matrix(quaternion).T)
    away = np.linalg.norm(camera_position - CAMERA.position)
    return float(away), float(np.linalg.norm(turn))


@pytest.mark.parametrize('scale', [1.0, 1.02])
def test_the_pose_is_found_from_a_rough_one_and_the_scale_too(
    silhouette: RobotSilhouette, views: list[RobotView], scale: float
) -> None:
    scaled = [RobotView(v.joint_position, v.depth / np.float32(scale)) for v in views]
    shares: list[float] = []
    found = calibrate_with_robot(
        silhouette, moved(CAMERA, ROUGH), scaled, EXTENT, progress=shares.append
    )
    away, turn = off(found.pose.position, found.pose.quaternion)
    assert away < 2e-3
    assert turn < np.radians(0.15)
    assert found.pose.depth_scale == pytest.approx(scale, abs=2e-3)
    assert found.agreement > 0.85
    assert away < 3.0 * found.pose.position_deviation
    assert turn < 3.0 * found.pose.rotation_deviation
    assert (found.pose.method, found.pose.postures) == ('robot', len(views))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    # What the drawing looks through is the camera that was found.
    np.testing.assert_array_equal(silhouette.camera.position, found.pose.position)


def test_the_table_gives_tilt_and_height_alone(views: list[RobotView]) -> None:
    step = np.array((0.0, 0.0, 0.03, 0.03, -0.04, 0.0))
    camera = levelled(moved(CAMERA, step), [view.depth for view in views], EXTENT)
    away, turn = off(camera.position, camera.quaternion)
    assert away < 2e-3
    assert turn < np.radians(0.15)


def test_pictures_of_another_robot_are_refused(
    silhouette: RobotSilhouette, views: list[RobotView]
) -> None:
    wrong = [
        RobotView(view.joint_position, views[(number + 2) % len(views)].depth)
        for number, view in enumerate(views)
    ]
    with pytest.raises(CalibrationError, match='of the robot is where it should be seen'):
        calibrate_with_robot(silhouette, CAMERA, wrong, EXTENT)


def test_a_robot_out_of_sight_is_refused(
    silhouette: RobotSilhouette, views: list[RobotView]
) -> None:
    empty = [RobotView(v.joint_position, np.zeros_like(v.depth)) for v in views]
    with pytest.raises(CalibrationError, match='0 pixels of the robot in sight, must be 400'):
        calibrate_with_robot(silhouette, CAMERA, empty, EXTENT)
    with pytest.raises(CalibrationError, match='2 postures, must be at least 3'):
        calibrate_with_robot(silhouette, CAMERA, views[:2], EXTENT)


@pytest.mark.parametrize('number', range(len(POSTURES)))
def test_a_right_camera_passes_the_check(
    silhouette: RobotSilhouette, views: list[RobotView], number: int
) -> None:
    silhouette.aim(CAMERA)
    check = silhouette_check(silhouette, POSTURES[number], views[number].depth)
    assert check.agreement > 0.9
    assert check.pixels > 2000
    assert not check.contradicts
    assert check.words == ''


@pytest.mark.parametrize(
    'step',
    [
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.012),  # about the vertical, which the table does not show
        (0.0, 0.0, 0.0, 0.0, 0.0, -0.012),
        (0.01, 0.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, -0.01, 0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 0.0, 0.0087),  # half a degree
    ],
)
def test_a_camera_beside_its_place_does_not(
    silhouette: RobotSilhouette, views: list[RobotView], step: tuple[float, ...]
) -> None:
    silhouette.aim(moved(CAMERA, np.array(step)))
    checks = [silhouette_check(silhouette, view.joint_position, view.depth) for view in views]
    assert all(check.contradicts for check in checks)
    assert 'of the robot is seen where it should be' in checks[0].words
    assert silhouette.camera.position == pytest.approx(CAMERA.position + step[:3])


def test_a_scale_is_taken_into_account(
    silhouette: RobotSilhouette, views: list[RobotView]
) -> None:
    silhouette.aim(CAMERA)
    short = views[0].depth / np.float32(1.025)
    assert silhouette_check(silhouette, POSTURES[0], short).contradicts
    assert not silhouette_check(silhouette, POSTURES[0], short, scale=1.025).contradicts


def test_a_thing_before_the_robot_or_no_depth_says_nothing(
    silhouette: RobotSilhouette, views: list[RobotView]
) -> None:
    silhouette.aim(CAMERA)
    hidden = views[0].depth.copy()
    hidden[60:150, 40:320] = 0.3
    check = silhouette_check(silhouette, POSTURES[0], hidden)
    assert check.pixels < silhouette_check(silhouette, POSTURES[0], views[0].depth).pixels
    assert not check.contradicts
    nothing = silhouette_check(silhouette, POSTURES[0], np.zeros_like(hidden))
    assert nothing == SilhouetteCheck(0, 1.0)
    with pytest.raises(ValueError, match=r'shape \(2, 2\), must be \(240, 320\)'):
        silhouette_check(silhouette, POSTURES[0], np.zeros((2, 2), np.float32))
