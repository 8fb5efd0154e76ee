# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The pose of an object from the four corners of a square tag on it.

A flat square seen nearly from the front fits the picture in two ways, tilted towards the camera
or away. Both are followed to their best fit; how likely each is says how sure the answer is.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from drex_ros.perception.estimate import ObjectState, PoseObservation
from drex_ros.perception.frame import Depth
from drex_ros.perception.pose_filter import distance, pose_difference
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import (
    quaternion_from_matrix,
    quaternion_from_vector,
    quaternion_product,
    rotation_matrix,
)

_ITERATIONS = 8
_STEP = 1e-6  # [m, rad] smaller steps change nothing
_NEAREST = 0.02  # [m] depth of a corner below which a pose makes no sense
_GRID = 5  # points across the tag at which depth is looked at
_INNER = 0.8  # share of the tag that they span: at its rim, depth is that of the background too
_DEPTH_SIGMA = 0.004  # [m] of the depth at one of them, next to the others
_DEPTH_WEIGHT = 4.0 / _GRID**2  # neighbours share their errors: as much as four of their own
_MOST_DEPTH = 9.0  # a point further off, squared and in deviations, counts no more than this
_MOST_PREDICTION = 25.0  # the same of the prediction, which must not outvote the picture


@dataclass(frozen=True, eq=False)
class TagPose:
    """The object's pose by one picture of its tag."""

    observation: PoseObservation
    residual: float
    """Root mean square distance of the corners from where the pose has them [px]."""
    doubt: float
    """Probability that the other of the two ways is the right one."""


@dataclass(frozen=True, eq=False)
class _Fit:
    position: Array
    quaternion: Array
    covariance: Array
    residuals: Array
    """[px], shape (8,)."""


def square_corners(side: float) -> Array:
    """Corners of a tag with this side [m] in its own frame, as detectors list them. Shape (4, 3).

    x is to the right of the printed picture, y up, z out of it towards who looks at it.
    """
    half = 0.5 * side
    return np.array(
        ((-half, half, 0.0), (half, half, 0.0), (half, -half, 0.0), (-half, -half, 0.0))
    )


def tag_pose(
    time: float,
    pixels: Array,
    side: float,
    tag_position: Array,
    tag_quaternion: Array,
    camera: CameraModel,
    corner_sigma: float,
    *,
    depth: Depth | None = None,
    expected: ObjectState | None = None,
) -> TagPose | None:
    """The object's pose from the pixels of its tag's corners; None: none fits.

    Args:
        time: of the picture [s].
        pixels: column and row of each corner, in the order of `square_corners`. Shape (4, 2).
        side: of the tag [m].
        tag_position: of the tag's middle in the object's frame [m].
        tag_quaternion: of the tag's frame in the object's, x y z w.
        camera: that took the picture.
        corner_sigma: standard deviation of a corner's column and row [px].
        depth: picture of the same moment; tells the two ways to see a square apart.
        expected: what is known of the object at this time; helps with that too.
    """
    corners = square_corners(side)
    turn = rotation_matrix(tag_quaternion)
    points = corners @ turn.T + tag_position
    found, rotations, translations, _ = cv2.solvePnPGeneric(
        corners,
        np.ascontiguousarray(pixels, dtype=np.float64).reshape(4, 1, 2),
        camera.matrix,
        None,
        flags=cv2.SOLVEPNP_IPPE_SQUARE,
    )
    if not found:
        return None
    inner = 0.5 * _INNER * side * np.linspace(-1.0, 1.0, _GRID)
    grid = np.stack([axis.ravel() for axis in np.meshgrid(inner, inner)] + [np.zeros(_GRID**2)])
    surface = grid.T @ turn.T + tag_position
    fits: list[_Fit] = []
    costs: list[float] = []
    for vector, shift in zip(rotations, translations, strict=True):
        in_world = camera.rotation @ cv2.Rodrigues(vector)[0] @ turn.T
        place = camera.to_world(np.ravel(shift)) - in_world @ tag_position
        fit = _refine(points, pixels, camera, corner_sigma, place, in_world)
        if fit is None or any(_same(fit, other) for other in fits):
            continue
        cost = float(np.square(fit.residuals / corner_sigma).sum())
        if depth is not None:
            cost += _depth_cost(surface, camera, fit, depth)
        if expected is not None:
            seen = PoseObservation(time, fit.position, fit.quaternion, fit.covariance)
            cost += min(distance(expected, seen), _MOST_PREDICTION)
        fits.append(fit)
        costs.append(cost)
    if not fits:
        return None
    return _weighed(time, fits, np.array(costs))


def _weighed(time: float, fits: list[_Fit], costs: Array) -> TagPose:
    """The best fit, less sure by how likely the other one is."""
    best = int(np.argmin(costs))
    shares = np.exp(-0.5 * (costs - costs[best]))
    shares /= shares.sum()
    chosen = fits[best]
    covariance = chosen.covariance.copy()
    for other, share in zip(fits, shares, strict=True):
        apart = pose_difference(
            other.position, other.quaternion, chosen.position, chosen.quaternion
        )
        covariance += share * np.outer(apart, apart)
    return TagPose(
        PoseObservation(time, chosen.position, chosen.quaternion, covariance),
        residual=float(np.sqrt(2.0 * np.mean(np.square(chosen.residuals)))),
        doubt=float(1.0 - shares[best]),
    )


def _refine(
    points: Array, pixels: Array, camera: CameraModel, sigma: float, position: Array, turn: Array
) -> _Fit | None:
    """Gauss-Newton on the distances of the corners, in the object's pose in world."""
    quaternion = quaternion_from_matrix(turn)
    to_camera = camera.rotation.T
    focal = np.array((camera.fx, camera.fy))
    centre = np.array((camera.cx, camera.cy))
    jacobian = np.empty((4, 2, 6))
    for _ in range(_ITERATIONS):
        arms = points @ rotation_matrix(quaternion).T
        optical = (position + arms - camera.position) @ camera.rotation
        depth = optical[:, 2:]
        if not depth.min() > _NEAREST:
            return None
        slopes = optical[:, :2] / depth
        residuals = np.ravel(pixels - slopes * focal - centre)
        rows = to_camera[:2] - slopes[..., None] * to_camera[2]
        rows *= (focal / depth)[..., None]
        jacobian[..., :3] = rows
        # A turn w moves the corner by w x arm, so that a row r has r (w x arm) = (arm x r) w.
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            jacobian[..., 3 + i] = (
                arms[:, j, None] * rows[..., k] - arms[:, k, None] * rows[..., j]
            )
        flat = jacobian.reshape(8, 6)
        normal = flat.T @ flat
        normal[np.diag_indices(6)] *= 1.0 + 1e-9
        try:
            step = np.linalg.solve(normal, flat.T @ residuals)
        except np.linalg.LinAlgError:
            return None
        position = position + step[:3]
        quaternion = quaternion_product(quaternion_from_vector(step[3:]), quaternion)
        quaternion /= np.linalg.norm(quaternion)
        if np.abs(step).max() < _STEP:
            break
    covariance = sigma**2 * np.linalg.inv(normal)
    if not np.isfinite((*position, *quaternion, *covariance.ravel())).all():
        return None
    # Eight numbers less six: corners that fit worse than stated make the pose less sure.
    worse = max(1.0, float(np.square(residuals / sigma).sum()) / 2.0)
    return _Fit(position, quaternion, 0.5 * worse * (covariance + covariance.T), residuals)


def _same(first: _Fit, second: _Fit) -> bool:
    """Whether both were led to the same place."""
    apart = pose_difference(first.position, first.quaternion, second.position, second.quaternion)
    return bool(np.abs(apart).max() < 1e-4)


def _depth_cost(points: Array, camera: CameraModel, fit: _Fit, depth: Depth) -> float:
    """How badly the tag's tilt fits to measured depth; its distance is not judged."""
    world = points @ rotation_matrix(fit.quaternion).T + fit.position
    optical = camera.to_optical(world)
    pixels = np.rint(camera.project(world))
    inside = (pixels >= 0.0).all(axis=1) & (pixels < (camera.width, camera.height)).all(axis=1)
    columns, rows = pixels[inside].astype(np.intp).T
    measured = depth[rows, columns].astype(np.float64)
    valid = np.isfinite(measured) & (measured > 0.0)
    if valid.sum() < len(points) // 2:
        return 0.0
    off = measured[valid] - optical[inside][valid, 2]
    # A wrong scale of the depth shifts all points alike and must not decide.
    off -= np.median(off)
    return float(_DEPTH_WEIGHT * np.minimum(np.square(off / _DEPTH_SIGMA), _MOST_DEPTH).sum())
