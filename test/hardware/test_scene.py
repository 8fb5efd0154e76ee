# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scene files are read or refused with a reason; the scene is what they say."""

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from drex_ros.hardware.motors import MotorSettings
from drex_ros.hardware.scene import ObjectPose, object_place, scene_spec
from drex_ros.hardware.scene_file import SceneError, load_scene
from drex_ros.hardware.simulation import Simulation
from drex_ros.objects import load_object, object_names
from drex_ros.robot.joints import HOME, JOINT_NAMES, N_JOINTS
from drex_ros.robot.rotations import rotation_matrix

SCENES = Path(__file__).resolve().parents[2] / 'config/scenes'


@pytest.fixture
def scene_file(tmp_path):
    """Write a scene like the default one, changed; None takes a key away."""

    def write(section=None, key=None, value=None):
        document = yaml.safe_load((SCENES / 'table.yaml').read_text())
        if key is None and section is not None:
            document[section] = value
        elif section is not None:
            document.setdefault(section, {})[key] = value
        path = tmp_path / 'mine.yaml'
        path.write_text(yaml.safe_dump(document))
        return str(path)

    return write


def test_by_name_and_by_path(scene_file):
    by_name, by_path = load_scene(), load_scene(scene_file())
    assert by_name.table_size == by_path.table_size == (0.9, 1.2)
    np.testing.assert_array_equal(by_name.camera.position, by_path.camera.position)


@pytest.mark.parametrize(
    ('section', 'key', 'value', 'message'),
    [
        ('table', 'size', [0.9], r'table.size is \[0.9\], must be 2 numbers'),
        ('table', 'size', [0.9, -1.0], r'table.size is \[0.9, -1.0\], must be more than 0'),
        ('table', 'colour', 'red', r'unknown key table.colour; valid: height, position, size'),
        ('camera', 'fx', float('nan'), r'camera.fx is nan, must be a number'),
        ('camera', 'width', 640.5, r'camera.width is 640.5, must be a whole number'),
        ('camera', 'height', 1e5, r'camera.height is 100000, must be a whole number up to 4096'),
        ('camera', 'rpy', None, r'camera.rpy is None, must be 3 numbers'),
        ('object', 'yaw', True, r'object.yaw is True, must be a number'),
        ('chair', None, {}, r'unknown key chair; valid: camera, object, table'),
        ('camera', None, None, r'camera must hold position, rpy, width'),
    ],
)
def test_wrong_files_are_refused_with_the_key(scene_file, section, key, value, message):
    with pytest.raises(SceneError, match=rf'mine\.yaml: {message}'):
        load_scene(scene_file(section, key, value))


def test_missing_and_broken_files(tmp_path):
    with pytest.raises(SceneError, match=r"no scene 'moon'; there are: table, or give the path"):
        load_scene('moon')
    with pytest.raises(SceneError, match=r'scene file nowhere.yaml not found'):
        load_scene('nowhere.yaml')
    broken = tmp_path / 'broken.yaml'
    broken.write_text('table: [1, 2')
    with pytest.raises(SceneError, match=r'broken.yaml: not a readable YAML file'):
        load_scene(str(broken))
    broken.write_text('7')
    with pytest.raises(SceneError, match=r'broken.yaml: must hold table, camera, object'):
        load_scene(str(broken))


def test_every_object_stands_in_the_scene_and_stays():
    """At its place, upright, with contact to the table alone, and there after a second."""
    simulation = Simulation(scene='table', hand='right', timestep=0.001, motors=MotorSettings())
    for name in object_names():
        thing = load_object(name)
        simulation.prepare(thing, None)
        simulation.place(HOME)
        simulation.begin_hold()
        start = simulation.truth.object()
        simulation.hold(1000)
        end = simulation.truth.object()
        assert np.abs(end.position - start.position).max() < 2e-3, name
        upright = (rotation_matrix(start.quaternion).T @ rotation_matrix(end.quaternion))[2, 2]
        assert upright > math.cos(0.02), name
        bodies = {name for c in simulation.truth.contacts() for name in (c.body1, c.body2)}
        assert bodies == {'table', 'object'}, name


def test_model_has_the_objects_mass_and_the_robots_joints_first():
    scene, thing = load_scene(), load_object('ketchup')
    model = scene_spec(scene, thing, timestep=0.001).compile()
    body = model.body('object')
    assert body.mass[0] == pytest.approx(thing.mass)
    np.testing.assert_allclose(body.ipos, thing.centre_of_mass)
    np.testing.assert_allclose(np.sort(body.inertia), np.linalg.eigvalsh(thing.inertia), rtol=1e-6)
    assert tuple(model.joint(i).name for i in range(N_JOINTS)) == JOINT_NAMES
    data = mujoco.MjData(model)
    data.qpos[:N_JOINTS] = HOME
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.cam('camera').xpos, scene.camera.position, atol=1e-12)


def test_object_place_turns_about_the_vertical(scene_file):
    scene = load_scene(scene_file('object', 'yaw', 1.2))
    place = object_place(scene, load_object('box'))
    turn = rotation_matrix(place.quaternion)
    np.testing.assert_allclose(turn[:2, 0], (math.cos(1.2), math.sin(1.2)), atol=1e-12)


@pytest.mark.parametrize(
    ('position', 'quaternion'),
    [
        ((0.5, 0.0, np.nan), (0, 0, 0, 1)),
        ((0.5, 0, 0), (0, 0, 0, 0)),
        ((0.5, 0, 0), (1, 1, 0, 0)),
        ((0.5, 0, 0), (np.nan, 0, 0, 1)),
        ((0.5, 0, 1e9), (0, 0, 0, 1)),
    ],
)
def test_wrong_poses_are_refused_and_change_nothing(position, quaternion):
    simulation = Simulation(scene='table', hand='right', timestep=0.001, motors=MotorSettings())
    simulation.prepare(load_object('box'), None)
    with pytest.raises(ValueError, match=r'object pose: position .* must be (finite|within 3 m)'):
        simulation.prepare(
            load_object('can'), ObjectPose(np.array(position, float), np.array(quaternion, float))
        )
    assert simulation.thing.name == 'box'
