# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What an object is: its geometry, its convex parts for contacts, its mass and friction.

Object frame: origin at the centre of the mesh's bounding box, z up as the object naturally stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int32]
Kind = Literal['box', 'sphere', 'cylinder', 'mesh']


class ObjectError(ValueError):
    """An object that cannot be used; the message is one readable line."""


def constant(values: npt.ArrayLike) -> Array:
    """A read-only float64 copy of the values, of any shape."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


NO_ROTATION = constant((0.0, 0.0, 0.0, 1.0))
ORIGIN = constant((0.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles, counter-clockwise seen from outside. Read-only arrays."""

    vertices: Array
    """Shape (n, 3) [m]."""
    faces: Faces
    """Three vertices each. Shape (m, 3)."""

    @staticmethod
    def of(vertices: npt.ArrayLike, faces: npt.ArrayLike) -> Mesh:
        """A mesh of copies of the arrays."""
        corners = np.array(faces, dtype=np.int32).reshape(-1, 3)
        corners.setflags(write=False)
        return Mesh(constant(np.reshape(vertices, (-1, 3))), corners)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the bounding box [m]. Shape (3,) each."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    @property
    def extents(self) -> Array:
        """Size of the bounding box [m]. Shape (3,)."""
        lower, upper = self.bounds
        return np.asarray(upper - lower)

    def moved(self, offset: npt.ArrayLike) -> Mesh:
        """The same mesh, shifted [m]."""
        return Mesh(constant(self.vertices + np.asarray(offset)), self.faces)


@dataclass(frozen=True, eq=False)
class Part:
    """One convex piece of an object, as contacts see it."""

    kind: Kind
    size: Array
    """As MuJoCo has it [m]: box: half sizes; sphere: radius; cylinder: radius, half height.
    Zeros for a mesh, and for what a kind does not use. Shape (3,)."""
    position: Array
    """Of the part's frame in the object's [m]. Shape (3,)."""
    quaternion: Array
    """x y z w. Shape (4,)."""
    mesh: Mesh | None = None
    """Convex and in the part's frame, for kind 'mesh'."""

    def moved(self, offset: npt.ArrayLike) -> Part:
        """The same part, shifted [m]. Meshes keep their frame at the object's origin."""
        if self.mesh is not None:
            return convex_part(self.mesh.moved(offset))
        position = constant(self.position + np.asarray(offset))
        return Part(self.kind, self.size, position, self.quaternion)


def convex_part(mesh: Mesh) -> Part:
    """A part from a convex mesh in the object's frame."""
    return Part('mesh', ORIGIN, ORIGIN, NO_ROTATION, mesh)


def primitive_part(
    kind: Kind,
    size: npt.ArrayLike,
    position: npt.ArrayLike = ORIGIN,
    quaternion: npt.ArrayLike = NO_ROTATION,
) -> Part:
    """A box, sphere or cylinder; `size` without the numbers that the kind does not use [m]."""
    full = constant([*np.ravel(size), 0.0, 0.0][:3])
    return Part(kind, full, constant(position), constant(quaternion))


@dataclass(frozen=True, eq=False)
class Symmetry:
    """A turn about an axis through the object's origin that leaves it looking the same."""

    axis: Array
    """Unit vector. Shape (3,)."""
    angle: float
    """Smallest such turn [rad]; 0: any."""


@dataclass(frozen=True, eq=False)
class ObjectModel:
    """Everything that is true of one object. Read-only arrays."""

    name: str
    description: str
    mesh: Mesh
    """Closed surface in the object's frame: what is seen, tracked and identified."""
    mass: float
    """[kg]"""
    centre_of_mass: Array
    """[m] Shape (3,)."""
    inertia: Array
    """About the centre of mass, along the object's axes [kg m^2]. Shape (3, 3)."""
    friction: float
    """Coulomb, on the table."""
    finger_friction: float
    """Coulomb, on the rubber of the robot's fingertips."""
    rgba: Array
    """Colour and opacity, 0 to 1. Shape (4,)."""
    crush_force: float
    """Largest normal force that it bears on one contact [N]; infinite where none is stated."""
    symmetry: tuple[Symmetry, ...]
    rest_quaternion: Array
    """How it stands on a table: x y z w. Shape (4,)."""
    rest_height: float
    """Of its origin above the table's top when it stands so [m]."""
    source: Path
    """The YAML file that all of this comes from."""
    exact_parts: tuple[Part, ...] = ()
    """Convex parts known from how the shape is made; none: see `collision_parts`."""
