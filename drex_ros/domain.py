# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A ROS domain that nobody else on this machine uses, for demos and tests."""

from __future__ import annotations

import random
import socket

from drex_ros.closing import Closing


class NoFreeDomainError(RuntimeError):
    """Every domain is in use."""


class Domain(Closing):
    """A free ROS domain, held until `close` or the end of the process.

    An abstract socket keeps it from other holders of this class (and is gone when this process
    is); the DDS discovery ports of the domain tell whether any other ROS program is there.
    """

    def __init__(self) -> None:
        # Above 101 the DDS ports reach into Linux's ephemeral range.
        candidates = list(range(1, 102))
        random.SystemRandom().shuffle(candidates)
        for number in candidates:
            lock = _hold(number)
            if lock is not None:
                self.number, self._lock = number, lock
                return
        raise NoFreeDomainError('no free ROS domain: all of 1 to 101 are in use on this machine')

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that put a process into this domain, on this machine alone."""
        return {
            'ROS_DOMAIN_ID': str(self.number),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        }

    def close(self) -> None:
        """Let others have it."""
        self._lock.close()


def _hold(number: int) -> socket.socket | None:
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        lock.bind(f'\0drex_ros_domain_{number}')
    except OSError:
        lock.close()
        return None
    multicast = 7400 + 250 * number
    for port in (multicast, multicast + 10):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(('', port))
            except OSError:
                lock.close()
                return None
    return lock
