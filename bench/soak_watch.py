# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Listens to all that a simulated robot and camera say in a soak, and calls their services."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from mischief import Injection, Placement
from rclpy.subscription import Subscription
from sensor_msgs.msg import CameraInfo, Image, JointState

from drex_interfaces.msg import GroundTruth
from drex_interfaces.srv import MockStep
from drex_ros.client import DrexError, Simulator
from drex_ros.client.connection import PATIENCE
from drex_ros.hardware.depth_noise import StereoNoise
from drex_ros.hardware.faults import FaultKind
from drex_ros.hardware.scene_file import load_scene
from drex_ros.nodes.conversions import QUEUED, seconds
from drex_ros.nodes.images import image_array
from drex_ros.objects import load_object, object_names
from drex_ros.robot.joints import JOINT_NAMES, LIMITS

_TOPICS = ('camera/color', 'camera/aligned_depth_to_color')
_RESET_TIME = 30.0  # [s] wall time; a loaded machine, a new object


class Watcher(Simulator):
    """The simulator seen from outside; what it hears and must not be is in `problem`."""

    def __init__(self) -> None:
        super().__init__(name='soak_watcher')
        self.problem = ''
        self.heard: Counter[str] = Counter()
        """Messages by topic."""
        self._own_mass = {name: load_object(name).mass for name in object_names()}
        self._camera = load_scene().camera
        self._stereo = StereoNoise()
        self._stamps: dict[str, float] = {}
        self._pictures: list[Subscription] = []
        self._placement: Placement | None = None
        self._placed = math.inf
        self._hear(JointState, 'joint_states', _joints_problem, 10)
        self._hear(GroundTruth, 'mock/ground_truth', self._truth_problem, 10)

    def _hear(
        self, kind: Any, topic: str, problem_of: Callable[[Any], str], qos: Any
    ) -> Subscription:
        """Check each message of a topic, and that its time grows."""

        def take(message: Any) -> None:
            self.heard[topic] += 1
            time = seconds(message.header.stamp)
            problem = problem_of(message)
            if time <= self._stamps.get(topic, -1.0):
                problem = problem or f'its time goes from {self._stamps[topic]:g} s on to {time:g}'
            self._stamps[topic] = time
            if problem and not self.problem:
                self.problem = f'{topic} at {time:g} s: {problem}'

        return self._listen(kind, topic, take, qos)

    def place(self, placement: Placement) -> None:
        """Reset; from then on the truth must say the same."""
        self._placed = math.inf
        quaternion = placement.quaternion
        self.reset(
            placement.posture,
            thing=placement.name,
            position=None if placement.position is None else placement.position.tolist(),
            quaternion=(0.0, 0.0, 0.0, 1.0) if quaternion is None else quaternion.tolist(),
            mass=placement.mass,
            friction=placement.friction,
            finger_friction=placement.finger_friction,
            seed=placement.seed or 0,
            timeout=_RESET_TIME,
        )
        self._placement, self._placed = placement, self.robot_time()

    def inject(self, fault: Injection) -> None:
        """Have a fault."""
        self.inject_fault(
            fault.kind,
            joint=fault.joint,
            magnitude=fault.magnitude,
            duration=fault.duration,
            timeout=4 * PATIENCE,
        )

    def refusals(self) -> str:
        """Ask for what cannot be; empty when all of it is refused."""
        wishes: dict[str, Callable[[], object]] = {
            'a friction that is no number': lambda: self.inject_fault(
                FaultKind.FRICTION, magnitude=math.nan
            ),
            'a fault of a joint that there is not': lambda: self.inject_fault(
                FaultKind.FREEZE_JOINT, joint='elbow'
            ),
            'a posture beyond the limits': lambda: self.reset(LIMITS.upper + 1.0),
            'an object that there is not': lambda: self.reset(thing='nothing'),
        }
        for name, wish in wishes.items():
            try:
                wish()
            except DrexError as error:
                if 'waited' in str(error):
                    return str(error)
                continue
            return f'{name} was taken'
        return ''

    def robot_time(self) -> float:
        """Simulated time of the robot now [s], whatever becomes of its states on their way."""
        # Refused, because it is not paused, but with the time.
        future = self._step.call_async(MockStep.Request())
        response = self._wait_for(
            lambda: future.result() if future.done() else None, 4 * PATIENCE, 'mock/step'
        )
        return seconds(response.header.stamp)

    @property
    def looks(self) -> bool:
        """Whether pictures are read."""
        return bool(self._pictures)

    def look(self) -> None:
        """Begin to read pictures and camera_info."""
        for topic in _TOPICS:
            self._pictures += [
                self._hear(Image, f'{topic}/image_raw', self._picture_problem, QUEUED),
                self._hear(CameraInfo, f'{topic}/camera_info', self._info_problem, QUEUED),
            ]

    def look_away(self) -> None:
        """Read no more pictures."""
        self._ignore(*self._pictures)
        self._pictures.clear()

    def _truth_problem(self, message: GroundTruth) -> str:
        self._truth = message
        pose, twist = message.object_pose, message.object_twist
        vectors = [pose.position, twist.linear, twist.angular]
        vectors += [tip.force for tip in message.fingertips]
        for contact in message.contacts:
            vectors += [contact.position, contact.normal, contact.force]
        numbers = [value for each in vectors for value in (each.x, each.y, each.z)]
        turn = pose.orientation
        numbers += [turn.x, turn.y, turn.z, turn.w]
        numbers += [message.object_mass, message.object_friction, message.finger_friction]
        if not all(map(math.isfinite, numbers)):
            return 'it is not a number'
        if abs(math.hypot(turn.x, turn.y, turn.z, turn.w) - 1.0) > 1e-6:
            return 'the orientation of the object is no unit quaternion'
        put = self._placement
        if put is None or seconds(message.header.stamp) < self._placed:
            return ''
        mass = put.mass or self._own_mass.get(put.name, 0.0)
        if message.object != put.name or abs(message.object_mass - mass) > 1e-9:
            return (
                f'the object is {message.object!r} with {message.object_mass:g} kg, '
                f'asked for was {put.name!r} with {mass:g} kg'
            )
        return ''

    def _picture_problem(self, message: Image) -> str:
        try:
            pixels = image_array(message)
        except ValueError as error:
            return str(error)
        size = (self._camera.height, self._camera.width)
        if pixels.shape[:2] != size:
            return f'the picture has shape {pixels.shape}'
        self.heard['black pictures'] += not pixels.any()
        if message.encoding == 'rgb8':
            return ''
        if message.encoding != '16UC1':
            return f'its encoding is {message.encoding}'
        seen = pixels[pixels > 0]
        least, most = 1e3 * self._stereo.min_range - 1.0, 1e3 * self._stereo.max_range + 1.0
        if seen.size and not least <= seen.min() <= seen.max() <= most:
            return f'depth from {seen.min()} to {seen.max()} mm'
        return ''

    def _info_problem(self, message: CameraInfo) -> str:
        matrix = self._camera.matrix.ravel()
        if not np.array_equal(message.k, matrix) or not np.isfinite(message.p).all():
            return f'the intrinsics are {message.k.tolist()}'
        return ''


def _joints_problem(message: JointState) -> str:
    values = np.array((message.position, message.velocity, message.effort))
    if values.shape != (3, len(JOINT_NAMES)):
        return f'its numbers have shape {values.shape}'
    return '' if np.isfinite(values).all() else 'it is not a number'
