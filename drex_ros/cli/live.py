# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the running stack's simulator looks like, from its topic mock/scene."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from drex_interfaces.msg import MockScene
from drex_ros.cli.errors import ViewError
from drex_ros.client.connection import Connection, DrexError
from drex_ros.hardware.photographer import Moment
from drex_ros.nodes.conversions import QUEUED, seconds

PATIENCE = 5.0
"""Wall time without a message after which nobody is there [s]."""


class LiveScene(Connection):
    """Follows mock/scene. Raises ViewError where a namespace is wrong or nothing comes."""

    def __init__(self, namespace: str = '') -> None:
        """Join the graph; namespace is that of the stack."""
        try:
            super().__init__(namespace, 'drex_view')
        except DrexError as error:
            raise ViewError(f'--namespace: {error}') from None
        self._waiting: deque[MockScene] = deque()
        self._listen(MockScene, 'mock/scene', self._waiting.append, QUEUED)
        self._start()

    def next(self) -> Moment:
        """The next moment; waits for it as long as PATIENCE says."""
        return _moment(self._next())

    def hand(self) -> str:
        """Which hand the stack has."""
        return str(self._next().hand)

    def newest(self) -> Moment | None:
        """The newest moment since the last call; None when there is no new one. Never waits."""
        with self._changed:
            if not self._waiting:
                return None
            message = self._waiting[-1]
            self._waiting.clear()
        return _moment(message)

    def record(self, length: float) -> Iterator[Moment]:
        """Moments over a length of simulated time [s]."""
        first = last = self.next()
        yield first
        while last.time - first.time < length:
            last = self.next()
            yield last

    def _next(self) -> MockScene:
        try:
            return self._wait_for(
                lambda: self._waiting.popleft() if self._waiting else None, PATIENCE, 'mock/scene'
            )
        except DrexError:
            topic = self._node.resolve_topic_name('mock/scene')
            raise ViewError(
                f'nothing on {topic} for {PATIENCE:g} s: start the simulator, '
                'drex launch drex.launch.yaml, with the same ROS_DOMAIN_ID; '
                'in a namespace: --namespace'
            ) from None


def _moment(message: MockScene) -> Moment:
    place, turn = message.object_pose.position, message.object_pose.orientation
    pose = np.array((place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w))
    return Moment(
        time=seconds(message.header.stamp),
        thing=message.object,
        joint_position=np.array(message.joint_position),
        object_pose=pose if message.object else None,
    )
