# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the arm is to do, and the torques for it: joint or Cartesian impedance, plain torques."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from drex_ros.control.cartesian_impedance import (
    CartesianImpedance,
    cartesian_impedance,
)
from drex_ros.control.friction_compensation import FrictionCompensation, FrictionModel
from drex_ros.control.joint_impedance import joint_impedance
from drex_ros.control.payload_weight import PayloadWeight
from drex_ros.control.plain_effort import PlainEffort
from drex_ros.control.pose_set_point import PoseFollower
from drex_ros.control.set_point import SINGLE, JointFollower, approach, loaded_rest, within
from drex_ros.control.target_checks import MAX_CARTESIAN_STIFFNESS, MAX_STIFFNESS
from drex_ros.control.targets import ArmTarget, Payload, TargetMode
from drex_ros.control.trajectory import TOP_SPEED
from drex_ros.robot.description import PALM_LINK
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, LIMITS, N_ARM, Array, constant
from drex_ros.robot.rotations import rotation_matrix
from drex_ros.robot.state import RobotMode, RobotState
from drex_ros.robot.terms import Terms

_RAMP = 0.2  # [s] from no stiffness to the highest
_BEYOND = 0.05  # [rad] that a spring may begin ahead by
_LEAST_STIFFNESS = 1.0  # [N m/rad] that this is reckoned with
_AHEAD = 0.3  # [rad] that a set-point may be ahead of the joint, and of its torque limit:
_AHEAD_EFFORT = 0.8
_PALM_AHEAD = 0.1  # [m] the same of the palm, and of its force:
_PALM_FORCE = 60.0  # [N]
_TURN_AHEAD = 0.5  # [rad]
_EFFORT_RATE = constant(0.5 * LIMITS.effort_rate[ARM])  # [N m/s] of plain torques
_WRENCH_RATE = constant((200, 200, 200, 40, 40, 40))  # [N/s, N m/s]
_IDENTITY = np.eye(3)  # writable: a kernel is compiled anew for an array that is not
_ZERO = constant(N_ARM * (0.0,))


@dataclass(frozen=True)
class ArmSettings:
    """What the arm starts with, and goes back to when it is held."""

    stiffness: Array
    """Of the joints [N m/rad]. Shape (7,)."""
    cartesian_stiffness: Array
    """Of the palm, x y z [N/m], about x y z [N m/rad]. Shape (6,)."""
    posture_stiffness: Array
    """Of the posture that the palm leaves free [N m/rad]. Shape (7,)."""
    damping_ratio: float = 1.0
    speed: Array = field(default_factory=lambda: constant(0.3 * TOP_SPEED[ARM]))
    """Greatest of the set-points [rad/s]. Shape (7,)."""
    palm_speed: float = 0.5
    """Greatest of the palm's set-point [m/s]."""
    palm_turning: float = 1.5
    """[rad/s]"""
    effort_timeout: float = 0.1
    """Longest that plain torques count without new ones [s]."""
    friction_compensation: float = 1.0
    """Share of the joints' friction that is made up for; 0 for an arm that does it by itself."""


class ArmControl:
    """Set-points, gains and law of the arm."""

    def __init__(self, dynamics: Dynamics, settings: ArmSettings) -> None:
        self._dynamics = dynamics
        self._settings = settings
        self._friction = FrictionModel.arm(share=settings.friction_compensation)
        self._compensation = FrictionCompensation(self._friction)
        self.mode = TargetMode.JOINT_IMPEDANCE
        self.joints = JointFollower(np.zeros(N_ARM), settings.speed)
        self.palm = PoseFollower(settings.palm_speed, settings.palm_turning)
        self.payload = PayloadWeight()
        self._plain = PlainEffort(_EFFORT_RATE, settings.effort_timeout)
        self._spring: Array | None = None  # what the law gave last, without friction
        self._default_gains()

    def _default_gains(self) -> None:
        settings = self._settings
        self._stiffness_goal = settings.stiffness.copy()
        self._set_stiffness(self._stiffness_goal)
        self._posture_stiffness = settings.posture_stiffness.copy()
        self._palm_stiffness_goal = settings.cartesian_stiffness.copy()
        self._set_palm_stiffness(self._palm_stiffness_goal)
        self._palm_damping: Array | None = None
        self._ratio = settings.damping_ratio
        self._palm_axes = False
        self._wrench = self._wrench_goal = np.zeros(6)
        self._wrench_in_palm = False

    def _set_stiffness(self, stiffness: Array) -> None:
        self._stiffness = stiffness
        ahead = _AHEAD_EFFORT * LIMITS.effort[ARM] / np.maximum(stiffness, 1.0)
        self._reach = np.minimum(ahead, _AHEAD)

    def _set_palm_stiffness(self, stiffness: Array) -> None:
        self._palm_stiffness = stiffness
        self._palm_reach = np.minimum(_PALM_FORCE / np.maximum(stiffness[:3], 1.0), _PALM_AHEAD)
        self._impedance: CartesianImpedance | None = None  # to be made anew

    # What it is to do

    @property
    def moves(self) -> bool:
        """Whether its set-point does not stand."""
        if self.mode is TargetMode.CARTESIAN_IMPEDANCE:
            return self.palm.moves
        return self.mode is TargetMode.JOINT_IMPEDANCE and self.joints.moves

    def rest(self, robot: RobotState) -> None:
        """Hold the posture that is found, by joint impedance, with the load that it bears."""
        self._default_gains()
        self.mode = TargetMode.JOINT_IMPEDANCE
        self.joints.brake(self.resting_point(robot), robot.velocity[ARM])

    def resume(self, robot: RobotState, terms: Terms) -> None:
        """Go on to the same goal from where the robot is now."""
        goal = self.joints.goal.copy()
        palm, turn = self.palm.goal.copy(), self.palm.goal_rotation.copy()
        self.joints.rest(self.resting_point(robot))
        self.palm.rest(terms.palm_position, terms.palm_rotation)
        if self.mode is not TargetMode.JOINT_EFFORT:
            self.joints.go(goal, SINGLE)
        if self.mode is TargetMode.CARTESIAN_IMPEDANCE:
            self.palm.go(palm, turn, SINGLE)

    def resting_point(self, robot: RobotState) -> Array:
        """Where the joints shall rest so that they go on carrying what they carry now [rad].

        That is the torque of the springs, but for what friction may hold by itself.
        """
        if self._spring is not None and robot.mode is RobotMode.EFFORT:
            load = self._spring
        else:
            told = robot.effort_commanded[ARM]
            load = told - within(told, self._friction.coulomb)
        stiffness = np.maximum(self._stiffness, _LEAST_STIFFNESS)
        return loaded_rest(robot.position[ARM], robot.velocity[ARM], load, stiffness, _BEYOND)

    @property
    def deadline(self) -> float:
        """Until when plain torques count without new ones [s]; infinity in other modes."""
        return self._plain.until if self.mode is TargetMode.JOINT_EFFORT else math.inf

    def stop(self) -> None:
        """Let the set-points come to rest; mode, gains and forces stay."""
        self.joints.stop()
        self.palm.stop()

    def lead(self, position: Array, velocity: Array, acceleration: Array, terms: Terms) -> None:
        """Follow a trajectory of the joints [rad], [rad/s], [rad/s^2] in the present mode."""
        if self.mode is TargetMode.JOINT_EFFORT:
            self.mode = TargetMode.JOINT_IMPEDANCE
        self.joints.put(position, velocity, acceleration)
        if self.mode is TargetMode.CARTESIAN_IMPEDANCE:
            place, turn = self._dynamics.palm_pose(position)
            jacobian = terms.palm_jacobian
            self.palm.put(place, turn, jacobian @ velocity, jacobian @ acceleration)

    def take(self, target: ArmTarget, robot: RobotState, terms: Terms, duration: float) -> bool:
        """Follow a target from now on, its way to take a duration [s]; whether the law changes."""
        if target.mode == TargetMode.KEEP:
            return False
        mode, before = TargetMode(target.mode), self.mode
        self.mode = mode
        if mode is TargetMode.JOINT_EFFORT:
            assert target.effort is not None  # the target was checked
            self._plain.take(target.effort, robot.time)
            if before is not mode:
                self._plain.begin(robot.effort_commanded[ARM])
            return before is not mode
        if before is TargetMode.JOINT_EFFORT:
            self.joints.rest(self.resting_point(robot))
        if mode is TargetMode.CARTESIAN_IMPEDANCE and before is not mode:
            self.palm.rest(terms.palm_position, terms.palm_rotation)
        if target.position is not None:
            self.joints.go(target.position, duration)
        if mode is TargetMode.CARTESIAN_IMPEDANCE:
            self._take_cartesian(target, duration)
        elif target.stiffness is not None:
            self._stiffness_goal = target.stiffness.copy()
        if target.damping_ratio is not None:
            self._ratio = target.damping_ratio
            self._palm_damping = None
        self._impedance = None
        return before is not mode

    def _take_cartesian(self, target: ArmTarget, duration: float) -> None:
        in_palm = target.frame == PALM_LINK
        if target.pose is not None:
            turn = rotation_matrix(target.pose.quaternion / np.linalg.norm(target.pose.quaternion))
            place = target.pose.position
            if in_palm:
                place = self.palm.position + self.palm.rotation @ place
                turn = self.palm.rotation @ turn
            self.palm.go(place, turn, duration)
        if target.stiffness is not None:
            self._posture_stiffness = target.stiffness.copy()
        if target.cartesian_stiffness is not None:
            self._palm_stiffness_goal = target.cartesian_stiffness.copy()
            self._palm_axes = in_palm
        if target.cartesian_damping is not None:
            self._palm_damping = target.cartesian_damping.copy()
            self._palm_axes = in_palm
        if target.wrench is not None:
            self._wrench_goal = target.wrench.copy()
            self._wrench_in_palm = in_palm

    def carry(self, payload: Payload) -> None:
        """Hold up the weight of a payload from now on."""
        self.payload.carry(payload)

    # What follows for the motors

    def advance(self, robot: RobotState, terms: Terms, period: float) -> bool:
        """Move set-points on by a period [s]; whether one was kept near the robot."""
        if self.mode is TargetMode.JOINT_EFFORT:
            return False
        if self.mode is not TargetMode.CARTESIAN_IMPEDANCE:
            return self.joints.advance_near(period, robot.position, self._reach)
        self.joints.advance(period)
        return self.palm.advance_near(
            *(period, terms.palm_position, terms.palm_rotation, self._palm_reach, _TURN_AHEAD)
        )

    def keep_near(self, robot: RobotState, terms: Terms) -> bool:
        """Do not let set-points run ahead of the robot; whether one was held back."""
        if self.mode is TargetMode.CARTESIAN_IMPEDANCE:
            return self.palm.keep_near(
                terms.palm_position, terms.palm_rotation, self._palm_reach, _TURN_AHEAD
            )
        return self.joints.keep_near(robot.position, self._reach)

    def effort(self, robot: RobotState, terms: Terms, period: float) -> Array:
        """Torques of the arm [N m], shape (7,), on top of its own gravity compensation."""
        if self.mode is TargetMode.JOINT_EFFORT:
            self._spring = None
            return self._plain.advance(period)
        if self.mode is TargetMode.CARTESIAN_IMPEDANCE:
            effort, wanted_velocity = self._cartesian(robot, terms, period)
        else:
            if self._stiffness is not self._stiffness_goal:
                step = MAX_STIFFNESS[ARM] * (period / _RAMP)
                self._set_stiffness(approach(self._stiffness, self._stiffness_goal, step))
            joints, wanted_velocity = self.joints, self.joints.velocity
            effort = joint_impedance(
                *(terms, robot.position, robot.velocity),
                *(joints.position, joints.velocity, joints.acceleration),
                *(self._stiffness, self._ratio),
            )
        self._spring = effort.copy()
        if self._settings.friction_compensation > 0.0:
            self._compensation.add(terms.mass, wanted_velocity, robot.position, robot.time, effort)
        if self.payload.carries:
            self.payload.add_torque(terms, period, effort)
        return effort

    def _cartesian(self, robot: RobotState, terms: Terms, period: float) -> tuple[Array, Array]:
        if self._palm_stiffness is not self._palm_stiffness_goal:
            step = MAX_CARTESIAN_STIFFNESS * (period / _RAMP)
            goal = self._palm_stiffness_goal
            self._set_palm_stiffness(approach(self._palm_stiffness, goal, step))
        if self._wrench is not self._wrench_goal:
            self._wrench = approach(self._wrench, self._wrench_goal, _WRENCH_RATE * period)
        wrench, turn = self._wrench, terms.palm_rotation
        if self._wrench_in_palm:
            wrench = np.concatenate((turn @ wrench[:3], turn @ wrench[3:]))
        axes = turn if self._palm_axes else _IDENTITY
        impedance = self._impedance
        if impedance is None or impedance.axes is not axes:
            self._impedance = impedance = CartesianImpedance(
                stiffness=self._palm_stiffness,
                damping_ratio=self._ratio,
                damping=self._palm_damping,
                axes=axes,
                posture_stiffness=self._posture_stiffness,
            )
        law = cartesian_impedance(
            *(terms, robot.position, robot.velocity, self.palm, impedance),
            *(self.joints.position, wrench),
        )
        return law.torque, law.velocity
