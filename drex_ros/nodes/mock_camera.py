# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated RGB-D camera: draws each mock/scene, publishes it as a RealSense would.

The stamp of a picture is the time of the simulator's state, in the middle of the exposure; it is
published when simulated time has gone on by the delay that mock/scene names. mock/rendered says
when it is finished: in lockstep the simulator waits for that, at the moment of publication.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import UInt64

from drex_interfaces.msg import MockScene
from drex_ros.hardware.depth_noise import StereoNoise, to_millimetres
from drex_ros.hardware.gl import RenderingError
from drex_ros.hardware.rendering import Picture
from drex_ros.hardware.rgbd_camera import CameraOptions, RgbdCamera, SceneState
from drex_ros.hardware.scene_file import SceneError, load_scene
from drex_ros.health import Level
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Parameter, Status, run
from drex_ros.nodes.conversions import NEWEST, seconds
from drex_ros.nodes.frames import CLOSE
from drex_ros.nodes.images import PICTURES, ImageMessage, camera_info, enlarge_shared_memory
from drex_ros.robot.description import DescriptionError

FRAME = 'camera_color_optical_frame'

_COLOUR = 'camera/color'
_DEPTH = 'camera/aligned_depth_to_color'
_MOST_WAITING = 100  # pictures held back by delays: 150 MB
_SLICE = 0.02  # [s] longest wait for a scene or the time in one piece, so that services are served
_COMPLAIN_PERIOD = 5.0  # [s] between two lines about scenes that cannot be drawn


@dataclass(frozen=True)
class _Waiting:
    """A picture that is taken and not yet published."""

    time: float
    """When it was taken [s], simulated."""
    stamp: Any
    colour: npt.NDArray[np.uint8]
    depth: npt.NDArray[Any]
    """In the units of its format."""


class MockCamera(ManagedNode):
    """Camera of the simulator as a node."""

    NAME = 'mock_camera'
    # A picture takes 10 ms and more, so there is no need to look for other work between two.
    SERVE_PERIOD = 0.02
    PARAMETERS = (
        Parameter(
            'scene',
            'table',
            'name of a file in config/scenes, or the path of one; has the camera',
            read_only=True,
        ),
        Parameter(
            'hand', 'right', 'which Allegro hand', choices=('right', 'left'), read_only=True
        ),
        Parameter(
            'depth_format',
            '16UC1',
            'of depth images: 16UC1, whole millimetres as of a RealSense, or 32FC1, metres',
            choices=('16UC1', '32FC1'),
            read_only=True,
        ),
        Parameter(
            'noise', True, 'colour and depth with the errors of a real camera', read_only=True
        ),
        Parameter(
            'depth_sigma',
            StereoNoise.sigma,
            'deviation of the disparity in pixels of the depth imagers; 0.06 is 1.8 mm at 0.8 m',
            unit='px',
            range=(0.0, 1.0),
            read_only=True,
        ),
        Parameter(
            'colour_noise',
            2.0,
            'deviation of the colours, of 255',
            range=(0.0, 50.0),
            read_only=True,
        ),
        Parameter('motion_blur', False, 'blur what moves during the exposure', read_only=True),
        Parameter(
            'exposure_time',
            0.0085,
            'time that motion blurs',
            unit='s',
            range=(0.0001, 0.1),
            read_only=True,
        ),
        Parameter(
            'exposure_samples',
            5,
            'pictures averaged for motion blur, an odd number',
            range=(3, 31),
            read_only=True,
        ),
        Parameter('shadows', False, 'draw shadows; slow without a graphics card', read_only=True),
    )

    def configure(self) -> None:
        """Make the camera and its topics."""
        params = self.params
        if params.exposure_samples % 2 == 0:
            raise ConfigurationError(
                f'exposure_samples is {params.exposure_samples}, must be an odd number'
            )
        options = CameraOptions(
            hand=params.hand,
            stereo=StereoNoise(sigma=params.depth_sigma) if params.noise else None,
            colour_noise=params.colour_noise if params.noise else 0.0,
            exposure_time=params.exposure_time if params.motion_blur else 0.0,
            exposure_samples=params.exposure_samples,
            shadows=params.shadows,
        )
        try:
            self._camera = RgbdCamera(load_scene(params.scene), options)
        except (SceneError, DescriptionError, RenderingError) as error:
            raise ConfigurationError(str(error)) from error
        model = self._camera.model
        self._colour = ImageMessage(model, 'rgb8', FRAME)
        self._depth = ImageMessage(model, params.depth_format, FRAME)
        self._info = camera_info(model, FRAME)
        self._colour_publisher = self.create_publisher(Image, f'{_COLOUR}/image_raw', PICTURES)
        self._depth_publisher = self.create_publisher(Image, f'{_DEPTH}/image_raw', PICTURES)
        self._info_publishers = [
            self.create_publisher(CameraInfo, f'{topic}/camera_info', PICTURES)
            for topic in (_COLOUR, _DEPTH)
        ]
        self._rendered_publisher = self.create_publisher(UInt64, 'mock/rendered', 10)
        # Short: who is slower than the simulator leaves frames out instead of lagging behind.
        self._scenes = self.polled_subscription(MockScene, 'mock/scene', 3)
        self._times = self.polled_subscription(Clock, '/clock', NEWEST)
        self._drawing = self.monitor('draw a picture')
        self._taking = self.monitor('take a picture')
        self._publishing = self.monitor('publish a picture')

    def activate(self) -> None:
        """Begin anew: nothing is known of the simulator."""
        self._waiting: deque[_Waiting] = deque()
        self._now = 0.0
        self._last: MockScene | None = None
        self._thing = self._problem = ''
        self._complained = ('', 0.0)
        self._published = self._missed = self._failed = self._overflowed = 0

    def cleanup(self) -> None:
        """Free the graphics."""
        self._camera.close()

    def step(self) -> None:
        """Wait a little for the next scene, draw it, and publish what is due."""
        # Time that passes matters only to pictures that wait for it.
        message = self._scenes.wait(_SLICE, until=self._times if self._waiting else None)
        if message is not None:
            self._on_scene(message)
        self._publish_due()

    def _on_scene(self, message: MockScene) -> None:
        if message == self._last:  # the simulator missed the answer
            self._answer(message)
            return
        stamp = seconds(message.header.stamp)
        self._follow(message, stamp)
        # What waits came before this one, and may be due now.
        self._publish_due()
        start = self._taking.clock()
        picture = self._take(message)
        if picture is not None:
            whole = self.params.depth_format == '16UC1'
            depth = to_millimetres(picture.depth) if whole else picture.depth
            self._waiting.append(_Waiting(stamp, message.header.stamp, picture.rgb, depth))
        if len(self._waiting) > _MOST_WAITING:
            self._waiting.popleft()
            self._overflowed += 1
        self._taking.tick(start, self._taking.clock())
        # Before the simulator goes on: it may have waited for this picture.
        self._publish_due()
        self._answer(message)
        # Before the next one comes: the simulator may have to wait for that.
        self._camera.prepare(message.seed, message.frame + 1)

    def _take(self, message: MockScene) -> Picture | None:
        """The picture of a scene; None when it cannot be drawn."""
        if message.camera_blank:
            return self._camera.black()
        state = _scene_state(message)
        seen = self._draw(state)
        return None if seen is None else self._camera.measure(seen, state)

    def _follow(self, message: MockScene, stamp: float) -> None:
        """Keep time and count of frames; both begin anew when the simulator does."""
        last, self._last = self._last, message
        if last is not None and message.episode != last.episode:
            self._waiting.clear()  # of a scene that is no more
        if last is not None and stamp < seconds(last.header.stamp):
            self._waiting.clear()
            self._now = stamp
        elif last is not None and message.frame > last.frame:
            self._missed += message.frame - last.frame - 1
        self._now = max(self._now, stamp)

    def _draw(self, state: SceneState) -> Picture | None:
        """What is to be seen; None, with a line in the log, when it cannot be drawn."""
        start = self._drawing.clock()
        try:
            self._check_hand()
            seen = self._camera.draw(state)
        # ObjectError and what a wrong number makes; the next scene may be right again.
        except (ValueError, RenderingError) as error:
            self._failed += 1
            self._problem = str(error)
            self._complain(f'frame {state.frame} not drawn: {error}')
            return None
        self._problem, self._thing = '', state.thing
        self._drawing.tick(start, self._drawing.clock())
        return seen

    def _check_hand(self) -> None:
        given = self._last.hand if self._last is not None else ''
        if given not in ('', self.params.hand):
            raise ValueError(
                f'the simulator has a {given} hand, this camera draws a {self.params.hand} one: '
                'give both the same parameter hand'
            )

    def _complain(self, text: str) -> None:
        problem, since = self._complained
        now = time.monotonic()
        if problem != self._problem or now - since > _COMPLAIN_PERIOD:
            self._complained = (self._problem, now)
            self.get_logger().error(text)

    def _answer(self, message: MockScene) -> None:
        self._rendered_publisher.publish(UInt64(data=message.frame))

    def _publish_due(self) -> None:
        if not self._waiting or self._last is None:
            return
        while (clock := self._times.take()) is not None:
            self._now = max(self._now, seconds(clock.clock))
        # The delay of the moment: when a fault is over, what it held back comes at once.
        latest = self._now - self._last.camera_delay + CLOSE
        while self._waiting and self._waiting[0].time <= latest:
            self._publish(self._waiting.popleft())

    def _publish(self, taken: _Waiting) -> None:
        start = self._publishing.clock()
        self._info.header.stamp = taken.stamp
        self._colour_publisher.publish(self._colour.fill(taken.colour, taken.stamp))
        self._depth_publisher.publish(self._depth.fill(taken.depth, taken.stamp))
        for publisher in self._info_publishers:
            publisher.publish(self._info)
        self._published += 1
        self._publishing.tick(start, self._publishing.clock())

    def diagnose(self) -> list[Status]:
        """What became of the frames."""
        values = {
            'object': self._thing,
            'frames published': str(self._published),
            'frames waiting': str(len(self._waiting)),
            'frames not drawn': str(self._failed),
            'frames dropped': str(self._missed + self._overflowed),
        }
        if self._problem:
            return [Status('', Level.WARN, f'cannot draw the scene: {self._problem}', values)]
        message = 'taking pictures' if self._last is not None else 'nothing on mock/scene yet'
        return [Status('', Level.OK, message, values)]


def _scene_state(message: MockScene) -> SceneState:
    place, turn = message.object_pose.position, message.object_pose.orientation
    linear, angular = message.object_twist.linear, message.object_twist.angular
    return SceneState(
        frame=message.frame,
        seed=message.seed,
        thing=message.object,
        joint_position=np.array(message.joint_position),
        joint_velocity=np.array(message.joint_velocity),
        object_pose=np.array((place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w)),
        object_twist=np.array((linear.x, linear.y, linear.z, angular.x, angular.y, angular.z)),
    )


def main() -> None:
    """Run the node."""
    enlarge_shared_memory()
    sys.exit(run(MockCamera))


if __name__ == '__main__':
    main()
