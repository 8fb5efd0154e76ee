# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests that make a node in their own process, or watch robot and controller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from rclpy.context import Context

if TYPE_CHECKING:
    from safety_lab import Lab


@pytest.fixture
def context(ros_domain: Any) -> Iterator[Context]:
    """A ROS context in the domain of the session."""
    context = Context()
    context.init()
    yield context
    context.try_shutdown()


@pytest.fixture(scope='module')
def module_lab(ros_domain: Any, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Robot and controller that live to the end of the module, whose MOCK are their parameters."""
    from safety_lab import Lab, NodeProcess, RosClient

    with ExitStack() as stack:

        def start(*args: Any, **kwargs: Any) -> NodeProcess:
            return stack.enter_context(NodeProcess(*args, **kwargs))

        ros = stack.enter_context(RosClient('safety_test'))
        lab = Lab(ros, start, mock=getattr(request.module, 'MOCK', None))
        stack.callback(lab.close)
        yield lab


@pytest.fixture
def lab(module_lab: Lab) -> Iterator[Lab]:
    """The robot at home, held by its controller; afterwards no limit may have been passed."""
    module_lab.start_anew()
    yield module_lab
    module_lab.run(0.1)
    print(module_lab.watch.worst)
    assert module_lab.watch.problems == []
