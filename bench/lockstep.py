# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the simulated robot and its controller go in lockstep.

    python bench/lockstep.py [--seconds 5] [--control-rate 500]

The simulator runs in this process, as the very node, as fast as it can; the controller is a
process of its own. Beside it, in the same run, a bare MuJoCo loop of the same model without ROS:
times of a machine move from run to run, the ratio moves less.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

import mujoco
import numpy as np

from drex_ros.domain import Domain
from drex_ros.hardware.mujoco_model import JointMap, robot_spec
from drex_ros.nodes.base import run
from drex_ros.nodes.mock_hardware import MockHardware
from drex_ros.robot.joints import HOME

_WARM_UP = 200  # exchanges before the clock starts
_START_TIMEOUT = 30.0  # [s]


class TimedMock(MockHardware):
    """The simulated robot with a stopwatch."""

    seconds = 5.0
    round_trips: list[float]
    wall = 0.0
    repeated = 0

    def activate(self) -> None:
        """Begin with an empty record."""
        TimedMock.round_trips = []
        self._born = time.perf_counter()
        self._first = 0.0
        super().activate()

    def _run_cycle(self) -> None:
        now = time.perf_counter()
        trips = self.round_trips
        if not self._exchange.in_step:
            self.stop.requested |= now - self._born > _START_TIMEOUT
        else:
            trips.append(self._exchange.round_trip)
            if len(trips) == _WARM_UP:
                self._first = now
            elif len(trips) > _WARM_UP:
                TimedMock.wall = now - self._first
                TimedMock.repeated = self._exchange.repeated
                self.stop.requested |= self.seconds < self.wall
        super()._run_cycle()


def bare_rate(control_rate: float, physics_rate: float, seconds: float) -> float:
    """Control cycles per second of MuJoCo alone: no torques, no ROS."""
    model = robot_spec(1.0 / physics_rate).compile()
    data = mujoco.MjData(model)
    data.qpos[JointMap(model).position] = HOME
    substeps = round(physics_rate / control_rate)
    cycles, start = 0, time.perf_counter()
    while (wall := time.perf_counter() - start) < seconds:
        for _ in range(substeps):
            mujoco.mj_step(model, data)
        cycles += 1
    return cycles / wall


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=5.0, help='wall time to measure [s]')
    parser.add_argument('--control-rate', type=float, default=500.0, help='[Hz]')
    parser.add_argument('--physics-rate', type=float, default=1000.0, help='[Hz]')
    options = parser.parse_args()
    bare = bare_rate(options.control_rate, options.physics_rate, min(options.seconds, 2.0))
    TimedMock.seconds = options.seconds
    params = {
        'control_rate': options.control_rate,
        'physics_rate': options.physics_rate,
        'real_time_factor': 0.0,
    }
    args = [part for key, value in params.items() for part in ('-p', f'{key}:={value}')]
    domain = Domain()  # nobody else's robot shall answer
    os.environ.update(domain.variables)
    controller = subprocess.Popen(
        [sys.executable, '-m', 'drex_ros.nodes.hybrid_impedance_controller']
    )
    try:
        code = run(TimedMock, ['--ros-args', *args])
    finally:
        controller.terminate()
        controller.wait()
    if code or TimedMock.wall == 0.0:
        print('no measurement: the controller did not answer', file=sys.stderr)
        return code or 1
    trips = np.array(TimedMock.round_trips[_WARM_UP:])
    rate = len(trips) / TimedMock.wall
    print(f'exchanges        {rate:8.0f} /s')
    print(f'real-time factor {rate / options.control_rate:8.2f}')
    print(f'round trip p50   {1e3 * np.percentile(trips, 50):8.2f} ms')
    print(f'round trip p99   {1e3 * np.percentile(trips, 99):8.2f} ms')
    print(f'round trip max   {1e3 * trips.max():8.2f} ms')
    print(f'states repeated  {TimedMock.repeated:8d}')
    print(f'bare MuJoCo      {bare:8.0f} cycles/s, {bare / rate:.1f} times as fast')
    return 0


if __name__ == '__main__':
    sys.exit(main())
