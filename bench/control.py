# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How long one control cycle takes: everything between a robot state and its command.

    python bench/control.py [--cycles 5000]

The palm hangs in space by Cartesian impedance and three fingertips press, so that the costliest
laws run, with all estimators and safety rules. The states of a simulated run are recorded, then
played to a fresh controller with a clock around each answer. Pinocchio's inverse dynamics and mass
matrix, and one physics step of MuJoCo, take turns with it in short rounds.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

from drex_ros.control.controller import Controller
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import ArmTarget, FingerForce, HandTarget, Target, TargetMode
from drex_ros.control.warm_up import warm_up
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HAND, HOME, Array
from drex_ros.robot.state import RobotState

_SETTLED = 250  # cycles before the target comes
_ROUND = 250  # cycles in a row


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--cycles', type=int, default=5000, help='control cycles to measure')
    cycles = parser.parse_args().cycles
    if cycles < 100:
        parser.error(f'--cycles is {cycles}, must be at least 100')
    dynamics, settings = Dynamics(), ControllerSettings()
    warm_up(dynamics, settings)
    states, robot = _record(Controller(dynamics, settings), cycles)
    times = _measure(Controller(dynamics, settings), dynamics, states, robot)
    _print(times)
    return 0


def _target() -> Target:
    grip = tuple(
        FingerForce(finger, 'grip', np.array((1.0, 0.0, 0.0)), (True, False, False))
        for finger in (0, 1, 3)
    )
    fingers = HandTarget(TargetMode.HYBRID_FORCE, position=HOME[HAND].copy(), fingertips=grip)
    return Target(arm=ArmTarget(TargetMode.CARTESIAN_IMPEDANCE), hand=fingers)


def _record(controller: Controller, cycles: int) -> tuple[list[RobotState], MujocoBackend]:
    """States of a run in which the hand closes while the arm hangs in space."""
    robot = MujocoBackend()
    robot.connect()
    states = []
    for cycle in range(cycles + _SETTLED):
        if cycle == _SETTLED:
            refused = controller.accept(_target())
            assert not refused, refused
        states.append(robot.read())
        robot.write(controller.update(states[-1]))
        robot.step()
    return states, robot


def _measure(
    controller: Controller, dynamics: Dynamics, states: list[RobotState], robot: MujocoBackend
) -> dict[str, Array]:
    model, data = dynamics.model, dynamics.model.createData()
    simulation = robot.simulation
    position, velocity = np.zeros(model.nq), np.zeros(model.nv)
    position[:] = pin.neutral(model)

    def rigid_bodies() -> None:
        pin.rnea(model, data, position, velocity, velocity)
        pin.crba(model, data, position)

    times: dict[str, list[float]] = {'cycle': [], 'pinocchio': [], 'mujoco': []}
    # What the collector of garbage does belongs to nobody's cycle, but it does it in some.
    gc.collect()
    gc.disable()
    for first in range(0, len(states), _ROUND):
        for cycle in range(first, min(first + _ROUND, len(states))):
            if cycle == _SETTLED:
                controller.accept(_target())
            taken = _clocked(lambda state=states[cycle]: controller.update(state))  # type: ignore[misc]
            if cycle >= _SETTLED:
                times['cycle'].append(taken)
        position[:], velocity[:] = states[first].position, states[first].velocity
        for _ in range(_ROUND):
            times['pinocchio'].append(_clocked(rigid_bodies))
        for _ in range(_ROUND):
            step = _clocked(lambda: mujoco.mj_step(simulation.model, simulation.data))
            times['mujoco'].append(step)
    gc.enable()
    return {name: 1e6 * np.array(values) for name, values in times.items()}


def _clocked(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _print(times: dict[str, Array]) -> None:
    names = {
        'cycle': 'one control cycle, 23 joints',
        'pinocchio': 'Pinocchio: RNEA + CRBA',
        'mujoco': 'MuJoCo: one physics step',
    }
    whole = float(np.median(times['cycle']))
    table = Table('', 'median [us]', 'p99 [us]', 'p99 / median', 'cycle / this')
    for name, text in names.items():
        median, late = np.percentile(times[name], (50, 99))
        table.add_row(
            text, f'{median:.1f}', f'{late:.1f}', f'{late / median:.2f}', f'{whole / median:.1f}'
        )
    Console().print(table)


if __name__ == '__main__':
    sys.exit(main())
