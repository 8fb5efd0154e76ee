# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The whole controller, without ROS, grips a can, lifts it and knows what it weighs."""

import numpy as np
import pytest
from weighing import weigh

from drex_ros.robot.dynamics import Dynamics


@pytest.mark.parametrize(('mass', 'seed'), [(0.1, 11), (0.6, 12)])
def test_a_can_is_weighed_and_its_contacts_are_felt(mass, seed):
    found, sigma, felt, real = weigh(Dynamics(), mass, seed)
    assert abs(found - mass) <= max(0.015, 0.03 * mass)
    assert abs(found - mass) <= 3.0 * sigma
    np.testing.assert_array_less(np.abs(felt - real), np.maximum(0.2, 0.12 * real))
