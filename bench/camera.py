# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a picture costs: drawing, noise, publishing, and MuJoCo's own Renderer beside it.

MuJoCo's Renderer draws colour and depth one after the other, and what is out of sight too. It is
given the same settings (no shadows, no reflections, one sample a pixel), so that the ratio is that
of the ways of drawing.
"""

from __future__ import annotations

import argparse
import copy
import os
import subprocess
import sys
import time
from collections.abc import Callable

from drex_ros.hardware.gl import choose_gl

choose_gl()  # MuJoCo's Renderer looks at it when MuJoCo is imported

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
import rclpy  # noqa: E402
from builtin_interfaces.msg import Time  # noqa: E402
from sensor_msgs.msg import Image  # noqa: E402

from drex_ros.domain import Domain  # noqa: E402
from drex_ros.hardware.depth_noise import (  # noqa: E402
    DepthSensor,
    add_colour_noise,
    frame_generator,
    to_millimetres,
)
from drex_ros.hardware.rendering import Picture, SceneRenderer  # noqa: E402
from drex_ros.hardware.scene import object_place, scene_spec  # noqa: E402
from drex_ros.hardware.scene_file import Scene, load_scene  # noqa: E402
from drex_ros.nodes.images import PICTURES, ImageMessage, enlarge_shared_memory  # noqa: E402
from drex_ros.objects import load_object  # noqa: E402
from drex_ros.robot.joints import HOME  # noqa: E402

_READER = """
import rclpy
from sensor_msgs.msg import Image
rclpy.init()
node = rclpy.create_node('reader')
for topic in ('colour', 'depth'):
    node.create_subscription(Image, topic, lambda message: None, 10)
rclpy.spin(node)
"""


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """Median duration of one call [ms]."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


def mujoco_renderer(
    model: mujoco.MjModel, renderer: SceneRenderer
) -> tuple[Callable[[], object], mujoco.Renderer]:
    """The same picture by MuJoCo's own class; the model has the camera 'camera'."""
    model = copy.copy(model)
    model.vis.quality.offsamples = 0
    data = mujoco.MjData(model)
    data.qpos[:] = renderer.data.qpos
    mujoco.mj_forward(model, data)
    own = mujoco.Renderer(model, renderer.camera.height, renderer.camera.width)
    option = mujoco.MjvOption()

    def two_passes() -> None:
        for depth in (False, True):
            if depth:
                own.enable_depth_rendering()
            else:
                own.disable_depth_rendering()
            own.update_scene(data, 'camera', option)
            own.scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
            own.scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
            own.render()

    return two_passes, own


def publish_time(scene: Scene, picture: Picture, rounds: int) -> float:
    """Time to fill and publish one picture for a reader in another process [ms]."""
    domain = Domain()
    os.environ.update(domain.variables)
    enlarge_shared_memory()
    child = dict(os.environ)
    # A changed environment with this mark keeps ROS wheels from finding their libraries.
    child.pop('_ROS_WHEELS_BOOTSTRAP_COMPLETE', None)
    reader = subprocess.Popen([sys.executable, '-c', _READER], env=child)
    rclpy.init()
    try:
        node = rclpy.create_node('camera')
        colour = ImageMessage(scene.camera, 'rgb8', 'camera')
        depth = ImageMessage(scene.camera, '16UC1', 'camera')
        publishers = [node.create_publisher(Image, name, PICTURES) for name in ('colour', 'depth')]
        deadline = time.monotonic() + 30.0
        while not all(publisher.get_subscription_count() for publisher in publishers):
            if time.monotonic() > deadline:
                return float('nan')
            time.sleep(0.05)

        def publish() -> None:
            publishers[0].publish(colour.fill(picture.rgb, Time()))
            publishers[1].publish(depth.fill(to_millimetres(picture.depth), Time()))

        taken = [milliseconds(publish, 1)]
        for _ in range(rounds):
            time.sleep(0.02)  # the reader must keep up
            taken.append(milliseconds(publish, 1))
        return float(np.median(taken))
    finally:
        reader.kill()
        reader.wait()
        rclpy.shutdown()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=60, help='pictures to take')
    parser.add_argument('--object', default='mug', help='name in the object library')
    options = parser.parse_args()
    scene, thing = load_scene(), load_object(options.object)
    place = object_place(scene, thing)
    model = scene_spec(scene, thing, timestep=0.001, visuals=True).compile()
    generator = frame_generator(0, 0)
    with SceneRenderer(model, scene.camera) as renderer:
        renderer.pose(HOME, np.append(place.position, place.quaternion))
        picture = renderer.render()
        sensor = DepthSensor(scene.camera)
        two_passes, own = mujoco_renderer(model, renderer)
        two_passes()
        # In turns, so that both see the same load of the machine.
        ours, theirs = [], []
        for _ in range(options.rounds):
            ours.append(milliseconds(renderer.render, 1))
            theirs.append(milliseconds(two_passes, 1))
        own.close()
        drawn, reference = float(np.median(ours)), float(np.median(theirs))
        depth = milliseconds(lambda: sensor.measure(picture.depth, generator), options.rounds)
        colour = milliseconds(
            lambda: add_colour_noise(picture.rgb, 2.0, generator), options.rounds
        )
    published = publish_time(scene, picture, options.rounds)
    total = drawn + depth + colour + published
    print(f'{model.nmeshface} triangles in the model, {os.environ["MUJOCO_GL"]}')
    print(f'colour and depth drawn in one pass {drawn:7.2f} ms')
    print(f"MuJoCo's Renderer, two passes      {reference:7.2f} ms, {reference / drawn:.2f} times")
    print(f'depth noise                        {depth:7.2f} ms')
    print(f'colour noise                       {colour:7.2f} ms')
    print(f'fill and publish both              {published:7.2f} ms')
    print(f'whole frame                        {total:7.2f} ms, {1e3 / total:.0f} Hz')
    return 0


if __name__ == '__main__':
    sys.exit(main())
