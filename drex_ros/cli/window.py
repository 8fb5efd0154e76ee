# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scene in MuJoCo's own viewer."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import mujoco

from drex_ros.cli.performance import Performance
from drex_ros.hardware.mujoco_model import JointMap
from drex_ros.hardware.photographer import Moment
from drex_ros.hardware.scene import CAMERA, OBJECT
from drex_ros.hardware.scene_file import Scene
from drex_ros.hardware.studio import studio_model
from drex_ros.objects import load_object
from drex_ros.robot.rotations import to_wxyz

if TYPE_CHECKING:
    from drex_ros.cli.live import LiveScene  # loads ROS

_FRAME = 1.0 / 60.0  # [s]


def has_display() -> bool:
    """Whether a window can be opened."""
    return bool(os.environ.get('DISPLAY') or os.environ.get('WAYLAND_DISPLAY'))


class Window:
    """MuJoCo's viewer on a scene; drawn from moments, so the physics is whoever makes them."""

    def __init__(self, scene: Scene, thing: str, hand: str, *, sensor: bool) -> None:
        """Open it; `sensor`: look through the scene's camera."""
        # Only here: it opens GLFW.
        from mujoco import viewer

        self.thing = thing
        self.model = studio_model(scene, load_object(thing) if thing else None, hand=hand)
        self.data = mujoco.MjData(self.model)
        self._joints = JointMap(self.model)
        self._viewer: Any = viewer.launch_passive(
            self.model, self.data, show_left_ui=False, show_right_ui=False
        )
        eye = self._viewer.cam
        if sensor:
            eye.type = mujoco.mjtCamera.mjCAMERA_FIXED
            eye.fixedcamid = self.model.camera(CAMERA).id

    @property
    def is_open(self) -> bool:
        """Whether the user has not closed it."""
        return bool(self._viewer.is_running())

    def show(self, moment: Moment) -> None:
        """Show a moment of the same object."""
        data = self.data
        with self._viewer.lock():
            data.qpos[self._joints.position] = moment.joint_position
            if moment.object_pose is not None:
                start = int(self.model.jnt_qposadr[self.model.joint(OBJECT).id])
                data.qpos[start : start + 3] = moment.object_pose[:3]
                data.qpos[start + 3 : start + 7] = to_wxyz(moment.object_pose[3:])
            mujoco.mj_forward(self.model, data)
        self._viewer.sync()

    def pull(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Let the mouse pull at the bodies of the physics (Ctrl and drag in the viewer)."""
        data.xfrc_applied[:] = 0.0
        with self._viewer.lock():
            mujoco.mjv_applyPerturbForce(model, data, self._viewer.perturb)

    def close(self) -> None:
        """Close it."""
        self._viewer.close()


def show_physics(window: Window, performance: Performance) -> None:
    """Run the physics in real time, the robot holding, until the window is closed."""
    robot = performance.robot
    start = time.monotonic() - robot.time
    while window.is_open:
        simulation = robot.simulation
        window.pull(simulation.model, simulation.data)
        now = time.monotonic() - start
        if now - robot.time > 0.1:  # the machine is too slow: fall behind, do not hurry
            start += now - robot.time - 0.1
        performance.hold(until=time.monotonic() - start)
        window.show(performance.moment())
        time.sleep(max(0.0, _FRAME - (time.monotonic() - start - now)))


def show_live(window: Window, live: LiveScene, moment: Moment) -> Moment | None:
    """Follow the stack; None when the window is closed, a moment when its object is another."""
    while window.is_open:
        window.show(moment)
        newest = live.newest()
        if newest is None:
            time.sleep(0.002)
        elif newest.thing != window.thing:
            return newest
        else:
            moment = newest
    return None
