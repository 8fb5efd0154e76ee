# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures against geometry: what the renderer draws is where the camera model says."""

import os
import subprocess
import sys

import cv2
import mujoco
import numpy as np
import pytest

from drex_ros.hardware.gl import KINDS, RenderingError, choose_gl
from drex_ros.hardware.mujoco_model import robot_spec
from drex_ros.hardware.rendering import SceneRenderer, add_camera
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME

BOX = np.array((0.05, 0.035, 0.08))  # half sizes [m]
POSE = np.array((0.55, 0.05, 0.12, 0.2, -0.1, 0.3, 0.927))
POSE[3:] /= np.linalg.norm(POSE[3:])
CAMERAS = {
    'centred': {},
    'off centre': {'fx': 520.0, 'fy': 590.0, 'cx': 270.3, 'cy': 289.8},
    'small': {'width': 212, 'height': 120, 'fx': 160.0, 'fy': 160.0},
}


def scene():
    """Robot, table, a free box and a ball."""
    spec = robot_spec(0.001, visuals=True)
    world = spec.worldbody
    world.add_light(pos=(0.5, 0.3, 2.0), dir=(-0.1, -0.1, -1.0))
    world.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=(0.5, 0.6, 0.02),
        pos=(0.6, 0.0, -0.02),
        rgba=(0.2, 0.2, 0.2, 1.0),
    )
    world.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=(0.06, 0, 0), pos=(0.6, -0.25, 0.06))
    body = world.add_body(name='object')
    body.add_freejoint(name='object')
    body.add_geom(
        name='box', type=mujoco.mjtGeom.mjGEOM_BOX, size=BOX, rgba=(1.0, 0.0, 0.0, 1.0), mass=0.1
    )
    return spec


def camera_of(options, distance=0.8):
    """A camera that looks at the box from a distance [m]."""
    pitch, yaw = 0.6, 2.6
    forward = np.array((np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), -np.sin(pitch)))
    return CameraModel.from_pose(POSE[:3] - distance * forward, (0.0, pitch, yaw), **options)


@pytest.fixture(scope='module')
def model():
    return scene().compile()


@pytest.fixture(params=CAMERAS.values(), ids=CAMERAS.keys())
def renderer(request, model):
    with SceneRenderer(model, camera_of(request.param)) as renderer:
        renderer.pose(HOME, POSE)
        yield renderer


def ray_depth(renderer, columns, rows):
    """Depth [m] of pixels by MuJoCo's own ray casts, which know nothing of OpenGL."""
    camera = renderer.camera
    mujoco.mj_forward(renderer.model, renderer.data)
    depth = np.full(len(columns), np.inf)
    hit = np.zeros(1, np.int32)
    seen = np.array((1, 1, 1, 0, 0, 0), np.uint8)  # the groups that are drawn
    for i, ray in enumerate(camera.rays()[rows, columns] @ camera.rotation.T):
        distance = mujoco.mj_ray(
            renderer.model, renderer.data, camera.position, ray, seen, 1, -1, hit
        )
        if distance >= 0.0:
            depth[i] = distance  # in lengths of the ray, whose depth is 1
    return depth


def away_from_edges(depth):
    """Pixels whose neighbours are on the same surface."""
    finite = np.where(np.isfinite(depth), depth, 100.0).astype(np.float32)
    window = np.ones((5, 5), np.uint8)
    return cv2.dilate(finite, window) - cv2.erode(finite, window) < 0.02


@pytest.mark.parametrize('distance', [0.3, 0.8, 1.3, 2.0])
@pytest.mark.parametrize('kind', ['centred', 'off centre'])
def test_depth_is_that_of_ray_casts(model, kind, distance):
    with SceneRenderer(model, camera_of(CAMERAS[kind], distance)) as renderer:
        renderer.pose(HOME, POSE)
        depth = renderer.render().depth
        rows, columns = np.nonzero(away_from_edges(depth))
        chosen = np.random.default_rng(0).choice(len(rows), 2000, replace=False)
        rows, columns = rows[chosen], columns[chosen]
        true = ray_depth(renderer, columns, rows)
    seen = depth[rows, columns]
    assert np.mean(np.isfinite(true)) > 0.1
    np.testing.assert_array_equal(np.isfinite(seen), np.isfinite(true))
    there = np.isfinite(true)
    assert np.max(np.abs(seen[there] - true[there])) < 0.5e-3


def picture_corners(mask, hull):
    """Corners of a convex picture [px], near those of a hull: where lines along its edges meet."""
    inner = cv2.erode(mask.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3)))
    rows, columns = np.nonzero(mask & (inner == 0))
    border = np.stack((columns, rows), -1).astype(float)
    lines = []
    for start, end in zip(hull, np.roll(hull, -1, axis=0), strict=True):
        along = (end - start) / np.linalg.norm(end - start)
        out = np.array((along[1], -along[0]))
        out *= np.sign(out @ (start - hull.mean(axis=0)))
        share = (border - start) @ along / np.linalg.norm(end - start)
        near = (np.abs((border - start) @ out) < 2.0) & (share > 0.05) & (share < 0.95)
        slope, offset = np.polyfit((border[near] - start) @ along, (border[near] - start) @ out, 1)
        # Centres of border pixels lie inside of the true edge, by half a pixel on average.
        inside = 0.5 * np.abs(out).max()
        direction = along + slope * out
        lines.append((start + (offset + inside) * out, direction))
    corners = []
    for (p, d), (q, e) in zip(np.roll(lines, 1, axis=0), lines, strict=True):
        t = np.linalg.solve(np.stack((d, -e), -1), q - p)[0]
        corners.append(p + t * d)
    return np.array(corners)


def test_corners_of_the_box_are_where_the_model_says(renderer):
    rgb = renderer.render().rgb.astype(int)
    camera = renderer.camera
    red = rgb[..., 0] > rgb[..., 1] + 20
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    rotation = np.array(renderer.data.body('object').xmat).reshape(3, 3)
    pixels = camera.project(POSE[:3] + (signs * BOX) @ rotation.T)
    # The picture of a convex body is the convex hull of the pictures of its corners.
    hull = cv2.convexHull(pixels.astype(np.float32))[:, 0]
    rows, columns = np.nonzero(red)
    seen = np.stack((columns, rows), -1).astype(np.float32)
    assert len(seen) > 300
    outside = [-cv2.pointPolygonTest(hull, tuple(map(float, pixel)), True) for pixel in seen]
    assert max(outside) < 1.0
    error = np.linalg.norm(picture_corners(red, hull) - hull, axis=1).max()
    assert error < 1.0
    # Its area too, or a picture that is too small would pass; the border is half seen.
    assert len(seen) == pytest.approx(cv2.contourArea(hull), rel=0.02)


def test_depth_gives_the_points_of_the_surface(renderer):
    picture = renderer.render()
    points = renderer.camera.unproject(picture.depth)
    on_table = away_from_edges(picture.depth) & (np.abs(points[..., 2]) < 0.01)
    for thing in (POSE[:2], (0.6, -0.25), (0.0, 0.0)):
        on_table &= np.linalg.norm(points[..., :2] - thing, axis=-1) > 0.25
    assert np.sum(on_table) > 0.02 * on_table.size
    assert np.max(np.abs(points[on_table][:, 2])) < 0.5e-3


@pytest.mark.parametrize('options', CAMERAS.values(), ids=CAMERAS.keys())
def test_a_viewer_sees_what_the_camera_sees(options):
    """The frustum that MuJoCo makes of the added camera projects as the camera model does."""
    camera = camera_of(options)
    spec = mujoco.MjSpec()
    add_camera(spec, camera, 'camera')
    model = spec.compile()
    data, scene = mujoco.MjData(model), mujoco.MjvScene(model, maxgeom=10)
    mujoco.mj_forward(model, data)
    view = mujoco.MjvCamera()
    view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, 0
    everything = mujoco.mjtCatBit.mjCAT_ALL
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, view, everything, scene)
    eye = scene.camera[0]
    middle = 0.5 * (scene.camera[0].pos + scene.camera[1].pos)  # of two eyes
    points = camera.to_world(np.random.default_rng(3).uniform((-1, -1, 0.5), (1, 1, 3), (50, 3)))
    right = np.cross(eye.forward, eye.up)
    x, y, z = np.stack((right, eye.up, eye.forward)) @ (points - middle).T
    left = eye.frustum_center - eye.frustum_width
    columns = (x / z * eye.frustum_near - left) / (2 * eye.frustum_width) * camera.width - 0.5
    height = eye.frustum_top - eye.frustum_bottom
    rows = (eye.frustum_top - y / z * eye.frustum_near) / height * camera.height - 0.5
    np.testing.assert_allclose(np.stack((columns, rows), -1), camera.project(points), atol=0.01)


def test_the_same_pose_gives_the_same_picture(model):
    pictures = []
    for _ in range(2):
        with SceneRenderer(model, camera_of({})) as renderer:
            renderer.pose(HOME, POSE)
            renderer.render()
            pictures.append(renderer.render())
    np.testing.assert_array_equal(pictures[0].rgb, pictures[1].rgb)
    np.testing.assert_array_equal(pictures[0].depth, pictures[1].depth)


def test_the_robot_moves_in_the_picture(renderer):
    before = renderer.render().depth
    posture = np.array(HOME)
    posture[0] += 0.5
    renderer.pose(posture)
    assert np.any(renderer.render().depth != before)


def test_what_is_left_out_was_out_of_sight(model):
    """Drawing everything, as with reflections, gives the same depth."""
    generator = np.random.default_rng(5)
    with SceneRenderer(model, camera_of({})) as some:
        with SceneRenderer(model, camera_of({}), reflections=True) as everything:
            for _ in range(5):
                posture = np.array(HOME)
                posture[:7] += generator.uniform(-0.8, 0.8, 7)
                pose = POSE + np.append(generator.uniform(-0.4, 0.4, 3), np.zeros(4))
                for renderer in (some, everything):
                    renderer.pose(posture, pose)
                np.testing.assert_array_equal(some.render().depth, everything.render().depth)


def test_the_callers_model_is_left_alone(model):
    before = model.vis.quality.offsamples
    assert before != 0
    SceneRenderer(model, camera_of({})).close()
    assert model.vis.quality.offsamples == before


@pytest.mark.parametrize(
    ('joints', 'pose', 'words'),
    [
        (np.full(23, np.nan), POSE, 'joint positions must be 23 finite numbers'),
        (np.zeros(22), POSE, 'joint positions'),
        (HOME, np.full(7, np.inf), 'object pose'),
        (HOME, np.zeros(7), 'object pose'),
        (HOME, np.zeros(3), 'object pose'),
    ],
)
def test_impossible_poses_are_refused(model, joints, pose, words):
    with SceneRenderer(model, camera_of(CAMERAS['small'])) as renderer:
        with pytest.raises(ValueError, match=words):
            renderer.pose(joints, pose)


def test_the_choice_of_opengl(monkeypatch):
    monkeypatch.setenv('MUJOCO_GL', 'osmesa')
    assert choose_gl() == 'osmesa'
    monkeypatch.setenv('MUJOCO_GL', 'glfw')  # needs a window
    assert choose_gl() in KINDS
    monkeypatch.delenv('MUJOCO_GL')
    for name in ('egl_works', 'osmesa_works'):
        monkeypatch.setattr(f'drex_ros.hardware.gl.{name}', lambda: False)
    with pytest.raises(RenderingError, match=r'libegl1 .* libosmesa6'):
        choose_gl()


def test_opengl_that_fails_names_the_packages():
    """A library that is not there: the process says which packages have it."""
    code = (
        'import ctypes.util, drex_ros.hardware.gl as gl\n'
        'gl.osmesa_works() or gl.open_context(8, 8)\n'
        'raise SystemExit(5)'
    )
    environment = {**os.environ, 'MUJOCO_GL': 'osmesa'}
    environment.pop('PYOPENGL_PLATFORM', None)
    result = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode == 5:
        pytest.skip('OSMesa is installed here')
    assert 'RenderingError: MUJOCO_GL is osmesa, which fails' in result.stderr
    assert 'libosmesa6' in result.stderr
