# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the table says about depth scale and camera pose, with the noise of a real camera."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from drex_ros.hardware.depth_noise import DepthSensor, frame_generator, to_millimetres
from drex_ros.hardware.rendering import SceneRenderer
from drex_ros.hardware.scene import scene_spec
from drex_ros.hardware.scene_file import load_scene
from drex_ros.perception.table_watch import TableView, TableWatch
from drex_ros.robot.camera import CameraError, CameraModel
from drex_ros.robot.joints import HOME, Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

Depth = npt.NDArray[np.float32]

SCENE = load_scene('table')
CAMERA = SCENE.camera
(X, Y), (WIDTH, LENGTH) = SCENE.table_position, SCENE.table_size
EXTENT = (X - WIDTH / 2, Y - LENGTH / 2, X + WIDTH / 2, Y + LENGTH / 2)
HALF_DEGREE = np.radians(0.5)


@pytest.fixture(scope='module')
def scene_depth() -> Iterator[Depth]:
    """The table with the arm reaching down to it, without noise."""
    model = scene_spec(SCENE, None, timestep=0.001, visuals=True).compile()
    posture = HOME.copy()
    posture[:7] = (0.0, 0.1, 0.0, -2.3, 0.0, 2.4, 0.8)
    with SceneRenderer(model, CAMERA) as renderer:
        renderer.pose(posture)
        yield renderer.render().depth


def believed(turn: Array | tuple[float, ...] = (0.0, 0.0, 0.0), rise: float = 0.0) -> CameraModel:
    """The camera with a wrong pose: turned on its spot [rad] and raised [m]."""
    quaternion = quaternion_product(quaternion_from_vector(turn), CAMERA.quaternion)
    return CameraModel(
        CAMERA.width,
        CAMERA.height,
        CAMERA.fx,
        CAMERA.fy,
        CAMERA.cx,
        CAMERA.cy,
        CAMERA.position + np.array((0.0, 0.0, rise)),
        quaternion,
    )


def watch(
    depth: Depth,
    camera: CameraModel = CAMERA,
    scale: float = 1.0,
    frames: int = 5,
    seed: int = 0,
    **options: float,
) -> TableView:
    """What is known after some noisy frames whose depth, times `scale`, is true."""
    sensor = DepthSensor(CAMERA, seed=seed)
    table = TableWatch(camera, EXTENT, **options)
    for frame in range(frames):
        noisy = to_millimetres(sensor.measure(depth, frame_generator(seed, frame)))
        view = table.update(noisy.astype(np.float32) * np.float32(1e-3 / scale))
    return view


def test_a_right_camera_is_confirmed(scene_depth: Depth) -> None:
    view = watch(scene_depth)
    assert not view.contradicts
    assert view.words == ''
    assert view.support > 0.9
    assert view.scale == pytest.approx(1.0, abs=5e-4)
    assert np.abs(view.tilt).max() < np.radians(0.03)
    assert abs(view.height) < 5e-4


@pytest.mark.parametrize('scale', [0.98, 1.005, 1.02])
def test_a_wrong_scale_is_found_and_nothing_else(scene_depth: Depth, scale: float) -> None:
    view = watch(scene_depth, scale=scale)
    assert view.scale == pytest.approx(scale, abs=5e-4)
    assert abs(view.height) < 5e-4
    assert not view.contradicts


@pytest.mark.parametrize(
    ('scale', 'words'),
    [
        (1.05, 'depth is 4.8 % too short, or the camera is 24 mm lower'),
        (0.96, 'depth is 4.2 % too long, or the camera is 21 mm higher'),
    ],
)
def test_a_scale_beyond_correction_is_reported(
    scene_depth: Depth, scale: float, words: str
) -> None:
    view = watch(scene_depth, scale=scale)
    assert view.contradicts
    assert abs(view.scale - 1.0) == pytest.approx(0.03)
    assert view.words.startswith(words)
    assert 'tilted' not in view.words


def test_a_turned_camera_is_told_apart_from_a_wrong_scale(scene_depth: Depth) -> None:
    view = watch(scene_depth, believed(CAMERA.rotation[:, 0] * HALF_DEGREE), scale=1.02)
    assert view.scale == pytest.approx(1.02, abs=5e-4)
    assert np.linalg.norm(view.tilt) == pytest.approx(HALF_DEGREE, abs=np.radians(0.03))
    assert view.height == pytest.approx(0.0053, abs=5e-4)
    assert view.contradicts
    assert view.words == (
        'the table appears 0.5 deg tilted and 5 mm higher than the camera pose says: '
        'run drex calibrate'
    )


@pytest.mark.parametrize('axis', [0, 1])
def test_the_tilt_is_about_the_axis_that_it_names(scene_depth: Depth, axis: int) -> None:
    turn = np.zeros(3)
    turn[axis] = HALF_DEGREE
    # A camera believed to be turned sees the table turned the same way.
    view = watch(scene_depth, believed(turn))
    assert view.tilt[axis] == pytest.approx(HALF_DEGREE, abs=np.radians(0.03))
    assert view.tilt[1 - axis] == pytest.approx(0.0, abs=np.radians(0.03))


def test_a_grossly_turned_camera_is_found_too(scene_depth: Depth) -> None:
    view = watch(scene_depth, believed(CAMERA.rotation[:, 0] * np.radians(5.0)))
    assert np.degrees(np.linalg.norm(view.tilt)) == pytest.approx(5.0, abs=0.1)
    assert view.contradicts


def test_height_and_scale_are_one_number_unless_the_scale_is_known(scene_depth: Depth) -> None:
    low = believed(rise=-0.006)
    assert watch(scene_depth, low).scale == pytest.approx(0.494 / 0.5, abs=5e-4)
    view = watch(scene_depth, low, most_scale=0.0)
    assert view.scale == 1.0
    assert view.height == pytest.approx(-0.006, abs=5e-4)
    assert '6 mm lower' in view.words


def test_deviations_are_those_of_repeated_views(scene_depth: Depth) -> None:
    views = [watch(scene_depth, frames=1, seed=seed) for seed in range(12)]
    scales = np.array([view.scale for view in views])
    tilts = np.array([view.tilt for view in views])
    said = np.mean([view.scale_deviation for view in views])
    assert 0.5 < np.sqrt(np.mean((scales - 1.0) ** 2)) / said < 2.0
    said_tilt = np.mean([view.tilt_deviation for view in views], axis=0)
    ratio = np.sqrt(np.mean(tilts**2, axis=0)) / said_tilt
    assert ((ratio > 0.5) & (ratio < 2.0)).all()


def test_things_on_half_of_the_table_do_no_harm(scene_depth: Depth) -> None:
    rays = CAMERA.rays() @ CAMERA.rotation[2]
    tray = scene_depth.copy()
    tray[200:420, 100:500] = ((0.05 - CAMERA.position[2]) / rays)[200:420, 100:500]
    view = watch(tray)
    assert view.support < 0.6
    assert view.scale == pytest.approx(1.0, abs=1e-3)
    assert not view.contradicts


def test_without_depth_the_last_scale_stays() -> None:
    table = TableWatch(CAMERA, EXTENT)
    rays = CAMERA.rays() @ CAMERA.rotation[2]
    plane = np.where(rays < 0.0, -CAMERA.position[2] / rays, 0.0).astype(np.float32)
    assert table.update(plane / np.float32(1.01)).scale == pytest.approx(1.01, abs=1e-5)
    empty = np.full_like(plane, np.nan)
    view = table.update(empty)
    assert view.scale == pytest.approx(1.01, abs=1e-5)
    assert view.support == 0.0
    assert not view.contradicts
    assert view.words.startswith('only 0 % of the table is in sight')
    table.forget()
    assert table.update(empty).scale == pytest.approx(1.0)


def test_a_camera_that_cannot_see_the_table_says_so() -> None:
    up = CameraModel.from_pose((0.0, 0.0, 0.5), (0.0, -0.8, 0.0))
    view = TableWatch(up).update(np.ones((480, 640), np.float32))
    assert view.words.startswith('only 0 % of the table is in sight')
    assert view.scale == pytest.approx(1.0)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(CameraError, match='camera is at z = -1 m, must be above the table'):
        TableWatch(CameraModel.from_pose((0.0, 0.0, -1.0), (0.0, 0.5, 0.0)))
    with pytest.raises(ValueError, match=r'shape \(4, 4\), must be \(480, 640\)'):
        TableWatch(CAMERA).update(np.ones((4, 4), np.float32))
