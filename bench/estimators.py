# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How good the estimators are, in the mock with friction, noise, delay and sensor bias.

    python bench/estimators.py [--seeds 5] [contact grasp flick payload push slip time]

Each figure is against the simulator's truth, which the estimators never see.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from estimating import GRIPS, NAMES, WatchedGrasp, flick, press, push, slips, weigh
from rich.console import Console
from rich.table import Table


def update_time(rounds: int = 3000) -> float:
    """Median time of one update [us]."""
    grasp = WatchedGrasp(0.3, 0.8, 0)
    grasp.lift(5.0)
    state = grasp.robot.read()
    terms = grasp.watching.terms(state.position, state.velocity)
    states = [replace(state, time=state.time + 0.002 * i) for i in range(1, rounds)]
    times = []
    for each in states:
        begin = time.perf_counter()
        grasp.estimator.update(each, terms, 0.002, dithered=False, moving_target=False)
        times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify='left')
    for column in columns:
        table.add_column(column, justify='right')
    return table


def show_contact(seeds: int) -> Table:
    """Forces of single fingers."""
    table = _table('Contact force of one finger, rising and falling [N]',
                   'finger', 'true', 'estimated', 'error of size', 'of vector', 'allowed',
                   'sigma')  # fmt: skip
    for finger in (0, 1, 3):
        for true, got, sigma in press(finger, (0.5, 1.0, 2.0, 3.0, 5.0, 3.0, 1.0, 0.5), 0):
            size = float(np.linalg.norm(true))
            error = float(np.linalg.norm(got - true))
            estimated = float(np.linalg.norm(got))
            cells = (size, estimated, estimated - size, error, max(0.2, 0.12 * size), sigma)
            table.add_row(NAMES[finger], *(f'{cell:.2f}' for cell in cells))
    return table


def show_grasp(seeds: int) -> Table:
    """Forces in the grasp, before and after the lift."""
    table = _table('Contact forces around the can [N]',
                   'mass', 'when', 'finger', 'true', 'estimated', 'error', 'sigma')  # fmt: skip
    for mass, grip in GRIPS.items():
        grasp = WatchedGrasp(mass, 0.8, 0)
        for cycle, _ in enumerate(grasp.lifting(grip)):
            if cycle not in (595, 1595):
                continue
            true, estimates = grasp.true_forces(), grasp.estimates
            for finger in (0, 1, 3):
                size = np.linalg.norm(true[finger])
                error = np.linalg.norm(estimates.tip_force[finger] - true[finger])
                cells = (size, np.linalg.norm(estimates.tip_force[finger]), error,
                         estimates.tip_sigma[finger])  # fmt: skip
                when = 'gripped' if cycle == 595 else 'lifted'
                table.add_row(
                    f'{mass:g} kg', when, NAMES[finger], *(f'{cell:.2f}' for cell in cells)
                )
    return table


def show_flick(seeds: int) -> Table:
    """Impulses."""
    table = _table('Impulse of a flick [N s]', 'mass', 'seed', 'true', 'estimated', 'error')
    for mass in (0.1, 0.2, 0.3, 0.5):
        for seed in range(min(seeds, 2)):
            true, got = (float(np.linalg.norm(each)) for each in flick(mass, seed))
            table.add_row(f'{mass:g} kg', f'{seed}', f'{true:.4f}', f'{got:.4f}',
                          f'{got / true - 1.0:+.1%}')  # fmt: skip
    return table


def show_payload(seeds: int) -> Table:
    """Masses."""
    table = _table('Payload after a lift, tared at the same posture [g]',
                   'mass', 'dither', 'mean error', 'greatest', 'sigma', 'greatest / sigma',
                   'allowed')  # fmt: skip
    for mass in GRIPS:
        for dither in (0.0, 1.5):
            found = [weigh(mass, seed, dither) for seed in range(seeds)]
            errors = [each[0] - mass for each in found]
            most = max(abs(error) for error in errors)
            share = max(abs(e) / each[1] for e, each in zip(errors, found, strict=True))
            cells = (np.mean(errors), most, found[0][1], share / 1e3, max(0.015, 0.03 * mass))
            table.add_row(f'{1e3 * mass:g}', f'{dither:g} Fc',
                          *(f'{1e3 * float(cell):.1f}' for cell in cells))  # fmt: skip
    return table


def show_push(seeds: int) -> Table:
    """Wrenches."""
    table = _table('Push on the palm at home, worst of the seeds [N]',
                   'push', 'tared', 'error x', 'y', 'z', 'sigma x', 'y', 'z')  # fmt: skip
    for axis in range(3):
        for size in (5.0, 20.0):
            for tare in (False, True):
                force = size * np.eye(3)[axis]
                found = [push(force, seed, tare) for seed in range(seeds)]
                worst = np.max([abs(each[0][:3] - force) for each in found], axis=0)
                name = f'{size:g} along {"xyz"[axis]}'
                table.add_row(name, 'yes' if tare else 'no', *(f'{v:.2f}' for v in worst),
                              *(f'{v:.2f}' for v in found[0][1][:3]))  # fmt: skip
    return table


def show_slip(seeds: int) -> Table:
    """Slips."""
    table = _table('Slip while a can of 1 kg is lifted, all fingers',
                   'friction', 'seed', 'first alarm after [s]', 'slips for [s]', 'missed',
                   'in vain [s]', 'in vain at rest [s]')  # fmt: skip
    for friction in (0.2, 0.3, 0.8):
        for seed in range(min(seeds, 2)):
            found = slips(friction, seed)
            table.add_row(f'{friction:g}', f'{seed}', f'{found["delay"]:.3f}',
                          f'{found["slipping"]:.2f}', f'{found["missed"]:.0%}',
                          f'{found["in vain"]:.2f}',
                          f'{found["in vain at rest"]:.2f}')  # fmt: skip
    return table


def show_time(seeds: int) -> Table:
    """Time of an update."""
    table = _table('Time of one update, median', 'us')
    table.add_row(f'{update_time():.1f}')
    return table


PARTS: dict[str, Callable[[int], Table]] = {
    'contact': show_contact,
    'grasp': show_grasp,
    'flick': show_flick,
    'payload': show_payload,
    'push': show_push,
    'slip': show_slip,
    'time': show_time,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0] if __doc__ else '')
    parser.add_argument('parts', nargs='*', help=f'any of: {", ".join(PARTS)}; default: all')
    parser.add_argument('--seeds', type=int, default=5, help='of noise and bias')
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f'no part {", ".join(sorted(unknown))}; the parts are: {", ".join(PARTS)}')
    console = Console()
    for name in arguments.parts or PARTS:
        console.print(PARTS[name](arguments.seeds))


if __name__ == '__main__':
    main()
