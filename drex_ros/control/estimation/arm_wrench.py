# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Wrench of the world on the palm, from the external torques of the arm's seven joints."""

from __future__ import annotations

import numpy as np

from drex_ros.control.estimation.least_squares import solve_weighted
from drex_ros.kernel import kernel
from drex_ros.robot.joints import N_ARM

_FORCE_PRIOR = 100.0  # [N] what is known without any torque
_TORQUE_PRIOR = 20.0  # [N m]


@kernel
def estimate_wrench(palm_jacobian, external, sigma, wrench, wrench_sigma):  # type: ignore[no-untyped-def]
    """Weighted least squares of the arm's torques.

    Args:
        palm_jacobian: shape (6, 7).
        external: torques of the world on the joints [N m], shape (23,).
        sigma: their standard deviation [N m], shape (23,).
        wrench: force [N], then torque about the palm's origin [N m], world axes; written here.
            Shape (6,).
        wrench_sigma: its standard deviation, written here. Shape (6,).
    """
    prior = np.full(6, _FORCE_PRIOR)
    prior[3:] = _TORQUE_PRIOR
    solve_weighted(palm_jacobian, external[:N_ARM], sigma[:N_ARM], prior, wrench, wrench_sigma)
