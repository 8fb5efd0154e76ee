# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a controller starts with, and what it must keep to."""

from __future__ import annotations

from dataclasses import dataclass, field

from drex_ros.control.arm_control import ArmSettings
from drex_ros.control.estimation.estimator import EstimatorSettings
from drex_ros.control.hand_control import HandSettings
from drex_ros.control.proximity import Margins
from drex_ros.control.target_checks import Bounds
from drex_ros.robot.joints import N_HAND, Array, constant

HAND_FORCE = 15.0
"""Largest force that a fingertip of this hand can press with [N]: the thumb, well placed."""


@dataclass(frozen=True)
class ControllerSettings:
    """Settings of the controller."""

    arm: ArmSettings = field(
        default_factory=lambda: ArmSettings(
            stiffness=constant((400, 400, 400, 400, 150, 100, 40)),
            cartesian_stiffness=constant((400, 400, 400, 30, 30, 30)),
            posture_stiffness=constant(7 * (10.0,)),
        )
    )
    hand: HandSettings = field(default_factory=lambda: HandSettings(constant(N_HAND * (3.0,))))
    hand_side: str = 'right'
    target_timeout: float = 0.5
    """A target with a stamp further than this from the robot's time is refused [s]."""
    source_timeout: float = 0.5
    """A second source is refused for so long after the first one's last target [s]."""
    stop_after: float = 0.5
    """How long it holds after a target expired before it stops [s]."""
    state_timeout: float = 0.5
    """A state that is older, or later than the one before by more than this, stops it [s]."""
    effort_share: float = 1.0
    """Of the robot's torque limits, that is used."""
    lower: Array = field(default_factory=lambda: constant((-0.2, -0.75, 0.0)))
    """Corner of the box that the palm stays in [m]. Shape (3,)."""
    upper: Array = field(default_factory=lambda: constant((0.9, 0.75, 1.2)))
    """The corner opposite [m]. Shape (3,)."""
    table_height: float = 0.0
    """Of the table's top above the arm's base [m]."""
    margins: Margins = field(default_factory=Margins)
    finger_force: float = 10.0
    """Largest force of any fingertip [N]."""
    guard_cycles: int = 5
    """Distances are looked at in one of so many cycles."""
    estimator: EstimatorSettings = field(default_factory=EstimatorSettings)

    @property
    def bounds(self) -> Bounds:
        """What targets must keep to."""
        return Bounds(self.lower, self.upper, self.finger_force)
