# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the table says: an object that stands on it keeps its height and its side down.

Soft, and it lets go: when depth and outline alone contradict it, because the object tips or is
lifted, it is silent until they have agreed with it again for some frames. As long as the object is
near the table, it still says roughly how high it is: where hardly anything is seen, that counts.
"""

from __future__ import annotations

import numpy as np

from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RestingFace, TrackedMesh
from drex_ros.robot.joints import Array

TILT = 0.006
"""Deviation of the side from the table's plane [rad]."""
HEIGHT = 0.0006
"""Deviation of the height [m]."""
NEAR_TILT = np.radians(8.0)
"""A side that is tilted by less stands on the table, if the height fits too."""

_NEAR_HEIGHT = 0.006  # [m]
_FAR_HEIGHT = 0.015  # [m] of the lowest point, from which the object is in the air
_ROUGH_HEIGHT = 0.004  # [m] deviation of its height as long as it is not
_CONTRADICTION = 12.0  # chi square of three numbers at which the prior lets go
_STRONG_CONTRADICTION = 20.0  # the same when little of the object is in sight
_MUCH = 0.5  # share in sight that is not little
_DOUBT = 8.0  # and below which it must be to come back
_LASTING = 0.0006  # [m] by which the measured surface is off for good
_PATIENCE = 10  # frames until it comes back


_VARIANCES = np.array((TILT**2, TILT**2, HEIGHT**2))


class ContactPrior:
    """The table's say in a pose, in the optical frame."""

    def __init__(self, mesh: TrackedMesh, table: Array) -> None:
        """Nothing is known of how the object stands.

        Args:
            mesh: of the object.
            table: plane n, d with n . p + d the height of a point above it [m]. Shape (4,).
        """
        self._mesh = mesh
        self.table = table
        self.side: RestingFace | None = None
        self.active = False
        """Whether the prior counts now."""
        self.near = False
        """Whether the object touches the table at least somewhere."""
        self.mismatch = 0.0
        """Chi square of what the table says, against depth and outline alone."""
        self._wait = self._against = 0
        normal = table[:3]
        across = _cross(normal, np.array((1.0, 0.0, 0.0)))
        across /= np.linalg.norm(across)
        self.level = np.stack((across, _cross(normal, across)))
        """Two directions along the table, square to each other. Shape (2, 3)."""
        self._half = 0.5 * np.ptp(mesh.vertices, axis=0)
        self._rows = np.zeros((3, 6))
        self._rows[:2, 3:] = self.level
        self._rows[2, :3] = normal

    def stand(self, pose: Pose) -> None:
        """Take it that the object stands on the side that is down, if one is; else let go."""
        self.side = self._side_down(pose)
        self.active = self.side is not None or abs(self._lowest(pose)[0]) < _NEAR_HEIGHT
        self.near, self._wait = self.active, 0

    def stand_on(self, side: RestingFace | None) -> None:
        """Take it that the object stands on this side."""
        self.side, self.active, self._wait = side, True, 0

    def release(self) -> None:
        """Take it that the object does not stand."""
        self.side, self.active, self.near, self._wait = None, False, False, 0

    def added(self, pose: Pose, information: Array, gradient: Array) -> tuple[Array, Array]:
        """Information and gradient with what the table says. Shapes (6, 6) and (6,)."""
        if self.active:
            rows, residual, variance = self._residual(pose)
        elif self.near:
            rows, residual, variance = self._touching(pose, _ROUGH_HEIGHT)
        else:
            return information, gradient
        return (
            information + (rows.T / variance) @ rows,
            gradient + (rows.T / variance) @ residual,
        )

    def check(
        self, pose: Pose, free_step: Array, free_covariance: Array, in_sight: float
    ) -> bool:
        """Let go or come back; True when it just let go, so that the pose must be fitted anew.

        Args:
            pose: as fitted.
            free_step: from it to where depth and outline alone would be. Shape (6,).
            free_covariance: of that. Shape (6, 6).
            in_sight: share of the object that is seen; of little, depth says little that is sure.
        """
        self.near = self.active or abs(self._lowest(pose)[0]) < _FAR_HEIGHT
        if self.side is None and not self.active:
            self._look_for_table(pose)
            return False
        rows, residual, variance = self._residual(pose)
        residual = residual - rows @ free_step
        spread = rows @ free_covariance @ rows.T + np.diag(variance) + self._lasting(pose, rows)
        self.mismatch = float(residual @ np.linalg.solve(spread, residual)) * 3.0 / len(residual)
        limit = _CONTRADICTION if in_sight > _MUCH else _STRONG_CONTRADICTION
        self._against = self._against + 1 if self.mismatch > limit else 0
        if self.active and (self._against >= 2 or self.mismatch > 3.0 * limit):
            self.active, self._wait = False, _PATIENCE
            return True
        if not self.active:
            if self.mismatch > _DOUBT:
                self._wait = _PATIENCE
                self._look_for_table(pose)
            else:
                self._wait -= 1
                self.active = self._wait <= 0
        return False

    def _lasting(self, pose: Pose, rows: Array) -> Array:
        """Covariance of what depth and outline err by in all frames alike. Shape as of the rows.

        A surface that is measured a little off tilts an object the more, the narrower it is.
        """
        if len(rows) == 1:
            return np.array(((_LASTING**2,),))
        axes = self.level @ pose.rotation
        (a, b), (_, c) = (axes * self._half**2) @ axes.T
        # A turn (u, v) about the level axes lifts a point (x, y) by u y - v x.
        covariance = np.zeros((3, 3))
        covariance[:2, :2] = np.array(((a, b), (b, c))) / (a * c - b * b)
        covariance[2, 2] = 1.0
        return _LASTING**2 * covariance

    def _look_for_table(self, pose: Pose) -> None:
        """When another side is down, or the object rolls, that is how it stands from now on."""
        side = self._side_down(pose)
        if side is not self.side and (
            side is not None or abs(self._lowest(pose)[0]) < 0.5 * _NEAR_HEIGHT
        ):
            self.side, self._wait = side, _PATIENCE
            self.active = False
            if side is None:
                self._wait = _PATIENCE

    def _residual(self, pose: Pose) -> tuple[Array, Array, Array]:
        """Rows of the Jacobian, how far each is off, and variances."""
        if self.side is None:
            return self._touching(pose, HEIGHT)
        tilt = self.level @ _cross(pose.rotation @ self.side.up, self.table[:3])
        height = self.side.height - (self.table[:3] @ pose.position + self.table[3])
        return self._rows, np.append(tilt, height), _VARIANCES

    def _touching(self, pose: Pose, deviation: float) -> tuple[Array, Array, Array]:
        """The same of an object whose lowest point is on the table, to a deviation [m]."""
        gap, lever = self._lowest(pose)
        normal = self.table[:3]
        row = np.concatenate((normal, _cross(lever, normal)))
        return row[None, :], np.array((-gap,)), np.array((deviation**2,))

    def _lowest(self, pose: Pose) -> tuple[float, Array]:
        """Height of the lowest point above the table [m], and where it is from the origin."""
        turned = self._mesh.vertices @ (self.table[:3] @ pose.rotation)
        lowest = int(np.argmin(turned))
        height = turned[lowest] + self.table[:3] @ pose.position + self.table[3]
        lever: Array = pose.rotation @ self._mesh.vertices[lowest]
        return float(height), lever

    def _side_down(self, pose: Pose) -> RestingFace | None:
        up = pose.rotation.T @ self.table[:3]
        height = self.table[:3] @ pose.position + self.table[3]
        for side in self._mesh.resting_faces:
            if side.up @ up > np.cos(NEAR_TILT) and abs(side.height - height) < _NEAR_HEIGHT:
                return side
        return None


def _cross(a: Array, b: Array) -> Array:
    """The product of two vectors of 3; numpy's own takes fifty times as long."""
    return np.array(
        (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    )
