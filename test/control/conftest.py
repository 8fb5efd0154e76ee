# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A controller and a simulated robot for tests of their loop."""

import pytest
from closed_loop import SETTINGS

from drex_ros.control.controller import Controller
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.robot.dynamics import Dynamics


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture
def controller(dynamics):
    return Controller(dynamics, SETTINGS)


@pytest.fixture
def robot():
    with MujocoBackend() as backend:
        yield backend
