# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of an RGB-D camera for a node: checked, paired, without a copy too many.

    self._camera = CameraTopics(self)              # in configure
    for pair in self._camera.wait(0.05):           # in step
        colour, depth = self._camera.input.pictures(pair)
    if self._camera.input.problem: ...             # one line that says what is wrong

Nothing here raises because of what a camera sends: what cannot be used is left out, and
`problem` says why until something usable comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from sensor_msgs.msg import CameraInfo, Image

from drex_ros.nodes.conversions import seconds
from drex_ros.nodes.images import LATEST_PICTURES, image_array
from drex_ros.perception.depth_image import MILLIMETRE, DepthImage
from drex_ros.perception.frame import Colour, Depth
from drex_ros.perception.pairing import TOLERANCE, Pairing
from drex_ros.perception.rectification import Lens, Rectification
from drex_ros.robot.camera import CameraError

if TYPE_CHECKING:
    from drex_ros.nodes.base import ManagedNode

COLOUR_TOPIC = 'camera/color/image_raw'
DEPTH_TOPIC = 'camera/aligned_depth_to_color/image_raw'
INFO_TOPIC = 'camera/color/camera_info'

# How OpenCV makes red, green, blue of an encoding; None: it is that.
_TO_RGB: dict[str, int | None] = {
    'rgb8': None,
    'bgr8': cv2.COLOR_BGR2RGB,
    'rgba8': cv2.COLOR_RGBA2RGB,
    'bgra8': cv2.COLOR_BGRA2RGB,
    'mono8': cv2.COLOR_GRAY2RGB,
}
_DEPTH_ENCODINGS = ('16UC1', '32FC1', 'mono16')
_NEVER_PAIRED = 10  # of both kinds without one pair before that is a problem


@dataclass(frozen=True, eq=False)
class CameraPair:
    """Colour and depth that belong together, as they came."""

    time: float
    """Of the depth [s]."""
    colour_time: float
    """Of the colour [s]."""
    stamp: Any
    """Of the depth, as the message has it."""
    frame_id: str
    """The optical frame."""
    colour: Image
    depth: Image


class CameraInput:
    """Takes messages of a camera, gives pairs; knows what is wrong in words."""

    def __init__(self, *, tolerance: float = TOLERANCE, depth_unit: float = MILLIMETRE) -> None:
        """Begin with nothing.

        Args:
            tolerance: greatest difference of the stamps of a pair [s].
            depth_unit: of whole-number depth [m].
        """
        self._pairing: Pairing[Image, Image] = Pairing(tolerance)
        self._depth_unit = depth_unit
        self._info_key: tuple[Any, ...] = ()
        self._rectification: Rectification | None = None
        self._problems = {'camera_info': '', 'colour': '', 'depth': '', 'frames': ''}
        self._last: dict[str, float | None] = {'colour': None, 'depth': None}
        self._unpaired_before = 0

    @property
    def lens(self) -> Lens | None:
        """Of the last camera_info; another object when the numbers change. None: none yet."""
        return None if self._rectification is None else self._rectification.lens

    @property
    def jumps(self) -> int:
        """How often stamps jumped back: what was known of the past is of another time."""
        return self._pairing.jumps

    @property
    def unpaired(self) -> tuple[int, int]:
        """Pictures and depth images that found no partner."""
        return self._pairing.unpaired_colours, self._pairing.unpaired_depths

    @property
    def depth_waits(self) -> bool:
        """Whether a depth image waits for its picture."""
        return self._pairing.depth_waits

    @property
    def problem(self) -> str:
        """Why there are no pairs, in one line; empty: nothing is wrong."""
        for text in self._problems.values():
            if text:
                return text
        missing = [kind for kind, time in self._last.items() if time is None]
        if missing:
            return f'no {" and no ".join(missing)} image has come yet'
        if self._rectification is None:
            return 'images come, but no camera_info yet'
        if min(self.unpaired) - self._unpaired_before >= _NEVER_PAIRED:
            apart = abs((self._last['colour'] or 0.0) - (self._last['depth'] or 0.0))
            return (
                f'colour and depth have stamps {1e3 * apart:.0f} ms apart, must be within '
                f'{1e3 * self._pairing.tolerance:.0f} ms to be paired'
            )
        return ''

    def take_info(self, message: CameraInfo) -> None:
        """Take a camera_info; the same numbers again cost nothing."""
        key = (
            message.width,
            message.height,
            message.distortion_model,
            tuple(message.k),
            tuple(message.d),
            (message.binning_x, message.binning_y),
            (message.roi.x_offset, message.roi.y_offset, message.roi.width, message.roi.height),
        )
        if key == self._info_key:
            return
        self._info_key = key
        try:
            lens = Lens.of(
                message.width,
                message.height,
                list(message.k),
                list(message.d),
                message.distortion_model,
                binning=key[5],
                roi=key[6],
            )
            self._depth_image = DepthImage(lens.width, lens.height, self._depth_unit)
            self._rectification = Rectification(lens)
        except CameraError as error:
            self._rectification = None
            self._problems['camera_info'] = str(error)
            return
        self._pairing.clear()  # what waits was checked against other numbers
        self._rgb = np.empty((lens.height, lens.width, 3), np.uint8)
        self._problems['camera_info'] = ''

    def take_colour(self, message: Image) -> list[CameraPair]:
        """Take a picture; the pairs that it completes."""
        if not self._usable('colour', message, tuple(_TO_RGB)):
            return []
        return self._paired(self._pairing.add_colour(seconds(message.header.stamp), message))

    def take_depth(self, message: Image) -> list[CameraPair]:
        """Take a depth image; the pairs that it completes."""
        if not self._usable('depth', message, _DEPTH_ENCODINGS):
            return []
        return self._paired(self._pairing.add_depth(seconds(message.header.stamp), message))

    def pictures(self, pair: CameraPair, scale: float = 1.0) -> tuple[Colour, Depth]:
        """Red, green, blue and depth [m], without lens distortion.

        The colour shares the message's memory where nothing has to be changed; all else is
        overwritten by the next call.

        Args:
            pair: as it was given out.
            scale: factor on the depth.
        """
        rectification = self._rectification
        if rectification is None:
            raise CameraError('no camera_info yet')
        colour, conversion = image_array(pair.colour), _TO_RGB[pair.colour.encoding]
        if conversion is not None:
            cv2.cvtColor(colour, conversion, dst=self._rgb)
            colour = self._rgb
        depth = self._depth_image.read(image_array(pair.depth), scale)
        return rectification.colour(colour), rectification.depth(depth)

    def forget(self) -> None:
        """Begin anew with the pairing, as after a jump of time."""
        self._pairing.clear()

    def _usable(self, kind: str, message: Image, encodings: tuple[str, ...]) -> bool:
        self._last[kind] = seconds(message.header.stamp)
        self._problems[kind] = self._refusal(kind, message, encodings)
        return not self._problems[kind]

    def _refusal(self, kind: str, message: Image, encodings: tuple[str, ...]) -> str:
        """Why an image cannot be used; empty: it can."""
        if message.encoding not in encodings:
            known = ', '.join(encodings)
            return f'{kind} image has encoding {message.encoding!r}, must be one of {known}'
        try:
            image_array(message)
        except ValueError as error:
            return f'{kind} {error}'
        lens = self.lens
        if lens is not None and (message.width, message.height) != (lens.width, lens.height):
            return (
                f'{kind} image is {message.width} x {message.height}, must be '
                f'{lens.width} x {lens.height} as camera_info says'
            )
        return ''

    def _paired(self, pairs: list[Any]) -> list[CameraPair]:
        found = []
        for pair in pairs:
            self._unpaired_before = min(self.unpaired)
            frames = pair.colour.header.frame_id, pair.depth.header.frame_id
            sizes = [(each.width, each.height) for each in (pair.colour, pair.depth)]
            self._problems['frames'] = self._mismatch(frames, sizes)
            if self._problems['frames'] or self._rectification is None:
                continue
            found.append(
                CameraPair(
                    time=pair.depth_time,
                    colour_time=pair.colour_time,
                    stamp=pair.depth.header.stamp,
                    frame_id=frames[0],
                    colour=pair.colour,
                    depth=pair.depth,
                )
            )
        return found

    def _mismatch(self, frames: tuple[str, str], sizes: list[tuple[int, int]]) -> str:
        if frames[0] != frames[1]:
            return (
                f'colour is in frame {frames[0]!r} and depth in {frames[1]!r}, must be the same: '
                'use depth that is aligned to colour'
            )
        if sizes[0] != sizes[1]:
            (a, b), (c, d) = sizes
            return f'colour is {a} x {b} and depth {c} x {d}, must be the same'
        return ''


class CameraTopics:
    """The topics of a camera, read by a node's own loop."""

    def __init__(
        self,
        node: ManagedNode,
        *,
        tolerance: float = TOLERANCE,
        depth_unit: float = MILLIMETRE,
        stale_after: float | None = None,
    ) -> None:
        """Subscribe; call it in `configure`.

        Args:
            node: that reads.
            tolerance: greatest difference of the stamps of a pair [s].
            depth_unit: of whole-number depth [m].
            stale_after: time without pictures that is a warning on /diagnostics [s].
        """
        self.input = CameraInput(tolerance=tolerance, depth_unit=depth_unit)
        subscribe = node.polled_subscription
        self._infos = subscribe(CameraInfo, INFO_TOPIC, LATEST_PICTURES)
        self._colours = subscribe(Image, COLOUR_TOPIC, LATEST_PICTURES, stale_after=stale_after)
        self._depths = subscribe(Image, DEPTH_TOPIC, LATEST_PICTURES, stale_after=stale_after)

    def wait(self, timeout: float) -> list[CameraPair]:
        """Wait for a message up to `timeout` seconds; the pairs that are complete, oldest first.

        It waits for what a pair lacks: for the picture of a depth image that is there, else for
        depth.
        """
        camera = self.input
        waits = camera.depth_waits
        message = (self._colours if waits else self._depths).wait(timeout)
        while (info := self._infos.take()) is not None:
            camera.take_info(info)
        pairs = [] if message is None or not waits else camera.take_colour(message)
        while (colour := self._colours.take()) is not None:
            pairs += camera.take_colour(colour)
        if message is not None and not waits:
            pairs += camera.take_depth(message)
        while (depth := self._depths.take()) is not None:
            pairs += camera.take_depth(depth)
        return pairs
