# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tells apart two publishers that call themselves by the same name.

A message in Jazzy's rclpy does not say which publisher it comes from, but how many that one sent
before: two that take turns count side by side.
"""

from __future__ import annotations

import math

from rclpy.node import Node

_AHEAD = 20  # messages that one publisher may have lost meanwhile


class OnePublisher:
    """Watches who sends on a topic under one name."""

    def __init__(self, node: Node, topic: str) -> None:
        self._node = node
        self._topic = node.resolve_topic_name(topic)
        self._source = ''
        self._number = 0
        self._time = -math.inf

    def forget(self) -> None:
        """The next message is the first one."""
        self._time = -math.inf

    def refusal(self, source: str, number: int, time: float, silence: float) -> str:
        """Why a message is another publisher's; empty when it is not.

        Args:
            source: what the sender calls itself.
            number: which of its messages this is.
            time: now [s].
            silence: after which another may take the place of the first [s].
        """
        recent = source == self._source and 0.0 <= time - self._time < silence
        if recent and not self._number < number <= self._number + _AHEAD:
            names = sorted(
                info.node_namespace.rstrip('/') + '/' + info.node_name
                for info in self._node.get_publishers_info_by_topic(self._topic)
            )
            if len(names) > 1:
                return f'another publisher sends under this name; they are: {", ".join(names)}'
        self._source, self._number, self._time = source, number, time
        return ''
