# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A controller that drives the simulated robot without ROS: targets for it, and its loop."""

import numpy as np

from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import ArmTarget, HandTarget, Target, TargetMode
from drex_ros.robot.joints import ARM, HAND, HOME

SETTINGS = ControllerSettings()
GOAL = HOME.copy()
GOAL[6] += 0.5
GOAL[7:11] += (0.1, 0.5, 0.3, 0.3)
CLOSE = 2e-3  # [rad] of the arm: its friction is made up for
RATE = 2.0 + 1e-9  # [N m] in a cycle: 1000 N m/s


def arm(**values):
    return ArmTarget(**{'mode': TargetMode.JOINT_IMPEDANCE, **values})


def palm(**values):
    return Target(arm=ArmTarget(TargetMode.CARTESIAN_IMPEDANCE, **values))


def hand(**values):
    return HandTarget(**{'mode': TargetMode.JOINT_IMPEDANCE, **values})


def both(goal, **options):
    position = goal.copy()
    return Target(arm=arm(position=position[ARM]), hand=hand(position=position[HAND]), **options)


def run(robot, controller, cycles):
    """Close the loop; the efforts commanded, shape (cycles, 23)."""
    efforts = []
    for _ in range(cycles):
        command = controller.update(robot.read())
        assert robot.write(command), robot.read().reason
        robot.step()
        efforts.append(command.effort)
    return np.array(efforts)
