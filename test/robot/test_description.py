# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The one URDF: a tree of arm, mount and hand, with physical inertias."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from drex_ros.robot import description
from drex_ros.robot.description import BASE_LINK, FINGERTIP_LINKS, PALM_LINK, robot_urdf


@pytest.fixture(scope='module')
def robot():
    return ET.fromstring(robot_urdf())


def test_is_one_tree_from_the_base(robot):
    links = {link.get('name') for link in robot.findall('link')}
    children = [joint.find('child').get('link') for joint in robot.findall('joint')]
    parents = {joint.find('parent').get('link') for joint in robot.findall('joint')}
    assert len(links) == len(robot.findall('link'))
    assert len(children) == len(set(children))
    assert links - set(children) == {BASE_LINK}
    assert parents <= links
    assert {PALM_LINK, *FINGERTIP_LINKS} <= links


def test_gripper_and_visuals_are_gone(robot):
    names = {element.get('name') for element in robot}
    assert not names & {'panda_hand', 'panda_leftfinger', 'panda_finger_joint1'}
    assert robot.find('.//visual') is None


def test_meshes_exist(robot):
    meshes = [mesh.get('filename') for mesh in robot.iter('mesh')]
    assert len(meshes) == 8  # the arm's; the hand has boxes
    assert all(Path(mesh).is_file() for mesh in meshes)


def test_inertias_are_physical(robot):
    """Positive, and no principal moment above the sum of the two others."""
    for inertia in robot.findall('link/inertial/inertia'):
        xx, yy, zz, xy, xz, yz = (
            float(inertia.get(key)) for key in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
        )
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert moments[0] > 0.0
        assert moments[2] <= (moments[0] + moments[1]) * (1 + 1e-9)


def test_missing_models_say_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv('ROBOT_DATA', str(tmp_path))
    with pytest.raises(description.DescriptionError, match='pip install example-robot-data'):
        description.find_robot_data()


def test_broken_model_names_the_file(monkeypatch, tmp_path):
    for path in (description._ARM_URDF, description._HAND_URDF):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text('<robot')
    monkeypatch.setenv('ROBOT_DATA', str(tmp_path))
    with pytest.raises(description.DescriptionError, match=r'panda\.urdf: not a readable URDF'):
        robot_urdf.__wrapped__()


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
