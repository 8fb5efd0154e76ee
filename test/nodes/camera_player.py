# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plays camera and robot for tests of the tracker: draws a scene and publishes it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from ros_client import RosClient
from sensor_msgs.msg import CameraInfo, Image, JointState

from drex_interfaces.msg import ObjectTrack
from drex_ros.hardware.depth_noise import StereoNoise, to_millimetres
from drex_ros.hardware.rendering import Picture
from drex_ros.hardware.rgbd_camera import CameraOptions, RgbdCamera, SceneState
from drex_ros.hardware.scene_file import load_scene
from drex_ros.nodes.conversions import seconds, stamp
from drex_ros.nodes.images import PICTURES, ImageMessage, camera_info
from drex_ros.objects import load_object
from drex_ros.robot.joints import HOME, JOINT_NAMES, Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product, rotation_matrix

FRAME = 'camera_color_optical_frame'
COLOUR = 'camera/color'
DEPTH = 'camera/aligned_depth_to_color'
PERIOD = 1.0 / 30.0


_model = cache(load_object)


class Painter:
    """Draws objects on the table of the project's scene, noisy as the simulated camera."""

    def __init__(self) -> None:
        self._camera = RgbdCamera(
            load_scene(), CameraOptions(stereo=StereoNoise(), colour_noise=2.0)
        )
        self.model = self._camera.model
        self._painted: dict[tuple[str, float, float], Picture] = {}

    def close(self) -> None:
        self._camera.close()

    def place(self, thing: str, move: float = 0.0, turn: float = 0.0) -> tuple[Array, Array]:
        """Position [m] and quaternion of an object that was moved in x [m] and turned [rad]."""
        model = _model(thing)
        about_z = quaternion_from_vector(np.array((0.0, 0.0, turn)))
        position = np.array((0.5 + move, 0.0, model.rest_height))
        return position, quaternion_product(about_z, model.rest_quaternion)

    def paint(self, thing: str, move: float = 0.0, turn: float = 0.0) -> Picture:
        """Colour and depth [m]; an empty name: the table alone. The same again is not drawn."""
        key = (thing, move, turn)
        if key not in self._painted:
            self._painted[key] = self._camera.take(self._state(*key))
        return self._painted[key]

    def _state(self, thing: str, move: float, turn: float) -> SceneState:
        nowhere = np.zeros(3), np.array((0.0, 0.0, 0.0, 1.0))
        return SceneState(
            frame=len(self._painted),
            seed=1,
            thing=thing,
            joint_position=HOME.copy(),
            joint_velocity=np.zeros(23),
            object_pose=np.concatenate(self.place(thing, move, turn) if thing else nowhere),
            object_twist=np.zeros(6),
        )


class Player:
    """Publishes pictures and waits for what the tracker makes of them."""

    def __init__(self, ros: RosClient, painter: Painter, namespace: str, time: float) -> None:
        self.ros, self.painter = ros, painter
        self.node = f'{namespace}/pose_tracker'
        self.namespace = namespace
        self.time = time
        """Of the newest picture [s]."""
        self.tracks: list[ObjectTrack] = ros.collect(ObjectTrack, f'{namespace}/object/track')
        model = painter.model
        self.colour = ImageMessage(model, 'rgb8', FRAME)
        self.depth = ImageMessage(model, '16UC1', FRAME)
        self.metres = ImageMessage(model, '32FC1', FRAME)
        self.info = camera_info(model, FRAME)
        self.with_info = self.with_joints = True
        topics = (f'{COLOUR}/image_raw', f'{DEPTH}/image_raw')
        self._images = [ros.publisher(Image, f'{namespace}/{t}', PICTURES) for t in topics]
        self._infos = ros.publisher(CameraInfo, f'{namespace}/{COLOUR}/camera_info', PICTURES)
        self._joints = ros.publisher(JointState, f'{namespace}/joint_states', wait=False)

    def publish(self, colour: Image, depth: Image) -> None:
        """Publish a pair as it is, with camera_info and joint_states of its time."""
        at = stamp(self.time)
        if self.with_joints:
            state = JointState(name=list(JOINT_NAMES), position=HOME.tolist())
            state.header.stamp = at
            self._joints.publish(state)
        if self.with_info:
            self.info.header.stamp = at
            self._infos.publish(self.info)
        self._images[0].publish(colour)
        self._images[1].publish(depth)

    def show(self, thing: str, move: float = 0.0, turn: float = 0.0, **changes: Any) -> None:
        """Publish the next picture; `changes` are fields of the colour image's message."""
        self.time += PERIOD
        picture, at = self.painter.paint(thing, move, turn), stamp(self.time)
        colour = self.colour.fill(picture.rgb, at)
        kept = {name: getattr(colour, name) for name in changes}
        for name, value in changes.items():
            setattr(colour, name, value)
        self.publish(colour, self.depth.fill(to_millimetres(picture.depth), at))
        for name, value in kept.items():
            setattr(colour, name, value)

    def track(self, thing: str, move: float = 0.0, turn: float = 0.0) -> ObjectTrack:
        """Publish the next picture, and again a later one until one is answered."""
        for _ in range(100):
            self.show(thing, move, turn)
            self.ros.spin(0.02)
            if answer := self.answer(0.3):
                return answer
        raise AssertionError('no picture was answered')

    def answer(self, timeout: float) -> ObjectTrack | None:
        """The track of the newest picture, when it comes in time [s]."""
        try:
            return self.ros.spin_until(self._answered, timeout)
        except AssertionError:
            return None

    def _answered(self) -> ObjectTrack | None:
        same = (t for t in self.tracks if abs(seconds(t.header.stamp) - self.time) < 1e-6)
        return next(same, None)


def errors(track: ObjectTrack, position: Array, quaternion: Array) -> tuple[float, float]:
    """How far a track is from a pose: [m], [rad]."""
    place, turn = track.pose.pose.position, track.pose.pose.orientation
    metres = float(np.linalg.norm((place.x, place.y, place.z) - position))
    found = rotation_matrix(np.array((turn.x, turn.y, turn.z, turn.w)))
    trace = float(np.trace(found.T @ rotation_matrix(quaternion)))
    return metres, float(np.arccos(np.clip(0.5 * (trace - 1.0), -1.0, 1.0)))
