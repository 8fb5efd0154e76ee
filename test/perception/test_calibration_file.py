# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's pose as a file."""

from pathlib import Path

import numpy as np
import pytest

from drex_ros.perception.calibration_file import (
    CalibrationError,
    CameraPose,
    load_camera_pose,
    save_camera_pose,
)
from drex_ros.robot.camera import CameraModel

CAMERA = CameraModel.from_pose((1.1, -0.35, 0.5), (0.0, 0.595, 2.6))
MINIMAL = 'position: [1, 2, 3]\nquaternion: [0, 0, 0, 1]\n'


def pose() -> CameraPose:
    half = np.random.default_rng(1).normal(0.0, 1e-3, (6, 6))
    return CameraPose(
        CAMERA.position,
        CAMERA.quaternion,
        half @ half.T,
        method='robot',
        rms=1.5,
        rms_unit='mm',
        postures=8,
        depth_scale=1.0123,
    )


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / 'camera_pose.yaml'
    save_camera_pose(path, pose())
    found = load_camera_pose(path)
    np.testing.assert_allclose(found.position, CAMERA.position, atol=1e-6)
    np.testing.assert_allclose(found.quaternion, CAMERA.quaternion, atol=1e-7)
    np.testing.assert_allclose(found.covariance, pose().covariance, rtol=1e-5)
    assert (found.method, found.rms_unit, found.postures) == ('robot', 'mm', 8)
    assert (found.rms, found.depth_scale) == (1.5, 1.0123)
    assert found.date.startswith('20')
    assert [each.name for each in tmp_path.iterdir()] == ['camera_pose.yaml']
    camera = found.camera(CAMERA)
    np.testing.assert_allclose(camera.rotation, CAMERA.rotation, atol=1e-6)
    assert camera.fx == CAMERA.fx


def test_deviations_are_those_of_the_worst_direction() -> None:
    covariance = np.diag((1e-6, 4e-6, 1e-6, 1e-6, 9e-6, 1e-6))
    found = CameraPose(CAMERA.position, CAMERA.quaternion, covariance)
    assert found.position_deviation == pytest.approx(2e-3)
    assert found.rotation_deviation == pytest.approx(3e-3)


def test_position_and_quaternion_are_enough(tmp_path: Path) -> None:
    path = tmp_path / 'own.yaml'
    path.write_text(MINIMAL)
    found = load_camera_pose(path)
    assert found.position.tolist() == [1.0, 2.0, 3.0]
    assert not found.covariance.any()
    assert found.depth_scale == 1.0


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('position: [1, 2, 3]\n', 'quaternion is missing'),
        ('position: [1, 2]\nquaternion: [0, 0, 0, 1]\n', 'position is [1, 2], must be 3'),
        ('position: [1, 2, .nan]\nquaternion: [0, 0, 0, 1]\n', 'is [1, 2, nan], must be 3'),
        ('position: [1100, 0, 500]\nquaternion: [0, 0, 0, 1]\n', 'must be within 10 m'),
        (MINIMAL + 'depth_scale: 0\n', 'depth_scale is 0, must be in 0.8 .. 1.25'),
        ('position: [1, 2, 3]\nquaternion: [0, 0, 0, 2]\n', 'quaternion has length 2, must be 1'),
        (MINIMAL + 'covariance: [1, 2]\n', 'covariance is [1, 2], must be 36 numbers'),
        (MINIMAL + f'covariance: {list(range(36))}\n', 'covariance must be symmetric'),
        (MINIMAL + f'covariance: {[-1.0] + 35 * [0.0]}\n', 'no negative eigenvalue'),
        (MINIMAL + 'rms: big\n', "rms is 'big', must be a number"),
        (MINIMAL + 'frame: world\n', "no key 'frame'; the keys are: position, quaternion"),
        ('[1, 2', 'not a readable YAML file'),
        ('7', 'must hold position and quaternion'),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / 'wrong.yaml'
    path.write_text(text)
    with pytest.raises(CalibrationError, match=r'wrong\.yaml: ') as error:
        load_camera_pose(path)
    assert words in str(error.value)
    assert '\n' not in str(error.value)


def test_a_file_that_is_not_there_or_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match='no such file: run drex calibrate'):
        load_camera_pose(tmp_path / 'none.yaml')
    with pytest.raises(CalibrationError, match='cannot be written: No such file or directory'):
        save_camera_pose(tmp_path / 'nowhere' / 'pose.yaml', pose())
