# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the twin can be asked about: its parameters, by name, in one vector.

The object's pose and velocity at the start are given with the push; `start_*` are changes of
them, so that zero means what was measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from drex_ros.robot.joints import Array

if TYPE_CHECKING:
    from drex_ros.objects import ObjectModel

NAMES = (
    'mass',  # [kg]
    'friction',  # on the table
    'finger_friction',
    'com_x', 'com_y', 'com_z',  # centre of mass in the object's frame [m]
    # About the centre of mass along the object's axes, for a mass of 1 kg [m^2]
    'inertia_xx', 'inertia_yy', 'inertia_zz', 'inertia_xy', 'inertia_xz', 'inertia_yz',
    'table_stiffness',  # of all support points together, for a mass of 1 kg [1/s^2]
    'table_damping',  # likewise [1/s]
    'finger_stiffness',  # [N/m]
    'finger_damping',  # [N s/m]
    'robot_friction',  # that the tip feels of the robot's own joints [N]
    'bias_x', 'bias_y', 'bias_z',  # force on the tip that nothing else explains [N]
    'start_x', 'start_y', 'start_z',  # [m]
    'start_rx', 'start_ry', 'start_rz',  # in the object's frame [rad]
    'start_vx', 'start_vy', 'start_vz',  # [m/s]
    'start_wx', 'start_wy', 'start_wz',  # in the object's frame [rad/s]
)  # fmt: skip
"""In the order of the vector."""

INDEX = {name: i for i, name in enumerate(NAMES)}

GRAVITY = 9.81  # [m/s^2]
SINK = 2e-4
"""How far an object at rest sinks into the table by default [m]."""
_POSITIVE = (
    'mass', 'inertia_xx', 'inertia_yy', 'inertia_zz', 'table_stiffness', 'finger_stiffness',
)  # fmt: skip
_NOT_NEGATIVE = ('friction', 'finger_friction', 'table_damping', 'finger_damping',
                 'robot_friction')  # fmt: skip


def guess(model: ObjectModel, *, mass: float, friction: float) -> Array:
    """Parameters before a push: of the object only what its shape tells. Shape (len(NAMES),).

    Centre of mass and inertia are those of a body filled evenly; the object's own file may know
    more, but that is not for the twin to see.

    Args:
        model: whose mesh is used, nothing else.
        mass: [kg]
        friction: on the table, and on the finger until something is known of it.
    """
    volume, centre, inertia = even_body(np.asarray(model.mesh.vertices), model.mesh.faces)
    per_mass = inertia / volume
    out = np.zeros(len(NAMES))
    values = {
        'mass': mass,
        'friction': friction,
        'finger_friction': 0.8,
        'table_stiffness': GRAVITY / SINK,
        'table_damping': 0.7 * np.sqrt(GRAVITY / SINK),
        'finger_stiffness': 2000.0,
        'finger_damping': 3.0,
    }
    for name, value in values.items():
        out[INDEX[name]] = value
    out[INDEX['com_x'] : INDEX['com_z'] + 1] = centre
    order = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    first = INDEX['inertia_xx']
    out[first : first + 6] = [per_mass[each] for each in order]
    return out


def even_body(vertices: Array, faces: npt.NDArray[Any]) -> tuple[float, Array, Array]:
    """Volume [m^3], centre [m] and inertia about it at density 1 of the inside of a mesh."""
    corners = vertices[np.asarray(faces)]
    six = np.einsum('ni,ni->n', corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    volume = six.sum() / 6.0
    if not volume > 0.0:
        raise ValueError(f'the mesh has a volume of {volume:g} m^3, must be closed and face out')
    total = corners.sum(axis=1)
    centre = (six[:, None] * total).sum(axis=0) / (24.0 * volume)
    # Of a tetrahedron at the origin: integral of x x^T.
    second = np.einsum('n,nai,naj->ij', six, corners, corners)
    second = (second + np.einsum('n,ni,nj->ij', six, total, total)) / 120.0
    second -= volume * np.outer(centre, centre)
    return float(volume), centre, np.trace(second) * np.eye(3) - second


def check(parameters: Array) -> None:
    """Raise ValueError for parameters that no object can have."""
    if parameters.shape[-1:] != (len(NAMES),):
        raise ValueError(f'parameters have shape {parameters.shape}, must be (..., {len(NAMES)})')
    if not np.isfinite(parameters).all():
        bad = [n for n, i in INDEX.items() if not np.isfinite(parameters[..., i]).all()]
        raise ValueError(f'not finite: {", ".join(bad)}')
    for names, least, words in (
        (_POSITIVE, 1e-300, 'positive'),
        (_NOT_NEGATIVE, 0.0, 'at least 0'),
    ):
        for name in names:
            lowest = parameters[..., INDEX[name]].min()
            if lowest < least:
                raise ValueError(f'{name} is {lowest:g}, must be {words}')
