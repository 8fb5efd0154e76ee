# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's pose from a board on the hand: projected corners, and pictures of boards."""

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from drex_ros.perception.calibration_board import (
    Board,
    BoardView,
    CharucoBoard,
    TagBoard,
    dictionary,
)
from drex_ros.perception.calibration_file import CalibrationError, CameraPose
from drex_ros.perception.calibration_hand_eye import HandView, calibrate_hand_eye
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import matrix_from_vector, rotation_matrix, vector_from_matrix

CAMERA = CameraModel.from_pose((1.1, -0.35, 0.5), (0.0, 0.595, 2.6135))
BOARD_ROTATION = matrix_from_vector((0.3, -0.2, 0.9))
BOARD_POSITION = np.array((0.05, 0.02, 0.03))
CORNERS = np.array([(0.03 * x, 0.03 * y, 0.0) for x in range(6) for y in range(4)])
FACING = np.array((np.pi, 0.0, 0.0))  # towards the camera


def places(count: int, seed: int, tilt: float = 0.35) -> list[tuple[Array, Array]]:
    """Rotations and positions of a board in world that the camera sees well."""
    luck = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        seen = np.array((luck.uniform(-0.1, 0.1), luck.uniform(-0.08, 0.08), 0.6))
        seen[2] += luck.uniform(-0.1, 0.15)
        turn = matrix_from_vector(luck.normal(0.0, tilt, 3))
        found.append((CAMERA.rotation @ matrix_from_vector(FACING) @ turn, CAMERA.to_world(seen)))
    return found


def palm(rotation: Array, position: Array) -> tuple[Array, Array]:
    """Where the palm is when its board is there."""
    turn = rotation @ BOARD_ROTATION.T
    return turn, position - turn @ BOARD_POSITION


def projected(count: int, noise: float, seed: int, **options: float) -> list[HandView]:
    luck = np.random.default_rng(seed + 100)
    views = []
    for rotation, position in places(count, seed, **options):
        pixels = CAMERA.project(CORNERS @ rotation.T + position)
        view = BoardView(CORNERS, pixels + luck.normal(0.0, noise, pixels.shape))
        views.append(HandView(view, *palm(rotation, position)))
    return views


def errors(pose: CameraPose) -> Array:
    """True minus found position [m] and rotation [rad]."""
    turn = vector_from_matrix(CAMERA.rotation @ rotation_matrix(pose.quaternion).T)
    return np.concatenate((CAMERA.position - pose.position, turn))


def test_exact_corners_give_the_exact_pose() -> None:
    found = calibrate_hand_eye(CAMERA, projected(6, 0.0, seed=1))
    assert np.abs(errors(found.pose)).max() < 1e-6
    np.testing.assert_allclose(found.board_rotation, BOARD_ROTATION, atol=1e-6)
    np.testing.assert_allclose(found.board_position, BOARD_POSITION, atol=1e-6)
    assert found.pose.rms < 1e-4
    assert (found.pose.method, found.pose.rms_unit, found.pose.postures) == ('board', 'px', 6)


def test_noisy_corners_give_the_pose_within_its_deviation() -> None:
    squares = []
    for seed in range(12):
        pose = calibrate_hand_eye(CAMERA, projected(10, 0.2, seed)).pose
        error = errors(pose)
        assert np.linalg.norm(error[:3]) < 1e-3
        assert np.linalg.norm(error[3:]) < np.radians(0.1)
        assert pose.rms == pytest.approx(0.2 * np.sqrt(2.0), rel=0.15)
        squares.append(error @ np.linalg.solve(pose.covariance, error) / 6.0)
    assert 0.3 < np.mean(squares) < 1.5


def test_a_view_with_a_wrong_posture_is_left_out() -> None:
    views = projected(10, 0.2, seed=3)
    shifted = views[4].palm_position + np.array((0.03, 0.0, 0.0))
    views[4] = HandView(views[4].view, views[4].palm_rotation, shifted)
    found = calibrate_hand_eye(CAMERA, views)
    assert np.isnan(found.errors).tolist() == [number == 4 for number in range(10)]
    assert np.linalg.norm(errors(found.pose)[:3]) < 1e-3
    assert found.pose.postures == 9


def test_postures_that_do_not_tell_the_pose_are_refused() -> None:
    with pytest.raises(CalibrationError, match='seen in 3 postures, must be at least 4'):
        calibrate_hand_eye(CAMERA, projected(3, 0.0, seed=1))
    with pytest.raises(CalibrationError, match='tilt it more, in different ways'):
        calibrate_hand_eye(CAMERA, projected(8, 0.2, seed=1, tilt=0.02))


def photograph(
    flat: npt.NDArray[np.uint8], size: tuple[float, float], rotation: Array, position: Array
) -> npt.NDArray[np.uint8]:
    """What the camera sees of a flat picture of a size [m] whose middle is the frame's origin.

    Its x goes right and its y up in the picture, seen from where z points to.
    """
    height, width = flat.shape
    corners = np.array(((-0.5, 0.5), (0.5, 0.5), (0.5, -0.5), (-0.5, -0.5))) * size
    world = np.column_stack((corners, np.zeros(4))) @ rotation.T + position
    inside = np.array(
        ((-0.5, -0.5), (width - 0.5, -0.5), (width - 0.5, height - 0.5), (-0.5, height - 0.5))
    )
    fine = 4  # drawn larger, then averaged: edges as a real sensor has them
    seen = (CAMERA.project(world) + 0.5) * fine - 0.5
    change = cv2.getPerspectiveTransform(inside.astype(np.float32), seen.astype(np.float32))
    large = cv2.warpPerspective(
        flat, change, (fine * CAMERA.width, fine * CAMERA.height), borderValue=200
    )
    return cv2.resize(large, (CAMERA.width, CAMERA.height), interpolation=cv2.INTER_AREA)


def calibrated(
    board: Board, flat: npt.NDArray[np.uint8], size: tuple[float, float]
) -> tuple[CameraPose, int]:
    views = []
    for rotation, position in places(8, seed=5):
        view = board.find(photograph(flat, size, rotation, position))
        if view is not None:
            views.append(HandView(view, *palm(rotation, position)))
    return calibrate_hand_eye(CAMERA, views).pose, len(views)


def test_pictures_of_a_charuco_board_give_the_pose() -> None:
    board = CharucoBoard(7, 5, 0.03, 0.022)
    flat = board.board.generateImage((1400, 1000), marginSize=0)
    pose, count = calibrated(board, flat, (0.21, 0.15))
    assert count == 8
    assert np.linalg.norm(errors(pose)[:3]) < 2e-3
    assert np.linalg.norm(errors(pose)[3:]) < np.radians(0.2)
    assert pose.rms < 0.3


def test_pictures_of_a_tag_give_the_pose() -> None:
    tag = cv2.aruco.generateImageMarker(dictionary('APRILTAG_36h11'), 7, 800)
    flat = cv2.copyMakeBorder(tag, 200, 200, 200, 200, cv2.BORDER_CONSTANT, value=255)
    pose, count = calibrated(TagBoard(7, 0.08), flat, (0.12, 0.12))
    assert count == 8
    assert np.linalg.norm(errors(pose)[:3]) < 5e-3
    assert np.linalg.norm(errors(pose)[3:]) < np.radians(0.5)


def test_another_tag_or_none_is_not_found() -> None:
    tag = cv2.aruco.generateImageMarker(dictionary('APRILTAG_36h11'), 7, 800)
    flat = cv2.copyMakeBorder(tag, 200, 200, 200, 200, cv2.BORDER_CONSTANT, value=255)
    rotation, position = places(1, seed=5)[0]
    picture = photograph(flat, (0.12, 0.12), rotation, position)
    assert TagBoard(8, 0.08).find(picture) is None
    assert CharucoBoard().find(picture) is None
    assert TagBoard(7, 0.08).find(np.full_like(picture, 90)) is None


def test_boards_that_cannot_be_are_refused() -> None:
    with pytest.raises(CalibrationError, match='must have at least 3 x 3, and tags smaller'):
        CharucoBoard(7, 5, 0.02, 0.03)
    with pytest.raises(CalibrationError, match=r"no dictionary '9X9'; there are: .*4X4_50"):
        TagBoard(0, 0.05, '9X9')
    with pytest.raises(CalibrationError, match='a tag of 0 m, must be larger than 0'):
        TagBoard(0, 0)
