# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the simulated robot is without ROS: MuJoCo alone and with motors and sensors.

    python bench/physics.py [--rounds 20]

The hand holds a can of 1 kg in the air, or is free. All cases take turns in short rounds, so that
what else the machine does hits them alike. Times are those of the processor, medians over the
rounds: on a busy machine a clock on the wall would measure the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import mujoco
import numpy as np
from grasping import Grasp, heavy_can

from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HAND, HOME, N_JOINTS, Array
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode

_GRIP = 11.0  # [N] force of the thumb
ROUND = 0.2
"""Simulated time of a round [s]."""
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


class Case:
    """A robot that is set back to the same moment before each round."""

    def __init__(self, robot: MujocoBackend, effort: Array) -> None:
        """From the present moment of the robot on, with constant torques [N m]."""
        self.robot = robot
        self._effort = effort
        self._model, self._data = robot.simulation.model, robot.simulation.data
        self._moment = np.empty(mujoco.mj_stateSize(self._model, _STATE))
        mujoco.mj_getState(self._model, self._data, self._moment, _STATE)
        self._steps = round(ROUND * robot.settings.physics_rate)
        self._cycles = round(ROUND * robot.settings.control_rate)

    def bare(self) -> None:
        """MuJoCo alone."""
        self._set_back()
        for _ in range(self._steps):
            mujoco.mj_step(self._model, self._data)

    def backend(self) -> None:
        """The robot as its driver sees it: command, motors, physics, reflexes, sensors."""
        self._set_back()
        robot = self.robot
        for _ in range(self._cycles):
            state = robot.read()
            robot.write(RobotCommand(state.sequence, CommandMode.EFFORT, self._effort))
            robot.step()

    def truth(self) -> None:
        """The same, and every contact read in each cycle."""
        self._set_back()
        robot, truth = self.robot, self.robot.simulation.truth
        for _ in range(self._cycles):
            state = robot.read()
            robot.write(RobotCommand(state.sequence, CommandMode.EFFORT, self._effort))
            robot.step()
            truth.fingers(truth.contacts())

    def _set_back(self) -> None:
        mujoco.mj_setState(self._model, self._data, self._moment, _STATE)
        mujoco.mj_forward(self._model, self._data)


def grasping() -> Case:
    """The hand holds 1 kg in the air."""
    robot = MujocoBackend()
    robot.connect()
    grasp = Grasp(robot, heavy_can(finger_friction=0.8))
    grasp.lift(_GRIP)
    return Case(robot, robot.read().effort_commanded)


def free() -> Case:
    """The robot floats at home; nothing is touched."""
    robot = MujocoBackend()
    robot.connect()
    effort = np.zeros(N_JOINTS)
    effort[HAND] = Dynamics().gravity(HOME)[HAND]
    return Case(robot, effort)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=20, help='rounds of each case')
    options = parser.parse_args()
    held, idle = grasping(), free()
    runs: dict[str, Callable[[], None]] = {
        'mj_step, hand grasping': held.bare,
        'backend, hand grasping': held.backend,
        '  and its contacts read': held.truth,
        'mj_step, free': idle.bare,
        'backend, free': idle.backend,
    }
    walls: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(options.rounds + 1):
        for name, run in runs.items():
            start = time.thread_time()
            run()
            walls[name].append(time.thread_time() - start)
    for case in (held, idle):
        if case.robot.read().mode is not RobotMode.EFFORT:
            print(f'no measurement: {case.robot.read().reason}', file=sys.stderr)
            return 1
    steps = round(ROUND * held.robot.settings.physics_rate)
    reference = float(np.median(walls['mj_step, hand grasping'][1:]))
    print(f'{"":24} {"us a step":>10} {"x real time":>12} {"at best":>8} {"to the first":>13}')
    for name, times in walls.items():
        wall, best = float(np.median(times[1:])), min(times[1:])  # the first round warms up
        print(
            f'{name:24} {1e6 * wall / steps:10.1f} {ROUND / wall:12.1f} '
            f'{ROUND / best:8.1f} {wall / reference:13.2f}'
        )
    return 0


if __name__ == '__main__':
    sys.exit(main())
