# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sliding without lift: a correction to MuJoCo's contacts.

MuJoCo finds contact forces as the minimum of a convex function. The price is that surfaces which
slide along each other are also driven apart, the more the faster they slide: at 1 m/s and a
friction of 0.8 a box hops 2 mm high instead of sliding. De Saxce's correction takes the lift out
again: the acceleration that a contact wants along its normal is lowered by what its friction would
raise it. While everything sticks, nothing is corrected.
"""

from __future__ import annotations

import mujoco
import numpy as np

CONDIM = 4
"""Sliding in two directions and spin about the normal: all contacts must have this condim."""

_STICKS = 1e-3**2  # [m^2/s^2] slower than 1 mm/s, where the lift raises it by less than 0.01 mm


def remove_lift(data: mujoco.MjData) -> None:
    """Correct the contacts of the present step; between mj_step1 and mj_step2.

    For contacts with elliptic cones. A contact bears force while a < |mu * s|, where `a` is the
    acceleration along the normal and `s` those of slip, each less what the contact wants; for a
    surface that slides, `s` is what it wants, for it gets next to nothing of that.
    """
    # Most contacts stick: then there is nothing to do.
    velocity = data.efc_vel[max(data.nefc - CONDIM * data.ncon, 0) :]
    if velocity @ velocity < _STICKS:
        return
    contacts = data.contact
    # Surfaces that touch without any depth are contacts, but have no constraint.
    friction = contacts.friction[contacts.efc_address >= 0, : CONDIM - 1]
    count = len(friction)
    # Contacts come last among the constraints: a row for the normal, then those of friction.
    wanted = data.efc_aref[data.nefc - CONDIM * count :].reshape(count, CONDIM)
    lift = wanted[:, 1:] * friction
    lift *= lift
    wanted[:, 0] -= np.sqrt(lift.sum(axis=1))
