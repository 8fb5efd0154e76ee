# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One URDF of the whole robot: Panda arm, mount, Allegro hand (right or left), camera.

It is made from urdf/drex.urdf.xacro; Pinocchio, MuJoCo and RViz all read the same text. Meshes
come from the published package example-robot-data.
"""

from __future__ import annotations

import math
import os
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.parsers.expat import ExpatError

import numpy.typing as npt
import xacro

from drex_ros.resources import ResourceError, ament_prefixes, share_file
from drex_ros.robot.camera import OPTICAL_FROM_LINK, CameraModel
from drex_ros.robot.joints import JOINT_NAMES
from drex_ros.robot.rotations import quaternion_product, rotation_matrix

WORLD_LINK = 'world'
BASE_LINK = 'panda_link0'
"""The arm's base: the same pose as the world."""
PALM_LINK = 'palm_link'
FINGERTIP_LINKS = ('link_3.0_tip', 'link_7.0_tip', 'link_11.0_tip', 'link_15.0_tip')
"""Tips of index, middle, ring finger and thumb."""
CAMERA_LINK = 'camera_link'
CAMERA_OPTICAL_FRAME = 'camera_color_optical_frame'
HANDS = ('right', 'left')

_XACRO = 'urdf/drex.urdf.xacro'
_MESH_FOLDERS = ('panda_description/meshes', 'allegro_hand_description/meshes')


class DescriptionError(RuntimeError):
    """The robot's description cannot be made; the message is one readable line."""


def robot_urdf(hand: str = 'right', camera: CameraModel | None = None) -> str:
    """URDF of the whole robot, meshes by absolute path.

    Args:
        hand: right or left.
        camera: where the camera stands; None: as in config/scenes/table.yaml.
    """
    return _expand(hand, str(_mesh_root()), _camera_pose(camera))


def robot_description_text(hand: str = 'right', camera: CameraModel | None = None) -> str:
    """The same URDF with meshes as file:// addresses, which RViz reads without any package."""
    return _expand(hand, _mesh_root().as_uri(), _camera_pose(camera))


def find_robot_data() -> Path:
    """Folder of example-robot-data: $ROBOT_DATA, an ament prefix, or Python's site-packages."""
    for folder in _robot_data_candidates():
        if all((folder / 'robots' / name).is_dir() for name in _MESH_FOLDERS):
            return folder
    raise DescriptionError(
        'robot models not found: install them with `pip install example-robot-data`, '
        'or set ROBOT_DATA to the folder that holds its robots/'
    )


def _robot_data_candidates() -> Iterator[Path]:
    if os.environ.get('ROBOT_DATA'):
        yield Path(os.environ['ROBOT_DATA'])
        return
    for prefix in ament_prefixes():
        yield prefix / 'share' / 'example-robot-data'
        yield prefix / 'share' / 'example_robot_data'
    for entry in sys.path:
        yield Path(entry) / 'cmeel.prefix' / 'share' / 'example-robot-data'


def _mesh_root() -> Path:
    return find_robot_data().resolve() / 'robots'


def _camera_pose(camera: CameraModel | None) -> tuple[tuple[str, str], ...]:
    """What the camera's pose is to xacro; nothing for None."""
    if camera is None:
        return ()
    x, y, z, w = OPTICAL_FROM_LINK
    link = quaternion_product(camera.quaternion, (-x, -y, -z, w))
    pose = (('camera_xyz', camera.position), ('camera_rpy', _roll_pitch_yaw(link)))
    return tuple((name, ' '.join(repr(float(v)) for v in values)) for name, values in pose)


def _roll_pitch_yaw(quaternion: npt.ArrayLike) -> tuple[float, float, float]:
    """Angles [rad] about the fixed axes x, y, z in turn, of a quaternion x y z w."""
    r = rotation_matrix(quaternion)
    level = math.hypot(r[0, 0], r[1, 0])
    pitch = math.atan2(-r[2, 0], level)
    if level < 1e-9:  # looks straight down or up: roll and yaw are one turn
        return 0.0, pitch, math.atan2(-r[0, 1], r[1, 1])
    return math.atan2(r[2, 1], r[2, 2]), pitch, math.atan2(r[1, 0], r[0, 0])


@cache
def _expand(hand: str, meshes: str, camera: tuple[tuple[str, str], ...]) -> str:
    if hand not in HANDS:
        raise DescriptionError(f'hand is {hand!r}, must be one of: {", ".join(HANDS)}')
    mappings = {'hand': hand, 'meshes': meshes, **dict(camera)}
    try:
        path = share_file(_XACRO)
        document = xacro.process_file(str(path), mappings=mappings)
    except ResourceError as error:
        raise DescriptionError(str(error)) from None
    except ExpatError as error:
        raise DescriptionError(f'{xacro.filestack[-1]}: not readable XML: {error}') from None
    except (xacro.XacroException, OSError) as error:
        problem = ' '.join(str(error).split())
        raise DescriptionError(f'{path} cannot be expanded: {problem}') from None
    urdf: str = document.toprettyxml(indent='  ')
    _check_joints(urdf)
    return urdf


def _check_joints(urdf: str) -> None:
    joints = ET.fromstring(urdf).findall('joint')
    moving = {joint.get('name', '') for joint in joints if joint.get('type') != 'fixed'}
    if moving != set(JOINT_NAMES):
        wrong = ', '.join(sorted(moving ^ set(JOINT_NAMES)))
        raise DescriptionError(f'joints of the URDF and of drex_ros differ in: {wrong}')
