# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Random hostile targets against the real nodes in lockstep; no limit may be passed in truth.

    python bench/hostile.py [--targets 10000] [--seed 0] [--object can]

Runs mock_hardware and the controller, each in a process of its own, as fast as they go, and sends
targets of every bad kind (bench/hostile_targets.py) among valid ones. Every target must be counted
as accepted or refused, every refusal must have a reason, both nodes must live. Exit code 1
otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from hostile_targets import MUST_BE_REFUSED, HostileTargets
from safety_lab import Lab, open_lab

from drex_interfaces.msg import ControllerStatus, RobotState

_PAUSES = (0.0, 0.0, 0.002, 0.006, 0.02, 0.06)  # [s] of the robot, between two targets
_RESET_EVERY = 200  # targets
_TELL_EVERY = 500  # targets
_TELL_MOST = 30  # problems
_REST = 0.3  # [s] of the robot that a stop lasts before it is recovered
_STOPPED = ControllerStatus.STATE_STOPPED
_LATCHED = (RobotState.MODE_STOPPED, RobotState.MODE_REFLEX)


class Assault:
    """Sends hostile targets to a robot with its controller, and counts what becomes of them."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self.lab = lab
        self.accepted = self.refused = self.stops = 0
        self.problems: list[str] = []
        """What is wrong with the answers; limits that were passed are in lab.watch.problems."""
        self._targets = HostileTargets(seed)
        self._by_kind: dict[str, Counter[str]] = {}
        self._thing = ''

    @property
    def sent(self) -> int:
        """Number of targets that became of something."""
        return self.accepted + self.refused

    def place(self, thing: str) -> None:
        """Start from home, with an object on the table or none."""
        self._thing = thing
        self.lab.reset(object=thing)

    def run(self, count: int) -> None:
        """Send so many targets."""
        random = self._targets.random
        for number in range(1, count + 1):
            self._send()
            pause = float(random.choice(_PAUSES))
            if pause:
                self.lab.run(pause)
            if self._is_stopped():
                self._recover()
            if number % _RESET_EVERY == 0:
                self.lab.reset(object=self._thing)

    def _send(self) -> None:
        watch = self.lab.watch
        watch.poll()
        before = watch.status
        assert before is not None
        kind, target = self._targets.draw(watch.time)
        status = self.lab.send(target)
        taken = status.targets_accepted - before.targets_accepted
        refused = status.targets_refused - before.targets_refused
        self.accepted += taken
        self.refused += refused
        counts = self._by_kind.setdefault(kind, Counter())
        counts['accepted'] += taken
        counts['refused'] += refused
        if taken + refused != 1:
            self.problems.append(f'{kind}: {taken} accepted, {refused} refused of one')
        if refused and 'refused: ' not in status.reason:
            self.problems.append(f'{kind}: refused without a reason: {status.reason!r}')
        if taken and kind in MUST_BE_REFUSED:
            self.problems.append(f'{kind}: was accepted: {target}')

    def _is_stopped(self) -> bool:
        watch = self.lab.watch
        assert watch.status is not None
        assert watch.last is not None
        return watch.status.state == _STOPPED or watch.last.mode in _LATCHED

    def _recover(self) -> None:
        self.stops += 1
        self.lab.run(_REST)
        self.lab.trigger('recover')
        self.lab.wait_for_control()

    def table(self) -> str:
        """What happened, for people."""
        watch = self.lab.watch
        lines = [f'{"kind":24}{"accepted":>10}{"refused":>10}']
        for kind, counts in sorted(self._by_kind.items()):
            lines.append(f'{kind:24}{counts["accepted"]:10}{counts["refused"]:10}')
        lines.append(f'{"all":24}{self.accepted:10}{self.refused:10}')
        lines += ['', f'{"rule":24}{"acted":>10}']
        status = watch.status
        assert status is not None
        lines += [f'{each.rule:24}{each.count:10}' for each in status.interventions]
        lines += ['', f'{"greatest, of the limit":24}']
        lines += [f'{name:24}{value:10.3f}' for name, value in sorted(watch.worst.items())]
        lines += [
            f'{"stops and recoveries":24}{self.stops:10}',
            f'{"states checked":24}{watch.states:10}',
            f'{"truths checked":24}{watch.truths:10}',
            f'{"time of the robot [s]":24}{watch.time:10.1f}',
        ]
        return '\n'.join(lines)


def main() -> int:
    """Send the targets and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--targets', type=int, default=10000)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--object', default='', help='on the table; empty: none')
    options = parser.parse_args()
    start = time.monotonic()
    with open_lab('hostile') as lab:
        assault = Assault(lab, options.seed)
        assault.place(options.object)
        told = 0
        for sent in range(0, options.targets, _TELL_EVERY):
            assault.run(min(_TELL_EVERY, options.targets - sent))
            problems = lab.watch.problems + assault.problems
            took = time.monotonic() - start
            print(f'{assault.sent} sent, {len(problems)} problems, {took:.0f} s', file=sys.stderr)
            for problem in sorted(problems)[:_TELL_MOST] if len(problems) > told else []:
                print(f'seed {options.seed}: {problem}', file=sys.stderr)
            told = len(problems)
        print(assault.table())
    print(f'{"wall time [s]":24}{time.monotonic() - start:10.1f}')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
