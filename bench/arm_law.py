# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the arm's Cartesian impedance and friction compensation do on the simulated robot.

    python bench/arm_law.py [--friction 1.0] [--stiffness 400]

With friction, sensor errors and delay as by default: static deflection under 5 N, distance from a
set-point on a straight line at 0.2 m/s, overshoot of steps and after a push, drift at rest, and
the time that the law takes. True poses are the simulator's own.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

from drex_ros.control.cartesian_impedance import CartesianImpedance, cartesian_impedance
from drex_ros.control.friction_compensation import FrictionModel, MeanVelocity, friction_torque
from drex_ros.control.pose_set_point import PoseSetPoint
from drex_ros.hardware.motors import MotorSettings
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.robot.description import PALM_LINK
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_ARM, N_JOINTS, Array, constant
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode

PERIOD = 0.002
"""Of a control cycle [s]."""


def _posture(*arm: float) -> Array:
    return constant((*arm, *HOME[HAND]))


POSTURES = {
    'home': HOME,
    'left': _posture(0.6, -0.2, 0.3, -1.9, -0.4, 1.9, 0.3),
    'low': _posture(-0.4, 0.3, 0.2, -2.0, 0.1, 2.2, 0.5),
    'down': _posture(-0.025, 0.828, 0.073, -1.226, 0.052, 0.484, 0.1),
}
"""Over the table: home; to the left; far and low; fingers down, as above a thing to grasp."""

LINES = {
    'home': (0.3, 0.3, -0.3),
    'left': (0.2, -0.3, -0.3),
    'low': (-0.3, 0.3, 0.3),
    'down': (-0.2, 0.3, 0.15),
}
"""How far each posture has room along x, y and z [m]."""

_HAND_STIFFNESS = 3.0  # [N m/rad]
_SETTLE = 0.5  # [s] at rest before each trial
_RAMP = 0.25  # [s] in which a line gets to its speed


class ArmTrial:
    """The simulated robot with its palm on a spring, its fingers held."""

    def __init__(
        self,
        posture: Array = HOME,
        *,
        stiffness: float = 400.0,
        turn_stiffness: float = 30.0,
        friction_scale: float = 1.0,
        compensation: FrictionModel | None = None,
    ) -> None:
        """At rest at a posture [rad]; no compensation given: that of the robot's description."""
        motors = MotorSettings(friction_scale=friction_scale)
        self.robot = MujocoBackend(MujocoSettings(motors=motors))
        self.robot.connect()
        self.robot.reset(posture)
        self._dynamics = Dynamics()
        terms = self._dynamics.terms(posture, np.zeros(N_JOINTS))
        self.start = PoseSetPoint(terms.palm_position, terms.palm_rotation)
        self.set_point = self.start
        self.impedance = CartesianImpedance(
            np.array(3 * (stiffness,) + 3 * (turn_stiffness,)),
            posture_stiffness=np.full(N_ARM, 10.0),
        )
        self.wrench = np.zeros(6)
        self.friction = compensation or FrictionModel.arm()
        self._mean_velocity = MeanVelocity(N_ARM)
        self._posture = posture
        self._palm = self.robot.simulation.data.body(PALM_LINK)
        damping = 2.0 * np.sqrt(_HAND_STIFFNESS * terms.mass.diagonal()[HAND])
        self._hand_damping: Array = damping

    def push(self, force: Array) -> None:
        """Push the palm at its origin from now on: a force [N], or with a torque [N m]."""
        self.robot.simulation.data.xfrc_applied[self._palm.id, : len(force)] = force

    def shift(self) -> Array:
        """How far the palm truly is from the start: [m], then rotation vector [rad]. (6,)."""
        turn = self._palm.xmat.reshape(3, 3) @ self.start.rotation.T
        return np.append(self._palm.xpos - self.start.position, pin.log3(turn))

    def cycle(self) -> None:
        """One control cycle. Raises AssertionError when the robot does not follow."""
        state = self.robot.read()
        terms = self._dynamics.terms(state.position, state.velocity)
        law = cartesian_impedance(
            terms,
            state.position,
            state.velocity,
            self.set_point,
            self.impedance,
            self._posture,
            self.wrench,
        )
        mean = self._mean_velocity.update(state.position, state.time)
        effort = terms.gravity + _HAND_STIFFNESS * (self._posture - state.position)
        effort[HAND] -= self._hand_damping * state.velocity[HAND]
        effort[ARM] = law.torque
        effort[ARM] += friction_torque(self.friction, terms.mass, law.velocity, mean, state.time)
        change = LIMITS.effort_rate * PERIOD
        effort = np.clip(effort, state.effort_commanded - change, state.effort_commanded + change)
        effort = np.clip(effort, -LIMITS.effort, LIMITS.effort)
        self.robot.write(RobotCommand(state.sequence, CommandMode.EFFORT, effort))
        self.robot.step()
        state = self.robot.read()
        assert state.mode is RobotMode.EFFORT, state.reason

    def run(self, seconds: float) -> Array:
        """Shifts of the palm in each cycle of a time [s]. Shape (cycles, 6)."""
        shifts = []
        for _ in range(round(seconds / PERIOD)):
            self.cycle()
            shifts.append(self.shift())
        return np.array(shifts)


def deflection(trial: ArmTrial, axis: int, force: float = 5.0, seconds: float = 2.0) -> float:
    """Static deflection along an axis under a push [N], by that of the spring: 1 is exact."""
    trial.run(_SETTLE)
    push = np.zeros(3)
    push[axis] = force
    trial.push(push)
    last = trial.run(seconds)[-round(0.1 / PERIOD) :]
    return float(last[:, axis].mean() * trial.impedance.stiffness[axis] / force)


def line_error(trial: ArmTrial, way: Array, speed: float = 0.2) -> float:
    """Largest distance from a set-point on a straight way [m] at a speed [m/s], in metres."""
    trial.run(_SETTLE)
    length = float(np.linalg.norm(way))
    direction = np.append(way / length, np.zeros(3))
    total = length / speed + _RAMP
    worst = 0.0
    for cycle in range(round((total + 0.3) / PERIOD)):
        place, velocity, acceleration = _along(cycle * PERIOD, total, length, speed)
        trial.set_point = PoseSetPoint(
            trial.start.position + place * direction[:3],
            trial.start.rotation,
            velocity * direction,
            acceleration * direction,
        )
        trial.cycle()
        there, _, _ = _along((cycle + 1) * PERIOD, total, length, speed)
        error = trial.shift()[:3] - there * direction[:3]
        worst = max(worst, float(np.linalg.norm(error)))
    return worst


def step_overshoot(trial: ArmTrial, axis: int, size: float, seconds: float = 1.5) -> float:
    """By how much the palm passes a set-point that jumps by a size [m or rad], as a share."""
    trial.run(_SETTLE)
    step = np.zeros(6)
    step[axis] = size
    turned = pin.exp3(step[3:]) @ trial.start.rotation
    trial.set_point = PoseSetPoint(trial.start.position + step[:3], turned)
    way = trial.run(seconds)[:, axis] / size
    assert way[-1] > 0.9, f'the palm went {100 * way[-1]:.0f} % of its step'
    return max(float(way.max()) - 1.0, 0.0)


def release_overshoot(trial: ArmTrial, axis: int, force: float = 10.0) -> float:
    """By how much the palm passes its place after a push [N] ends, as a share."""
    push = np.zeros(3)
    push[axis] = force
    trial.push(push)
    away = trial.run(1.5)[-1, axis]
    trial.push(np.zeros(3))
    way = trial.run(1.5)[:, axis] / away
    assert way[-1] < 0.1, f'the palm is still {100 * way[-1]:.0f} % away'
    return max(-float(way.min()), 0.0)


def law_times(rounds: int = 2000) -> dict[str, float]:
    """Median times [us] of the law's parts, and of Pinocchio beside them."""
    dynamics = Dynamics()
    velocity = np.full(N_JOINTS, 0.1)
    terms = dynamics.terms(HOME, velocity)
    data, model = dynamics.model.createData(), dynamics.model
    q, v = np.zeros(model.nq), np.zeros(model.nv)
    goal = PoseSetPoint(terms.palm_position + 0.01, terms.palm_rotation)
    impedance = CartesianImpedance(
        np.array(3 * (400.0,) + 3 * (30.0,)), posture_stiffness=np.full(N_ARM, 10.0)
    )
    friction, mean, clock = FrictionModel.arm(), MeanVelocity(N_ARM), iter(range(1 << 30))
    parts: dict[str, Callable[[], object]] = {
        'pin.rnea + pin.crba': lambda: (pin.rnea(model, data, q, v, v), pin.crba(model, data, q)),
        'Cartesian impedance': lambda: cartesian_impedance(
            terms, HOME, velocity, goal, impedance, HOME
        ),
        'mean velocity': lambda: mean.update(HOME, next(clock) * PERIOD),
        'friction': lambda: friction_torque(friction, terms.mass, velocity, velocity, 1.0),
    }
    times: dict[str, list[int]] = {name: [] for name in parts}
    for _ in range(rounds):
        for name, part in parts.items():
            start = time.perf_counter_ns()
            part()
            times[name].append(time.perf_counter_ns() - start)
    return {name: 1e-3 * float(np.median(values)) for name, values in times.items()}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--friction', type=float, default=1.0, help='true by described friction')
    parser.add_argument('--stiffness', type=float, default=400.0, help='of the palm [N/m]')
    options = parser.parse_args()
    console = Console()
    table = Table('posture', 'figure', 'x', 'y', 'z', 'about x', 'about y', 'about z', 'mark')
    for name, posture in POSTURES.items():

        def trial(posture: Array = posture) -> ArmTrial:
            return ArmTrial(posture, stiffness=options.stiffness, friction_scale=options.friction)

        pushed = [f'{deflection(trial(), axis):.3f}' for axis in range(3)]
        table.add_row(name, 'deflection, 5 N, by F/K', *pushed, '', '', '', '0.95 .. 1.05')
        ways = np.diag(LINES[name])
        errors = [f'{1e3 * line_error(trial(), way):.2f}' for way in ways]
        table.add_row(name, 'line at 0.2 m/s, error in mm', *errors, '', '', '', '3')
        sizes = 3 * (0.05,) + 3 * (0.2,)
        over = [100.0 * step_overshoot(trial(), axis, sizes[axis]) for axis in range(6)]
        table.add_row(name, 'step, overshoot in %', *(f'{x:.1f}' for x in over), '5')
        freed = [f'{100.0 * release_overshoot(trial(), axis):.1f}' for axis in range(3)]
        table.add_row(name, '10 N released, overshoot in %', *freed, '', '', '', '5')
        still = 1e3 * np.abs(trial().run(3.0)[-250:]).max(axis=0)
        table.add_row(name, 'at rest, off by mm, mrad', *(f'{x:.3f}' for x in still), '')
    console.print(table)
    for part, microseconds in law_times().items():
        console.print(f'{part:24} {microseconds:6.1f} us')
    return 0


def _along(moment: float, total: float, length: float, speed: float) -> tuple[float, float, float]:
    """Place, velocity and acceleration on a way that starts and ends by half a cosine."""
    if moment >= total:
        return length, 0.0, 0.0
    if moment > 0.5 * total:
        place, velocity, acceleration = _along(total - moment, total, length, speed)
        return length - place, velocity, -acceleration
    if moment >= _RAMP:
        return speed * (moment - 0.5 * _RAMP), speed, 0.0
    phase = np.pi * moment / _RAMP
    place = 0.5 * speed * (moment - _RAMP / np.pi * np.sin(phase))
    velocity = 0.5 * speed * (1.0 - np.cos(phase))
    return float(place), float(velocity), float(0.5 * speed * np.pi / _RAMP * np.sin(phase))


if __name__ == '__main__':
    sys.exit(main())
