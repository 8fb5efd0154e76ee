# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's pose from a board on the hand, seen in several postures of the robot.

Where the board is on the hand need not be known: it is found as well. With X the camera in world,
Y the board on the palm, G the palm in world and C the board in the camera, G Y = X C in each
posture. That gives a start; then the squared distances between seen and predicted corners are
made least over X and Y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from drex_ros.perception.calibration_board import BoardView
from drex_ros.perception.calibration_file import CalibrationError, CameraPose, now
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import (
    matrix_from_vector,
    quaternion_from_matrix,
    vector_from_matrix,
)

LEAST_POSTURES = 4

_ITERATIONS = 50
_LEAST_TURN = np.radians(10.0)
"""By so much postures must differ, about two axes."""
_WORST_VIEW = 4.0  # times the median error: such a view is left out
_LEAST_ERROR = 1.0  # [px] a view with less is never left out


@dataclass(frozen=True, eq=False)
class HandView:
    """A board seen in one posture."""

    view: BoardView
    palm_rotation: Array
    """Of the palm in world. Shape (3, 3)."""
    palm_position: Array
    """[m], shape (3,)."""


@dataclass(frozen=True, eq=False)
class HandEye:
    """What was found."""

    pose: CameraPose
    board_rotation: Array
    """Of the board on the palm. Shape (3, 3)."""
    board_position: Array
    """[m], shape (3,)."""
    errors: Array
    """Root mean square error of each view [px]; NaN where it was left out. Shape (views,)."""


@dataclass(frozen=True, eq=False)
class _Guess:
    """Poses of the camera in world and of the board on the palm."""

    camera_rotation: Array
    camera_position: Array
    board_rotation: Array
    board_position: Array

    def moved(self, step: Array) -> _Guess:
        """After small moves and turns. Shape (12,)."""
        return _Guess(
            matrix_from_vector(step[3:6]) @ self.camera_rotation,
            self.camera_position + step[:3],
            matrix_from_vector(step[9:]) @ self.board_rotation,
            self.board_position + step[6:9],
        )


def calibrate_hand_eye(camera: CameraModel, views: Sequence[HandView]) -> HandEye:
    """The camera's pose from boards seen in pictures without distortion.

    Args:
        camera: whose intrinsics count; its pose does not.
        views: at least LEAST_POSTURES, with the hand turned about more than one axis.

    Raises CalibrationError when they do not tell the pose.
    """
    if len(views) < LEAST_POSTURES:
        raise CalibrationError(
            f'the board was seen in {len(views)} postures, must be at least {LEAST_POSTURES}'
        )
    _check_turns(views)
    used = list(range(len(views)))
    guess = _start(camera, views)
    while True:
        chosen = [views[i] for i in used]
        guess = _refine(camera, chosen, guess)
        errors = np.array([_rms(_residuals(camera, view, guess)) for view in chosen])
        worst = int(errors.argmax())
        bad = errors[worst] > max(_LEAST_ERROR, _WORST_VIEW * float(np.median(errors)))
        if not bad or len(used) <= LEAST_POSTURES:
            break
        used.pop(worst)
        guess = _start(camera, [views[i] for i in used])
    all_errors = np.full(len(views), np.nan)
    all_errors[used] = errors
    covariance, rms = _covariance(camera, chosen, guess)
    return HandEye(
        pose=CameraPose(
            position=guess.camera_position,
            quaternion=quaternion_from_matrix(guess.camera_rotation),
            covariance=covariance[:6, :6],
            method='board',
            rms=rms,
            rms_unit='px',
            postures=len(used),
            date=now(),
        ),
        board_rotation=guess.board_rotation,
        board_position=guess.board_position,
        errors=all_errors,
    )


def _check_turns(views: Sequence[HandView]) -> None:
    """Turns about one axis alone leave the camera free to move along it."""
    turns = np.array(
        [vector_from_matrix(views[0].palm_rotation.T @ view.palm_rotation) for view in views[1:]]
    )
    spread = np.linalg.svd(turns, compute_uv=False) / np.sqrt(len(turns))
    if spread[1] < _LEAST_TURN:
        raise CalibrationError(
            f'the hand turned by {np.degrees(spread[0]):.0f} and {np.degrees(spread[1]):.0f} deg '
            f'about two axes, must be at least {np.degrees(_LEAST_TURN):.0f} about both: '
            'tilt it more, in different ways'
        )


def _start(camera: CameraModel, views: Sequence[HandView]) -> _Guess:
    """G Y = X C in closed form: vec(X) = (C x G) vec(Y) for the turns, then the places."""
    seen = [_board_in_camera(camera, view.view) for view in views]
    product = sum(
        np.kron(rotation, view.palm_rotation)
        for view, (rotation, _) in zip(views, seen, strict=True)
    )
    u, _, v = np.linalg.svd(np.asarray(product))
    camera_rotation, sign = _nearest_rotation(u[:, 0].reshape(3, 3, order='F'))
    board_rotation, _ = _nearest_rotation(sign * v[0].reshape(3, 3, order='F'))
    # G_R y + g = X_R c + x, linear in y and x.
    left = np.vstack([np.hstack((view.palm_rotation, -np.eye(3))) for view in views])
    right = np.concatenate(
        [
            camera_rotation @ place - view.palm_position
            for view, (_, place) in zip(views, seen, strict=True)
        ]
    )
    places = np.linalg.lstsq(left, right, rcond=None)[0]
    return _Guess(camera_rotation, places[3:], board_rotation, places[:3])


def _board_in_camera(camera: CameraModel, view: BoardView) -> tuple[Array, Array]:
    found, turn, place = cv2.solvePnP(
        view.points, view.pixels, camera.matrix, None, flags=cv2.SOLVEPNP_IPPE
    )
    if not found:
        raise CalibrationError('a view of the board has no pose: is its size right?')
    return matrix_from_vector(turn.reshape(3)), place.reshape(3)


def _nearest_rotation(matrix: Array) -> tuple[Array, float]:
    """The rotation nearest to a multiple of a matrix, and the multiple's sign."""
    sign = 1.0 if np.linalg.det(matrix) > 0.0 else -1.0
    u, _, v = np.linalg.svd(sign * matrix)
    return u @ np.diag((1.0, 1.0, np.linalg.det(u @ v))) @ v, sign


def _residuals(camera: CameraModel, view: HandView, guess: _Guess) -> Array:
    """Seen minus predicted pixels. Shape (n, 2)."""
    seen, _, _, _ = _predict(view, guess)
    focal, centre = np.array((camera.fx, camera.fy)), np.array((camera.cx, camera.cy))
    pixels: Array = focal * seen[:, :2] / seen[:, 2:] + centre
    return view.view.pixels - pixels


def _predict(view: HandView, guess: _Guess) -> tuple[Array, Array, Array, Array]:
    """Corners in the optical frame, on the board turned as the palm, on the palm, from camera."""
    turned = view.view.points @ guess.board_rotation.T
    world = (turned + guess.board_position) @ view.palm_rotation.T + view.palm_position
    away = world - guess.camera_position
    return away @ guess.camera_rotation, turned, world, away


def _jacobian(camera: CameraModel, view: HandView, guess: _Guess) -> Array:
    """Of the predicted pixels by the twelve small steps. Shape (2 n, 12)."""
    seen, turned, _, away = _predict(view, guess)
    x, y, z = seen.T
    zero = np.zeros_like(x)
    by_point = np.stack(
        (
            np.stack((camera.fx / z, zero, -camera.fx * x / z**2), axis=-1),
            np.stack((zero, camera.fy / z, -camera.fy * y / z**2), axis=-1),
        ),
        axis=1,
    )
    to_camera = by_point @ guess.camera_rotation.T
    to_palm = to_camera @ view.palm_rotation
    blocks = (-to_camera, to_camera @ _cross(away), to_palm, -to_palm @ _cross(turned))
    return np.concatenate(blocks, axis=2).reshape(-1, 12)


def _cross(vectors: Array) -> Array:
    """Matrices of the cross product. Shape (n, 3, 3)."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    return np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=1).reshape(-1, 3, 3)


def _refine(camera: CameraModel, views: Sequence[HandView], guess: _Guess) -> _Guess:
    """Levenberg and Marquardt's way to the least squared errors."""
    damping, cost = 1e-4, _cost(camera, views, guess)
    for _ in range(_ITERATIONS):
        jacobian = np.vstack([_jacobian(camera, view, guess) for view in views])
        errors = np.concatenate([_residuals(camera, view, guess).ravel() for view in views])
        normal, pull = jacobian.T @ jacobian, jacobian.T @ errors
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), pull)
        other = guess.moved(step)
        better = _cost(camera, views, other)
        if better < cost:
            small = cost - better < 1e-9 * cost
            guess, cost, damping = other, better, 0.1 * damping
            if small:
                break
        else:
            damping *= 10.0
            if damping > 1e8:
                break
    return guess


def _cost(camera: CameraModel, views: Sequence[HandView], guess: _Guess) -> float:
    return sum(float((_residuals(camera, view, guess) ** 2).sum()) for view in views)


def _covariance(
    camera: CameraModel, views: Sequence[HandView], guess: _Guess
) -> tuple[Array, float]:
    """Of the twelve steps, and the root mean square error [px].

    Errors of a robot that is not quite where its joints say shift a whole view, so the errors of
    a view are taken together; what independent corners would give is the least.
    """
    jacobians = [_jacobian(camera, view, guess) for view in views]
    errors = [_residuals(camera, view, guess).ravel() for view in views]
    normal = sum((j.T @ j for j in jacobians), np.zeros((12, 12)))
    if np.linalg.cond(normal) > 1e12:
        raise CalibrationError('the postures are too alike to tell the pose: tilt the hand more')
    total, count = sum(float(e @ e) for e in errors), sum(e.size for e in errors)
    inverse = np.linalg.inv(normal).astype(np.float64)
    pulls = np.array([j.T @ e for j, e in zip(jacobians, errors, strict=True)]) @ inverse
    # A view has six numbers, twelve of all were used up by the fit.
    together = pulls.T @ pulls * (6 * len(views) / max(6 * len(views) - 12, 1))
    apart = total / max(count - 12, 1) * inverse
    return together + apart, float(np.sqrt(total / count * 2.0))


def _rms(errors: Array) -> float:
    """Root mean square distance of points [px]."""
    return float(np.sqrt((errors**2).sum() / len(errors)))
