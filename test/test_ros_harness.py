# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The harness itself: it must notice what it is there to notice."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ros_harness import (
    Domain,
    Leftovers,
    NodeProcess,
    mapped_segments,
    process_group,
    remove_killed_segments,
)
from ros_session import SHM

EXAMPLE = [sys.executable, Path(__file__).parent / 'nodes' / 'example_node.py', '--ros-args']
SLEEP = [sys.executable, '-c', 'import time; print("up", flush=True); time.sleep(60)']


def test_the_session_has_its_own_environment(ros_domain: Domain) -> None:
    assert os.environ['ROS_DOMAIN_ID'] == str(ros_domain.number)
    assert os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] == 'LOCALHOST'


def test_output_is_kept_by_stream() -> None:
    script = 'import sys; print("a"); print("b", file=sys.stderr); sys.exit(3)'
    with NodeProcess([sys.executable, '-c', script]) as process:
        assert process.wait() == 3
        assert (process.stdout, process.stderr) == (['a'], ['b'])
        with pytest.raises(AssertionError, match="no line like 'c', ended with 3"):
            process.wait_for_line('c')


def test_a_process_that_does_not_stop_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); '
    script += 'print("up", flush=True); time.sleep(60)'
    process = NodeProcess([sys.executable, '-c', script])
    process.wait_for_line('up')
    monkeypatch.setattr(process, 'terminate', lambda: NodeProcess.terminate(process, timeout=0.2))
    with pytest.raises(AssertionError, match=r'did not end in 0\.2 s'):
        process.close()
    assert process.returncode == -signal.SIGKILL


def test_a_child_that_lives_on_fails_the_test() -> None:
    script = f'import subprocess, sys; subprocess.Popen({SLEEP!r}); sys.stdin.read()'
    process = NodeProcess([sys.executable, '-c', script])
    process.wait_for_line('up')
    with pytest.raises(AssertionError, match='live on'):
        process.close()
    assert process_group(process.pid) == []


def test_a_forgotten_process_is_found_and_ended(ros_domain: Domain) -> None:
    # Out of reach of its group, as a launched node is.
    process = subprocess.Popen(SLEEP, start_new_session=True, stdout=subprocess.DEVNULL)
    left = Leftovers(ros_domain).collect()
    assert any(line.startswith(f'process {process.pid}: ') for line in left)
    assert process.wait() == -signal.SIGKILL


def test_shared_memory_of_a_killed_node_is_removed(
    start: Callable[..., NodeProcess], ros_domain: Domain
) -> None:
    node = start(EXAMPLE)
    node.wait_for_line('^activate$')
    segments = {name for name in mapped_segments(node.pid) if name != 'fastrtps_port7000'}
    assert segments
    assert all((SHM / name).exists() for name in segments)
    assert node.kill() == -signal.SIGKILL
    remove_killed_segments()
    assert not any((SHM / name).exists() for name in segments)


def test_forgotten_shared_memory_is_found(
    start: Callable[..., NodeProcess], ros_domain: Domain
) -> None:
    leftovers = Leftovers(ros_domain)
    node = start(EXAMPLE)
    node.wait_for_line('^activate$')
    leftovers.look()
    node.send_signal(signal.SIGKILL)
    node.wait()
    left = leftovers.collect()
    assert any(line.startswith('file /dev/shm/fastrtps_') for line in left)
    assert leftovers.collect() == []
