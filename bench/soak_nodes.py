# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random commands, faults and resets for the real nodes over ROS; nothing may go wrong.

    python bench/soak_nodes.py [--minutes 30] [--seed 0] [--no-camera]

Runs mock_hardware and mock_camera, each in a process of its own, in lockstep and as fast as they
go, and plays the controller (bench/soak_player.py says how, and which commands are counted).
Every number must be one, time and sequence must grow, every refused command must be counted,
memory must not grow, and both nodes must end with exit code 0. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from mischief import MEMORY_GROWTH, WARM_UP, Bar, SoakError, memory
from soak_player import Player

from drex_ros.client import DrexError
from drex_ros.closing import Closing
from drex_ros.domain import Domain

# As fast as it goes. Listeners in Python are slower than the robot, so they hear less often.
_ROBOT = (
    'real_time_factor:=0.0',
    'joint_states_rate:=25.0',
    'ground_truth_rate:=25.0',
    'camera_rate:=5.0',
)
_CAMERA = ('use_sim_time:=true',)
_QUIET = ('--log-level', 'error')
_END_TIME = 30.0  # [s] wall time that a node may take to end


class Nodes(Closing):
    """The processes of the nodes, in the ROS domain of the environment."""

    def __init__(self, *, camera: bool = True) -> None:
        parameters: dict[str, tuple[str, ...]] = {'mock_hardware': _ROBOT}
        if camera:
            parameters['mock_camera'] = _CAMERA
        root = str(Path(__file__).resolve().parents[1])
        path = os.pathsep.join(filter(None, (root, os.environ.get('PYTHONPATH', ''))))
        self.processes = {
            name: subprocess.Popen(
                [sys.executable, '-m', f'drex_ros.nodes.{name}', '--ros-args', *_QUIET]
                + [word for each in given for word in ('-p', each)],
                env={**os.environ, 'PYTHONPATH': path},
            )
            for name, given in parameters.items()
        }

    def check(self) -> None:
        """Raise SoakError when one has ended."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise SoakError(f'{name} ended with exit code {process.returncode}')

    def memory(self) -> dict[str, float]:
        """Memory of each that is in use now [MB]."""
        return {name: memory(process.pid) for name, process in self.processes.items()}

    def end(self) -> None:
        """Ask them to end. Raises SoakError when one does not, or not cleanly."""
        self.check()
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)
        for name, process in self.processes.items():
            try:
                code = process.wait(_END_TIME)
            except subprocess.TimeoutExpired:
                raise SoakError(f'{name} did not end within {_END_TIME:g} s') from None
            if code != 0:
                raise SoakError(f'{name} ended with exit code {code} after SIGINT')

    def close(self) -> None:
        """End them, by force if need be."""
        for process in self.processes.values():
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(_END_TIME)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def soak(player: Player, nodes: Nodes, seconds: float) -> dict[str, tuple[float, float]]:
    """Go on for a simulated time [s]; memory of the nodes after the warm-up and at the end [MB].

    Raises SoakError.
    """
    player.tour()
    bar = Bar()

    def until(share: float, begin: float) -> None:
        def progress(done: float) -> None:
            nodes.check()
            bar(begin + (share - begin) * done)

        player.run((share - begin) * seconds, progress)
        player.rest()

    until(WARM_UP, 0.0)
    first = nodes.memory()
    until(1.0, WARM_UP)
    found = {name: (first[name], last) for name, last in nodes.memory().items()}
    nodes.end()
    for name, (before, after) in found.items():
        if after - before > MEMORY_GROWTH:
            raise SoakError(f'memory of {name} grew from {before:.1f} to {after:.1f} MB')
    return found


def main() -> int:
    """Soak and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--minutes', type=float, default=30.0, help='simulated time')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--no-camera', action='store_true', help='the robot alone')
    options = parser.parse_args()
    seconds, start = 60.0 * options.minutes, time.monotonic()
    with Domain() as domain:
        os.environ.update(domain.variables)
        try:
            with Nodes(camera=not options.no_camera) as nodes, Player(options.seed) as player:
                used = soak(player, nodes, seconds)
        except (SoakError, DrexError) as error:
            print(f'\nseed {options.seed}: {error}', file=sys.stderr)
            return 1
    for name, count in sorted((player.events + player.heard).items()):
        print(f'{name:48} {count:9}')
    for name, (before, after) in used.items():
        print(f'{f"{name}: memory after the warm-up":48} {before:9.1f} MB')
        print(f'{f"{name}: memory at the end":48} {after:9.1f} MB, +{MEMORY_GROWTH:g} allowed')
    print(f'{"real-time factor":48} {seconds / (time.monotonic() - start):9.2f}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
