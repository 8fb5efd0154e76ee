# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What is only for the eye: it shows, and it changes neither the physics nor the camera's view."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from drex_ros.hardware.looks import wood_grain
from drex_ros.hardware.photographer import Moment, Photographer
from drex_ros.hardware.rendering import SceneRenderer
from drex_ros.hardware.scene import object_place, scene_spec
from drex_ros.hardware.scene_file import Scene, load_scene
from drex_ros.hardware.studio import Studio, orbit_camera, resized, studio_model
from drex_ros.objects import load_object
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME

SCENE = load_scene()
BOX = load_object('box')
PLACE = object_place(SCENE, BOX)
BOX_POSE = np.append(PLACE.position, PLACE.quaternion)
SIZE = (320, 240)


def compiled(scene: Scene = SCENE, *, visuals: bool = True) -> mujoco.MjModel:
    return scene_spec(scene, BOX, timestep=0.001, visuals=visuals).compile()


def test_the_physics_is_that_of_the_bare_scene() -> None:
    bare, seen = compiled(visuals=False), studio_model(SCENE, BOX)
    assert seen.ngeom > bare.ngeom + 5
    np.testing.assert_array_equal(seen.body_mass, bare.body_mass)
    np.testing.assert_array_equal(seen.body_inertia, bare.body_inertia)
    assert [seen.body(i).name for i in range(seen.nbody)] == [
        bare.body(i).name for i in range(bare.nbody)
    ]
    ends = []
    for model in (bare, seen):
        data = mujoco.MjData(model)
        data.qpos[:23] = HOME
        data.qpos[23:] = (0.55, 0.1, 0.3, 0.9, 0.3, 0.3, 0.1)
        data.qpos[26:] /= np.linalg.norm(data.qpos[26:])
        mujoco.mj_step(model, data, 400)
        assert data.ncon > 0
        ends.append(data.qpos.copy())
    np.testing.assert_array_equal(*ends)


@pytest.fixture
def scene_with_camera(tmp_path: Path) -> Callable[[str, str], Scene]:
    def make(position: str, rpy: str) -> Scene:
        text = SCENE.source.read_text()
        lines = [
            f'  position: {position}' if '[1.1, ' in line else
            f'  rpy: {rpy}' if line.startswith('  rpy:') else line
            for line in text.splitlines()
        ]  # fmt: skip
        file = tmp_path / 'scene.yaml'
        file.write_text('\n'.join(lines))
        return load_scene(str(file))

    return make


@pytest.mark.parametrize(
    ('position', 'rpy', 'stands'),
    [
        ('[1.1, -0.35, 0.5]', '[0.0, 0.595, 2.6135]', True),
        ('[0.9, 0.3, 0.4]', '[0.0, 0.6, -2.5]', True),
        ('[0.5, 0.0, 0.8]', '[0.0, 1.5708, 0.0]', False),
        ('[1.3, 0.0, -0.7]', '[0.0, -0.3, 3.1416]', False),
    ],
    ids=['beside the table', 'on the table', 'from straight above', 'at the floor'],
)
def test_the_camera_never_sees_its_own_stand(
    scene_with_camera: Callable[[str, str], Scene], position: str, rpy: str, stands: bool
) -> None:
    scene = scene_with_camera(position, rpy)
    model = compiled(scene)
    pole = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, 'camera_pole')
    assert (pole >= 0) == stands
    if not stands:
        return
    with SceneRenderer(model, scene.camera) as renderer:
        renderer.pose(HOME, BOX_POSE)
        whole = renderer.render()
        for name in ('camera_pole', 'camera_foot'):
            renderer.model.geom_group[renderer.model.geom(name).id] = 5
        without = renderer.render()
    np.testing.assert_array_equal(whole.depth, without.depth)
    np.testing.assert_array_equal(whole.rgb, without.rgb)


def test_the_camera_sees_wood_and_floor() -> None:
    with SceneRenderer(compiled(), SCENE.camera) as renderer:
        renderer.pose(HOME, BOX_POSE)
        picture = renderer.render()
    assert np.isfinite(picture.depth).mean() > 0.95
    table = picture.rgb[300:, :200].reshape(-1, 3).astype(float)
    red, green, blue = table.mean(axis=0)
    assert red > green > blue > 60
    assert table.std(axis=0).min() > 2.0


@pytest.fixture(scope='module')
def studio() -> Iterator[Studio]:
    camera = orbit_camera(
        PLACE.position, azimuth=1.1, elevation=0.7, distance=1.0, size=SIZE, field_of_view=0.8
    )
    with Studio(studio_model(SCENE, BOX), camera) as made:
        # Upright and out of the way, so that the box has its shadow for itself.
        made.pose(np.concatenate(((0.0, -1.2, 0.0, -2.6, 0.0, 1.6, 0.8), HOME[7:])), BOX_POSE)
        yield made


def test_shadows_are_soft_and_not_black(studio: Studio) -> None:
    hard, soft = (studio.photograph(count).astype(float).mean(axis=2) for count in (1, 9))
    assert soft.min() > 5
    # Around the foot of the box, away from the light: dark, light, and all between.
    foot = studio.camera.project((PLACE.position[0] - 0.1, PLACE.position[1] - 0.1, 0.0))
    column, row = np.round(foot).astype(int)
    patch = np.s_[row - 25 : row + 25, column - 40 : column + 40]
    steps = [np.abs(np.diff(picture[patch], axis=1)).max() for picture in (hard, soft)]
    assert steps[1] < 0.7 * steps[0]


def test_the_same_scene_gives_the_same_photograph(studio: Studio) -> None:
    np.testing.assert_array_equal(studio.photograph(3), studio.photograph(3))


def test_a_photograph_shows_white_arm_black_hand_and_the_object() -> None:
    camera = orbit_camera((0.35, 0.0, 0.3), azimuth=1.1, elevation=0.3, distance=2.2, size=SIZE)
    moments = [Moment(0.0, 'box', np.array(HOME), BOX_POSE), Moment(0.0, '', np.array(HOME), None)]
    with Photographer(SCENE, 'right') as photographer:
        full, bare = (photographer.take(moment, camera, 4).astype(int) for moment in moments)
    box = np.abs(full - bare).max(axis=2) > 20
    column, row = camera.project(PLACE.position)
    rows, columns = np.nonzero(box)
    assert abs(rows.mean() - row) < 15
    assert abs(columns.mean() - column) < 15
    # The middle of the upper arm's shell, and of the palm.
    assert pixel(camera, bare, (0.31, 0.0, 0.70)).min() > 120
    assert pixel(camera, bare, (0.307, 0.0, 0.48)).max() < 90


def pixel(camera: CameraModel, picture: np.ndarray, point: tuple[float, ...]) -> np.ndarray:
    column, row = np.round(camera.project(point)).astype(int)
    return picture[row, column]


def test_an_orbit_camera_looks_at_its_target() -> None:
    for size in (SIZE, (400, 200), (100, 300)):
        camera = orbit_camera(
            (0.3, -0.2, 0.1), azimuth=2.0, elevation=0.4, distance=1.5, size=size
        )
        middle = ((size[0] - 1) / 2, (size[1] - 1) / 2)
        np.testing.assert_allclose(camera.project((0.3, -0.2, 0.1)), middle, atol=1e-9)
        assert np.linalg.norm(camera.position - (0.3, -0.2, 0.1)) == pytest.approx(1.5)
        above = camera.project((0.3, -0.2, 0.2))
        assert above[0] == pytest.approx(middle[0])
        assert above[1] < middle[1]


def test_a_resized_camera_sees_the_same() -> None:
    camera = replace(SCENE.camera, cx=300.0, cy=250.0)
    points = [(0.5, 0.0, 0.03), (0.6, 0.2, 0.0), (0.4, -0.2, 0.2)]
    small = resized(camera, (320, 240))
    # Half a pixel: the picture begins at -0.5, whatever its size.
    np.testing.assert_allclose(
        small.project(points) + 0.5, (camera.project(points) + 0.5) / 2, atol=1e-9
    )


def test_wood_is_the_same_each_time() -> None:
    wood = wood_grain(64)
    assert wood.shape == (64, 64, 3)
    np.testing.assert_array_equal(wood, wood_grain(64))
    assert 3 < wood.std() < 60
