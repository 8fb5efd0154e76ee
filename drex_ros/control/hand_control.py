# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the hand is to do, and the torques for it: joint impedance, fingertip forces, torques."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from drex_ros.control.hand_law import Press, hand_effort, hand_memory, press
from drex_ros.control.plain_effort import PlainEffort
from drex_ros.control.set_point import SINGLE, JointFollower, approach, loaded_rest
from drex_ros.control.target_checks import GRIP_FRAME, MAX_STIFFNESS
from drex_ros.control.targets import BASE_FRAMES, FingerForce, HandTarget, TargetMode
from drex_ros.control.trajectory import TOP_SPEED
from drex_ros.robot.joints import HAND, N_HAND, Array, constant
from drex_ros.robot.state import RobotState
from drex_ros.robot.terms import N_FINGERS, Terms

_RAMP = 0.2  # [s] from no stiffness to the highest
_BEYOND = 0.25  # [rad] that a spring may begin ahead by
_LEAST_STIFFNESS = 0.1  # [N m/rad] that this is reckoned with
# [rad] that a set-point may be ahead of the joint; writable as the arm's, for one kernel.
_AHEAD = np.full(N_HAND, 1.0)
_EFFORT_RATE = constant(N_HAND * (20.0,))  # [N m/s] of plain torques
_FORCE_RATE = 20.0  # [N/s]
_NOTHING = press(())


@dataclass(frozen=True)
class HandSettings:
    """What the hand starts with, and goes back to when it is held."""

    stiffness: Array
    """[N m/rad] Shape (16,)."""
    damping_ratio: float = 1.0
    effort_timeout: float = 0.1
    """Longest that plain torques count without new ones [s]."""
    speed: Array = field(default_factory=lambda: constant(0.3 * TOP_SPEED[HAND]))
    """Greatest of the set-points [rad/s]. Shape (16,)."""


class HandControl:
    """Set-points, gains and law of the hand."""

    def __init__(self, settings: HandSettings) -> None:
        self._settings = settings
        self.mode = TargetMode.JOINT_IMPEDANCE
        self.joints = JointFollower(np.zeros(N_HAND), settings.speed)
        self._memory = hand_memory()
        self._plain = PlainEffort(_EFFORT_RATE, settings.effort_timeout)
        self._default_gains()

    def _default_gains(self) -> None:
        self._stiffness = self._stiffness_goal = self._settings.stiffness.copy()
        self._ratio = np.full(N_HAND, self._settings.damping_ratio)
        self._press = self._press_goal = _NOTHING

    def rest(self, robot: RobotState, terms: Terms) -> None:
        """Hold the posture that is found, with the load that it bears, so that nothing is lost."""
        self._default_gains()
        self.mode = TargetMode.JOINT_IMPEDANCE
        self.joints.rest(self.resting_point(robot, terms))
        self._memory = hand_memory()

    def resume(self, robot: RobotState, terms: Terms) -> None:
        """Go on to the same goal from where the robot is now."""
        goal = self.joints.goal.copy()
        self.joints.rest(self.resting_point(robot, terms))
        self._memory = hand_memory()
        if self.mode is not TargetMode.JOINT_EFFORT:
            self.joints.go(goal, SINGLE)

    def resting_point(self, robot: RobotState, terms: Terms) -> Array:
        """Where the joints shall rest so that they go on pressing as they do now [rad]."""
        load = robot.effort_commanded[HAND] - terms.gravity[HAND]
        stiffness = np.maximum(self._stiffness, _LEAST_STIFFNESS)
        return loaded_rest(robot.position[HAND], robot.velocity[HAND], load, stiffness, _BEYOND)

    @property
    def deadline(self) -> float:
        """Until when plain torques count without new ones [s]; infinity in other modes."""
        return self._plain.until if self.mode is TargetMode.JOINT_EFFORT else math.inf

    def stop(self) -> None:
        """Let the set-points come to rest; mode, gains and forces stay, so nothing is dropped."""
        self.joints.stop()
        self._press_goal = self._press

    def lead(self, position: Array, velocity: Array, acceleration: Array) -> None:
        """Follow a trajectory of the joints [rad], [rad/s], [rad/s^2] in the present mode."""
        if self.mode is TargetMode.JOINT_EFFORT:
            self.mode = TargetMode.JOINT_IMPEDANCE
        self.joints.put(position, velocity, acceleration)

    def take(self, target: HandTarget, robot: RobotState, terms: Terms, duration: float) -> bool:
        """Follow a target from now on, its way to take a duration [s]; whether the law changes."""
        if target.mode == TargetMode.KEEP:
            return False
        mode, before = TargetMode(target.mode), self.mode
        self.mode = mode
        if mode is TargetMode.JOINT_EFFORT:
            assert target.effort is not None  # the target was checked
            self._plain.take(target.effort, robot.time)
            if before is not mode:
                self._plain.begin(robot.effort_commanded[HAND])
            return before is not mode
        if before is TargetMode.JOINT_EFFORT:
            self.joints.rest(self.resting_point(robot, terms))
            self._memory = hand_memory()
        if target.position is not None:
            self.joints.go(target.position, duration)
        if target.stiffness is not None:
            self._stiffness_goal = target.stiffness.copy()
        if target.damping_ratio is not None:
            self._ratio = np.full(N_HAND, target.damping_ratio)
        changed = self._take_forces(target.fingertips, terms)
        return changed or before is not mode

    def _take_forces(self, forces: tuple[FingerForce, ...], terms: Terms) -> bool:
        """Press so from now on; whether another set of axes is force-controlled."""
        goal = press(forces)
        old = self._press
        same = np.array_equal(goal.frame, old.frame) and np.array_equal(goal.axes, old.axes)
        if not same:
            # What each finger presses with now, seen in its frame from now on.
            now = Press(goal.frame, np.zeros((N_FINGERS, 3)), goal.axes)
            for each in forces:
                force = self._memory.tips.force[each.finger]
                if each.frame == GRIP_FRAME:
                    now.force[each.finger, 0] = np.linalg.norm(force)
                elif each.frame in BASE_FRAMES[1:]:
                    now.force[each.finger] = force
                else:
                    now.force[each.finger] = terms.palm_rotation.T @ force
            now.force[~goal.axes] = 0.0
            self._press = now
        self._press_goal = goal
        return not same

    def cap_forces(self, limit: float) -> None:
        """Let no finger be told more than a limit [N]; all get less by one share, for balance."""
        strongest = float(np.sqrt((self._press_goal.force**2).sum(axis=1)).max())
        if strongest > limit:
            goal = self._press_goal
            self._press_goal = Press(goal.frame, goal.force * (limit / strongest), goal.axes)

    def advance(self, robot: RobotState, period: float) -> bool:
        """Move set-points on by a period [s]; whether one was kept near the robot."""
        if self.mode is TargetMode.JOINT_EFFORT:
            return False
        return self.joints.advance_near(period, robot.position[HAND], _AHEAD)

    def effort(self, robot: RobotState, terms: Terms, period: float) -> Array:
        """Torques of the hand [N m], shape (16,), its weight included."""
        if self.mode is TargetMode.JOINT_EFFORT:
            return self._plain.advance(period)
        if self._stiffness is not self._stiffness_goal:
            step = MAX_STIFFNESS[HAND] * (period / _RAMP)
            self._stiffness = approach(self._stiffness, self._stiffness_goal, step)
        if self._press is not self._press_goal:
            self._ramp_forces(_FORCE_RATE * period)
        joints = self.joints
        return hand_effort(
            *(terms, robot.position[HAND], robot.velocity[HAND]),
            *(joints.position, joints.velocity, self._stiffness, self._ratio),
            *(self._press, self._memory, period),
        )

    def _ramp_forces(self, step: float) -> None:
        left = self._press_goal.force - self._press.force
        if np.abs(left).max() <= step:
            self._press = self._press_goal
            return
        force = self._press.force + np.minimum(np.maximum(left, -step), step)
        self._press = Press(self._press.frame, force, self._press.axes)
