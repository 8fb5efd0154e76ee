# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's pose without a board: the robot and the table themselves are the target.

The robot is drawn as it should be seen from the pose of the moment (RobotSilhouette), the table
is the plane z = 0, and the pose is changed until measured depth agrees: Gauss-Newton on the
differences of 1 / depth, in which a stereo camera's noise is even. How the drawn depth changes
with the pose is found by drawing it from poses a little beside. The scale of the depth is found
too: a known robot has a known size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.perception.calibration_file import CalibrationError, CameraPose, now
from drex_ros.perception.calibration_search import levelled, moved, search_along_table
from drex_ros.perception.frame import Depth
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.table_watch import Extent, table_pixels
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array

LEAST_POSTURES = 3

_STEP = 5e-4  # [m, rad] to each side, for derivatives
_WIDTHS = (0.06, 0.03, 0.015)  # [1/m] beyond which a pixel is something else, in turn
_MOST_ROUNDS = 12  # at each width
_SETTLED = 2e-5  # [m, rad] a step that changes nothing; larger at the first widths
_SMOOTH = 0.02  # [1/m] change of 1 / depth by a step that only an edge makes
_STRIDE = 2  # [px] between the robot's pixels that are used
_BLOCK = 24  # [px]; errors within are taken as one
_GROW = 9  # [px] around the drawn robot where nothing is table
_SCALE_PRIOR = 0.02  # deviation of the depth's scale
_NOISE = 0.003  # [1/m] deviation of a pixel of a D435
_FLOOR = 1e-3  # [m, rad] what meshes and joints of a real robot are not better than
_LEAST_PIXELS = 400  # of the robot, in all postures
_MOST_OFF = 0.35  # share of the robot's pixels that may be something else


@dataclass(frozen=True, eq=False)
class RobotView:
    """What was measured in one posture."""

    joint_position: Array
    """[rad], shape (23,)."""
    depth: Depth
    """[m], 0 where there is no value. Shape (height, width)."""


@dataclass(frozen=True, eq=False)
class RobotFit:
    """What was found."""

    pose: CameraPose
    agreement: float
    """Share of the robot's pixels whose depth agrees."""
    pixels: int
    """Of the robot that were used."""


@dataclass
class _Equations:
    """Sums of the linearised problem over the seven unknowns."""

    normal: Array = field(default_factory=lambda: np.zeros((7, 7)))
    pull: Array = field(default_factory=lambda: np.zeros(7))
    spread: Array = field(default_factory=lambda: np.zeros((7, 7)))
    robot: int = 0
    agreeing: int = 0
    total: float = 0.0
    weight: float = 0.0


def calibrate_with_robot(
    silhouette: RobotSilhouette,
    start: CameraModel,
    views: Sequence[RobotView],
    extent: Extent | None = None,
    *,
    progress: Callable[[float], None] = lambda share: None,
) -> RobotFit:
    """The camera's pose from depth images of the robot over its table.

    Args:
        silhouette: draws the robot; it looks through the found camera afterwards.
        start: intrinsics, and about where the camera is: within some 5 cm and 5 deg.
        views: at least LEAST_POSTURES different postures, the hand well in sight.
        extent: of the table top; None: it has no end.
        progress: called with the share that is done.

    Raises CalibrationError when robot and picture do not come together.
    """
    if len(views) < LEAST_POSTURES:
        raise CalibrationError(f'{len(views)} postures, must be at least {LEAST_POSTURES}')
    depths = [view.depth for view in views]
    camera = levelled(start, depths, extent)
    camera = search_along_table(
        silhouette, camera, [view.joint_position for view in views], depths
    )
    progress(0.25)
    scale = 1.0
    for number, width in enumerate(_WIDTHS):
        settled = _SETTLED * width / _WIDTHS[-1]
        for _ in range(_MOST_ROUNDS):
            equations = _equations(silhouette, camera, scale, views, width, extent)
            step = np.linalg.solve(equations.normal, equations.pull).astype(np.float64)
            camera, scale = moved(camera, step[:6]), scale + float(step[6])
            if np.abs(step).max() < settled:
                break
        progress(0.25 + 0.25 * (number + 1))
    return _result(equations, silhouette, camera, scale, views)


def _result(
    equations: _Equations,
    silhouette: RobotSilhouette,
    camera: CameraModel,
    scale: float,
    views: Sequence[RobotView],
) -> RobotFit:
    agreement = equations.agreeing / equations.robot
    if agreement < 1.0 - _MOST_OFF:
        raise CalibrationError(
            f'only {100.0 * agreement:.0f} % of the robot is where it should be seen: give a '
            'better first pose, and check that nothing stands between camera and robot'
        )
    silhouette.aim(camera)
    inverse = np.linalg.inv(equations.normal)
    covariance = (inverse @ equations.spread @ inverse)[:6, :6] + _FLOOR**2 * np.eye(6)
    pose = CameraPose(
        position=camera.position,
        quaternion=camera.quaternion,
        covariance=covariance,
        method='robot',
        # 1 / depth at the distance of the table's middle, as depth.
        rms=1e3 * float(np.sqrt(equations.total / equations.weight)) * _typical_depth(views) ** 2,
        rms_unit='mm',
        postures=len(views),
        depth_scale=scale,
        date=now(),
    )
    return RobotFit(pose, agreement, equations.robot)


def _typical_depth(views: Sequence[RobotView]) -> float:
    depth = views[0].depth
    return float(np.median(depth[depth > 0.0]))


def _equations(
    silhouette: RobotSilhouette,
    camera: CameraModel,
    scale: float,
    views: Sequence[RobotView],
    width: float,
    extent: Extent | None,
) -> _Equations:
    """The linearised problem at a pose."""
    equations = _Equations()
    for view in views:
        _add_view(equations, silhouette, camera, scale, view, width, extent)
    if equations.robot < _LEAST_PIXELS:
        raise CalibrationError(
            f'{equations.robot} pixels of the robot in sight, must be {_LEAST_PIXELS}: '
            'bring it into the picture, or give a better first pose'
        )
    known = _NOISE**2 / _SCALE_PRIOR**2  # as if so many pixels had seen it
    equations.normal[6, 6] += known
    equations.pull[6] += known * (1.0 - scale)
    return equations


def _add_view(
    equations: _Equations,
    silhouette: RobotSilhouette,
    camera: CameraModel,
    scale: float,
    view: RobotView,
    width: float,
    extent: Extent | None,
) -> None:
    """Add what one posture says."""
    measured = np.zeros_like(view.depth, dtype=np.float64)
    known = (view.depth > 0.0) & np.isfinite(view.depth)
    measured[known] = 1.0 / view.depth[known]
    drawn, slopes = _drawn_inverse(silhouette, camera, view.joint_position)
    robot = drawn > 0.0
    grown = cv2.dilate(robot.astype(np.uint8), np.ones((_GROW, _GROW), np.uint8)) > 0
    rows, columns = np.nonzero(robot & (np.abs(slopes).max(axis=0) < _SMOOTH / _STEP) & known)
    chosen = (rows % _STRIDE == 0) & (columns % _STRIDE == 0)
    rows, columns = rows[chosen], columns[chosen]
    errors = measured[rows, columns] - scale * drawn[rows, columns]
    # What is nearer than the robot hides it, and says nothing.
    open_ = errors < width
    equations.robot += int(open_.sum())
    equations.agreeing += int((np.abs(errors) < width).sum())
    jacobian = np.column_stack((scale * slopes[:, rows, columns].T, drawn[rows, columns]))
    _add(equations, errors, jacobian, rows, columns, width)

    rows, columns, rays = table_pixels(camera, extent)
    free = known[rows, columns] & ~grown[rows, columns]
    rows, columns, rays = rows[free], columns[free], rays[free]
    plane, by_pose = _table_inverse(camera, rays)
    errors = measured[rows, columns] - scale * plane
    jacobian = np.column_stack((scale * by_pose, plane))
    _add(equations, errors, jacobian, rows, columns, width)


def _add(
    equations: _Equations,
    errors: Array,
    jacobian: Array,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    width: float,
) -> None:
    """Add weighted pixels, and what their blocks pull."""
    share = np.maximum(1.0 - (errors / width) ** 2, 0.0)
    weight = share**2
    weighted = weight[:, None] * jacobian
    equations.normal += weighted.T @ jacobian
    equations.pull += weighted.T @ errors
    equations.total += float(weight @ errors**2)
    equations.weight += float(weight.sum())
    block = (rows // _BLOCK) * 10000 + columns // _BLOCK
    _, place = np.unique(block, return_inverse=True)
    pulls = np.stack(
        [np.bincount(place.reshape(-1), column * errors) for column in weighted.T], axis=1
    )
    equations.spread += pulls.T @ pulls


def _drawn_inverse(
    silhouette: RobotSilhouette, camera: CameraModel, joint_position: Array
) -> tuple[Array, Array]:
    """1 / depth of the drawn robot, 0 where it is not, and its slopes by the pose.

    Shapes (height, width) and (6, height, width); slopes are infinite where an edge is near.
    """
    silhouette.aim(camera)
    middle = 1.0 / silhouette.picture(joint_position).astype(np.float64)
    slopes = np.empty((6, *middle.shape))
    for i in range(6):
        sides = []
        for sign in (-_STEP, _STEP):
            step = np.zeros(6)
            step[i] = sign
            silhouette.aim(moved(camera, step))
            sides.append(1.0 / silhouette.picture(joint_position).astype(np.float64))
        slopes[i] = (sides[1] - sides[0]) / (2.0 * _STEP)
        slopes[i][(sides[0] == 0.0) | (sides[1] == 0.0)] = np.inf
    return middle, slopes


def _table_inverse(camera: CameraModel, rays: Array) -> tuple[Array, Array]:
    """1 / depth of the table along rays, shape (n,), and its slopes by the pose, (n, 6)."""
    up, height = camera.rotation[2], float(camera.position[2])
    plane = -(rays @ up) / height
    slopes = np.zeros((len(rays), 6))
    slopes[:, 2] = -plane / height
    # A turn w of the camera turns up, seen from it: d(R' z) = R' (z x w).
    x, y, _ = (rays @ camera.rotation.T).T
    slopes[:, 3], slopes[:, 4] = -y / height, x / height
    return plane, slopes
