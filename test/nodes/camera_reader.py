# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A process that reads the camera's topics and counts what it got, for test_mock_camera.

Arguments: best_effort or reliable; the first stamp that counts [s]; the number of frames after
which it ends. The queues are deep, so that only the transport can lose frames.
"""

import sys
import time

import rclpy
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image

TOPICS = ('camera/color/image_raw', 'camera/aligned_depth_to_color/image_raw')
SILENCE = 5.0  # [s] after which nothing more will come


def main() -> None:
    kind, first, count = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    qos = QoSProfile(depth=count, reliability=ReliabilityPolicy[kind.upper()])
    rclpy.init()
    node = rclpy.create_node(f'{kind}_reader')
    stamps: dict[str, list[float]] = {topic: [] for topic in TOPICS}
    for topic in TOPICS:

        def keep(message: Image, found: list[float] = stamps[topic]) -> None:
            found.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)

        node.create_subscription(Image, topic, keep, qos)
    while not all(stamps.values()):
        rclpy.spin_once(node, timeout_sec=0.1)
    print('connected', flush=True)

    def counted(topic: str) -> set[float]:
        return {stamp for stamp in stamps[topic] if stamp >= first}

    seen, until = 0, time.monotonic() + 30.0
    while time.monotonic() < until and any(len(counted(topic)) < count for topic in TOPICS):
        rclpy.spin_once(node, timeout_sec=0.1)
        if (now := sum(map(len, stamps.values()))) > seen:
            seen, until = now, time.monotonic() + SILENCE
    for topic in TOPICS:
        print(f'{topic}: {len(counted(topic))} of {count}', flush=True)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
