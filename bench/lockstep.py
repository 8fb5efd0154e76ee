# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How fast the simulated robot, its controller and its camera go in lockstep.

    python bench/lockstep.py [--seconds 5] [--control-rate 500]

Each case runs the very nodes over ROS, each in a process of its own, as fast as they can: the
hand free, the hand around a can, and that with the camera. Beside them, in the same run, MuJoCo
alone with the same model and the hand around the can: times of a machine move from run to run,
the ratios move less.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np
import physics
from grasping import CAN_PLACE, GRASP

from drex_interfaces.msg import ControllerTarget
from drex_ros.domain import Domain
from drex_ros.hardware.scene import ObjectPose
from drex_ros.nodes.base import run
from drex_ros.nodes.mock_hardware import MockHardware
from drex_ros.objects import load_object
from drex_ros.robot.joints import HAND, Array

CASES = ('free', 'grasping', 'grasping, camera')

_WARM_UP = 1.0  # [s] simulated, before the clock starts
_START_TIMEOUT = 30.0  # [s]
_SQUEEZE = 0.15  # [rad] beyond the can, with 3 N m/rad: 0.45 N m in each closing joint
_CLOSING = np.array((1, 2, 5, 6, 13, 14))  # joints of index, middle finger and thumb


@dataclass(frozen=True)
class Result:
    """One case, measured."""

    exchanges: float
    """A wall second."""
    factor: float
    """Simulated over wall time."""
    round_trips: tuple[float, float, float]
    """Median, 99th percentile and greatest [s]."""
    repeated: int
    contacts: int
    pictures: float
    """A wall second."""


def squeezed() -> Array:
    """Targets of the hand's joints inside the can [rad]."""
    target = GRASP[HAND].copy()
    target[_CLOSING] += _SQUEEZE
    return target


class TimedMock(MockHardware):
    """The simulated robot with a stopwatch."""

    case = CASES[0]
    seconds = 5.0
    result: Result | None = None

    def configure(self) -> None:
        """Take the can between the fingers, when the case asks for it."""
        super().configure()
        self._targets = self.create_publisher(ControllerTarget, 'controller/target', 10)
        if self.case != 'free':
            can = load_object('can')
            place = ObjectPose(np.array((*CAN_PLACE, can.rest_height)), can.rest_quaternion)
            self._put('can', posture=np.array(GRASP), pose=place)

    def activate(self) -> None:
        """Begin with an empty record."""
        self._trips: list[float] = []
        self._born = time.perf_counter()
        self._began: tuple[float, float, int] | None = None
        self._asked = self.case == 'free'
        super().activate()

    def _run_cycle(self) -> None:
        super()._run_cycle()
        now, simulated = time.perf_counter(), self._state.time
        if not self._exchange.in_step or ('camera' in self.case and not self._frames.in_step):
            self._began = None
            self.stop.requested |= now - self._born > _START_TIMEOUT
            return
        if not self._asked and self._targets.get_subscription_count():
            mode = ControllerTarget.MODE_JOINT_IMPEDANCE
            target = ControllerTarget(source='bench', hand_mode=mode)
            target.hand_position = squeezed().tolist()
            self._targets.publish(target)
            self._asked = True
        if self._began is None:
            self._began = (now, simulated, self._frames.finished)
            self._warm = simulated + _WARM_UP
        elif simulated < self._warm:
            self._began = (now, simulated, self._frames.finished)
        else:
            self._trips.append(self._exchange.round_trip)
            if now - self._began[0] > self.seconds:
                self._finish(now, simulated)

    def _finish(self, now: float, simulated: float) -> None:
        assert self._began is not None
        wall, trips = now - self._began[0], np.array(self._trips)
        median, most, greatest = np.percentile(trips, (50, 99, 100)).tolist()
        TimedMock.result = Result(
            exchanges=len(trips) / wall,
            factor=(simulated - self._began[1]) / wall,
            round_trips=(median, most, greatest),
            repeated=self._exchange.repeated,
            contacts=int(self._robot.simulation.data.ncon),
            pictures=(self._frames.finished - self._began[2]) / wall,
        )
        self.stop.requested = True


def physics_factor(seconds: float) -> float:
    """Simulated over wall time of MuJoCo alone, a can in the hand."""
    case, rounds, start = physics.grasping(), 0, time.perf_counter()
    while (wall := time.perf_counter() - start) < seconds:
        case.bare()
        rounds += 1
    return rounds * physics.ROUND / wall


def measure(options: argparse.Namespace) -> Result | None:
    """Run one case in this process, with controller and camera in others."""
    TimedMock.case, TimedMock.seconds = options.case, options.seconds
    params = {
        'control_rate': options.control_rate,
        'physics_rate': options.physics_rate,
        'real_time_factor': 0.0,
    }
    args = [part for key, value in params.items() for part in ('-p', f'{key}:={value}')]
    names = ['hybrid_impedance_controller', *(['mock_camera'] if 'camera' in options.case else [])]
    common = ['-p', 'use_sim_time:=true', '--log-level', 'warn']
    others = [
        subprocess.Popen([sys.executable, '-m', f'drex_ros.nodes.{name}', '--ros-args', *common])
        for name in names
    ]
    try:
        run(TimedMock, ['--ros-args', '--log-level', 'warn', *args])
    finally:
        for process in others:
            process.terminate()
        for process in others:
            process.wait()
    return TimedMock.result


def run_case(case: str, words: list[str]) -> Result | None:
    """Run one case in a process of its own."""
    with Domain() as domain:  # nobody else's robot shall answer
        done = subprocess.run(
            [sys.executable, __file__, '--case', case, *words],
            env={**os.environ, **domain.variables},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        return None
    return Result(**json.loads(done.stdout.splitlines()[-1]))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=5.0, help='wall time of a case [s]')
    parser.add_argument('--control-rate', type=float, default=500.0, help='[Hz]')
    parser.add_argument('--physics-rate', type=float, default=1000.0, help='[Hz]')
    parser.add_argument('--case', choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        result = measure(options)
        if result is not None:
            print(json.dumps(asdict(result)))
        return 0 if result is not None else 1
    bare = physics_factor(min(options.seconds, 3.0))
    print(f'{"MuJoCo alone, grasping":<27}{bare:6.2f} x real time, at 1 kHz')
    words = [f'--seconds={options.seconds}', f'--control-rate={options.control_rate}']
    failed = False
    for case in CASES:
        result = run_case(case, [*words, f'--physics-rate={options.physics_rate}'])
        if result is None:
            print(f'{case:<27}no measurement: controller or camera did not answer')
            failed = True
            continue
        median, most, greatest = (1e3 * value for value in result.round_trips)
        print(
            f'{"over ROS, " + case:<27}{result.factor:6.2f} x real time, '
            f'{result.exchanges:.0f} exchanges/s, round trip {median:.2f} ms (p99 {most:.1f}, '
            f'max {greatest:.1f}), {result.contacts} contacts, {result.pictures:.0f} pictures/s, '
            f'{bare / result.factor:.1f} times slower than MuJoCo alone'
        )
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
