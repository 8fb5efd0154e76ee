# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of launching."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from launch_workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A throw-away workspace; nothing of it runs on after the test."""
    space = Workspace(tmp_path)
    yield space
    space.end()
