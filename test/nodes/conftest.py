# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests that make a node in their own process."""

from collections.abc import Iterator
from typing import Any

import pytest
from rclpy.context import Context


@pytest.fixture
def context(ros_domain: Any) -> Iterator[Context]:
    """A ROS context in the domain of the session."""
    context = Context()
    context.init()
    yield context
    context.try_shutdown()
