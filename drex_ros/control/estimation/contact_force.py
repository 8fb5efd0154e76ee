# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Force of each fingertip on what it touches, from the external torques of its four joints.

Four torques, three unknowns: weighted least squares, so that a joint whose friction is not known
counts less. A straight finger does not feel a force along itself; there the sigma is large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from drex_ros.control.estimation.least_squares import solve_weighted
from drex_ros.kernel import kernel
from drex_ros.robot.joints import Array

_PRIOR = 20.0  # [N] no finger presses with more, so this is what is known without any torque
_TOUCH = 0.2  # [N] least force of a contact
_LEAVE = 0.1  # [N]
_TOUCH_SIGMAS = 3.0  # a contact begins above so many sigmas,
_LEAVE_SIGMAS = 1.0  # and ends below so many


class Contacts(NamedTuple):
    """Contact at each fingertip: index, middle, ring, thumb. World axes."""

    force: Array
    """Of the fingertip on what it touches [N]. Shape (4, 3)."""
    axis_sigma: Array
    """Standard deviation of its components [N]. Shape (4, 3)."""
    sigma: Array
    """Of a component, mean over the three [N]. Shape (4,)."""
    touching: Array
    """Above what noise and friction can explain: 1, else 0. Shape (4,)."""


@kernel
def estimate_contacts(contacts, jacobian, external, sigma):  # type: ignore[no-untyped-def]
    """Bring the contacts up to date.

    Args:
        contacts: written here.
        jacobian: of the fingertips, shape (4, 3, 4).
        external: torques of the world on the joints [N m], shape (23,).
        sigma: their standard deviation [N m], shape (23,).
    """
    prior = np.full(3, _PRIOR)
    for finger in range(jacobian.shape[0]):
        first = 7 + 4 * finger
        force, spread = contacts.force[finger], contacts.axis_sigma[finger]
        solve_weighted(
            jacobian[finger],
            external[first : first + 4],
            sigma[first : first + 4],
            prior,
            force,
            spread,
        )
        size, variance, along = 0.0, 0.0, 0.0
        for k in range(3):
            force[k] = -force[k]
            size += force[k] * force[k]
            variance += spread[k] * spread[k]
            along += (force[k] * spread[k]) ** 2
        size = np.sqrt(size)
        contacts.sigma[finger] = np.sqrt(variance / 3.0)
        # Along the force: a direction that the finger does not feel must not hide a contact.
        doubt = np.sqrt(along) / max(size, 1e-9)
        if contacts.touching[finger] > 0.5:
            touching = size > max(_LEAVE, _LEAVE_SIGMAS * doubt)
        else:
            touching = size > max(_TOUCH, _TOUCH_SIGMAS * doubt)
        contacts.touching[finger] = 1.0 if touching else 0.0
