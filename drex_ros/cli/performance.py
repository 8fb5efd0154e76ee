# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot in motion without ROS: the real control law on the real physics."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import yaml

from drex_ros.cli.errors import ViewError
from drex_ros.control.controller import Controller
from drex_ros.control.settings import ControllerSettings
from drex_ros.control.targets import ArmTarget, HandTarget, Target, TargetMode
from drex_ros.hardware.mujoco_backend import MujocoBackend, MujocoSettings
from drex_ros.hardware.photographer import Moment
from drex_ros.nodes import controller_parameters
from drex_ros.objects import load_object
from drex_ros.resources import share_file
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, Array, constant
from drex_ros.robot.state import RobotMode

_REACH = (0.2004, -0.6688, -0.2006, -2.7306, -0.1975, 2.4147, 0.1455)
_OPEN = 3 * (0.0, 0.3, 0.3, 0.3) + (1.3, 0.5, 0.3, 0.5)
_CLOSED = 3 * (0.0, 1.1, 0.9, 0.7) + (1.3, 0.5, 0.6, 0.7)

POSTURES: dict[str, Array] = {
    'home': HOME,
    'reach': constant(_REACH + _OPEN),
    'grasp': constant(_REACH + _CLOSED),
}
"""Joint positions [rad], shape (23,): at rest, and reaching out with the hand open, closed."""

_TARGETS = 50.0  # [Hz]
_CYCLE = 4.0  # [s] in which the hand closes and opens
_SWAY = np.array((0.16, 0.05, 0.0, 0.06, 0.0, 0.08, 0.12))  # [rad] of the arm's joints
_SWAY_PHASE = np.array((0.0, 1.2, 0.0, 1.8, 0.0, 0.6, 2.2))  # [rad]


class Performance:
    """Arm and hand in a scene, with their controller."""

    def __init__(self, *, scene: str, hand: str, thing: str, posture: str) -> None:
        """Put the robot at a posture, an object (name, path, or empty) at its place."""
        self.robot = MujocoBackend(MujocoSettings(scene=scene, hand=hand))
        self.robot.connect()
        self._thing = thing
        self._start = POSTURES[posture]
        self.robot.reset(self._start, thing=load_object(thing) if thing else None)
        self._controller = Controller(Dynamics(hand=hand), controller_settings(hand))

    def moment(self) -> Moment:
        """What it looks like now."""
        simulation = self.robot.simulation
        moving = simulation.truth.object()
        pose = None if moving is None else np.append(moving.position, moving.quaternion)
        return Moment(self.robot.time, self._thing, simulation.position.copy(), pose)

    def play(self, seconds: float, rate: float) -> Iterator[Moment]:
        """Sway the arm, close and open the hand; `rate` moments a second of simulated time.

        Raises ViewError when the robot stops.
        """
        begin = self.robot.time
        shown = asked = 0
        while True:
            elapsed = self.robot.time - begin
            if elapsed >= shown / rate - 1e-9:
                if shown >= seconds * rate - 1e-9:
                    return
                yield self.moment()
                shown += 1
            state = self.robot.read()
            if state.mode in (RobotMode.REFLEX, RobotMode.STOPPED):
                raise ViewError(f'the robot stopped: {state.reason}')
            command = self._controller.update(state)
            if elapsed >= asked / _TARGETS - 1e-9:
                self._aim_for(elapsed)
                asked += 1
            self.robot.write(command)
            self.robot.step()

    def hold(self, until: float) -> None:
        """Let the robot hold by itself until a simulated time [s]."""
        while self.robot.time < until:
            self.robot.step()

    def _aim_for(self, elapsed: float) -> None:
        goal = posture_at(self._start, elapsed)
        refused = self._controller.accept(
            Target(
                'drex view',
                arm=ArmTarget(TargetMode.JOINT_IMPEDANCE, position=goal[ARM]),
                hand=HandTarget(TargetMode.JOINT_IMPEDANCE, position=goal[HAND]),
            )
        )
        if refused:
            raise ViewError(refused)


def posture_at(start: Array, elapsed: float) -> Array:
    """Where the joints should be after some time [s] from a posture [rad]. Shape (23,)."""
    turn = 2.0 * np.pi * elapsed / _CYCLE
    goal = start.copy()
    goal[ARM] += _SWAY * (np.sin(turn + _SWAY_PHASE) - np.sin(_SWAY_PHASE))
    # From wherever the hand starts, by way of the closed hand, to the open one.
    begin = start[HAND] if elapsed < _CYCLE / 2 else np.array(_OPEN)
    share = 0.5 - 0.5 * np.cos(turn)
    goal[HAND] = begin + share * (np.array(_CLOSED) - begin)
    return np.clip(goal, LIMITS.lower, LIMITS.upper)


def controller_settings(hand: str) -> ControllerSettings:
    """The settings with which the controller's node starts (config/), for one of the hands."""
    document = yaml.safe_load(share_file('config/hybrid_impedance_controller.yaml').read_text())
    values = {**document['/**']['ros__parameters'], 'hand': hand}
    return controller_parameters.controller_settings(SimpleNamespace(**values))
