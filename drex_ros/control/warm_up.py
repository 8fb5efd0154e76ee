# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Has every law compiled, or read from the cache, before a robot waits for an answer.

The first time on a machine this takes a minute, then less than a second.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numba.core.registry import CPUDispatcher

from drex_ros.control.controller import Controller
from drex_ros.control.move_planning import MoveGoal, MovePlanner
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import (
    ArmTarget,
    FingerForce,
    HandTarget,
    Payload,
    Pose,
    Target,
    TargetMode,
)
from drex_ros.control.trajectory import Motion, stop
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, N_JOINTS
from drex_ros.robot.state import RobotMode, RobotState

_PERIOD = 0.002  # [s]


def warm_up(
    dynamics: Dynamics,
    settings: ControllerSettings,
    wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Run a controller of these settings through all that it can do, on paper.

    It ends before its time when it is no longer wanted.
    """
    controller = Controller(dynamics, settings)
    # Writable copies: a kernel is compiled anew for an array that is read-only.
    home, zero = HOME.copy(), np.zeros(N_JOINTS)

    def cycles(first: int) -> None:
        for number in range(first, first + 6):
            if not wanted():
                return
            controller.update(
                RobotState(_PERIOD * number, number, RobotMode.EFFORT, '', home, zero, zero, zero)
            )

    cycles(0)
    if controller.terms is None:
        return
    place = controller.terms.palm_position.copy()
    for number, target in enumerate(_targets(place), start=1):
        if wanted():
            controller.accept(target)
        cycles(10 * number)
    controller.estimator.tare()
    cycles(1000)
    planner = MovePlanner(dynamics, controller.proximity)
    start = Motion(home, zero, zero)
    turn = controller.terms.palm_rotation.copy()
    for straight in (False, True):
        goal = MoveGoal(palm_position=place, palm_orientation=turn, straight=straight)
        for _ in planner.plan(start, goal):
            if not wanted():
                return
    stop(start)


def _targets(place: np.ndarray) -> list[Target]:
    """One target of every mode."""
    grip = tuple(
        FingerForce(finger, 'grip', np.array((0.1, 0.0, 0.0)), (True, False, False))
        for finger in (0, 3)
    )
    palm = FingerForce(1, '', np.zeros(3), (True, True, True))
    cartesian = ArmTarget(
        TargetMode.CARTESIAN_IMPEDANCE,
        pose=Pose(place, np.array((0.0, 0.0, 0.0, 1.0))),
        wrench=np.zeros(6),
        cartesian_damping=np.full(6, 5.0),
    )
    return [
        Target(
            arm=ArmTarget(TargetMode.JOINT_IMPEDANCE, position=HOME[ARM].copy()),
            hand=HandTarget(TargetMode.JOINT_IMPEDANCE, position=HOME[HAND].copy()),
        ),
        Target(
            arm=cartesian,
            hand=HandTarget(TargetMode.HYBRID_FORCE, fingertips=(*grip, palm)),
            payload=Payload(0.1, np.zeros(3)),
        ),
        Target(
            arm=ArmTarget(TargetMode.JOINT_EFFORT, effort=np.zeros(7)),
            hand=HandTarget(TargetMode.JOINT_EFFORT, effort=np.zeros(16)),
        ),
    ]


def compiled() -> dict[str, int]:
    """How often each kernel of the package was compiled, by its name."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith('drex_ros.'):
            for value in vars(module).values():
                if isinstance(value, CPUDispatcher):
                    kernel = value.py_func
                    found[f'{kernel.__module__}.{kernel.__name__}'] = len(value.signatures)
    return found


def main() -> None:
    """Compile everything for whoever comes next."""
    warm_up(Dynamics(), ControllerSettings())


if __name__ == '__main__':
    main()
