# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the estimators are tried on: grasps, presses, flicks and pushes, in the simulated robot.

Each gives what was estimated and what was true; the estimators never see the truth.
"""

from __future__ import annotations

import numpy as np
from grasping import GRASP, LIFTED, Grasp

from drex_ros.control.estimation.estimator import Estimates, Estimator
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.objects import load_object
from drex_ros.robot.description import PALM_LINK
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, FINGERS, JOINT_FRICTION, LIMITS, Array
from drex_ros.robot.state import CommandMode, RobotCommand

NAMES = tuple(FINGERS)
GRIPS = {0.1: 3.0, 0.3: 5.0, 0.6: 9.0, 1.0: 11.0}
"""Force of the thumb [N] that lifts a can of a mass [kg] at friction 0.8."""
_STROKE = 0.6  # [rad] of a flick
_FLICK_STIFFNESS = 1.5  # [N m/rad]
_DITHER_PERIOD = 0.02  # [s]


class WatchedGrasp(Grasp):
    """A grasp under the eyes of the estimators; `dither` shakes the arm (by its friction)."""

    dither = 0.0

    def __init__(self, mass: float, friction: float, seed: int) -> None:
        """A can of a mass [kg] and friction on the table, the open hand around it."""
        robot = MujocoBackend(MujocoSettings(seed=seed))
        robot.connect()
        self.estimator = Estimator()
        self.watching = Dynamics()
        self.estimates: Estimates
        can = overridden(load_object('can'), mass=mass, finger_friction=friction)
        super().__init__(robot, can)
        robot.reset(self._target, thing=can, pose=self._place(), seed=seed)

    def cycle(self) -> None:
        """One control cycle, then one of the estimators."""
        super().cycle()
        state = self.robot.read()
        terms = self.watching.terms(state.position, state.velocity)
        self.estimates = self.estimator.update(
            state, terms, 0.002, dithered=self.dither > 0.0, moving_target=False
        )

    def go(self, target: Array, seconds: float, force: float) -> None:
        """To joint positions [rad] with a force of the thumb [N]."""
        for _ in self._moving(target, seconds, force):
            pass

    def true_forces(self) -> Array:
        """Of the fingers on the can [N], shape (4, 3)."""
        truth = self.robot.simulation.truth
        fingers = truth.fingers(truth.contacts())
        return np.array([fingers[name].force for name in NAMES])

    def raised(self) -> Array:
        """The posture 15 cm above the can."""
        posture = self._target.copy()
        posture[ARM] = LIFTED
        return posture

    def _place(self) -> ObjectPose:
        thing = self.robot.simulation.truth.object()
        assert thing is not None
        return ObjectPose(thing.position, thing.quaternion)

    def _effort(self, position: Array, velocity: Array) -> Array:
        effort = super()._effort(position, velocity)
        wave = np.sin(2.0 * np.pi * self.robot.time / _DITHER_PERIOD)
        effort[ARM] += self.dither * JOINT_FRICTION[ARM] * wave
        return effort


def weigh(mass: float, seed: int, dither: float = 0.0) -> tuple[float, float]:
    """Lift a can of a mass [kg]; mass and sigma [kg] that the arm's torques show.

    The tare is taken at the posture of the weighing, which the arm reaches from a random side.
    """
    grasp = WatchedGrasp(mass, 0.8, seed)
    grasp.dither = dither
    down, up = grasp._target.copy(), grasp.raised()
    aside = up.copy()
    aside[ARM] += np.random.default_rng(seed).uniform(-0.06, 0.06, 7)
    for target, seconds in ((up, 1.0), (aside, 0.5), (up, 0.5), (up, 0.5)):
        grasp.go(target, seconds, 0.0)
    grasp.estimator.tare()
    grasp.hold(1.2)
    grasp.go(down, 1.0, 0.0)
    grasp.lift(GRIPS[mass])
    grasp.hold(1.5)
    return grasp.estimates.payload_mass, grasp.estimates.payload_sigma


def press(finger: int, forces: tuple[float, ...], seed: int) -> list[tuple[Array, Array, float]]:
    """One finger presses on a can of 20 kg; true and estimated force [N] and sigma at rest."""
    grasp = WatchedGrasp(20.0, 0.8, seed)
    robot, dynamics = grasp.robot, grasp.watching
    tips = dynamics.fingertip_positions(GRASP)
    inward = tips[[0, 1, 3]].mean(axis=0) - tips[finger]
    inward[2] = 0.0
    inward /= np.linalg.norm(inward)
    target = grasp._target.copy()
    joints = slice(7 + 4 * finger, 11 + 4 * finger)
    target[joints] = GRASP[joints]
    force, results = 0.0, []

    def effort(position: Array, velocity: Array) -> Array:
        torque = Grasp._effort(grasp, position, velocity)
        push = force * inward @ dynamics.fingertip_jacobians(position)[finger, :3]
        torque[joints] += push[joints]
        return np.clip(torque, -LIMITS.effort, LIMITS.effort)

    grasp._effort = effort  # type: ignore[method-assign]
    grasp.go(target, 0.6, 0.0)
    assert robot.simulation.thing is not None
    for wanted in forces:
        start = force
        for cycle in range(250):
            force = start + (wanted - start) * min(cycle / 100.0, 1.0)
            grasp.cycle()
        estimates = grasp.estimates
        results.append(
            (
                grasp.true_forces()[finger],
                estimates.tip_force[finger].copy(),
                float(estimates.tip_sigma[finger]),
            )
        )
    return results


def flick(mass: float, seed: int, friction: float = 0.5) -> tuple[Array, Array]:
    """The index finger strikes a can of a mass [kg]; true and estimated impulse [N s]."""
    robot = MujocoBackend(MujocoSettings(seed=seed))
    robot.connect()
    can = overridden(load_object('can'), mass=mass, finger_friction=friction)
    dynamics, estimator = Dynamics(), Estimator()
    start = GRASP.copy()
    start[8] -= 0.32  # the index finger drawn back
    start[11:15] = (0.0, -0.1, 0.0, 0.0)  # the others out of the way
    start[19:] = (0.9, 0.1, 0.1, 0.1)
    tip = dynamics.fingertip_positions(GRASP)[0]
    place = np.array((tip[0] + 0.045, tip[1], can.rest_height))
    robot.reset(start, thing=can, pose=ObjectPose(place, can.rest_quaternion), seed=seed)
    simulation = robot.simulation
    stiffness = np.array((600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0))
    damping = 2.0 * np.sqrt(stiffness * dynamics.effective_inertia(start)[ARM])
    true = np.zeros(3)
    advance = simulation._advance

    def watched(effort: Array) -> None:
        # A blow is over in a few physics steps: each counts.
        advance(effort)
        force = simulation.truth.fingers(simulation.truth.contacts())['index'].force
        true[:] += force / robot.settings.physics_rate

    simulation._advance = watched  # type: ignore[method-assign]
    impulses, truths = [], []
    for cycle in range(350):
        state = robot.read()
        terms = dynamics.terms(state.position, state.velocity)
        estimates = estimator.update(state, terms, 0.002, dithered=False, moving_target=True)
        impulses.append(0.002 * estimates.tip_force[0])
        truths.append(true.copy())
        target = start.copy()
        target[8] += _STROKE if 50 < cycle < 150 else 0.0
        effort = terms.gravity + _FLICK_STIFFNESS * (target - state.position)
        effort -= 0.01 * state.velocity
        effort[ARM] = stiffness * (target - state.position)[ARM] - damping * state.velocity[ARM]
        effort = np.clip(effort, -LIMITS.effort, LIMITS.effort)
        assert robot.write(RobotCommand(state.sequence, CommandMode.EFFORT, effort))
        robot.step()
    touched = np.flatnonzero(np.linalg.norm(np.diff(truths, axis=0), axis=1) > 1e-6)
    first, last = int(touched[0]), int(touched[-1]) + 1
    # The observer is late by a few cycles.
    return true, np.sum(impulses[first : last + 12], axis=0)


def push(force: Array, seed: int, tare: bool) -> tuple[Array, Array]:
    """A force [N] on the palm of the arm at rest: estimated wrench and its sigma, each (6,)."""
    robot = MujocoBackend(MujocoSettings(seed=seed))
    robot.connect()
    dynamics, estimator = Dynamics(), Estimator()
    estimates: Estimates

    def rest(seconds: float) -> Estimates:
        for _ in range(round(seconds * 500)):
            state = robot.read()
            terms = dynamics.terms(state.position, state.velocity)
            now = estimator.update(state, terms, 0.002, dithered=False, moving_target=False)
            assert robot.write(RobotCommand(state.sequence, CommandMode.HOLD, state.effort))
            robot.step()
        return now

    rest(0.3)
    if tare:
        estimator.tare()
    rest(1.2)
    robot.simulation.data.body(PALM_LINK).xfrc_applied[:3] = force
    estimates = rest(1.0)
    return estimates.wrench.copy(), estimates.wrench_sigma.copy()


def slips(friction: float, seed: int, mass: float = 1.0) -> dict[str, float]:
    """Lift a can: delay of the first alarm [s], shares of cycles missed and alarmed in vain."""
    grasp = WatchedGrasp(mass, friction, seed)
    seen, true = [], []
    for _ in grasp.lifting(GRIPS[mass]):
        truth = grasp.robot.simulation.truth
        fingers = truth.fingers(truth.contacts())
        true.append([fingers[name].slipping for name in NAMES])
        seen.append(grasp.estimates.slipping.copy())
    alarm, slip = np.array(seen)[600:], np.array(true)[600:]  # from the beginning of the lift
    begin = np.flatnonzero(slip.any(axis=1))
    told = np.flatnonzero(alarm.any(axis=1))
    delay = 0.002 * (told[0] - begin[0]) if begin.size and told.size else np.nan
    return {
        'delay': float(delay),
        'slipping': 0.002 * float(slip.any(axis=1).sum()),
        'missed': float((slip & ~alarm).sum() / max(slip.sum(), 1)),
        'in vain': 0.002 * float((alarm.any(axis=1) & ~slip.any(axis=1)).sum()),
        'in vain at rest': 0.002 * float(alarm[500:].any(axis=1).sum()) if slip[400:].sum() == 0
        else np.nan,
    }  # fmt: skip
