# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of one's own."""

import random
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import drex_ros
from drex_ros import domain
from drex_ros.domain import Domain, NoFreeDomainError

HOLDER = """
import time
from drex_ros.domain import Domain
domain = Domain()
print(domain.number, flush=True)
time.sleep(60)
"""


@pytest.fixture
def in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Domains are tried from the first to the last."""
    monkeypatch.setattr(random.SystemRandom, 'shuffle', lambda self, numbers: None)


def test_variables() -> None:
    with Domain() as own:
        assert 1 <= own.number <= 101
        assert own.variables == {
            'ROS_DOMAIN_ID': str(own.number),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        }


def test_two_are_never_the_same() -> None:
    held = [Domain() for _ in range(20)]
    try:
        assert len({one.number for one in held}) == 20
    finally:
        for one in held:
            one.close()


def test_released_it_is_free_again(in_order: None) -> None:
    with Domain() as first:
        with Domain() as second:
            assert second.number > first.number
    with Domain() as again:
        assert again.number == first.number


@pytest.mark.parametrize('offset', [0, 10])
def test_a_domain_with_a_ros_program_is_passed_over(in_order: None, offset: int) -> None:
    with Domain() as own:
        number = own.number
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        # As DDS does it, which shares the port of its multicast.
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(('', 7400 + 250 * number + offset))
        with Domain() as next_one:
            assert next_one.number != number


def test_a_killed_holder_frees_it(in_order: None) -> None:
    process = subprocess.Popen(
        [sys.executable, '-c', HOLDER],
        cwd=Path(drex_ros.__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    number = int(process.stdout.readline())
    assert domain._hold(number) is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    lock = domain._hold(number)
    assert lock is not None
    lock.close()


def test_none_left_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain, '_hold', lambda number: None)
    with pytest.raises(NoFreeDomainError, match='no free ROS domain: all of 1 to 101 are in use'):
        Domain()
