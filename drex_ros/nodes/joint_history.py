# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where the joints were when a picture was taken, from joint_states.

They come at a fifth of the rate of robot/state and, unlike it, wait in a queue: a node that looks
once a picture still gets all of them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from drex_ros.nodes.conversions import seconds
from drex_ros.robot.joints import JOINT_NAMES, N_JOINTS, Array

if TYPE_CHECKING:
    from drex_ros.nodes.base import ManagedNode

TOPIC = 'joint_states'
OLDEST = 0.1
"""Greatest time from a picture to the nearest joint state [s]."""

_QOS = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
_KEPT = 500  # samples: 5 s of the simulated robot, half a second of one at 1 kHz
_PLACES = {name: place for place, name in enumerate(JOINT_NAMES)}


class JointHistory:
    """Joint positions of the last seconds."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._known = np.full(N_JOINTS, np.nan)
        self._past: deque[tuple[float, Array]] = deque(maxlen=_KEPT)

    @property
    def missing(self) -> list[str]:
        """Joints of which nothing was heard yet."""
        unknown = np.isnan(self._known)
        return [name for name, place in _PLACES.items() if unknown[place]]

    def add(self, time: float, names: Sequence[str], positions: Sequence[float]) -> None:
        """Take positions [rad] of all joints, or of some: arm and hand may speak apart."""
        for name, position in zip(names, positions, strict=False):
            place = _PLACES.get(name)
            if place is not None and math.isfinite(position):
                self._known[place] = position
        if self._past and time < self._past[-1][0]:
            self._past.clear()
        if not np.isnan(self._known).any():
            self._past.append((time, self._known.copy()))

    def at(self, time: float) -> Array | None:
        """Joint positions [rad] at a time [s], shape (23,); None: none from near enough."""
        later: tuple[float, Array] | None = None
        for stamp, position in reversed(self._past):
            if stamp <= time:
                return self._between(time, (stamp, position), later)
            later = stamp, position
        return later[1] if later is not None and later[0] - time <= OLDEST else None

    @staticmethod
    def _between(
        time: float, before: tuple[float, Array], after: tuple[float, Array] | None
    ) -> Array | None:
        if after is None or after[0] - before[0] > 2.0 * OLDEST:
            return before[1] if time - before[0] <= OLDEST else None
        share = (time - before[0]) / (after[0] - before[0])
        return before[1] + share * (after[1] - before[1])


class JointTopic:
    """joint_states, read by a node's own loop."""

    def __init__(self, node: ManagedNode) -> None:
        """Subscribe; call it in `configure`."""
        self.history = JointHistory()
        self._messages = node.polled_subscription(JointState, TOPIC, _QOS)

    def take(self) -> None:
        """Take what has come; does not wait."""
        while (message := self._messages.take()) is not None:
            self.history.add(seconds(message.header.stamp), message.name, message.position)

    @property
    def problem(self) -> str:
        """Why the robot's posture is not known, in words; empty: it is."""
        missing = self.history.missing
        if not missing:
            return ''
        if len(missing) == N_JOINTS:
            return f'nothing on {TOPIC}: the robot is not masked'
        return (
            f'{TOPIC} has no {missing[0]} (and {len(missing) - 1} more): the robot is not masked'
        )
