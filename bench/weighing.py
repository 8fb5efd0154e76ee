# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the controller feels of a can that it grips, lifts and weighs, against the truth.

    python bench/weighing.py [--seeds 5] [--masses 0.1 0.3 0.6 1.0]

The whole controller without ROS, with all its laws and rules: planned moves, a tare in the air, a
grip of index, middle finger and thumb, a lift, the weight. Every seed has torque sensors with
errors of their own (0.1 N m, one sigma) and a can that stands a few millimetres elsewhere, which
the hand does not know.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from drex_ros.control.controller import Controller
from drex_ros.control.move_planning import MoveGoal, MovePlanner
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import FingerForce, HandTarget, Target, TargetMode
from drex_ros.control.trajectory import Motion, Trajectory
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.objects import load_object
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import FINGERS, N_HAND, N_JOINTS, Array

GRIPS = {0.1: 3.0, 0.3: 5.0, 0.6: 8.0, 1.0: 9.5}
"""Force of the thumb [N] that lifts a can of a mass [kg] at friction 0.8."""

_FINGERS_DOWN = np.array(((0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0)))
_CAN = (0.45, 0.0)  # [m]
_OFF = 0.003  # [m]
_PALM_FROM_CAN = np.array((0.0147, 0.0226, 0.1026))  # [m]
_LIFT = np.array((0.0, 0.0, 0.15))  # [m]
_OPEN = np.array(
    (-0.04, 0.37, 0.71, 0.83, -0.01, 0.38, 0.73, 0.85, 0.0, -0.1, 0.0, 0.0, 0.91, 0.99, 0.46, 1.23)
)  # [rad]
_GRIPPING = (0, 1, 3)


class Cell:
    """Robot, can and controller."""

    def __init__(self, dynamics: Dynamics, mass: float, seed: int) -> None:
        """A can of a mass [kg] on the table, torque sensors by the seed."""
        self.robot = MujocoBackend(MujocoSettings(seed=seed))
        self.robot.connect()
        can = overridden(load_object('can'), mass=mass, finger_friction=0.8)
        off = np.random.default_rng(seed).uniform(-_OFF, _OFF, 2)
        place = ObjectPose(np.array((*(off + _CAN), can.rest_height)), can.rest_quaternion)
        self.robot.reset(thing=can, pose=place, seed=seed)
        self.controller = Controller(dynamics, ControllerSettings())
        self._planner = MovePlanner(dynamics, self.controller.proximity)
        self.around = np.array((*_CAN, can.rest_height)) + _PALM_FROM_CAN
        self.run(0.1)

    def run(self, seconds: float) -> None:
        """Go on for a simulated time [s]."""
        for _ in range(round(seconds * self.robot.settings.control_rate)):
            written = self.robot.write(self.controller.update(self.robot.read()))
            assert written, self.robot.read().reason
            self.robot.step()

    def move(self, goal: MoveGoal) -> None:
        """Plan a move and make it."""
        start = Motion(self.controller.target_position, np.zeros(N_JOINTS), np.zeros(N_JOINTS))
        planning = self._planner.plan(start, goal)
        try:
            while True:
                next(planning)
        except StopIteration as end:
            plan = end.value
        assert isinstance(plan, Trajectory), plan
        assert not self.controller.start_move(plan, 'bench')
        move = self.controller.move
        assert move is not None
        while not move.over:
            self.run(0.002)
        assert not move.failure, move.failure
        self.run(0.3)

    def palm(self, place: Array, *, straight: bool = True, hand: Array | None = None) -> None:
        """Move the palm to a place [m], fingers down."""
        self.move(
            MoveGoal(
                palm_position=place, palm_orientation=_FINGERS_DOWN, straight=straight, hand=hand
            )
        )

    def grip(self, force: float, stiffness: float) -> None:
        """Press with a force of the strongest finger [N]."""
        forces = tuple(
            FingerForce(finger, 'grip', np.array((force, 0.0, 0.0)), (True, False, False))
            for finger in _GRIPPING
        )
        hand = HandTarget(
            TargetMode.HYBRID_FORCE, stiffness=np.full(N_HAND, stiffness), fingertips=forces
        )
        refused = self.controller.accept(Target(source='bench', hand=hand))
        assert not refused, refused

    def forces(self) -> tuple[Array, Array]:
        """Sizes of the fingertip forces [N], estimated and true, means over 0.2 s. Shape (3,)."""
        felt, real = [], []
        for _ in range(100):
            self.run(0.002)
            assert self.controller.estimates is not None
            truth = self.robot.simulation.truth
            fingers = truth.fingers(truth.contacts())
            names = [list(FINGERS)[i] for i in _GRIPPING]
            felt.append(self.controller.estimates.tip_force[list(_GRIPPING)].copy())
            real.append([fingers[name].force for name in names])
        sizes = [np.linalg.norm(np.mean(each, axis=0), axis=1) for each in (felt, real)]
        return sizes[0], sizes[1]


def weigh(dynamics: Dynamics, mass: float, seed: int) -> tuple[float, float, Array, Array]:
    """Grip, lift and weigh a can; mass and sigma [kg], fingertip forces estimated and true [N]."""
    cell = Cell(dynamics, mass, seed)
    above = cell.around + _LIFT
    cell.palm(above, straight=False, hand=_OPEN)
    cell.run(1.0)
    cell.controller.estimator.tare()
    cell.run(1.2)
    cell.palm(cell.around)
    cell.grip(0.8, 0.3)
    cell.run(1.0)
    cell.grip(GRIPS[mass], 1.0)
    cell.run(1.2)
    felt, real = cell.forces()
    cell.palm(above)
    cell.run(3.5)  # until friction bears none of the weight
    estimates = cell.controller.estimates
    assert estimates is not None
    return estimates.payload_mass, estimates.payload_sigma, felt, real


def main() -> int:
    """Weigh and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=5, help='cans weighed for each mass')
    parser.add_argument('--masses', type=float, nargs='+', default=list(GRIPS), choices=GRIPS)
    options = parser.parse_args()
    dynamics = Dynamics()
    table = Table(
        'mass [g]',
        'weighed, less mass [g]',
        'sigma [g]',
        'worst / mark',
        'forces within max(0.2 N, 12 %)',
    )
    for mass in options.masses:
        errors, sigmas, shares = [], [], []
        for seed in range(options.seeds):
            found, sigma, felt, real = weigh(dynamics, mass, seed)
            errors.append(1e3 * (found - mass))
            sigmas.append(1e3 * sigma)
            shares += list(np.abs(felt - real) / np.maximum(0.2, 0.12 * real))
        mark = max(15.0, 30.0 * mass)
        within = sum(share <= 1.0 for share in shares)
        table.add_row(
            f'{1e3 * mass:.0f}',
            ' '.join(f'{error:+.1f}' for error in errors),
            f'{np.mean(sigmas):.1f}',
            f'{max(np.abs(errors)) / mark:.2f}',
            f'{within} of {len(shares)}, worst {max(shares):.2f}',
        )
    Console().print(table)
    return 0


if __name__ == '__main__':
    sys.exit(main())
