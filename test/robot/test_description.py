# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The one URDF: a tree of arm, mount, hand and camera, as published and physical."""

import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pinocchio as pin
import pytest

from drex_ros.resources import share_file
from drex_ros.robot import description
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.description import (
    BASE_LINK,
    CAMERA_OPTICAL_FRAME,
    FINGERTIP_LINKS,
    HANDS,
    PALM_LINK,
    DescriptionError,
    find_robot_data,
    robot_description_text,
    robot_urdf,
)

XACRO = share_file('urdf/drex.urdf.xacro')


@pytest.fixture(scope='module', params=HANDS)
def hand(request):
    return request.param


@pytest.fixture(scope='module')
def robot(hand):
    return ET.fromstring(robot_urdf(hand))


def test_is_one_tree_from_the_world(robot):
    links = {link.get('name') for link in robot.findall('link')}
    children = [joint.find('child').get('link') for joint in robot.findall('joint')]
    parents = {joint.find('parent').get('link') for joint in robot.findall('joint')}
    assert len(links) == len(robot.findall('link'))
    assert len(children) == len(set(children))
    assert links - set(children) == {'world'}
    assert parents <= links
    assert {BASE_LINK, PALM_LINK, CAMERA_OPTICAL_FRAME, *FINGERTIP_LINKS} <= links
    assert not any('gripper' in name or 'panda_hand' in name for name in links)


def test_meshes_exist(robot):
    visual = [mesh.get('filename') for mesh in robot.findall('.//visual//mesh')]
    collision = [mesh.get('filename') for mesh in robot.findall('.//collision//mesh')]
    assert len(visual) == 8 + 21  # arm, hand
    assert len(collision) == 8  # the arm's; the hand has boxes and spheres
    assert all(Path(mesh).is_file() for mesh in visual + collision)


def test_inertias_are_physical(robot):
    """Positive, and no principal moment above the sum of the two others."""
    for inertia in robot.findall('link/inertial/inertia'):
        xx, yy, zz, xy, xz, yz = (
            float(inertia.get(key)) for key in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
        )
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert moments[0] > 0.0
        assert moments[2] <= (moments[0] + moments[1]) * (1 + 1e-9)


def test_hand_links_weigh_in_the_middle_of_their_boxes(robot):
    for link in robot.findall('link'):
        if link.find('collision/geometry/box') is not None:
            centre = link.find('inertial/origin').get('xyz')
            assert centre == link.find('collision/origin').get('xyz')


def published(name):
    path = find_robot_data() / 'robots' / name
    return path, pin.buildModelFromUrdf(str(path))


def frames(model, values):
    """Poses of all link frames, by name, at joint positions given by name."""
    q = pin.neutral(model)
    for name, value in values.items():
        if model.existJointName(name):
            q[model.joints[model.getJointId(name)].idx_q] = value
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    bodies = [i for i, f in enumerate(model.frames) if f.type == pin.FrameType.BODY]
    return {model.frames[i].name: data.oMf[i] for i in bodies}


def test_frames_and_masses_are_the_published_ones(hand):
    """Every link of arm and hand is where the published models have it, at random postures."""
    ours = pin.buildModelFromXML(robot_urdf(hand))
    mine = ET.fromstring(robot_urdf(hand))
    files = (
        ('panda_description/urdf/panda.urdf', BASE_LINK, 9),
        (f'allegro_hand_description/urdf/allegro_{hand}_hand.urdf', PALM_LINK, 21),
    )
    random = np.random.default_rng(3)
    for file, root, count in files:
        path, theirs = published(file)
        for _ in range(5):
            values = dict(zip(ours.names, random.uniform(-1.0, 1.0, ours.njoints), strict=True))
            here, there = frames(ours, values), frames(theirs, values)
            shared = sorted(set(here) & set(there))
            assert len(shared) == count
            for name in shared:
                a = here[root].actInv(here[name])
                b = there[root].actInv(there[name])
                # The published angles are rounded at the ninth digit.
                np.testing.assert_allclose(a.homogeneous, b.homogeneous, atol=1e-8)
        weights = 0
        for link in ET.parse(path).findall('link'):
            found = mine.find(f"link[@name='{link.get('name')}']/inertial/mass")
            if found is not None:
                weights += 1
                assert float(found.get('value')) == float(link.find('inertial/mass').get('value'))
        assert weights == min(count, 8 if root == BASE_LINK else count)


def test_world_is_the_base_and_the_palm_is_on_the_flange(hand):
    places = frames(pin.buildModelFromXML(robot_urdf(hand)), {})
    np.testing.assert_array_equal(places[BASE_LINK].homogeneous, np.eye(4))
    palm = places['panda_link8'].actInv(places[PALM_LINK])
    np.testing.assert_allclose(palm.translation, (0.0, 0.0, 0.095), atol=1e-12)
    np.testing.assert_allclose(palm.rotation, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    'rpy',
    [(0.0, 0.6, 2.6), (0.3, -0.2, -1.0), (0.0, np.pi / 2, 0.0), (0.4, np.pi / 2, 1.0), (3, 1, 2)],
)
def test_camera_stands_where_it_is_told(rpy):
    camera = CameraModel.from_pose((1.1, -0.3, 0.5), rpy)
    places = frames(pin.buildModelFromXML(robot_urdf(camera=camera)), {})
    place = places[CAMERA_OPTICAL_FRAME]
    np.testing.assert_allclose(place.translation, camera.position, atol=1e-12)
    np.testing.assert_allclose(place.rotation, camera.rotation, atol=1e-9)


def test_text_for_rviz_is_the_same_robot(monkeypatch, tmp_path):
    """The same but for the meshes' addresses, which are right for odd folders too."""
    copy = tmp_path / 'robot data & more'
    (copy / 'robots').mkdir(parents=True)
    for name in ('panda_description', 'allegro_hand_description'):
        (copy / 'robots' / name).symlink_to(find_robot_data().resolve() / 'robots' / name)
    monkeypatch.setenv('ROBOT_DATA', str(copy))
    plain, text = ET.fromstring(robot_urdf()), ET.fromstring(robot_description_text())
    for mesh, address in zip(plain.iter('mesh'), text.iter('mesh'), strict=True):
        uri = urlparse(address.get('filename'))
        assert uri.scheme == 'file'
        assert ' ' not in uri.path
        assert unquote(uri.path) == mesh.get('filename')
        assert Path(mesh.get('filename')).is_file()
        address.set('filename', mesh.get('filename'))
    assert ET.tostring(plain) == ET.tostring(text)


def test_xacro_alone_makes_it_too(hand):
    """As a ROS user calls it, with meshes named by package."""
    code = 'import sys, xacro; sys.argv[0] = "xacro"; xacro.main()'
    done = subprocess.run(
        [sys.executable, '-c', code, str(XACRO), f'hand:={hand}'],
        capture_output=True,
        text=True,
        check=True,
    )
    root = str(find_robot_data().resolve())
    theirs = done.stdout.replace('package://example-robot-data', root)
    assert ET.canonicalize(theirs) == ET.canonicalize(robot_urdf(hand))


def test_unknown_hand_is_refused():
    with pytest.raises(DescriptionError, match="hand is 'both', must be one of: right, left"):
        robot_urdf('both')


def test_missing_models_say_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv('ROBOT_DATA', str(tmp_path))
    with pytest.raises(DescriptionError, match='pip install example-robot-data'):
        robot_urdf()


@pytest.mark.parametrize(
    ('file', 'old', 'new', 'message'),
    [
        ('urdf/panda.xacro', '</robot>', '', r'panda\.xacro: not readable XML'),
        ('urdf/joint_limits.yaml', '  joint_3.0: *distal\n', '', 'joint_3.0'),
        ('urdf/joint_limits.yaml', 'joints:', 'joints: {', 'joint_limits.yaml'),
        ('urdf/common.xacro', '0.4 * mass', '0.4 * mas', "'mas' is not defined"),
        ('urdf/allegro.xacro', 'name="joint_${index}.0" type="revolute"',
         'name="joint_${index}.0" type="fixed"', r'differ in: joint_0\.0, joint_1\.0'),
    ],
)  # fmt: skip
def test_damaged_file_is_named(monkeypatch, tmp_path, file, old, new, message):
    shutil.copytree(XACRO.parent, tmp_path / 'urdf')
    shutil.copytree(share_file('config/scenes'), tmp_path / 'config/scenes')
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    monkeypatch.setattr(description, 'share_file', lambda name: tmp_path / name)
    with pytest.raises(DescriptionError, match=message) as caught:
        description._expand.__wrapped__('right', '/meshes', ())
    assert '\n' not in str(caught.value)


def test_plain_layers_need_no_ros():
    """Only nodes/ may import rclpy: the rest is for notebooks too."""
    code = (
        'import sys, drex_ros.robot.dynamics, drex_ros.hardware.mujoco_backend, '
        'drex_ros.control.controller, drex_ros.health;'
        'bad = sorted({"rclpy", "drex_interfaces", "torch"} & set(sys.modules)); '
        'sys.exit(", ".join(bad) or 0)'
    )
    root = Path(description.__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, '-c', code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
