# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex demo`: the stack comes up in simulation, sees, moves, trips, recovers, and stops again.

Nothing is staged: the numbers are what the nodes published on ROS topics in this very run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from drex_interfaces.msg import SystemStatus
from drex_ros.cli.phases import Phases
from drex_ros.cli.stack import Stack
from drex_ros.client import Drex, DrexError, Fault, Simulator
from drex_ros.domain import Domain
from drex_ros.nodes.conversions import seconds
from drex_ros.robot.joints import ARM, FINGERS, HAND
from drex_ros.robot.state import RobotMode, RobotState

THING = 'mug'  # on the table
FRAMES = 20  # pictures of the camera
LISTEN = 1.5  # [s] of wall time over which rates are measured
CURL = np.array([0.0, 0.7, 0.6, 0.5])  # [rad] of the index finger
TURN = 0.4  # [rad] of the arm's last joint
STANDSTILL = 0.01  # [rad/s]


class DemoError(RuntimeError):
    """A phase failed; the message says which, why, and where the log is."""


def run_demo(*, verbose: bool = False, log: Path | None = None) -> None:
    """Run the demo; raises DemoError when a phase fails."""
    console = Console(highlight=False)
    phases = Phases(console)
    folder = log or _log_folder()
    what = 'a Franka arm with an Allegro hand, simulated in MuJoCo'
    console.print(f'[bold]drex demo[/bold]: {what}\n')
    with Domain() as domain:
        # A domain of our own: the demo moves no robot but its own, whatever else runs here.
        os.environ.update(domain.variables)
        echo = partial(console.print, style='dim', markup=False, soft_wrap=True)
        try:
            stack = Stack(
                ['drex.launch.yaml', f'object:={THING}'],
                folder / 'stack.log',
                domain.variables,
                echo if verbose else None,
            )
        except OSError as error:
            raise DemoError(f'cannot write the log: {error}') from None
        try:
            with (
                Drex(name='drex_demo') as drex,
                Simulator(name='drex_demo_simulator') as simulator,
            ):
                system = _show(phases, stack, drex, simulator)
            with phases.phase('Stop') as phase:
                code = stack.stop()
                if code != 0 or stack.ended_badly():
                    raise DrexError('not every process ended by itself')
                phase.done('every process ended by itself')
        except DrexError as error:
            raise _failure(phases.current, error, stack) from None
        finally:
            stack.stop()
    _summary(console, system, stack.log)


def _failure(phase: str, error: DrexError, stack: Stack) -> DemoError:
    code = stack.stop()
    # A stack that was well ends with 0 when it is told to; else its end is the cause.
    cause = f'the stack ended with {code}' if code else error
    problems = stack.problems()
    said = f'\nThe stack wrote:\n{problems}' if problems else ''
    return DemoError(f'{phase} failed: {cause}{said}\nThe whole log: {stack.log}')


def _show(phases: Phases, stack: Stack, drex: Drex, simulator: Simulator) -> SystemStatus:
    with phases.phase('Start') as phase:
        system = _wait_until_ready(stack, drex)
        phase.done(f'{len(system.nodes)} nodes active: {_names(system)}')

    with phases.phase('Listen') as phase:
        first, start = drex.state(), time.monotonic()
        time.sleep(LISTEN)
        last, wall = drex.state(), time.monotonic() - start
        simulated = last.time - first.time
        phase.done(
            f'{(last.sequence - first.sequence) / wall:.0f} robot states a second, '
            f'{simulated / wall:.2f} x real time, '
            f'{last.commands_missed - first.commands_missed} cycles without a command'
        )

    with phases.phase('Look') as phase:
        simulator.pictures(2)  # for the first one the camera has to build the scene
        pictures = simulator.pictures(FRAMES)
        first_picture, last_picture = pictures.depth[0], pictures.depth[-1]
        span = seconds(last_picture.header.stamp) - seconds(first_picture.header.stamp)
        depth = np.frombuffer(last_picture.data, np.uint16)
        measured = depth[depth > 0]
        phase.done(
            f'{last_picture.width} x {last_picture.height} colour and depth, '
            f'{(len(pictures.depth) - 1) / span:.0f} a simulated second, depth in '
            f'{measured.size / depth.size:.0%} of the pixels, '
            f'{measured.min() / 1e3:.2f} m the nearest'
        )

    with phases.phase('Move') as phase:
        start_state = drex.state()
        arm, hand = start_state.position[ARM].copy(), start_state.position[HAND].copy()
        arm[-1] += TURN
        hand[: len(CURL)] += CURL
        drex.move_to(arm=arm, hand=hand)
        end = drex.state()
        error = np.abs(end.position - np.concatenate((arm, hand))).max()
        finger = np.degrees(end.position - start_state.position)[FINGERS['index']]
        phase.done(
            f'index finger by {finger[1:].sum():.0f} deg, wrist by '
            f'{np.degrees(end.position - start_state.position)[ARM][-1]:.0f} deg '
            f'in {end.time - start_state.time:.1f} s simulated, error {np.degrees(error):.1f} deg'
        )

    with phases.phase('Stop in motion') as phase:
        drex.set_target(arm=start_state.position[ARM], hand=start_state.position[HAND])
        fast = _wait_for_speed(drex, lambda speed: speed > 50 * STANDSTILL)
        stopped_at = drex.state().time
        drex.stop()
        still = _wait_for_speed(drex, lambda speed: speed < STANDSTILL)
        phase.done(f'{fast[1]:.2f} rad/s to standstill in {still[0] - stopped_at:.2f} s simulated')

    with phases.phase('Recover') as phase:
        drex.recover()
        drex.move_to(arm=start_state.position[ARM], hand=start_state.position[HAND])
        phase.done('back where it started')

    with phases.phase('Trip') as phase:
        simulator.inject_fault(Fault.REFLEX)
        tripped = _wait_for_mode(drex, RobotMode.REFLEX)
        drex.recover()
        _wait_for_mode(drex, RobotMode.EFFORT)
        phase.done(
            f'the robot says {tripped.reason!r}, stands, takes '
            'no command, and is recovered without moving'
        )
    return drex.system() or system


def _wait_until_ready(stack: Stack, drex: Drex) -> SystemStatus:
    """As Drex.wait_until_ready, but gives up at once when the stack has ended."""
    deadline = time.monotonic() + 60.0
    while True:
        try:
            return drex.wait_until_ready(timeout=0.5)
        except DrexError as error:
            if stack.code is not None:
                raise DrexError('the stack did not come up') from None
            if time.monotonic() > deadline:
                raise error


def _wait_for_mode(drex: Drex, mode: RobotMode, timeout: float = 5.0) -> RobotState:
    """The first state in which the robot is in a mode."""
    deadline = time.monotonic() + timeout
    while (state := drex.state()).mode is not mode:
        if time.monotonic() > deadline:
            raise DrexError(f'the robot is in mode {state.mode.name}, not {mode.name}')
    return state


def _wait_for_speed(
    drex: Drex, wanted: Callable[[float], bool], timeout: float = 5.0
) -> tuple[float, float]:
    """Time [s] and greatest joint speed [rad/s] of the first state whose speed is as wanted."""
    deadline = time.monotonic() + timeout
    while True:
        state = drex.state()
        speed = float(np.abs(state.velocity).max())
        if wanted(speed):
            return state.time, speed
        if time.monotonic() > deadline:
            raise DrexError(f'the joints move with {speed:.3f} rad/s after {timeout:g} s')


def _names(system: SystemStatus) -> str:
    return ', '.join(node.name.rpartition('/')[2] for node in system.nodes)


def _summary(console: Console, system: SystemStatus, log: Path) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style='bold')
    for column in ('Node', 'State', 'Says'):
        table.add_column(column)
    for node in system.nodes:
        table.add_row(node.name, node.state, Text(node.message or 'ok'))
    console.print()
    console.print(table)
    console.print(
        '\nThis version has the robot, its camera, pose tracker and controller, and the health '
        'monitor. Push, mass estimation and grasp are not there yet.'
    )
    console.print(f'Log: {log}', style='dim', markup=False, soft_wrap=True)


def _log_folder() -> Path:
    home = Path(os.environ.get('ROS_HOME') or Path.home() / '.ros')
    base = Path(os.environ.get('ROS_LOG_DIR') or home / 'log')
    return base / f'drex_demo_{time.strftime("%Y%m%d_%H%M%S")}_{os.getpid()}'
