# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A pinhole camera at a fixed pose: which pixel sees which point.

Pixel centres are at whole numbers: the picture reaches from -0.5 to width - 0.5, and its middle
is at cx = (width - 1) / 2. The optical frame is that of REP 103 (x right, y down, z forward);
depth is measured along its z, not along the ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_from_rpy, quaternion_product, rotation_matrix

OPTICAL_FROM_LINK = (-0.5, 0.5, -0.5, 0.5)
"""Turn of the optical frame in `camera_link` (x forward, y left, z up): quaternion x y z w."""

_UNIT_TOLERANCE = 1e-6


class CameraError(ValueError):
    """A camera that cannot be; the message is one readable line."""


@dataclass(frozen=True, eq=False)
class CameraModel:
    """Intrinsics and pose of a camera without lens distortion."""

    width: int
    """[px]"""
    height: int
    """[px]"""
    fx: float
    """Focal length over pixel width [px]."""
    fy: float
    """Focal length over pixel height [px]."""
    cx: float
    """Column where the optical axis meets the picture [px]."""
    cy: float
    """Row where the optical axis meets the picture [px]."""
    position: Array
    """Of the optical frame in world [m]. Shape (3,), read-only."""
    quaternion: Array
    """Of the optical frame in world, x y z w. Shape (4,), read-only."""

    def __post_init__(self) -> None:
        for name in ('width', 'height'):
            size = getattr(self, name)
            if size != int(size) or size < 1:
                raise CameraError(f'camera {name} is {size} px, must be a whole number from 1')
            object.__setattr__(self, name, int(size))
        for name in ('fx', 'fy'):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise CameraError(f'camera {name} is {getattr(self, name)} px, must be positive')
        if not np.isfinite((self.cx, self.cy)).all():
            raise CameraError(f'camera cx, cy are {self.cx}, {self.cy} px, must be finite')
        for name, count in (('position', 3), ('quaternion', 4)):
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.shape != (count,) or not np.isfinite(array).all():
                raise CameraError(f'camera {name} is {array.tolist()}, must be {count} numbers')
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if abs(np.linalg.norm(self.quaternion) - 1.0) > _UNIT_TOLERANCE:
            raise CameraError(f'camera quaternion {self.quaternion.tolist()} must have length 1')

    @classmethod
    def from_pose(
        cls,
        xyz: Sequence[float],
        rpy: Sequence[float],
        *,
        width: int = 640,
        height: int = 480,
        fx: float = 615.0,
        fy: float = 615.0,
        cx: float | None = None,
        cy: float | None = None,
    ) -> CameraModel:
        """A camera from the pose of its `camera_link` (x forward, y left, z up).

        Args:
            xyz: position in world [m].
            rpy: roll, pitch, yaw in world [rad], as in URDF.
            width: of the picture [px].
            height: of the picture [px].
            fx: focal length [px]; a RealSense D435's colour camera has about 615 at 640x480.
            fy: the same for the rows [px].
            cx: column of the optical axis [px]; None: the middle.
            cy: row of the optical axis [px]; None: the middle.
        """
        if len(xyz) != 3 or len(rpy) != 3:
            raise CameraError(
                f'camera pose has {len(xyz)} and {len(rpy)} values, must be xyz and rpy'
            )
        return cls(
            width=width,
            height=height,
            fx=fx,
            fy=fy,
            cx=(width - 1) / 2 if cx is None else cx,
            cy=(height - 1) / 2 if cy is None else cy,
            position=np.asarray(xyz, dtype=np.float64),
            quaternion=quaternion_product(quaternion_from_rpy(rpy), OPTICAL_FROM_LINK),
        )

    @property
    def matrix(self) -> Array:
        """Intrinsic matrix K: K @ point_optical is the pixel, times depth. Shape (3, 3)."""
        return np.array(((self.fx, 0.0, self.cx), (0.0, self.fy, self.cy), (0.0, 0.0, 1.0)))

    @property
    def rotation(self) -> Array:
        """Turns vectors of the optical frame into world. Shape (3, 3)."""
        return rotation_matrix(self.quaternion)

    def to_optical(self, points: npt.ArrayLike) -> Array:
        """Points of world in the optical frame [m]. Shape (..., 3)."""
        return (np.asarray(points, dtype=np.float64) - self.position) @ self.rotation

    def to_world(self, points: npt.ArrayLike) -> Array:
        """Points of the optical frame in world [m]. Shape (..., 3)."""
        return np.asarray(points, dtype=np.float64) @ self.rotation.T + self.position

    def project(self, points: npt.ArrayLike) -> Array:
        """Column and row [px] at which points of world are seen. Shape (..., 2).

        Points outside of the picture have pixels outside of it; those behind the camera NaN.
        """
        x, y, z = np.moveaxis(self.to_optical(points), -1, 0)
        z = np.where(z > 0.0, z, np.nan)
        return np.stack((self.fx * x / z + self.cx, self.fy * y / z + self.cy), axis=-1)

    def rays(self) -> Array:
        """What each pixel sees at depth 1 m, in the optical frame. Shape (height, width, 3)."""
        rays = np.ones((self.height, self.width, 3))
        rays[..., 0] = (np.arange(self.width) - self.cx) / self.fx
        rays[..., 1] = ((np.arange(self.height) - self.cy) / self.fy)[:, None]
        return rays

    def unproject(self, depth: npt.ArrayLike) -> Array:
        """Points of world [m] that a depth image sees. Shape (height, width, 3).

        `depth` is along the optical axis [m], shape (height, width); 0 and infinity, where
        nothing was measured, give NaN.
        """
        z = np.asarray(depth, dtype=np.float64)
        if z.shape != (self.height, self.width):
            raise CameraError(
                f'depth image of shape {z.shape}, must be {(self.height, self.width)}'
            )
        z = np.where((z > 0.0) & np.isfinite(z), z, np.nan)
        return self.to_world(self.rays() * z[..., None])
