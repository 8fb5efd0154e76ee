# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One URDF of the whole robot: Panda arm, mount and right Allegro hand.

Arm and hand come from the published package example-robot-data, the mount from urdf/mount.urdf.
The hand's published dynamics are placeholders (centres of mass at the joints, friction that
freezes the fingers), so they are made physical here: each link is a solid of its collision
geometry with the published mass, and the joints get the friction and torque of the real hand.
"""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from drex_ros.robot.joints import ARM_JOINTS, HAND_JOINTS, JOINT_NAMES, LIMITS

BASE_LINK = 'panda_link0'
PALM_LINK = 'palm_link'
FINGERTIP_LINKS = ('link_3.0_tip', 'link_7.0_tip', 'link_11.0_tip', 'link_15.0_tip')

HAND_DAMPING = 0.03
"""Viscous friction of a hand joint [N m s/rad]."""
HAND_FRICTION = 0.02
"""Coulomb friction of a hand joint [N m]."""

_ARM_URDF = 'robots/panda_description/urdf/panda.urdf'
_HAND_URDF = 'robots/allegro_hand_description/urdf/allegro_right_hand.urdf'
_GRIPPER_LINKS = frozenset(
    ('panda_hand', 'panda_hand_tcp', 'panda_leftfinger', 'panda_rightfinger')
)
_PACKAGE_URI = 'package://example-robot-data/'


class DescriptionError(RuntimeError):
    """The robot's description cannot be made; the message is one readable line."""


@cache
def robot_urdf() -> str:
    """URDF of the whole robot, meshes by absolute path, without visual geometry."""
    data = find_robot_data()
    arm = _read(data / _ARM_URDF)
    hand = _read(data / _HAND_URDF)
    mount = _read(find_mount())
    _remove_links(arm, _GRIPPER_LINKS)
    for model in (arm, hand):
        _use_collision_only(model, data)
    _make_hand_physical(hand)
    robot = ET.Element('robot', {'name': 'panda_allegro'})
    _append_links(robot, arm, hand, mount)
    for model in (arm, mount, hand):
        robot.extend(model.findall('joint'))
    _check_joints(robot)
    return ET.tostring(robot, encoding='unicode')


def find_robot_data() -> Path:
    """Folder of example-robot-data: $ROBOT_DATA, an ament prefix, or Python's site-packages."""
    for folder in _robot_data_candidates():
        if (folder / _ARM_URDF).is_file() and (folder / _HAND_URDF).is_file():
            return folder
    raise DescriptionError(
        'robot models not found: install them with `pip install example-robot-data`, '
        'or set ROBOT_DATA to the folder that holds its robots/'
    )


def find_mount() -> Path:
    """The file urdf/mount.urdf, in the source tree or where the package is installed."""
    here = Path(__file__).resolve()
    folders = [here.parents[2]]
    folders += [parent / 'share' / 'drex_ros' for parent in here.parents]
    folders += [prefix / 'share' / 'drex_ros' for prefix in _ament_prefixes()]
    for folder in folders:
        path = folder / 'urdf' / 'mount.urdf'
        if path.is_file():
            return path
    raise DescriptionError('urdf/mount.urdf of drex_ros not found: build and install the package')


def _ament_prefixes() -> list[Path]:
    return [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]


def _robot_data_candidates() -> Iterator[Path]:
    if os.environ.get('ROBOT_DATA'):
        yield Path(os.environ['ROBOT_DATA'])
        return
    for prefix in _ament_prefixes():
        yield prefix / 'share' / 'example-robot-data'
        yield prefix / 'share' / 'example_robot_data'
    for entry in sys.path:
        yield Path(entry) / 'cmeel.prefix' / 'share' / 'example-robot-data'


def _read(path: Path) -> ET.Element:
    try:
        return ET.parse(path).getroot()
    except (OSError, ET.ParseError) as error:
        raise DescriptionError(f'{path}: not a readable URDF: {error}') from None


def _child(element: ET.Element, path: str) -> ET.Element:
    found = element.find(path)
    if found is None:
        name = element.get('name', element.tag)
        raise DescriptionError(f'URDF element {name!r} has no <{path}>, which drex_ros needs')
    return found


def _remove_links(model: ET.Element, names: frozenset[str]) -> None:
    for link in model.findall('link'):
        if link.get('name') in names:
            model.remove(link)
    for joint in model.findall('joint'):
        if _child(joint, 'child').get('link') in names:
            model.remove(joint)


def _use_collision_only(model: ET.Element, data: Path) -> None:
    for link in model.findall('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
        inertial = link.find('inertial')
        # A frame without mass: MuJoCo takes no inertial of zero.
        if inertial is not None and float(_child(inertial, 'mass').get('value', '0')) == 0.0:
            link.remove(inertial)
        for mesh in link.iter('mesh'):
            name = mesh.get('filename', '')
            mesh.set('filename', name.replace(_PACKAGE_URI, f'{data.resolve()}/'))


def _make_hand_physical(hand: ET.Element) -> None:
    for link in hand.findall('link'):
        _set_solid_inertia(link)
    for joint in hand.findall('joint'):
        name = joint.get('name', '')
        if name in HAND_JOINTS:
            dynamics = _child(joint, 'dynamics')
            dynamics.set('damping', repr(HAND_DAMPING))
            dynamics.set('friction', repr(HAND_FRICTION))
            effort = float(LIMITS.effort[JOINT_NAMES.index(name)])
            _child(joint, 'limit').set('effort', repr(effort))


def _set_solid_inertia(link: ET.Element) -> None:
    """Inertia of a homogeneous solid: the link's collision box or sphere with its mass."""
    inertial = _child(link, 'inertial')
    mass = float(_child(inertial, 'mass').get('value', ''))
    box = link.find('collision/geometry/box')
    if box is not None:
        x, y, z = (float(size) for size in box.get('size', '').split())
        squares = (y * y + z * z, x * x + z * z, x * x + y * y)
        moments = tuple(mass * square / 12.0 for square in squares)
    else:
        radius = float(_child(link, 'collision/geometry/sphere').get('radius', ''))
        moments = 3 * (0.4 * mass * radius * radius,)
    origin = link.find('collision/origin')
    centre = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
    _child(inertial, 'origin').set('xyz', centre)
    inertia = _child(inertial, 'inertia')
    for key, moment in zip(('ixx', 'iyy', 'izz'), moments, strict=True):
        inertia.set(key, repr(moment))
    for key in ('ixy', 'ixz', 'iyz'):
        inertia.set(key, '0')


def _append_links(robot: ET.Element, *models: ET.Element) -> None:
    """Every link once; of two with one name the first model's counts."""
    known: set[str] = set()
    for model in models:
        for link in model.findall('link'):
            name = link.get('name', '')
            if name not in known:
                known.add(name)
                robot.append(link)


def _check_joints(robot: ET.Element) -> None:
    moving = {j.get('name', '') for j in robot.findall('joint') if j.get('type') != 'fixed'}
    if moving != set(ARM_JOINTS + HAND_JOINTS):
        wrong = ', '.join(sorted(moving ^ set(JOINT_NAMES)))
        raise DescriptionError(f'joints of the URDF and of drex_ros differ in: {wrong}')
