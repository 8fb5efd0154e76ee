# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A subscription that a node reads itself."""

import time

import pytest
from rclpy.node import Node
from std_msgs.msg import UInt64

from drex_ros.nodes.base import ManagedNode


class Reader(ManagedNode):
    """Reads two topics."""

    NAME = 'reader'

    def configure(self) -> None:
        self.first = self.polled_subscription(UInt64, 'first', 10)
        self.second = self.polled_subscription(UInt64, 'second', 10)


@pytest.fixture
def reader(context):
    node = Reader(context=context)
    node.trigger_configure()
    node.trigger_activate()
    yield node
    node.destroy_node()


@pytest.fixture
def publishers(context, reader):
    """Of both topics, which the reader hears."""
    sender = Node('sender', context=context)
    made = [sender.create_publisher(UInt64, topic, 10) for topic in ('first', 'second')]
    for publisher, subscription in zip(made, (reader.first, reader.second), strict=True):
        deadline = time.monotonic() + 20.0
        while subscription.wait(0.05) is None:
            assert time.monotonic() < deadline
            publisher.publish(UInt64())
        while subscription.wait(0.2) is not None:
            pass
    yield made
    sender.destroy_node()


def test_waits_for_a_message_no_longer_than_asked(reader, publishers):
    begin = time.monotonic()
    assert reader.first.wait(0.1) is None
    assert 0.09 < time.monotonic() - begin < 2.0
    publishers[0].publish(UInt64(data=3))
    assert reader.first.wait(20.0).data == 3


def test_a_message_of_another_topic_ends_the_wait_and_is_left(reader, publishers):
    first, second = publishers
    second.publish(UInt64(data=5))
    begin = time.monotonic()
    assert reader.first.wait(20.0, until=reader.second) is None
    assert time.monotonic() - begin < 10.0
    assert reader.second.take().data == 5
    first.publish(UInt64(data=6))
    assert reader.first.wait(20.0, until=reader.second).data == 6
