# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From the messages of a bag to the frames that a tracker is given."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.cli.bag_reading import Bag, BagError
from drex_ros.perception.depth_image import DepthImage
from drex_ros.perception.frame import Colour, RgbdFrame
from drex_ros.perception.pairing import Pairing
from drex_ros.perception.rectification import Lens, Rectification
from drex_ros.robot.camera import CameraError
from drex_ros.robot.joints import JOINT_NAMES, N_JOINTS, Array

_COLOUR = 'camera/color/image_raw'
_DEPTH = 'camera/aligned_depth_to_color/image_raw'
_INFOS = ('camera/color/camera_info', 'camera/aligned_depth_to_color/camera_info')
_JOINTS = ('joint_states', 'robot/state')
_TYPES = {
    _COLOUR: 'sensor_msgs/msg/Image',
    _DEPTH: 'sensor_msgs/msg/Image',
    **dict.fromkeys(_INFOS, 'sensor_msgs/msg/CameraInfo'),
    'joint_states': 'sensor_msgs/msg/JointState',
    'robot/state': 'drex_interfaces/msg/RobotState',
}
_COLOURS: dict[str, int | None] = {
    'rgb8': None,
    'bgr8': cv2.COLOR_BGR2RGB,
    'rgba8': cv2.COLOR_RGBA2RGB,
    'bgra8': cv2.COLOR_BGRA2RGB,
    'mono8': cv2.COLOR_GRAY2RGB,
}
_CHANNELS = {'rgb8': 3, 'bgr8': 3, 'rgba8': 4, 'bgra8': 4, 'mono8': 1}
_DEPTHS = {'16UC1': np.uint16, 'mono16': np.uint16, '32FC1': np.float32}
_OLDEST_POSTURE = 0.1  # [s] from a frame to the nearest joint state
_POSTURES = 2000  # joint states that are kept: some seconds
_STAMPS = 40  # of camera_info, to know the rate
_RATE = 30  # [1/s] where the stamps do not say


@dataclass(frozen=True)
class FrameTopics:
    """Where the frames of a bag are."""

    colour: str
    depth: str
    info: str
    joints: str
    """Empty: the robot's posture is not in the bag."""


def find_topics(bag: Bag, namespace: str = '') -> FrameTopics:
    """The topics that frames are made of. Raises BagError with those that there are."""
    prefix = '/' + namespace.strip('/') + '/' if namespace.strip('/') else '/'

    def first(names: tuple[str, ...]) -> str:
        return next(
            (
                prefix + name
                for name in names
                if (topic := bag.topics.get(prefix + name))
                and topic.type == _TYPES[name]
                and topic.messages
            ),
            '',
        )

    found = {names[0]: first(names) for names in ((_COLOUR,), (_DEPTH,), _INFOS)}
    missing = [prefix + name for name, topic in found.items() if not topic]
    if missing:
        raise BagError(_missing(bag, missing, prefix))
    return FrameTopics(found[_COLOUR], found[_DEPTH], found[_INFOS[0]], first(_JOINTS))


def _missing(bag: Bag, missing: list[str], prefix: str) -> str:
    if not any(topic.messages for topic in bag.topics.values()):
        return f'{bag.path}: the bag is empty'
    there = ', '.join(
        f'{name} ({topic.type.rpartition("/")[2]}, {topic.messages})'
        for name, topic in sorted(bag.topics.items())
    )
    prefixes = {name.removesuffix(_COLOUR) for name in bag.topics if name.endswith('/' + _COLOUR)}
    hint = ''
    if prefixes and prefix not in prefixes:
        other = min(prefixes).strip('/')
        hint = f'; try --namespace {other}' if other else '; try without --namespace'
    return f'{bag.path}: no messages on {", ".join(missing)}; there are: {there}{hint}'


class BagFrames:
    """The frames of a bag, and what is known of its camera before the first."""

    def __init__(self, bag: Bag, topics: FrameTopics) -> None:
        """Read the camera's intrinsics. Raises BagError."""
        self._bag = bag
        self._topics = topics
        infos = [info for _, info in islice(bag.messages([topics.info]), _STAMPS)]
        if not infos:
            raise BagError(f'{bag.path}: no message of {topics.info} can be read: {bag.damage}')
        info = infos[0]
        region = info.roi
        try:
            self.lens = Lens.of(
                info.width,
                info.height,
                info.k,
                info.d,
                info.distortion_model,
                binning=(info.binning_x, info.binning_y),
                roi=(region.x_offset, region.y_offset, region.width, region.height),
            )
        except CameraError as error:
            raise BagError(f'{bag.path}: {topics.info}: {error}') from None
        self.rate = _rate([_seconds(each.header.stamp) for each in infos])
        """Frames a second."""
        self.depth_scale = 1.0
        """Factor on measured depth."""
        self.without_posture = 0
        """Frames so far for which no joint state was near enough."""
        self._pairing: Pairing[Any, Any] = Pairing()

    @property
    def expected(self) -> int:
        """How many frames there are at most."""
        topics = self._bag.topics
        return min(topics[self._topics.colour].messages, topics[self._topics.depth].messages)

    @property
    def jumps(self) -> int:
        """How often the stamps went back."""
        return self._pairing.jumps

    def __iter__(self) -> Iterator[RgbdFrame]:
        """Each frame in turn, valid until the next. Raises BagError for what cannot be used."""
        topics = self._topics
        wanted = [name for name in (topics.colour, topics.depth, topics.joints) if name]
        rectification = Rectification(self.lens)
        depths = DepthImage(self.lens.width, self.lens.height)
        postures = _Postures()
        for topic, message in self._bag.messages(wanted):
            time = _seconds(message.header.stamp)
            if topic == topics.joints:
                postures.add(time, message)
                continue
            add = self._pairing.add_colour if topic == topics.colour else self._pairing.add_depth
            for pair in add(time, message):
                posture = postures.at(pair.depth_time)
                self.without_posture += posture is None
                try:
                    colour = rectification.colour(colour_pixels(pair.colour))
                    metres = depths.read(depth_pixels(pair.depth), self.depth_scale)
                    depth = rectification.depth(metres)
                except (CameraError, ValueError) as error:
                    raise BagError(f'{self._bag.path}: {error}') from None
                yield RgbdFrame(pair.depth_time, colour, depth, pair.colour_time, posture)


class _Postures:
    """Where the joints were."""

    def __init__(self) -> None:
        self._known = np.full(N_JOINTS, np.nan)
        self._past: deque[tuple[float, Array]] = deque(maxlen=_POSTURES)

    def add(self, time: float, message: Any) -> None:
        """Take a JointState, of all or some joints, or a RobotState."""
        values = np.asarray(message.position, dtype=np.float64)
        names = getattr(message, 'name', JOINT_NAMES)
        places = {name: i for i, name in enumerate(JOINT_NAMES)}
        for name, value in zip(names, values, strict=False):
            if name in places:
                self._known[places[name]] = value
        if not np.isfinite(self._known).all():
            return
        if self._past and time < self._past[-1][0]:
            self._past.clear()
        if self._past and time == self._past[-1][0]:
            self._past.pop()  # arm and hand, one after the other
        self._past.append((time, self._known.copy()))

    def at(self, time: float) -> Array | None:
        """Joint positions [rad] at a time [s], shape (23,); None: none from near enough."""
        later: tuple[float, Array] | None = None
        for stamp, values in reversed(self._past):
            if stamp <= time:
                if later is None or later[0] - stamp > 2.0 * _OLDEST_POSTURE:
                    return values if time - stamp <= _OLDEST_POSTURE else None
                share = (time - stamp) / (later[0] - stamp)
                return (1.0 - share) * values + share * later[1]
            later = stamp, values
        return later[1] if later and later[0] - time <= _OLDEST_POSTURE else None


def colour_pixels(message: Any) -> Colour:
    """Red, green, blue of an Image message. Raises ValueError."""
    if message.encoding not in _COLOURS:
        known = ', '.join(_COLOURS)
        raise ValueError(f'colour encoding is {message.encoding!r}, must be one of {known}')
    pixels = _pixels(message, np.dtype(np.uint8), _CHANNELS[message.encoding])
    code = _COLOURS[message.encoding]
    picture = pixels if code is None else cv2.cvtColor(np.ascontiguousarray(pixels), code)
    return np.asarray(picture, dtype=np.uint8)


def depth_pixels(message: Any) -> npt.NDArray[Any]:
    """Depth of an Image message as it was sent. Raises ValueError."""
    if message.encoding not in _DEPTHS:
        known = ', '.join(_DEPTHS)
        raise ValueError(f'depth encoding is {message.encoding!r}, must be one of {known}')
    kind = np.dtype(_DEPTHS[message.encoding])
    return _pixels(message, kind.newbyteorder('>' if message.is_bigendian else '<'), 1)


def _pixels(message: Any, kind: np.dtype[Any], channels: int) -> npt.NDArray[Any]:
    width = message.width * channels * kind.itemsize
    data = np.frombuffer(message.data, np.uint8)
    if message.step < width or data.size != message.height * message.step:
        raise ValueError(
            f'{message.encoding} image has {data.size} bytes, must have {message.height} rows of '
            f'{message.step} bytes with {width} in use'
        )
    pixels = data.reshape(message.height, message.step)[:, :width].view(kind)
    return pixels if channels == 1 else pixels.reshape(message.height, message.width, channels)


def _rate(stamps: list[float]) -> int:
    gaps = np.diff(stamps)
    gaps = gaps[gaps > 0.0]
    return int(np.clip(round(1.0 / float(np.median(gaps))), 1, 120)) if gaps.size else _RATE


def _seconds(stamp: Any) -> float:
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)
