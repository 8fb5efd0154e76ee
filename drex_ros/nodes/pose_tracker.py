# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where the object is: camera pictures in, object/track and object/pose out.

One thread, always on the newest pair of colour and depth; pictures that it has no time for are
left out and counted. What is wrong with its input is said in words, and waited out.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from typing import Any

from geometry_msgs.msg import PoseWithCovarianceStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image

from drex_interfaces.msg import ObjectTrack
from drex_interfaces.srv import Detect
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Status, run
from drex_ros.nodes.camera_input import CameraPair, CameraTopics
from drex_ros.nodes.complaints import Complaints
from drex_ros.nodes.conversions import NEWEST, QUEUED, seconds, stamp
from drex_ros.nodes.external_topic import ExternalTopic
from drex_ros.nodes.images import PICTURES, ImageMessage, enlarge_shared_memory
from drex_ros.nodes.joint_history import JointTopic
from drex_ros.nodes.tracked_object import TrackedObject
from drex_ros.nodes.tracker_backends import TrackerMaker
from drex_ros.nodes.tracker_messages import pose_message, track_message
from drex_ros.nodes.tracker_parameters import PARAMETERS
from drex_ros.nodes.tracker_statistics import TrackerStatistics
from drex_ros.nodes.tracker_status import idle_status, tracker_status
from drex_ros.nodes.transforms import transforms
from drex_ros.objects import load_object
from drex_ros.perception.estimate import ObjectEstimate, TrackStatus
from drex_ros.perception.frame import Colour, RgbdFrame

_SLICE = 0.02  # [s] longest wait for a picture in one piece, so that services are served
_IDLE = 0.05  # [s] between two looks while there is nothing to track
_SILENCE = 2.0  # [s] of wall time without a picture that is worth a word
_COMPARABLE = 10.0  # [s] two clocks that differ by more have nothing to do with each other
_LONGEST_DETECT = 60.0  # [s]
_GOOD = (TrackStatus.TRACKING, TrackStatus.UNCERTAIN)


class PoseTracker(ManagedNode):
    """Tracker of one object as a node."""

    NAME = 'pose_tracker'
    SERVE_PERIOD = 0.02
    PARAMETERS = PARAMETERS

    def configure(self) -> None:
        """Read files, load the object, make topics and the service."""
        self._maker = TrackerMaker(self.params)
        self._object: TrackedObject | None = None
        self._camera: CameraTopics | None = None
        self._joints: JointTopic | None = None
        self._external: ExternalTopic | None = None
        self._not_tracked = ''
        self._statistics = TrackerStatistics()
        log = self.get_logger()
        self._complaints = Complaints(log.warning, log.info, 'the input is well again')
        self._track_publisher = self.create_lifecycle_publisher(
            ObjectTrack, 'object/track', QUEUED
        )
        self._smoothed_publisher = self.create_lifecycle_publisher(
            ObjectTrack, 'object/track_smoothed', QUEUED
        )
        self._pose_publisher = self.create_lifecycle_publisher(
            PoseWithCovarianceStamped, 'object/pose', QUEUED
        )
        self._image_publisher = self.create_lifecycle_publisher(Image, 'tracker/image', PICTURES)
        self._image: tuple[tuple[int, int, str], ImageMessage] | None = None
        params = self.params
        self._transforms = transforms(self, params.object_frame) if params.publish_tf else None
        self._times = None
        if self.get_parameter('use_sim_time').value:
            # Read here, because the node's own clock stands still while a picture is looked at.
            self._times = self.polled_subscription(Clock, '/clock', NEWEST)
        self._sim_time = 0.0
        self._tracking = self.monitor('track a picture')
        self.monitored_service(Detect, 'tracker/detect', self._on_detect)
        self._start_anew()
        if params.object:
            self._not_tracked = self._choose(params.object)

    def activate(self) -> None:
        """Forget what was before: the object may be anywhere now."""
        self._start_anew()

    def _start_anew(self) -> None:
        self._jumps = 0 if self._camera is None else self._camera.input.jumps
        self._trouble = ''
        self._seen = time.monotonic()
        self._frame_id = ''
        self._stamps: deque[tuple[float, Any]] = deque(maxlen=self.params.smoothing_lag + 10)
        self._smoothed_time = -math.inf
        self._statistics.forget()
        if self._object is not None:
            self._object.forget()

    def _choose(self, name: str) -> str:
        """Track another object from now on; why that cannot be, in words, or nothing."""
        try:
            model = load_object(name)
            self._listen()
            if not self._maker.prepared:
                self.get_logger().info('loading the tracker; a first start compiles it, a minute')
            self._maker.prepare(lambda: not self.stop.requested)
            chosen = TrackedObject(model, self._maker)
            lens = None if self._camera is None else self._camera.input.lens
            if lens is not None:
                chosen.see_through(lens)
        except (ValueError, OSError, ConfigurationError) as error:
            text = ' '.join(str(error).split())
            self.get_logger().error(f'cannot track {name!r}: {text}')
            return text
        self._object, self._not_tracked, self._trouble = chosen, '', ''
        self.get_logger().info(f'ready to track {model.name}')
        return ''

    def _listen(self) -> None:
        """Subscribe to the camera: pictures cost time also when nobody looks at them."""
        if self._camera is not None:
            return
        params = self.params
        self._camera = CameraTopics(
            self, tolerance=params.pair_tolerance, depth_unit=params.depth_unit
        )
        masks = params.backend == 'mesh' and params.mask_robot
        self._joints = JointTopic(self) if masks else None
        self._external = ExternalTopic(self) if params.backend == 'external' else None
        self._seen = time.monotonic()

    def step(self) -> None:
        """Wait a little for a picture, and look for the object in the newest."""
        thing, camera = self._object, self._camera
        if thing is None or camera is None:
            time.sleep(_IDLE)
            return
        pairs = self._wait(_SLICE)
        if pairs:
            self._track(thing, pairs[-1])
        self._complaints.note(self._problem())

    def _wait(self, timeout: float) -> list[CameraPair]:
        """Pairs of pictures that come within a time [s], and what else has come."""
        assert self._camera is not None
        pairs = self._camera.wait(timeout)
        if self._joints is not None:
            self._joints.take()
        if pairs:
            self._seen, self._frame_id = time.monotonic(), pairs[-1].frame_id
        poses = None if self._object is None else self._object.external
        if self._external is not None and poses is not None:
            self._external.take(poses, self._frame_id)
        return pairs

    def _track(self, thing: TrackedObject, pair: CameraPair) -> None:
        start = self._tracking.clock()
        self._statistics.picture(pair.time, self._now())
        try:
            frame = self._frame(thing, pair)
            estimate = thing.update(frame, self.params.search_period)
            self._trouble = ''
        except ValueError as error:  # of the camera's pose or the pictures: wait for others
            self._trouble = ' '.join(str(error).split())
            thing.forget()
            return
        self._publish(thing, estimate, pair)
        self._statistics.answer(self._now() - pair.time)
        self._publish_smoothed(thing)
        if self._image_publisher.get_subscription_count():
            self._publish_image(thing, frame.colour, pair)
        thing.check_camera(frame)
        self._tracking.tick(start, self._tracking.clock())

    def _frame(self, thing: TrackedObject, pair: CameraPair) -> RgbdFrame:
        """What the tracker is given. Raises ValueError."""
        camera = self._camera
        assert camera is not None
        assert camera.input.lens is not None
        thing.see_through(camera.input.lens)
        if camera.input.jumps != self._jumps:
            self._jumps = camera.input.jumps
            self.get_logger().info('time went back: a new start')
            self._statistics.forget()
            self._smoothed_time = -math.inf
            thing.forget()
        colour, depth = camera.input.pictures(pair, self._maker.depth_scale)
        posture = None if self._joints is None else self._joints.history.at(pair.time)
        return RgbdFrame(pair.time, colour, depth, pair.colour_time, posture)

    def _publish(self, thing: TrackedObject, estimate: ObjectEstimate, pair: CameraPair) -> None:
        frame = self.params.world_frame
        message = track_message(thing.model.name, estimate, pair.stamp, frame)
        if estimate.state is not None and estimate.status in _GOOD:
            self._pose_publisher.publish(pose_message(message))
            if self._transforms is not None:
                self._transforms.publish(message)
        self._track_publisher.publish(message)
        self._stamps.append((pair.time, pair.stamp))

    def _publish_smoothed(self, thing: TrackedObject) -> None:
        smoothed = thing.smoothed()
        if smoothed is None or smoothed.time <= self._smoothed_time:
            return
        self._smoothed_time = smoothed.time
        # The very stamp of the picture, which seconds cannot always tell to the nanosecond.
        exact = next((s for t, s in self._stamps if t == smoothed.time), stamp(smoothed.time))
        frame = self.params.world_frame
        self._smoothed_publisher.publish(track_message(thing.model.name, smoothed, exact, frame))

    def _publish_image(self, thing: TrackedObject, colour: Colour, pair: CameraPair) -> None:
        camera = thing.camera
        assert camera is not None
        key = (camera.width, camera.height, pair.frame_id)
        if self._image is None or self._image[0] != key:
            self._image = key, ImageMessage(camera, 'rgb8', pair.frame_id)
        self._image_publisher.publish(self._image[1].fill(thing.draw(colour), pair.stamp))

    def _now(self) -> float:
        """The time of ROS [s]."""
        if self._times is None:
            return float(self.get_clock().now().nanoseconds) * 1e-9
        while (clock := self._times.take()) is not None:
            self._sim_time = seconds(clock.clock)
        return self._sim_time

    # tracker/detect

    def _on_detect(self, request: Any, response: Any) -> Any:
        name, thing = request.object, self._object
        refusal = self._refused(request)
        if not refusal and name and (thing is None or not _same(thing, name)):
            refusal = self._choose(name)
        if refusal:
            response.message = refusal
            response.track = self._unknown(name, refusal)
        else:
            self._detect(request.timeout or self.params.detect_timeout, response)
        return response

    def _unknown(self, name: str, reason: str) -> ObjectTrack:
        """A track that says that nothing is known."""
        nothing = ObjectEstimate(self._now(), TrackStatus.DETECTING, reason, None)
        return track_message(name, nothing, stamp(nothing.time), self.params.world_frame)

    def _refused(self, request: Any) -> str:
        """Why a request cannot be served at all; empty: it can."""
        if not self.is_active:
            return f'pose_tracker is {self.state_label}, must be active'
        if not 0.0 <= request.timeout <= _LONGEST_DETECT:
            return f'timeout is {request.timeout} s, must be 0 to {_LONGEST_DETECT:g}'
        if self._object is None and not request.object:
            return self._not_tracked or 'nothing to look for: name an object'
        return ''

    def _detect(self, timeout: float, response: Any) -> None:
        """Look for the object in the first picture that is taken from now on."""
        thing = self._object
        assert thing is not None
        name = thing.model.name
        try:
            pair = self._new_pair(timeout)
            if pair is None:
                why = self._problem() or 'does the camera run, or is the simulator paused?'
                raise ValueError(f'no picture was taken within {timeout:g} s: {why}')
            found = thing.detect(self._frame(thing, pair))
        except ValueError as error:
            response.message = ' '.join(str(error).split())
            response.track = self._unknown(name, response.message)
            return
        assert thing.last is not None
        response.found, response.score, response.message = found.found, found.score, found.message
        response.track = track_message(name, thing.last, pair.stamp, self.params.world_frame)

    def _new_pair(self, timeout: float) -> CameraPair | None:
        """The first pair that is taken after now; None: none comes in time [s]."""
        asked, end = self._now(), time.monotonic() + timeout
        speak = time.monotonic() + self.params.diagnostics_period
        while (left := end - time.monotonic()) > 0.0 and not self.stop.requested:
            if time.monotonic() > speak:  # else it would seem dead in a long wait
                speak += self.params.diagnostics_period
                self._diagnostics.publish()
            for pair in self._wait(min(left, _SLICE)):
                if pair.time >= asked or abs(pair.time - asked) > _COMPARABLE:
                    return pair
        return None

    # Diagnostics

    def _problem(self) -> str:
        """Why nothing is tracked, in words; empty: nothing is wrong with the input."""
        if self._camera is None:
            return ''
        if text := self._camera.input.problem or self._trouble:
            return text
        silence = time.monotonic() - self._seen
        if silence > _SILENCE:
            return f'no picture for more than {_SILENCE:g} s'
        if self._external is not None and self._external.problem:
            return self._external.problem
        return '' if self._joints is None else self._joints.problem

    def diagnose(self) -> list[Status]:
        """What is tracked, how well, and what is missing."""
        thing, camera = self._object, self._camera
        if thing is None or camera is None:
            return [idle_status(self._not_tracked)]
        problem = self._problem()
        return [tracker_status(thing, problem, self._statistics, camera.input, self._joints)]


def _same(thing: TrackedObject, name: str) -> bool:
    return name in (thing.model.name, str(thing.model.source))


def main() -> None:
    """Run the node."""
    enlarge_shared_memory()
    sys.exit(run(PoseTracker))


if __name__ == '__main__':
    main()
