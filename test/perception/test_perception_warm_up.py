# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""After the warm-up nothing is compiled while pictures wait."""

import numpy as np

from drex_ros.control.warm_up import compiled
from drex_ros.hardware.depth_noise import StereoNoise
from drex_ros.hardware.rgbd_camera import CameraOptions, RgbdCamera, SceneState
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import load_object
from drex_ros.perception.depth_image import DepthImage
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.object_tracker import ObjectTracker
from drex_ros.perception.robot_silhouette import RobotSilhouette
from drex_ros.perception.silhouette_check import silhouette_check
from drex_ros.perception.warm_up import warm_up
from drex_ros.robot.joints import HOME


def test_real_pictures_compile_nothing_more():
    scene = load_scene()
    silhouette = RobotSilhouette(scene.camera)
    warm_up(silhouette)
    before = compiled()
    silhouette.aim(scene.camera)
    can = load_object('can')
    tracker = ObjectTracker(can, scene.camera, silhouette=silhouette)
    camera = RgbdCamera(scene, CameraOptions(stereo=StereoNoise(), colour_noise=2.0))
    reader = DepthImage(scene.camera.width, scene.camera.height)
    statuses = []
    for number in range(8):
        shown = 'can' if number != 5 else ''
        place = (0.5 + 0.01 * number, 0.0, can.rest_height, *can.rest_quaternion)
        state = SceneState(
            number, 0, shown, HOME.copy(), np.zeros(23), np.array(place), np.zeros(6)
        )
        picture, time = camera.take(state), number / 30.0
        kind = np.uint16 if number % 2 else np.float32
        unit = 1000.0 if number % 2 else 1.0
        depth = reader.read((unit * picture.depth).astype(kind))
        frame = RgbdFrame(time, picture.rgb, depth, time + 0.002, HOME.copy())
        statuses.append(tracker.update(frame).status.name)
    tracker.detect(frame)
    silhouette_check(silhouette, HOME.copy(), depth)
    camera.close()
    assert {'TRACKING', 'LOST'} <= set(statuses)
    assert compiled() == before


def test_ends_when_it_is_no_longer_wanted():
    asked = []

    def wanted():
        asked.append(True)
        return False

    warm_up(None, wanted)
    assert len(asked) == 1
