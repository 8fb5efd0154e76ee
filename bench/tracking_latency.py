# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How late the tracker's answers are in the running stack, and what it costs.

    python bench/tracking_latency.py [--object mug] [--seconds 20] [--minutes 0]

Launches the stack in lockstep at real time, without the tracker and with it, and prints: the time
from the stamp of a picture to its track, in simulated time, and how much of that is the camera's;
pictures answered and dropped; how fast simulated time runs; processor time of each node. What
this process hears is timed by the newest robot/state, to 2 ms; the tracker itself reads /clock,
which has steps of up to 10 ms and is late by that. With --minutes it goes on with the tracker,
moves the object now and then, and watches the tracker's memory; exit code 1 when that grows.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from mischief import MEMORY_GROWTH, WARM_UP, Bar, memory

from drex_interfaces.msg import ObjectTrack
from drex_ros.cli.stack import Stack
from drex_ros.client import Drex, DrexError, Simulator
from drex_ros.domain import Domain
from drex_ros.nodes.conversions import QUEUED, seconds
from drex_ros.objects import load_object

_START = 600.0  # [s] a first start compiles
_SETTLE = 3.0  # [s] before anything is measured
_MOVE_PERIOD = 20.0  # [s] of wall time between two places of the object
_PLACES = ((0.5, 0.0), (0.55, 0.08), (0.45, -0.06), (0.5, 0.1))  # x, y [m]
_TICKS = os.sysconf('SC_CLK_TCK')


class Listener(Drex):
    """A client that notes what the tracker says."""

    def __init__(self) -> None:
        self.tracks: list[float] = []
        self.latencies: list[float] = []
        self.good = 0
        self.values: dict[str, str] = {}
        super().__init__(name='bench')

    def _start(self) -> None:
        self._listen(DiagnosticArray, '/diagnostics', self._note, QUEUED)
        super()._start()

    def _on_track(self, message: ObjectTrack) -> None:
        super()._on_track(message)
        stamp = seconds(message.header.stamp)
        self.tracks.append(stamp)
        if self._state is not None:
            self.latencies.append(seconds(self._state.header.stamp) - stamp)
        self.good += message.status == ObjectTrack.STATUS_TRACKING

    def _note(self, array: DiagnosticArray) -> None:
        for status in array.status:
            if status.name == '/pose_tracker':
                self.values = {value.key: value.value for value in status.values}


@dataclass(frozen=True)
class Usage:
    """What was used up to a moment."""

    wall: float
    simulated: float
    processor: dict[str, float]
    """Of each node [s]."""

    def since(self, before: Usage) -> Usage:
        """What was used since another moment."""
        return Usage(
            self.wall - before.wall,
            self.simulated - before.simulated,
            {name: used - before.processor[name] for name, used in self.processor.items()},
        )


def nodes(stack: Stack) -> dict[str, int]:
    """Process numbers of the nodes, by name."""
    text = stack.log.read_text()
    found = re.findall(r'\[(\w+)-\d+\]: process started with pid \[(\d+)\]', text)
    return {name: int(number) for name, number in found}


def usage(drex: Drex, processes: dict[str, int]) -> Usage:
    """What was used up to now."""
    processor = {}
    for name, process in processes.items():
        fields = Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()
        processor[name] = (int(fields[11]) + int(fields[12])) / _TICKS
    return Usage(time.monotonic(), drex.state(30.0).time, processor)


def measure(drex: Drex, stack: Stack, duration: float) -> Usage:
    """What is used in some seconds of wall time."""
    processes = nodes(stack)
    before = usage(drex, processes)
    time.sleep(duration)
    return usage(drex, processes).since(before)


def print_usage(name: str, used: Usage) -> None:
    """One line for the time, one for the processors."""
    print(f'{name}: {used.simulated / used.wall:.2f} x real time')
    shares = (f'{each} {100 * s / used.wall:.0f} %' for each, s in used.processor.items())
    print(f'  of a core: {", ".join(shares)}')


def without_tracker(options: argparse.Namespace) -> None:
    """Run the stack without the tracker."""
    with launched(options, 'tracker:=false') as stack, Drex(name='bench') as drex:
        drex.wait_until_ready(_START)
        time.sleep(_SETTLE)
        print_usage('without the tracker', measure(drex, stack, options.seconds))


def with_tracker(options: argparse.Namespace) -> bool:
    """Run the stack with the tracker; whether its memory stays as it is."""
    with launched(options) as stack, Listener() as drex:
        drex.wait_until_ready(_START)
        drex.object_track(_START)
        time.sleep(_SETTLE)
        drex.tracks.clear()
        drex.latencies.clear()
        drex.good = 0
        print_usage('with the tracker', measure(drex, stack, options.seconds))
        _print_tracks(drex)
        return options.minutes <= 0 or watch_memory(drex, stack, options)


def _print_tracks(drex: Listener) -> None:
    stamps = np.array(drex.tracks)
    gaps = np.diff(stamps)
    rate = (len(stamps) - 1) / (stamps[-1] - stamps[0])
    dropped = int(np.rint(gaps / gaps.min()).sum()) - len(gaps)
    names = ('pictures late by', 'latency median', 'latency 95 %')
    late, median, most = (1e3 * float(drex.values[f'{name} [s]']) for name in names)
    print(
        f'tracks: {rate:.1f} a simulated second, {drex.good / len(stamps):.1%} tracking, '
        f'{dropped} of {len(stamps) + dropped} pictures dropped'
    )
    heard = 1e3 * np.percentile(drex.latencies, (50, 95, 100))
    print('latency, simulated, from stamp to track:')
    print('  heard here: median {:.0f} ms, 95 % {:.0f} ms, at most {:.0f} ms'.format(*heard))
    print(
        f'  by the tracker: median {median:.0f} ms, 95 % {most:.0f} ms; '
        f'of it until the picture came: median {late:.0f} ms'
    )


def watch_memory(drex: Listener, stack: Stack, options: argparse.Namespace) -> bool:
    """Move the object now and then for some minutes; whether the memory stays as it is."""
    process, model, bar = nodes(stack)['pose_tracker'], load_object(options.object), Bar()
    start, moved, first, number = time.monotonic(), 0.0, 0.0, 0
    with Simulator(name='bench_simulator') as simulator:
        while (share := (time.monotonic() - start) / (60.0 * options.minutes)) < 1.0:
            bar(share)
            if time.monotonic() - moved > _MOVE_PERIOD:
                place = (*_PLACES[number % len(_PLACES)], model.rest_height)
                turn = model.rest_quaternion.tolist()
                simulator.reset(thing=options.object, position=place, quaternion=turn)
                moved, number = time.monotonic(), number + 1
            if not first and share > WARM_UP:
                first = memory(process)
            time.sleep(0.5)
            drex.tracks.clear()
    last = memory(process)
    print(f'memory of the tracker: {first:.1f} MB after the warm-up, {last:.1f} MB at the end')
    print(f'  {options.minutes:g} minutes, {number} places, +{MEMORY_GROWTH:g} MB allowed')
    return last - first < MEMORY_GROWTH


@contextmanager
def launched(options: argparse.Namespace, *words: str) -> Iterator[Stack]:
    """The stack, while it runs."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [f'object:={options.object}', f'real_time_factor:={options.factor}', *words]
        stack = Stack(['drex.launch.yaml', *arguments], Path(folder) / 'stack.log', {})
        try:
            yield stack
        finally:
            stack.stop()


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--object', default='mug')
    parser.add_argument('--seconds', type=float, default=20.0, help='wall time of a measurement')
    parser.add_argument('--factor', type=float, default=1.0, help='real_time_factor of the robot')
    parser.add_argument('--minutes', type=float, default=0.0, help='wall time to watch the memory')
    options = parser.parse_args()
    with Domain() as domain:
        os.environ.update(domain.variables)
        try:
            without_tracker(options)
            steady = with_tracker(options)
        except DrexError as error:
            print(error, file=sys.stderr)
            return 1
    return 0 if steady else 1


if __name__ == '__main__':
    sys.exit(main())
