# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the robot looks like: coloured triangles of every link of a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from drex_ros.robot.joints import Array, constant
from drex_ros.robot.mesh_files import (
    Colour,
    MeshFileError,
    Surface,
    read_mesh_file,
    solid_surface,
)
from drex_ros.robot.rotations import quaternion_from_rpy

GREY: Colour = (0.5, 0.5, 0.5, 1.0)
"""Of what has no colour, neither in the URDF nor in its mesh file."""


@dataclass(frozen=True, eq=False)
class VisualPart:
    """A surface of one colour on a link."""

    link: str
    shape: str
    """Name of the surface; parts with the same shape share its arrays."""
    surface: Surface
    rgba: Colour
    position: Array
    """Of the surface's frame on the link [m]. Shape (3,)."""
    quaternion: Array
    """Of the surface's frame on the link, x y z w. Shape (4,)."""


def visual_parts(urdf: str) -> tuple[VisualPart, ...]:
    """The visuals of a URDF text, Collada meshes split by colour. Raises MeshFileError.

    A colour given in the URDF goes before that of the mesh file, as in RViz.
    """
    robot = ET.fromstring(urdf)
    colours = {
        material.get('name', ''): _colour(material)
        for material in robot.iter('material')
        if material.find('color') is not None
    }
    shapes = _Shapes()
    parts: list[VisualPart] = []
    for link in robot.findall('link'):
        for visual in link.findall('visual'):
            material, origin = visual.find('material'), visual.find('origin')
            given = None if material is None else colours.get(material.get('name', ''))
            position = constant(_numbers(origin, 'xyz', '0 0 0'))
            quaternion = constant(quaternion_from_rpy(_numbers(origin, 'rpy', '0 0 0')))
            for name, surface in shapes.of(visual):
                rgba = given or surface.rgba or GREY
                link_name = link.get('name', '')
                parts.append(VisualPart(link_name, name, surface, rgba, position, quaternion))
    return tuple(parts)


class _Shapes:
    """Surfaces of the visuals by name; each mesh file is read once."""

    def __init__(self) -> None:
        self._known: dict[str, list[tuple[str, Surface]]] = {}

    def of(self, visual: ET.Element) -> list[tuple[str, Surface]]:
        shape = visual.find('geometry/*')
        if shape is None:
            raise MeshFileError('a visual of the URDF has no geometry')
        key = ET.tostring(shape, encoding='unicode').strip()
        if key not in self._known:
            surfaces = _surfaces(shape)
            stem = Path(shape.get('filename', shape.tag)).stem
            # Two files of one name in two folders are two shapes.
            prefix = f'{stem}_{len(self._known)}'
            self._known[key] = [(f'{prefix}_{i}', each) for i, each in enumerate(surfaces)]
        return self._known[key]


def _surfaces(shape: ET.Element) -> tuple[Surface, ...]:
    if shape.tag == 'mesh':
        if shape.get('scale') is not None:
            raise MeshFileError(f'mesh {shape.get("filename")}: a scale is not supported')
        return read_mesh_file(_local_path(shape.get('filename', '')))
    keys = {'box': ('size',), 'cylinder': ('radius', 'length'), 'sphere': ('radius',)}
    size = tuple(n for key in keys.get(shape.tag, ()) for n in _numbers(shape, key, ''))
    return (solid_surface(shape.tag, size),)


def _local_path(address: str) -> Path:
    parts = urlparse(address)
    if parts.scheme == 'file':
        return Path(unquote(parts.path))
    if parts.scheme:
        raise MeshFileError(f'mesh {address}: must be a path or a file:// address')
    return Path(address)


def _colour(material: ET.Element) -> Colour:
    red, green, blue, alpha = _numbers(material.find('color'), 'rgba', '')
    return (red, green, blue, alpha)


def _numbers(element: ET.Element | None, key: str, default: str) -> tuple[float, ...]:
    text = default if element is None else element.get(key, default)
    return tuple(float(number) for number in text.split())
