# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A grasp for tests and benchmarks: two fingers and the thumb lift a can off the table.

Everything goes through commands of joint torques, as a controller would send them: the arm is a
spring in every joint, the hand presses its fingertips together by the transposed Jacobian. What
the fingers touch is not known to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from drex_ros.hardware.mujoco_backend import MujocoBackend, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.objects import ObjectModel, load_object
from drex_ros.robot.description import PALM_LINK
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, LIMITS, N_JOINTS, Array, constant
from drex_ros.robot.state import CommandMode, RobotCommand

CAN_PLACE = (0.45, 0.0)
"""Where the can stands on the table [m]."""

# Index, middle finger and thumb around the can, 55 mm above the table, fingers pointing down;
# the ring finger is straight, out of the way.
GRASP = constant(
    (
        *(-0.021, 1.078, 0.073, -1.179, 0.021, 0.686, 0.080),
        *(-0.036, 0.573, 0.708, 0.833),
        *(-0.012, 0.579, 0.729, 0.849),
        *(0.0, -0.1, 0.0, 0.0),
        *(0.907, 0.985, 0.655, 1.226),
    )
)
# The same hand 15 cm higher.
LIFTED = constant((-0.025, 0.828, 0.073, -1.226, 0.052, 0.484, 0.100))

_TIPS = (0, 1, 3)  # of Dynamics.fingertip_positions: index, middle, thumb
_OPENING = 0.2  # [rad] of the joints that move the tips away from the can
_ARM_STIFFNESS = np.array((600.0, 600.0, 600.0, 600.0, 250.0, 150.0, 50.0))
_HAND_STIFFNESS = 1.0  # [N m/rad], once the fingers touch
_CLOSING_STIFFNESS = 0.3
_TOUCH = 0.8  # [N] force of the thumb while closing
_HAND_DAMPING = 0.04  # [N m s/rad]


@dataclass(frozen=True)
class Relative:
    """Where the object is in the palm's frame."""

    position: Array
    """[m], shape (3,)."""
    rotation: Array
    """Shape (3, 3)."""

    def shift(self, other: Relative) -> float:
        """Distance to another place [m]."""
        return float(np.linalg.norm(self.position - other.position))

    def turn(self, other: Relative) -> float:
        """Angle to another orientation [rad]."""
        cosine = (np.trace(self.rotation.T @ other.rotation) - 1.0) / 2.0
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


class Grasp:
    """A hand around a can, driven by torques."""

    def __init__(self, robot: MujocoBackend, thing: ObjectModel) -> None:
        """Put the object on the table and the open hand around it."""
        self.robot = robot
        self._dynamics = Dynamics()
        self._opened = GRASP.copy()
        self._opened[[8, 12, 21]] -= _OPENING
        self._target = self._opened.copy()
        self._stiffness = _CLOSING_STIFFNESS
        self.force = 0.0
        """That the thumb presses with [N]; the fingers balance it."""
        self.greatest_effort = 0.0
        """Largest torque that was asked of a joint of the hand [N m]."""
        place = ObjectPose(np.array((*CAN_PLACE, thing.rest_height)), thing.rest_quaternion)
        robot.reset(self._opened, thing=thing, pose=place)
        inertia = self._dynamics.effective_inertia(GRASP)[ARM]
        self._arm_damping = 2.0 * np.sqrt(_ARM_STIFFNESS * inertia)

    def lift(self, force: float) -> None:
        """Close gently, press with a force of the thumb [N], lift by 15 cm."""
        for _ in self.lifting(force):
            pass

    def lifting(self, force: float) -> Iterator[None]:
        """The same, one control cycle after another."""
        yield from self._moving(self._target, 0.2, 0.0)
        yield from self._moving(GRASP, 0.5, _TOUCH)
        self._target = self.robot.read().position.copy()  # as far as the fingers came
        self._target[ARM] = GRASP[ARM]
        self._stiffness = _HAND_STIFFNESS
        yield from self._moving(self._target, 0.5, force)
        higher = self._target.copy()
        higher[ARM] = LIFTED
        yield from self._moving(higher, 1.5, force)
        yield from self._moving(higher, 0.5, force)

    def hold(self, seconds: float) -> None:
        """Go on as before for a simulated time [s]."""
        for _ in self._moving(self._target, seconds, self.force):
            pass

    def object_in_palm(self) -> Relative:
        """Where the object is in the hand."""
        data = self.robot.simulation.data
        palm, thing = data.body(PALM_LINK), data.body('object')
        turned = palm.xmat.reshape(3, 3).T
        return Relative(turned @ (thing.xpos - palm.xpos), turned @ thing.xmat.reshape(3, 3))

    def cycle(self) -> None:
        """One control cycle: answer the state, run the physics."""
        state = self.robot.read()
        effort = self._effort(state.position, state.velocity)
        command = RobotCommand(state.sequence, CommandMode.EFFORT, effort)
        assert self.robot.write(command), self.robot.read().reason
        self.robot.step()

    def _moving(self, target: Array, seconds: float, force: float) -> Iterator[None]:
        start, start_force = self._target.copy(), self.force
        cycles = round(seconds * self.robot.settings.control_rate)
        for cycle in range(1, cycles + 1):
            x = cycle / cycles
            along = x * x * (3.0 - 2.0 * x)
            self._target = start + along * (target - start)
            self.force = start_force + x * (force - start_force)
            self.cycle()
            yield

    def _effort(self, position: Array, velocity: Array) -> Array:
        dynamics = self._dynamics
        error = self._target - position
        effort = np.empty(N_JOINTS)
        effort[ARM] = _ARM_STIFFNESS * error[ARM] - self._arm_damping * velocity[ARM]
        hand = dynamics.gravity(position)
        hand += self._stiffness * error - _HAND_DAMPING * velocity
        tips = dynamics.fingertip_positions(position)
        jacobians = dynamics.fingertip_jacobians(position)
        inward = tips[list(_TIPS)].mean(axis=0) - tips  # these forces balance each other
        inward *= self.force / np.linalg.norm(inward[3])
        for tip in _TIPS:
            hand += inward[tip] @ jacobians[tip, :3]
        effort[HAND] = hand[HAND]
        self.greatest_effort = max(self.greatest_effort, float(np.abs(effort[HAND]).max()))
        return np.clip(effort, -LIMITS.effort, LIMITS.effort)


def heavy_can(finger_friction: float) -> ObjectModel:
    """The library's can, with a mass of 1 kg."""
    return overridden(load_object('can'), mass=1.0, finger_friction=finger_friction)
