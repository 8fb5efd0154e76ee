# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Two publishers under one name are told apart, and named."""

from std_msgs.msg import String

from drex_ros.nodes.one_publisher import OnePublisher

TOPIC = 'controller/target'


def test_one_publisher_may_count_as_it_likes(ros):
    ros.node.create_publisher(String, TOPIC, 10)
    ros.spin_until(lambda: ros.node.count_publishers(TOPIC) == 1, what='the publisher')
    one = OnePublisher(ros.node, TOPIC)
    for number in (5, 6, 2, 900):
        assert one.refusal('a', number, 1.0, 0.5) == ''


def test_the_second_of_two_is_refused_and_both_are_named(ros):
    for _ in range(2):
        ros.node.create_publisher(String, TOPIC, 10)
    ros.spin_until(lambda: ros.node.count_publishers(TOPIC) == 2, what='the publishers')
    one = OnePublisher(ros.node, TOPIC)
    assert one.refusal('a', 1, 1.0, 0.5) == ''
    refused = one.refusal('a', 1, 1.1, 0.5)
    assert refused.startswith('another publisher sends under this name; they are: ')
    assert refused.count(ros.node.get_name()) == 2
    assert one.refusal('a', 2, 1.1, 0.5) == ''
    assert one.refusal('a', 500, 1.2, 0.5) != ''
    assert one.refusal('b', 1, 1.2, 0.5) == ''  # another name: not ours to judge
    assert one.refusal('b', 1, 1.8, 0.5) == ''  # the first was silent
