# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How well fingertips press as they are told, and feel it, in the simulated robot, in truth.

    python bench/finger_force.py [--friction 1.0] [--fingers index thumb]

Each finger alone presses on a can of 20 kg, which stays where it is, with forces that rise and
then fall; then index, middle finger and thumb grip it. The arm is a spring in every joint. Forces
are means over 0.2 s, half a second after the last change. Of each finger: what it is told, by how
much it presses otherwise, and by how much the size of the estimated force differs from the true.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from grasping import CAN_PLACE, GRASP

from drex_ros.control.estimation.estimator import Estimates, Estimator
from drex_ros.control.hand_law import hand_effort, hand_memory, press
from drex_ros.control.targets import FingerForce
from drex_ros.hardware.motors import MotorSettings
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.hardware.simulation import HOLD_STIFFNESS
from drex_ros.objects import load_object
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, FINGERS, HAND, LIMITS, N_HAND, N_JOINTS, Array
from drex_ros.robot.state import CommandMode, RobotCommand

LEVELS = (0.5, 1.0, 2.0, 3.0, 5.0, 3.0, 2.0, 1.0, 0.5)
"""[N], one after the other."""
TOUCH = 0.8
"""[N] while closing."""
NAMES = tuple(FINGERS)
GRIP = (0, 1, 3)
"""Fingers around the can."""

_TIP_RADIUS, _CAN_RADIUS = 0.012, 0.033  # [m]
_OPENED = {0: 8, 1: 12, 2: 16, 3: 21}  # joint that moves each tip away from the can
_OPENING = 0.2  # [rad]
_STRAIGHT = (0.0, -0.1, 0.0, 0.0)
_STIFFNESS = 1.0  # [N m/rad] of the fingers' joints


class Presser:
    """A robot whose fingers press on a heavy can."""

    def __init__(self, robot: MujocoBackend, fingers: Sequence[int]) -> None:
        """Put the can in front of one open finger, or between those of a grip."""
        self.robot = robot
        self.fingers = tuple(fingers)
        self._dynamics = Dynamics()
        self._period = 1.0 / robot.settings.control_rate
        self._target = _posture(self.fingers)
        opened = self._target.copy()
        for finger in self.fingers:
            opened[_OPENED[finger]] -= _OPENING
        can = overridden(load_object('can'), mass=20.0)
        place = CAN_PLACE
        if len(self.fingers) == 1:
            finger = self.fingers[0]
            tip = self._dynamics.fingertip_positions(self._target)[finger]
            place = (tip[0] + self.way(finger) * (_TIP_RADIUS + _CAN_RADIUS), tip[1])
        pose = ObjectPose(np.array((*place, can.rest_height)), can.rest_quaternion)
        robot.reset(opened, thing=can, pose=pose)
        inertia = self._dynamics.effective_inertia(GRASP)[ARM]
        self._arm_damping = 2.0 * np.sqrt(HOLD_STIFFNESS[ARM] * inertia)
        self.memory = hand_memory()
        self.felt = np.zeros((len(self.fingers), 3))
        """Estimated forces of the fingers, as settle() gives the true ones [N]."""
        self._estimator = Estimator()
        self.force = 0.0
        """Asked for [N]."""
        self.greatest_share = 0.0
        """Largest torque asked of a joint of the hand, by its limit."""

    @staticmethod
    def way(finger: int) -> float:
        """Direction along the world's x in which a finger presses alone."""
        return -1.0 if finger == 3 else 1.0

    def cycle(self) -> Estimates:
        """One control cycle; what is felt at its begin."""
        state = self.robot.read()
        terms = self._dynamics.terms(state.position, state.velocity)
        estimates = self._estimator.update(
            state, terms, self._period, dithered=False, moving_target=False
        )
        effort = np.empty(N_JOINTS)
        effort[ARM] = HOLD_STIFFNESS[ARM] * (self._target - state.position)[ARM]
        effort[ARM] -= self._arm_damping * state.velocity[ARM]
        effort[HAND] = hand_effort(
            terms, state.position[HAND], state.velocity[HAND], self._target[HAND],
            np.zeros(N_HAND), np.full(N_HAND, _STIFFNESS), np.ones(N_HAND),
            press(self._forces()), self.memory, self._period,
        )  # fmt: skip
        share = float((np.abs(effort) / LIMITS.effort)[HAND].max())
        self.greatest_share = max(self.greatest_share, share)
        effort = np.clip(effort, -LIMITS.effort, LIMITS.effort)
        command = RobotCommand(state.sequence, CommandMode.EFFORT, effort)
        assert self.robot.write(command), self.robot.read().reason
        self.robot.step()
        return estimates

    def run(self, force: float, seconds: float) -> None:
        """Go to a force [N] by a ramp."""
        start, cycles = self.force, round(seconds / self._period)
        for cycle in range(1, cycles + 1):
            self.force = start + (force - start) * cycle / cycles
            self.cycle()

    def close(self) -> tuple[float, float]:
        """Close gently; speed of the first touch [m/s] and greatest true force then [N]."""
        speed = peak = 0.0
        touched = False
        for _ in range(round(1.0 / self._period)):
            self.force = min(self.force + TOUCH * self._period / 0.1, TOUCH)
            before = self.speed()
            self.cycle()
            force = max(float(np.linalg.norm(each)) for each in self.truth())
            if force > 0.0 and not touched:
                touched, speed = True, before
            peak = max(peak, force)
        return speed, peak

    def settle(self, force: float) -> Array:
        """Go to a force [N], wait; mean true forces of the fingers [N], shape (n, 3)."""
        self.run(force, 0.2)
        self.run(force, 0.5)
        total = np.zeros((len(self.fingers), 3))
        self.felt[:] = 0.0
        cycles = round(0.2 / self._period)
        for _ in range(cycles):
            self.felt += self.cycle().tip_force[list(self.fingers)] / cycles
            total += self.truth()
        return total / cycles

    def truth(self) -> Array:
        """True forces of the pressing fingers on the can [N], shape (n, 3)."""
        truth = self.robot.simulation.truth
        fingers = truth.fingers(truth.contacts())
        return np.array([fingers[NAMES[finger]].force for finger in self.fingers])

    def asked(self) -> Array:
        """What the law presses with [N], shape (n, 3)."""
        tips = self.memory.tips
        forces: Array = tips.force * tips.scale[:, None]
        return forces[list(self.fingers)]

    def speed(self) -> float:
        """True speed of the fastest pressing fingertip, the palm at rest [m/s]."""
        simulation = self.robot.simulation
        terms = self._dynamics.terms(simulation.position, simulation.velocity)
        speeds = [
            np.linalg.norm(terms.tip_jacobian[i] @ simulation.velocity[FINGERS[NAMES[i]]])
            for i in self.fingers
        ]
        return float(max(speeds))

    def _forces(self) -> list[FingerForce]:
        axes = (True, False, False)
        if len(self.fingers) > 1:
            along = np.array((self.force, 0.0, 0.0))
            return [FingerForce(finger, 'grip', along, axes) for finger in self.fingers]
        finger = self.fingers[0]
        along = np.array((self.way(finger) * self.force, 0.0, 0.0))
        return [FingerForce(finger, 'panda_link0', along, axes)]


def error(asked: Array, true: Array) -> Array:
    """True forces along those asked for, less these [N], shape (n,)."""
    size = np.linalg.norm(asked, axis=1)
    difference: Array = (true * asked).sum(axis=1) / size - size
    return difference


def felt_tolerance(size: float) -> float:
    """How far the estimate of a force of this size may be off [N]."""
    return max(0.2, 0.12 * size)


def tolerance(asked: Array) -> Array:
    """How far a force may be off [N], shape (n,)."""
    allowed: Array = np.maximum(0.2, 0.1 * np.linalg.norm(asked, axis=1))
    return allowed


def _posture(fingers: Sequence[int]) -> Array:
    """These fingers bent towards the can, the others straight, out of the way [rad]."""
    bent = {0: GRASP[7:11], 1: GRASP[11:15], 2: GRASP[11:15], 3: GRASP[19:23]}
    posture = GRASP.copy()
    posture[HAND] = 3 * _STRAIGHT + (0.3, 0.0, 0.0, 0.0)
    for finger in fingers:
        posture[FINGERS[NAMES[finger]]] = bent[finger]
    return posture


def report(robot: MujocoBackend, fingers: Sequence[int]) -> None:
    """Print the figures of one finger, or of a grip."""
    presser = Presser(robot, fingers)
    speed, peak = presser.close()
    print(f'{" + ".join(NAMES[i] for i in fingers)}: touches at {speed * 1e3:.0f} mm/s, ', end='')
    print(f'presses with up to {peak:.2f} N while closing with {TOUCH:g} N')
    for level in LEVELS:
        true, asked = presser.settle(level), presser.asked()
        off, allowed = error(asked, true), tolerance(asked)
        print(f'  {level:4.1f} N:', end='')
        for i, finger in enumerate(fingers):
            mark = ' ' if abs(off[i]) <= allowed[i] else '!'
            size = np.linalg.norm(asked[i])
            print(f'  {NAMES[finger]} {size:.2f} N {off[i]:+.2f} N{mark}', end='')
            felt, real = float(np.linalg.norm(presser.felt[i])), float(np.linalg.norm(true[i]))
            mark = ' ' if abs(felt - real) <= felt_tolerance(real) else '!'
            print(f' feels {felt - real:+.2f} N{mark}', end='')
        if len(fingers) > 1:
            print(f'  unbalanced {np.linalg.norm(true.sum(axis=0)[:2]):.2f} N', end='')
        print()
    print(f'  greatest joint torque: {100 * presser.greatest_share:.0f} % of its limit')


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--friction', type=float, default=1.0, help='factor on joint friction')
    parser.add_argument('--fingers', nargs='*', choices=(*NAMES, 'grip'), default=(*NAMES, 'grip'))
    options = parser.parse_args()
    settings = MujocoSettings(motors=MotorSettings(friction_scale=options.friction))
    with MujocoBackend(settings) as robot:
        for name in options.fingers:
            report(robot, GRIP if name == 'grip' else (NAMES.index(name),))


if __name__ == '__main__':
    main()
