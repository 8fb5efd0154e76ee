# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A process that ends what a launch has started when the launch itself is killed.

It runs beside `drex launch` and reads lines from a pipe that only the launch holds: `+123`
when process group 123 begins, `-123` when it has ended. When the pipe closes, what is left
gets SIGINT, then SIGTERM, then SIGKILL. It needs the standard library alone.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time

PATIENCE = 1.5  # s between signals


def alive(group: int) -> bool:
    """Say whether a process group has members that are more than zombies.

    Where nobody collects orphans, as in many containers, zombies stay for ever.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    for entry in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{entry}/stat', encoding='utf-8', errors='replace') as stream:
                state, _, its_group = stream.read().rpartition(')')[2].split()[:3]
        except (OSError, ValueError):  # it has just ended
            continue
        if int(its_group) == group and state not in 'ZX':
            return True
    return False


def end(groups: set[int]) -> None:
    """End process groups, gently first."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for group in groups:
            try:
                os.killpg(group, number)
            except (ProcessLookupError, PermissionError):
                continue
        deadline = time.monotonic() + PATIENCE
        while any(map(alive, groups)) and time.monotonic() < deadline:
            time.sleep(0.05)
        groups = {group for group in groups if alive(group)}


def main() -> None:
    """Watch the pipe on stdin; the only argument is a folder to remove at the end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # those are for the launch to handle
    groups: set[int] = set()
    for line in sys.stdin:
        change, group = line[:1], int(line[1:])
        groups = groups | {group} if change == '+' else groups - {group}
    end(groups)
    shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == '__main__':
    main()
