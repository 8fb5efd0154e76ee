# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Kills who sends targets, the robot and the controller at random moments, and starts them again.

    python bench/kills.py [--kills 50] [--seed 0]

Every node is a process of its own and is ended by SIGKILL. The robot must hold or stop in time,
no limit may be passed, and nothing may jump when all are back. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
from safety_lab import CONTROLLER, ROBOT, START, Lab, RosClient, node_environment, open_lab

from drex_interfaces.msg import ControllerStatus, ControllerTarget, RobotState
from drex_ros.nodes.conversions import seconds
from drex_ros.robot.joints import ARM, HAND, HOME

SENDER = 'sender'
NAMES = (SENDER, ROBOT, CONTROLLER)
MOCK = {'real_time_factor': 1.0, 'lockstep_patience': 0.5}
"""Of the robot: at the pace of the wall clock, as the sender is."""
TIMEOUT = 0.1
"""Of each target [s]."""
HOLD_WITHIN = 0.02
"""After the deadline of targets or commands [s]."""
STOP_AFTER = 0.5
"""Of the controller, after the hold [s]."""

_RATE = 50.0  # [Hz] wall time, of targets
_SWING = 0.25  # [rad] of the joints that the sender moves
_LATCHED = (RobotState.MODE_STOPPED, RobotState.MODE_REFLEX)


@dataclass(frozen=True)
class Kill:
    """What one kill did."""

    victim: str
    at: float
    """Of the robot's time [s]."""
    hold: float
    """To the hold, from the deadline of targets or the first command that did not come [s]; NaN
    where the robot itself was killed."""
    recovery: float
    """Wall time until the controller drove the robot again [s]."""
    problems: int
    """Limits that were passed."""


class Kills:
    """A robot that swings as it is told, and whose nodes are killed."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self.lab = lab
        self.random = np.random.default_rng(seed)
        self.kills: list[Kill] = []
        self.problems: list[str] = []
        self._missed = 0  # commands, before the kill
        self._start_sender()

    def run(self, victims: list[str]) -> None:
        """Kill one after another, each at a moment of its own."""
        for victim in victims:
            self._kill(victim)

    def _start_sender(self) -> None:
        command = [sys.executable, __file__, '--send']
        lab = self.lab
        lab.processes[SENDER] = lab.start_process(command, env=node_environment())

    def _wait_for_targets(self) -> None:
        tracking = ControllerStatus.STATE_TRACKING
        self.lab.wait_for_status(lambda s: s.state == tracking, 'targets', START)

    def _kill(self, victim: str) -> None:
        lab, watch = self.lab, self.lab.watch
        self._wait_for_targets()  # a new node is not heard by the others at once
        lab.run(float(self.random.uniform(0.1, 1.5)))
        assert watch.last is not None
        before, at = len(watch.problems), watch.time
        self._missed = watch.last.commands_missed
        process = lab.processes.pop(victim)
        process.kill()
        begin = time.monotonic()
        hold = {SENDER: self._sender_gone, ROBOT: self._robot_gone, CONTROLLER: self._left_alone}[
            victim
        ]()
        if not np.isnan(hold) and hold > HOLD_WITHIN + 1e-6:
            self.problems.append(f'{victim} killed at {at:.2f} s: held {hold:.3f} s late')
        lab.wait_for_control(START)
        recovery = time.monotonic() - begin
        lab.run(0.3)
        self.kills.append(Kill(victim, at, hold, recovery, len(watch.problems) - before))

    def _sender_gone(self) -> float:
        """The controller holds after the timeout, then stops; somebody recovers it."""
        lab, watch = self.lab, self.lab.watch
        lab.wait(lambda: watch.status and watch.status.state == 3, 'the stop')
        statuses = watch.statuses
        last = next(
            i
            for i in range(len(statuses) - 1, 0, -1)
            if statuses[i].targets_accepted > statuses[i - 1].targets_accepted
        )
        deadline = seconds(statuses[last].header.stamp) + TIMEOUT
        after = statuses[last:]
        held = next((s for s in after if 'has expired' in s.reason), None)
        stopped = next(s for s in after if s.state == ControllerStatus.STATE_STOPPED)
        late = seconds(stopped.header.stamp) - deadline - STOP_AFTER
        if late > HOLD_WITHIN:
            self.problems.append(f'stopped {late:.3f} s late')
        lab.run(float(self.random.uniform(0.0, 0.5)))
        lab.trigger('recover')
        lab.wait_for_control()
        self._start_sender()
        return np.inf if held is None else seconds(held.header.stamp) - deadline

    def _robot_gone(self) -> float:
        """Its successor begins at home, and its time at 0."""
        lab, watch = self.lab, self.lab.watch
        lab.wait(lambda: watch.status and 'no robot/state' in watch.status.reason, 'the silence')
        watch.forget()
        lab.start(ROBOT)
        lab.wait(lambda: watch.last, 'the next robot', START)
        # It may have been stopped before, or by a robot that waited for it in vain.
        lab.wait(lambda: watch.status and 'no robot/state' not in watch.status.reason, 'its state')
        self._recover_if_stopped()
        return np.nan

    def _left_alone(self) -> float:
        """The robot holds by itself; the next controller goes on from where it is."""
        lab, watch = self.lab, self.lab.watch
        lab.wait(
            lambda: watch.last and watch.last.mode != RobotState.MODE_EFFORT, 'the hold', START
        )
        missed = next(s for s in watch.recent if s.commands_missed > self._missed)
        after = [s for s in watch.recent if s.sequence >= missed.sequence]
        held = next(s for s in after if s.mode != RobotState.MODE_EFFORT)
        lab.run(float(self.random.uniform(0.0, 1.0)))
        watch.statuses.clear()
        lab.start(CONTROLLER)
        lab.wait(lambda: watch.status and watch.status.state != 0, 'its successor', START)
        self._recover_if_stopped()
        return seconds(held.header.stamp) - seconds(missed.header.stamp)

    def _recover_if_stopped(self) -> None:
        lab, watch = self.lab, self.lab.watch
        lab.run(0.1)
        assert watch.status is not None
        assert watch.last is not None
        if watch.status.state == ControllerStatus.STATE_STOPPED or watch.last.mode in _LATCHED:
            lab.trigger('recover')

    def table(self) -> str:
        """What happened, for people."""
        lines = [f'{"killed":30}{"at [s]":>8}{"late [ms]":>11}{"back [s]":>10}{"passed":>8}']
        for kill in self.kills:
            late = '-' if np.isnan(kill.hold) else f'{1e3 * kill.hold:.0f}'
            lines.append(
                f'{kill.victim:30}{kill.at:8.2f}{late:>11}{kill.recovery:10.1f}{kill.problems:8}'
            )
        worst = self.lab.watch.worst
        lines += ['', f'{"greatest, of the limit":30}']
        lines += [f'{name:30}{value:8.3f}' for name, value in sorted(worst.items())]
        return '\n'.join(lines)


def send() -> None:
    """Stream targets for ever: joints of arm and hand that swing."""
    with RosClient('swinging_sender') as ros:
        publisher = ros.publisher(ControllerTarget, 'controller/target')
        target = ControllerTarget(source=SENDER, timeout=TIMEOUT, arm_mode=1, hand_mode=1)
        start = time.monotonic()
        while True:
            posture = HOME.copy()
            phase = 2.0 * (time.monotonic() - start)
            posture[[0, 4, 6]] += _SWING * np.sin(phase)
            posture[[8, 12, 16, 20]] += _SWING * (1.0 - np.cos(phase))
            target.arm_position = posture[ARM].tolist()
            target.hand_position = posture[HAND].tolist()
            publisher.publish(target)
            time.sleep(1.0 / _RATE)


def main() -> int:
    """Kill and print what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--kills', type=int, default=50)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--send', action='store_true', help='be the one who sends targets')
    options = parser.parse_args()
    if options.send:
        send()
    with open_lab('kills', mock=MOCK) as lab:
        kills = Kills(lab, options.seed)
        victims = kills.random.choice(NAMES, options.kills).tolist()
        kills.run(victims)
        lab.processes.pop(SENDER).kill()
        print(kills.table())
        problems = lab.watch.problems + kills.problems
    for problem in problems:
        print(f'seed {options.seed}: {problem}', file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
