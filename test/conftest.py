# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests: a ROS domain of the session's own, node processes, a ROS client."""

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

TEST_FOLDER = Path(__file__).resolve().parent
if str(TEST_FOLDER) not in sys.path:
    sys.path.insert(0, str(TEST_FOLDER))

import ros_harness  # noqa: E402


@pytest.fixture(scope='session')
def ros_domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ros_harness.Domain]:
    """A ROS domain of this session's own, in the environment of all that it starts."""
    domain = ros_harness.Domain()
    environment = ros_harness.session_environment(domain, tmp_path_factory.mktemp('ros'))
    before = {name: os.environ.get(name) for name in environment}
    _set_environment(environment)
    # What is left of a session that is told to end must be ended too.
    signal.signal(signal.SIGTERM, _interrupt)
    # A shell ignores SIGINT for what it runs in the background, and children would inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _let_pictures_travel()
    yield domain
    _set_environment(before)
    domain.close()


@pytest.fixture(scope='session', autouse=True)
def leftovers(ros_domain: ros_harness.Domain) -> Iterator[ros_harness.Leftovers]:
    """Fails the session when a process or a shared-memory file of it is left behind."""
    found = ros_harness.Leftovers(ros_domain)
    yield found
    left = found.collect()
    if left:
        pytest.fail('the tests left behind:\n' + '\n'.join(left), pytrace=False)


@pytest.fixture(autouse=True)
def _look_for_leftovers(leftovers: ros_harness.Leftovers) -> Iterator[None]:
    yield
    leftovers.look()
    ros_harness.remove_killed_segments()


@pytest.fixture
def start() -> Iterator[Callable[..., ros_harness.NodeProcess]]:
    """Start processes, `start(command, env=..., cwd=...)`; they are ended after the test."""
    processes: list[ros_harness.NodeProcess] = []

    def start_process(*args: Any, **kwargs: Any) -> ros_harness.NodeProcess:
        processes.append(ros_harness.NodeProcess(*args, **kwargs))
        return processes[-1]

    yield start_process
    problems = []
    for process in reversed(processes):
        try:
            process.close()
        except AssertionError as error:
            problems.append(str(error))
    assert not problems, '\n'.join(problems)


@pytest.fixture
def ros(ros_domain: ros_harness.Domain) -> Iterator[Any]:
    """A RosClient: a node of the test's own, to talk to the nodes under test."""
    pytest.importorskip('rclpy')
    from ros_client import RosClient

    # Nodes of earlier tests leave the graph when Python frees the last piece of them.
    gc.collect()
    with RosClient() as client:
        yield client


def _let_pictures_travel() -> None:
    """Give what this process publishes the shared memory that pictures need.

    Fast DDS reads its profile once in a process, with the first participant: a test that asked
    for it later would publish pictures in pieces, and readers would miss most of them.
    """
    try:
        from rclpy.context import Context
        from rclpy.node import Node
    except ImportError:
        return
    from drex_ros.nodes.images import enlarge_shared_memory

    before = dict(os.environ)
    enlarge_shared_memory()
    context = Context()
    context.init()
    Node('reads_the_profile', context=context).destroy_node()
    context.try_shutdown()
    # Nodes under test must see to it themselves.
    _set_environment({name: before.get(name) for name in set(os.environ) - set(before)})


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


def _set_environment(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
