# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the running stack's simulator looks like, from its topic mock/scene."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType

import numpy as np
import rclpy
from rclpy.context import Context
from rclpy.exceptions import NameValidationException
from rclpy.executors import SingleThreadedExecutor
from rclpy.validate_namespace import validate_namespace

from drex_interfaces.msg import MockScene
from drex_ros.cli.errors import ViewError
from drex_ros.hardware.photographer import Moment
from drex_ros.nodes.conversions import QUEUED, seconds

PATIENCE = 5.0
"""Wall time without a message after which nobody is there [s]."""


class LiveScene:
    """Follows mock/scene. For one thread; use as a context manager."""

    def __init__(self, namespace: str = '') -> None:
        """Join the graph; namespace is that of the stack."""
        self.hand = ''
        """Which hand the stack has; known with the first moment."""
        try:
            validate_namespace(namespace if namespace.startswith('/') else f'/{namespace}')
        except NameValidationException as error:
            raise ViewError(f'--namespace: {str(error).splitlines()[0].rstrip(":")}') from None
        self._context = Context()
        self._context.init()
        self._node = rclpy.create_node('drex_view', namespace=namespace, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._waiting: deque[MockScene] = deque()
        self._node.create_subscription(MockScene, 'mock/scene', self._on_scene, QUEUED)
        self._topic = self._node.resolve_topic_name('mock/scene')

    def next(self) -> Moment:
        """The next moment; waits for it as long as PATIENCE says. Raises ViewError."""
        deadline = time.monotonic() + PATIENCE
        while not self._waiting:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise ViewError(
                    f'nothing on {self._topic} for {PATIENCE:g} s: start the simulator, '
                    'drex launch drex.launch.yaml, with the same ROS_DOMAIN_ID; '
                    'in a namespace: --namespace'
                )
            self._executor.spin_once(timeout_sec=min(left, 0.1))
        return _moment(self._waiting.popleft())

    def newest(self) -> Moment | None:
        """The newest moment since the last call; None when there is no new one. Never waits."""
        self._executor.spin_once(timeout_sec=0.0)
        if not self._waiting:
            return None
        message = self._waiting[-1]
        self._waiting.clear()
        return _moment(message)

    def _on_scene(self, message: MockScene) -> None:
        self.hand = message.hand
        self._waiting.append(message)

    def record(self, length: float) -> Iterator[Moment]:
        """Moments over a length of simulated time [s]. Raises ViewError when they cease."""
        first = last = self.next()
        yield first
        while last.time - first.time < length:
            last = self.next()
            yield last

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        self._context.try_shutdown()

    def __enter__(self) -> LiveScene:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _moment(message: MockScene) -> Moment:
    place, turn = message.object_pose.position, message.object_pose.orientation
    pose = np.array((place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w))
    return Moment(
        time=seconds(message.header.stamp),
        thing=message.object,
        joint_position=np.array(message.joint_position),
        object_pose=pose if message.object else None,
    )
