# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex calibrate`: where the camera is, seen from the robot's base.

Postures are taken while the robot rests: the user moves it from one to the next, or --move does.
A move goes over a table that must be clear up to 15 cm.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from rich.console import Console
from sensor_msgs.msg import CameraInfo, Image

from drex_ros.client import Drex, DrexError
from drex_ros.hardware.scene_file import Scene, SceneError, load_scene
from drex_ros.nodes.camera_input import (
    COLOUR_TOPIC,
    DEPTH_TOPIC,
    INFO_TOPIC,
    CameraInput,
    CameraPair,
)
from drex_ros.nodes.images import LATEST_PICTURES
from drex_ros.perception.calibration_board import Board, BoardView, CharucoBoard, TagBoard
from drex_ros.perception.calibration_file import (
    METHODS,
    CalibrationError,
    CameraPose,
    load_camera_pose,
    save_camera_pose,
)
from drex_ros.perception.calibration_hand_eye import (
    LEAST_POSTURES,
    HandView,
    calibrate_hand_eye,
)
from drex_ros.perception.calibration_robot import RobotView, calibrate_with_robot
from drex_ros.perception.frame import Colour, Depth
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.description import HANDS, DescriptionError
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, Array
from drex_ros.robot.rotations import rotation_matrix, vector_from_matrix

ARM_POSTURES = (
    (0.3, 0.2, -0.2, -2.0, 0.3, 2.2, 0.5),
    (0.2, 0.4, 0.0, -1.7, 0.0, 2.1, 0.2),
    (-0.3, 0.3, 0.2, -1.9, -0.3, 2.2, 1.2),
    (-0.35, 0.0, 0.1, -2.1, 0.3, 2.2, 0.6),
    (-0.2, 0.0, 0.3, -2.2, 0.4, 2.6, 1.4),
    (-0.25, -0.1, -0.1, -2.2, -0.35, 2.4, 1.2),
    (-0.15, -0.3, 0.2, -2.4, -0.2, 2.0, 0.1),
    (0.0, -0.05, 0.0, -2.1, 0.0, 1.8, 0.8),
)
"""Of the arm for --move [rad]: the hand 15 cm and more above the table, turned many ways."""

_SPEED = 0.3  # share of the robot's own
_FRAMES = 10  # pictures of a posture, whose depth is averaged
_STILL = 0.004  # [rad] by which a resting joint may move meanwhile
_ANOTHER = 0.1  # [rad] by which some joint must differ in another posture
_MOST_POSTURES = 100
_FIRST_PICTURE = 10.0  # [s] that the first pair may take


@dataclass(frozen=True)
class CalibrateOptions:
    """How to calibrate."""

    method: str = 'robot'
    output: Path = Path('camera_pose.yaml')
    postures: int = len(ARM_POSTURES)
    move: bool = False
    start: Path | None = None
    """A camera pose from which to begin; None: that of the scene."""
    scene: str = 'table'
    hand: str = 'right'
    namespace: str = ''
    patience: float = 120.0
    """Wall time to wait for the next posture [s]."""
    board: str = 'charuco:7x5:30:22'
    """See `parse_board`."""


@dataclass(frozen=True, eq=False)
class Shot:
    """What was seen of one posture."""

    joint_position: Array
    colour: Colour
    depth: Depth


class CalibrationStack(Drex):
    """The running stack with its camera."""

    def __init__(self, namespace: str) -> None:
        super().__init__(namespace, name='drex_calibrate')
        self.input = CameraInput()
        self._pairs: deque[CameraPair] = deque(maxlen=4 * _FRAMES)
        self._listen(CameraInfo, INFO_TOPIC, self.input.take_info, LATEST_PICTURES)
        self._listen(Image, COLOUR_TOPIC, self._on_colour, LATEST_PICTURES)
        self._listen(Image, DEPTH_TOPIC, self._on_depth, LATEST_PICTURES)

    def lens_camera(self, pose: CameraModel | CameraPose) -> CameraModel:
        """A camera with the intrinsics of camera_info at a pose."""
        self._wait_for(
            lambda: True if self._pairs else None,
            _FIRST_PICTURE,
            'a picture',
            lambda: self.input.problem,
        )
        lens = self.input.lens
        if lens is None:
            raise CalibrationError(self.input.problem)
        return lens.camera(pose.position, pose.quaternion)

    def shot(self, patience: float) -> Shot:
        """Pictures of the robot at rest; waits until it rests."""
        deadline = time.monotonic() + patience
        while True:
            before = self.state()
            pairs = self._wait_for(
                lambda since=before.time: self._since(since),  # type: ignore[misc]
                _FIRST_PICTURE,
                f'{_FRAMES} pictures',
                lambda: self.input.problem,
            )
            moved = np.abs(self.state().position - before.position).max()
            if moved < _STILL:
                return self._shot(before.position, pairs)
            if time.monotonic() > deadline:
                raise CalibrationError(f'the robot did not rest within {patience:g} s')

    def _shot(self, position: Array, pairs: list[CameraPair]) -> Shot:
        depths = []
        for pair in pairs:
            colour, depth = self.input.pictures(pair)
            depths.append(depth.copy())
        return Shot(position, colour.copy(), median_depth(depths))

    def _since(self, start: float) -> list[CameraPair] | None:
        pairs = [pair for pair in self._pairs if min(pair.time, pair.colour_time) > start]
        return pairs[-_FRAMES:] if len(pairs) >= _FRAMES else None

    def _on_colour(self, message: Image) -> None:
        self._pairs.extend(self.input.take_colour(message))

    def _on_depth(self, message: Image) -> None:
        self._pairs.extend(self.input.take_depth(message))


def median_depth(depths: list[Depth]) -> Depth:
    """The median of each pixel's values [m]; 0 where fewer than half have one."""
    stack = np.sort(np.stack(depths), axis=0)  # no value is 0, and comes first
    count = (stack > 0.0).sum(axis=0)
    middle = len(depths) - 1 - (count - 1) // 2
    chosen = np.take_along_axis(stack, middle.clip(0, len(depths) - 1)[None], axis=0)[0]
    return np.where(2 * count >= len(depths), chosen, np.float32(0.0)).astype(np.float32)


def run_calibrate(options: CalibrateOptions) -> None:
    """Calibrate and write the file. Raises CalibrationError or DrexError."""
    _check(options)
    board = parse_board(options.board)
    try:
        scene = load_scene(options.scene)
    except SceneError as error:
        raise CalibrationError(str(error)) from None
    start = scene.camera if options.start is None else load_camera_pose(options.start)
    console = Console(highlight=False)
    with CalibrationStack(options.namespace) as stack:
        stack.state()
        camera = stack.lens_camera(start)
        if options.method == 'board':
            pose = _with_board(options, stack, camera, board, console)
        else:
            pose = _with_robot(options, stack, camera, scene, console)
    save_camera_pose(options.output, pose)
    _tell(console, options.output, camera, pose)


def _with_board(
    options: CalibrateOptions,
    stack: CalibrationStack,
    camera: CameraModel,
    board: Board,
    console: Console,
) -> CameraPose:
    dynamics = _dynamics(options.hand)
    views: list[HandView] = []
    for shot in _shots(options, stack, console, lambda shot: _find(board, shot) is not None):
        view = _find(board, shot)
        if view is not None:
            position, rotation = dynamics.palm_pose(shot.joint_position[ARM])
            views.append(HandView(view, np.array(rotation), np.array(position)))
    found = calibrate_hand_eye(camera, views)
    left_out = int(np.isnan(found.errors).sum())
    if left_out:
        console.print(f'{left_out} of {len(views)} views do not fit the others: left out')
    return found.pose


def _with_robot(
    options: CalibrateOptions,
    stack: CalibrationStack,
    camera: CameraModel,
    scene: Scene,
    console: Console,
) -> CameraPose:
    try:
        silhouette = RobotSilhouette(camera, options.hand)
    except DescriptionError as error:
        raise CalibrationError(str(error)) from None
    views = [
        RobotView(shot.joint_position, shot.depth)
        for shot in _shots(options, stack, console, lambda shot: True)
    ]
    (x, y), (length, width) = scene.table_position, scene.table_size
    extent = (x - length / 2, y - width / 2, x + length / 2, y + width / 2)
    with console.status('fitting robot and table'):
        found = calibrate_with_robot(silhouette, camera, views, extent)
    console.print(f'{100.0 * found.agreement:.0f} % of the robot is seen where it should be')
    return found.pose


def _shots(
    options: CalibrateOptions, stack: CalibrationStack, console: Console, usable: Any
) -> Iterator[Shot]:
    """Postures, one after the other."""
    if options.move:
        yield from _moved_shots(options, stack, console, usable)
        return
    taken: list[Array] = []
    deadline = time.monotonic() + options.patience
    console.print(f'move the robot through {options.postures} postures, resting 1 s in each')
    while len(taken) < options.postures:
        if time.monotonic() > deadline:
            raise CalibrationError(
                f'{len(taken)} of {options.postures} postures, no other one within '
                f'{options.patience:g} s: move the robot, or give --move'
            )
        shot = stack.shot(options.patience)
        if any(np.abs(shot.joint_position - old).max() < _ANOTHER for old in taken):
            continue
        if usable(shot):
            taken.append(shot.joint_position)
            deadline = time.monotonic() + options.patience
            console.print(f'posture {len(taken)} of {options.postures} taken')
            yield shot


def _moved_shots(
    options: CalibrateOptions, stack: CalibrationStack, console: Console, usable: Any
) -> Iterator[Shot]:
    postures = ARM_POSTURES[: options.postures]
    for number, arm in enumerate(postures):
        stack.move_to(arm=arm, hand=HOME[HAND], speed=_SPEED, timeout=options.patience)
        shot = stack.shot(options.patience)
        good = usable(shot)
        words = 'taken' if good else 'left out: the board is not in sight'
        console.print(f'posture {number + 1} of {len(postures)} {words}')
        if good:
            yield shot
    stack.move_to(arm=HOME[ARM], hand=HOME[HAND], speed=_SPEED, timeout=options.patience)


def _find(board: Board, shot: Shot) -> BoardView | None:
    return board.find(cv2.cvtColor(shot.colour, cv2.COLOR_RGB2GRAY))  # type: ignore[arg-type]


def parse_board(text: str) -> Board:
    """A board from its description: charuco:COLUMNSxROWS:SQUARE:TAG or tag:NUMBER:SIZE [mm].

    A dictionary of OpenCV may follow: tag:7:50:4X4_50. Raises CalibrationError.
    """
    kind, *parts = text.split(':')
    try:
        if kind == 'charuco' and len(parts) in (3, 4):
            columns, rows = parts[0].split('x')
            square, tag = (1e-3 * float(part) for part in parts[1:3])
            return CharucoBoard(int(columns), int(rows), square, tag, *parts[3:])
        if kind == 'tag' and len(parts) in (2, 3):
            return TagBoard(int(parts[0]), 1e-3 * float(parts[1]), *parts[2:])
    except CalibrationError:
        raise
    except ValueError:
        pass  # no numbers
    raise CalibrationError(
        f'--board is {text!r}, must be as charuco:7x5:30:22 (columns, rows, side of a square and '
        'of a tag in mm) or tag:0:50 (number, side), each with :FAMILY where it is another'
    )


def _check(options: CalibrateOptions) -> None:
    for name, value, known in (
        ('method', options.method, METHODS),
        ('hand', options.hand, HANDS),
    ):
        if value not in known:
            raise CalibrationError(f'--{name} is {value!r}, must be one of {", ".join(known)}')
    most = len(ARM_POSTURES) if options.move else _MOST_POSTURES
    if not LEAST_POSTURES <= options.postures <= most:
        raise CalibrationError(
            f'--postures is {options.postures}, must be in {LEAST_POSTURES} .. {most}'
        )
    if not 0.0 < options.patience < np.inf:
        raise CalibrationError(f'--patience is {options.patience:g}, must be above 0 s')
    # What cannot be written shall be known before the robot moves.
    if not options.output.absolute().parent.is_dir():
        raise CalibrationError(f'{options.output.absolute().parent}: no such folder')


def _dynamics(hand: str) -> Dynamics:
    try:
        return Dynamics(hand=hand)
    except DescriptionError as error:
        raise CalibrationError(str(error)) from None


def _tell(console: Console, path: Path, before: CameraModel, pose: CameraPose) -> None:
    x, y, z = pose.position
    turn = vector_from_matrix(rotation_matrix(pose.quaternion) @ before.rotation.T)
    shift = float(np.linalg.norm(pose.position - before.position))
    console.print(
        f'camera at {x:.4f} {y:.4f} {z:.4f} m, deviation {1e3 * pose.position_deviation:.1f} mm '
        f'and {np.degrees(pose.rotation_deviation):.2f} deg, '
        f'rms {pose.rms:.2f} {pose.rms_unit} over {pose.postures} postures'
    )
    console.print(
        f'{1e3 * shift:.0f} mm and {np.degrees(np.linalg.norm(turn)):.1f} deg from where it was '
        f'said to be; written to {path}'
    )
    if abs(pose.depth_scale - 1.0) > 0.002:
        console.print(f'depth times {pose.depth_scale:.4f} is true depth')


__all__ = ['CalibrateOptions', 'CalibrationError', 'DrexError', 'run_calibrate']
