# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One push in the twin: parameters in, motion of object and fingertip out, with derivatives.

twin = Twin(Shape.of(model), push)
motion = twin.run(parameters)                          # (rows, COLUMNS)
motion, slopes = twin.derivatives(parameters, ('mass', 'friction'))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import trimesh

from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import rotation_matrix
from drex_ros.twin.distance_field import DistanceField, distance_field
from drex_ros.twin.dynamics import COLUMNS, rollouts
from drex_ros.twin.parameters import INDEX, NAMES, check, even_body

if TYPE_CHECKING:
    from drex_ros.objects import ObjectModel

_TINY = 1e-30  # imaginary step: its square is nothing beside 1
_MOST_POINTS = 32  # of those that carry the object, and again of all others
_TOUCHING = 1e-4  # [m] above the lowest point at which a point carries the object too
_STIFF = 1.0  # greatest k dt^2 / m
_DAMPED = 1.5  # greatest c dt / m
_TIPPED_POINTS = 4  # on which an object may come to stand when it falls over
COMMAND = 27
"""Columns of a command: place, velocity, force, stiffness, damping, inverse inertia at the tip."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What the twin knows of an object's shape."""

    points: Array
    """Corners of the convex hull: what can touch a table [m]. Shape (n, 3)."""
    field: DistanceField
    mobility: float
    """How much more easily any of its points moves than the whole, at most: 1 + r^2 m / I."""
    centre: Array
    """Of mass, if it is filled evenly [m]. Shape (3,)."""
    inertia: Array
    """About that centre for a mass of 1 kg [m^2]. Shape (3, 3)."""

    def on_table(self, points: Array, up: Array) -> tuple[float, float]:
        """Greatest mobility [for 1 kg] along and across `up` of springs that share the load.

        With all points at once: what carries the object tips it less easily than one point that
        is as far away as the farthest.
        """
        lever = points - self.centre
        sizes = []
        for ways in (up[None], np.linalg.svd(up[None])[2][1:]):
            total = np.zeros((6, 6))
            for way in ways:
                force = np.hstack((np.broadcast_to(way, lever.shape), np.cross(lever, way)))
                total += force.T @ force / len(points)
            inverse = np.zeros((6, 6))
            inverse[:3, :3], inverse[3:, 3:] = np.eye(3), np.linalg.inv(self.inertia)
            sizes.append(float(np.abs(np.linalg.eigvals(inverse @ total)).max()))
        return sizes[0], sizes[1]

    @classmethod
    def of(cls, model: ObjectModel, *, cell: float = 0.002) -> Shape:
        """From an object's mesh, and from nothing else of it."""
        return cls.from_mesh(np.asarray(model.mesh.vertices), model.mesh.faces, cell=cell)

    @classmethod
    def from_mesh(cls, vertices: Array, faces: npt.NDArray[Any], *, cell: float = 0.002) -> Shape:
        """From a closed mesh [m]."""
        vertices = np.asarray(vertices, dtype=np.float64)
        faces = np.asarray(faces)
        volume, centre, inertia = even_body(vertices, faces)
        hull = np.asarray(trimesh.Trimesh(vertices, faces, process=False).convex_hull.vertices)
        inverse = np.linalg.inv(inertia / volume)
        levers = [np.cross(np.eye(3), each) for each in hull - centre]
        mobility = max(np.linalg.eigvalsh(lever @ inverse @ lever.T)[-1] for lever in levers)
        return cls(
            points=hull,
            field=distance_field(vertices, faces, cell=cell),
            mobility=float(1.0 + mobility),
            centre=centre,
            inertia=inertia / volume,
        )


@dataclass(frozen=True, eq=False)
class Push:
    """One push as the robot commanded it and where the object was before."""

    start: Array
    """Place, quaternion x y z w, velocity, turning along its own axes. Shape (13,)."""
    tip: Array
    """Place and velocity of the fingertip's centre. Shape (6,)."""
    radius: float
    """Of the fingertip [m]."""
    command: Array
    """One row for each step, see COMMAND. Shape (steps, 27)."""
    step: float
    """[s]"""
    times: Array
    """At which the motion is wanted, from the start [s]. Shape (rows,)."""

    def __post_init__(self) -> None:
        """Refuse what cannot be simulated."""
        shapes = {'start': (13,), 'tip': (6,)}
        for name, shape in shapes.items():
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(
                    f'{name} has shape {np.shape(getattr(self, name))}, must be {shape}'
                )
        if self.command.ndim != 2 or self.command.shape[1] != COMMAND or not len(self.command):
            raise ValueError(f'command has shape {self.command.shape}, must be (steps, {COMMAND})')
        for name in ('start', 'tip', 'command', 'times'):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f'{name} holds numbers that are not finite')
        length = abs(np.linalg.norm(self.start[3:7]) - 1.0)
        if length > 1e-6:
            raise ValueError(f'the quaternion of the start is {length:g} off length 1')
        if not (self.step > 0.0 and self.radius > 0.0):
            raise ValueError(f'step is {self.step} s and radius {self.radius} m, must be positive')
        end = self.step * len(self.command)
        if self.times.ndim != 1 or not len(self.times) or (np.diff(self.times) < 0.0).any():
            raise ValueError('times must be a row of at least one, in order')
        if self.times[0] < 0.0 or self.times[-1] > end * (1.0 + 1e-9):
            raise ValueError(
                f'times go from {self.times[0]:g} to {self.times[-1]:g} s, must be within 0 and '
                f'{end:g} s'
            )


class Twin:
    """A push of an object of some shape, to be simulated with any parameters."""

    def __init__(self, shape: Shape, push: Push) -> None:
        """Prepare; nothing is simulated yet."""
        self.shape, self.push = shape, push
        height = shape.points @ rotation_matrix(push.start[3:7])[2]
        carries = height < height.min() + _TOUCHING
        below = _spread(shape.points[carries], _MOST_POINTS)
        self._points = np.vstack((below, _spread(shape.points[~carries], _MOST_POINTS)))
        # Of the mesh, not of the parameters: they only widen the corners of friction.
        up = rotation_matrix(push.start[3:7])[2]
        self._normal, tangential = shape.on_table(below, up)
        share = 1.0 / len(below)
        self._normal = max(self._normal, min(_TIPPED_POINTS * share, 1.0) * shape.mobility)
        self._reach = np.append(np.full(len(self._points), share), (tangential, shape.mobility))
        self._tip = np.append(push.tip, push.radius)
        self._moments = np.minimum(push.times / push.step, float(len(push.command)))
        self._command = np.ascontiguousarray(push.command, dtype=np.float64)
        self.runs = 0
        """How many pushes were simulated."""

    def run(self, parameters: Array) -> Array:
        """Motion for one or many sets of parameters.

        Args:
            parameters: shape (..., len(NAMES)).

        Returns:
            Place, quaternion x y z w, fingertip, velocity, turning along its own axes and the
            fingertip's velocity at each of the times. Shape (..., rows, COLUMNS).
        """
        parameters = np.asarray(parameters, dtype=np.float64)
        self._check(parameters)
        many = np.atleast_2d(parameters)
        return self._run(many)[0].reshape(*parameters.shape[:-1], -1, COLUMNS)

    def derivatives(self, parameters: Array, names: Sequence[str]) -> tuple[Array, Array]:
        """Motion for one set of parameters and its exact derivatives.

        Returns:
            Motion of shape (rows, COLUMNS), derivatives of shape (rows, COLUMNS, len(names)).
        """
        parameters = np.asarray(parameters, dtype=np.float64)
        self._check(parameters)
        unknown = [name for name in names if name not in INDEX]
        if unknown:
            raise ValueError(f'no parameter {unknown[0]!r}; there are: {", ".join(NAMES)}')
        if not names:
            return self.run(parameters), np.zeros((len(self._moments), COLUMNS, 0))
        many = np.tile(parameters.astype(np.complex128), (len(names), 1))
        for i, name in enumerate(names):
            many[i, INDEX[name]] += 1j * _TINY
        out, _ = self._run(many)
        return out[0].real.copy(), np.moveaxis(out.imag, 0, -1) / _TINY

    def touched(self, parameters: Array) -> float:
        """How deep fingertip and object pressed into each other at most [m]; 0: they never met."""
        self._check(np.asarray(parameters))
        return float(self._run(np.atleast_2d(np.asarray(parameters, dtype=np.float64)))[1][0])

    def _run(self, many: npt.NDArray[Any]) -> tuple[Array, Array]:
        field = self.shape.field
        out = np.empty((len(many), len(self._moments), COLUMNS), many.dtype)
        depths = np.empty(len(many))
        rollouts(
            many, self.push.start, self._tip, self._points, self._reach, field.origin, field.cell,
            field.coefficients, self._command, self.push.step, self._moments, out, depths,
        )  # fmt: skip
        self.runs += len(many)
        return out, depths

    def _check(self, parameters: Array) -> None:
        """Refuse parameters and steps with which the simulation would explode."""
        check(parameters)
        many, step = np.atleast_2d(parameters), self.push.step
        mobility = self.shape.mobility
        stiffness = many[:, INDEX['table_stiffness']].max() * self._normal
        damping = many[:, INDEX['table_damping']].max() * self._normal
        _refuse('the table', stiffness * step**2, damping * step, step)
        light = many[:, INDEX['mass']].min()
        tip = self._command[:, 21:24].max()
        easy = mobility / light + tip
        stiffness = many[:, INDEX['finger_stiffness']].max()
        damping = many[:, INDEX['finger_damping']].max()
        _refuse('the fingertip', stiffness * step**2 * easy, damping * step * easy, step)


def _refuse(what: str, stiff: float, damped: float, step: float) -> None:
    if stiff > _STIFF or damped > _DAMPED:
        share = max(np.sqrt(stiff / _STIFF), damped / _DAMPED)
        raise ValueError(
            f'a step of {1e3 * step:g} ms is unstable at {what}: k dt^2 / m is {stiff:.2g}, must '
            f'be at most {_STIFF:g}, and c dt / m is {damped:.2g}, must be at most {_DAMPED:g}; '
            f'take a step of {1e3 * step / share:.2g} ms or a softer contact'
        )


def _spread(points: Array, most: int) -> Array:
    """At most so many of the points: always the one that is farthest from those taken."""
    if len(points) <= most:
        return np.ascontiguousarray(points)
    taken = [int(np.argmin(points[:, 2]))]
    far = np.linalg.norm(points - points[taken[0]], axis=1)
    while len(taken) < most:
        taken.append(int(np.argmax(far)))
        far = np.minimum(far, np.linalg.norm(points - points[taken[-1]], axis=1))
    return np.ascontiguousarray(points[taken])


def at_rest(shape: Shape, place: Array, quaternion: Array, sink: float) -> Array:
    """A start in which the table carries the object: shape (13,).

    Args:
        shape: of the object.
        place: where it was seen [m]; its height is that at which it touches the table.
        quaternion: x y z w.
        sink: depth at which the table carries it, `GRAVITY / table_stiffness` [m].
    """
    lowest = (shape.points @ rotation_matrix(quaternion)[2]).min()
    return np.concatenate(((place[0], place[1], -lowest - sink), quaternion, np.zeros(6)))
