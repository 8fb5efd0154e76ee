# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Volume, centre of mass and inertia of solids, and what a rigid body's inertia can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.objects.model import Array, Mesh


@dataclass(frozen=True, eq=False)
class Solid:
    """What the space inside a closed surface has, at density 1 kg/m^3."""

    volume: float
    """[m^3]; negative when the surface is inside out."""
    centroid: Array
    """[m] Shape (3,)."""
    inertia: Array
    """About the centroid [m^5]. Shape (3, 3)."""


def solid(mesh: Mesh) -> Solid:
    """Integrate over the tetrahedra between the faces and a point in the middle of the mesh."""
    middle = mesh.vertices.mean(axis=0)
    corners = (mesh.vertices - middle)[mesh.faces]
    volumes = np.linalg.det(corners) / 6.0
    volume = float(volumes.sum())
    if volume == 0.0:
        return Solid(0.0, middle, np.zeros((3, 3)))
    sums = corners.sum(axis=1)
    first = np.einsum('t,ti->i', volumes, sums) / 4.0
    # Of a tetrahedron with one corner at the origin: integral of x x' = V/20 (sum c c' + s s').
    second = (
        np.einsum('t,tki,tkj->ij', volumes, corners, corners)
        + np.einsum('t,ti,tj->ij', volumes, sums, sums)
    ) / 20.0
    offset = first / volume
    second -= volume * np.outer(offset, offset)
    return Solid(volume, middle + offset, np.trace(second) * np.eye(3) - second)


def second_moment(inertia: Array) -> Array:
    """Integral of x x' dm about the centre of mass [kg m^2]. Shape (3, 3)."""
    return np.asarray(0.5 * np.trace(inertia) * np.eye(3) - inertia)


def inertia_problem(inertia: Array, mass: float, lower: Array, upper: Array) -> str:
    """Why no body of this mass within a box has this inertia; empty when one can.

    `lower` and `upper` are the corners of the box seen from the centre of mass [m]. Shape (3,).
    """
    moments = np.linalg.eigvalsh(inertia)
    if moments[0] <= 0.0:
        return f'has a principal moment of {moments[0]:.3g} kg m^2, all must be positive'
    if moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
        return (
            f'has principal moments {moments[0]:.3g}, {moments[1]:.3g}, {moments[2]:.3g} kg m^2: '
            'none may exceed the sum of the other two'
        )
    # Mass spread between two bounds has at most the variance of two lumps at the bounds.
    most = mass * np.maximum(-lower * upper, 0.0)
    spread = np.diag(second_moment(inertia))
    if (spread > most * (1.0 + 1e-6)).any():
        axis = int(np.argmax(spread - most))
        return (
            f'is too large for its size: {mass:g} kg would be spread '
            f'{2e3 * np.sqrt(spread[axis] / mass):.0f} mm along {"xyz"[axis]}, '
            f'the object has {1e3 * (upper[axis] - lower[axis]):.0f} mm; is it in kg m^2?'
        )
    reach = float(np.linalg.norm(np.maximum(-lower, upper)))
    gyration = float(np.sqrt(spread.sum() / mass))
    if gyration < 0.1 * reach:
        return (
            f'is too small for its size: all mass would be within {1e3 * gyration:.2g} mm '
            f'of the centre, the object reaches {1e3 * reach:.0f} mm; is it in kg m^2?'
        )
    return ''
