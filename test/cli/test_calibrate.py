# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex calibrate`: what is refused, and a whole run; the test plays robot and camera."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sensor_msgs.msg import CameraInfo, Image

from drex_interfaces.msg import RobotState
from drex_ros.cli.calibrate import (
    ARM_POSTURES,
    CalibrateOptions,
    CalibrationError,
    DrexError,
    median_depth,
    parse_board,
    run_calibrate,
)
from drex_ros.hardware.depth_noise import DepthSensor, frame_generator, to_millimetres
from drex_ros.hardware.rendering import SceneRenderer
from drex_ros.hardware.scene import scene_spec
from drex_ros.hardware.scene_file import load_scene
from drex_ros.nodes.camera_input import COLOUR_TOPIC, DEPTH_TOPIC, INFO_TOPIC
from drex_ros.nodes.conversions import NEWEST, stamp
from drex_ros.nodes.images import PICTURES, ImageMessage, camera_info
from drex_ros.perception.calibration_board import CharucoBoard, TagBoard
from drex_ros.perception.calibration_file import CameraPose, load_camera_pose, save_camera_pose
from drex_ros.perception.calibration_search import moved
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, LIMITS
from drex_ros.robot.rotations import rotation_matrix, vector_from_matrix

SCENE = load_scene()
CAMERA = CameraModel(
    320,
    240,
    fx=307.5,
    fy=307.5,
    cx=159.5,
    cy=119.5,
    position=SCENE.camera.position,
    quaternion=SCENE.camera.quaternion,
)
PERIOD = 0.04  # [s] between two pictures
REST = 40  # pictures of a posture


@pytest.mark.parametrize(
    ('options', 'words'),
    [
        (CalibrateOptions(method='guess'), "--method is 'guess', must be one of board, robot"),
        (CalibrateOptions(hand='third'), "--hand is 'third', must be one of right, left"),
        (CalibrateOptions(postures=2), '--postures is 2, must be in 4 .. 100'),
        (CalibrateOptions(patience=float('nan')), '--patience is nan, must be above 0 s'),
        (CalibrateOptions(postures=9, move=True), '--postures is 9, must be in 4 .. 8'),
        (CalibrateOptions(output=Path('/nowhere/pose.yaml')), '/nowhere: no such folder'),
        (CalibrateOptions(start=Path('/nowhere/a.yaml')), '/nowhere/a.yaml: no such file'),
        (CalibrateOptions(scene='moon'), 'moon'),
        (CalibrateOptions(board='chess'), "--board is 'chess', must be as charuco:7x5:30:22"),
    ],
)
def test_wrong_options_are_one_line_before_anything_moves(options, words):
    with pytest.raises(CalibrationError) as error:
        run_calibrate(options)
    assert words in str(error.value)
    assert '\n' not in str(error.value)


def test_boards_are_read_from_their_description():
    assert isinstance(parse_board('charuco:5x4:40:30'), CharucoBoard)
    assert isinstance(parse_board('tag:7:50:4X4_50'), TagBoard)
    with pytest.raises(CalibrationError, match=r"no dictionary '9X9'"):
        parse_board('tag:7:50:9X9')
    for text in ('tag', 'tag:a:50', 'tag:7:50:4X4_50:5', 'charuco:5:40:30', ''):
        with pytest.raises(CalibrationError, match='must be as'):
            parse_board(text)


def test_without_a_stack_it_says_so(ros_domain, tmp_path):
    with pytest.raises(DrexError, match='is the stack running'):
        run_calibrate(CalibrateOptions(output=tmp_path / 'pose.yaml', namespace='/nobody'))
    assert list(tmp_path.iterdir()) == []


def test_postures_of_the_command_are_the_robots_and_high_enough():
    dynamics = Dynamics()
    for arm in ARM_POSTURES:
        posture = np.concatenate((arm, HOME[7:]))
        assert (posture > LIMITS.lower).all()
        assert (posture < LIMITS.upper).all()
        assert dynamics.fingertip_positions(posture)[:, 2].min() > 0.15


def test_the_median_leaves_out_what_is_no_depth():
    stack = [np.array([[a, b, c, 0.0]], np.float32) for a, b, c in
             ((1.0, 0.0, 0.0), (2.0, 5.0, 0.0), (9.0, 7.0, 3.0))]  # fmt: skip
    assert median_depth(stack).tolist() == [[2.0, 7.0, 0.0, 0.0]]


class Robot:
    """Publishes the robot's state and the camera's pictures, posture after posture."""

    def __init__(self, ros, namespace):
        self.state = ros.publisher(RobotState, f'{namespace}/robot/state', NEWEST, wait=False)
        self.info = ros.publisher(CameraInfo, f'{namespace}/{INFO_TOPIC}', PICTURES, wait=False)
        self.colour = ros.publisher(Image, f'{namespace}/{COLOUR_TOPIC}', PICTURES, wait=False)
        self.depth = ros.publisher(Image, f'{namespace}/{DEPTH_TOPIC}', PICTURES, wait=False)
        self.pictures = []
        model = scene_spec(
            replace(SCENE, camera=CAMERA), None, timestep=0.001, visuals=True
        ).compile()
        sensor = DepthSensor(CAMERA, seed=4)
        with SceneRenderer(model, CAMERA) as renderer:
            for number, arm in enumerate(ARM_POSTURES[:4]):
                posture = np.concatenate((arm, HOME[7:]))
                renderer.pose(posture)
                seen = renderer.render()
                noisy = [sensor.measure(seen.depth, frame_generator(number, n)) for n in range(5)]
                self.pictures.append((posture, seen.rgb, [to_millimetres(d) for d in noisy]))
        self.ended = threading.Event()

    def run(self):
        colour = ImageMessage(CAMERA, 'rgb8', 'lens')
        depth = ImageMessage(CAMERA, '16UC1', 'lens')
        info = camera_info(CAMERA, 'lens')
        state = RobotState()
        frame = 0
        while not self.ended.wait(PERIOD):
            frame += 1
            posture, rgb, depths = self.pictures[(frame // REST) % len(self.pictures)]
            now = stamp(frame * PERIOD)
            state.header.stamp, state.sequence = now, frame
            state.position = posture
            self.state.publish(state)
            self.info.publish(info)
            self.colour.publish(colour.fill(rgb, now))
            self.depth.publish(depth.fill(depths[frame % len(depths)], now))


def test_a_run_with_a_robot_that_someone_moves(ros, tmp_path, capsys):
    start = moved(CAMERA, np.array((0.02, -0.02, 0.01, 0.03, -0.02, 0.03)))
    rough = CameraPose(start.position, start.quaternion, np.zeros((6, 6)))
    save_camera_pose(tmp_path / 'rough.yaml', rough)
    robot = Robot(ros, '/calibrated')
    thread = threading.Thread(target=robot.run)
    thread.start()
    try:
        run_calibrate(
            CalibrateOptions(
                output=tmp_path / 'pose.yaml',
                postures=4,
                start=tmp_path / 'rough.yaml',
                namespace='/calibrated',
                patience=60.0,
            )
        )
    finally:
        robot.ended.set()
        thread.join()
    found = load_camera_pose(tmp_path / 'pose.yaml')
    assert np.linalg.norm(found.position - CAMERA.position) < 3e-3
    turn = vector_from_matrix(CAMERA.rotation @ rotation_matrix(found.quaternion).T)
    assert np.linalg.norm(turn) < np.radians(0.25)
    assert (found.method, found.postures) == ('robot', 4)
    assert found.covariance.any()
    shown = ' '.join(capsys.readouterr().out.split())
    assert 'posture 4 of 4 taken' in shown
    assert 'from where it was said to be' in shown
