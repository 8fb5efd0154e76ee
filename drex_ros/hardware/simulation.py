# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The physics of the simulated robot: MuJoCo, the motors, and the hardware's own hold."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from drex_ros.hardware.backend import BackendError
from drex_ros.hardware.motors import Motors, MotorSettings
from drex_ros.hardware.scene import OBJECT, ObjectPose, object_place, scene_spec
from drex_ros.hardware.scene_file import load_scene
from drex_ros.hardware.sliding import remove_lift
from drex_ros.hardware.truth import Truth
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import ARM, HAND, JOINT_NAMES, LIMITS, N_JOINTS, Array, constant
from drex_ros.robot.rotations import to_wxyz

HOLD_STIFFNESS = constant((600, 600, 600, 600, 250, 150, 50) + 16 * (3.0,))
"""Spring of the hardware's own hold [N m/rad], critically damped. Shape (23,)."""

_STANDS = 0.1  # [rad/s] slower than this a joint stands
_RESTS = 1e-3  # [rad/s] slower than this a joint has braked
_TURN_ROUND = 0.15  # [s] at most, until an arm that brakes is as slow as it should be
_BRAKING = 0.05  # [s] in which the arm's speed falls to a third when a hold begins
_REACH = 3.0  # [m] from the robot within which an object may be put
_UNIT = 1e-3  # how far the length of a quaternion may be from 1


class Simulation:
    """Robot, table and object. The arrays it gives are MuJoCo's own: read, never write."""

    def __init__(self, *, scene: str, hand: str, timestep: float, motors: MotorSettings) -> None:
        """Build the scene without an object; timestep [s]. Raises SceneError."""
        self.scene = load_scene(scene)
        self._hand = hand
        self._timestep = timestep
        self._motor_settings = motors
        self._motors = Motors(motors, timestep)
        self.thing: ObjectModel | None = None
        self._pose: ObjectPose | None = None
        self.friction = 0.0
        """Of object and table, as it is now."""
        self._compile(None)

    def prepare(self, thing: ObjectModel | None, pose: ObjectPose | None) -> None:
        """Have this object, or none, from the next place() on. ValueError: nothing is changed."""
        if thing is None:
            if pose is not None:
                raise ValueError('a pose of the object is given, but no object')
        else:
            pose = _checked(pose or object_place(self.scene, thing))
        if thing is not self.thing:
            self._compile(thing)
        self.thing, self._pose = thing, pose

    def place(self, position: Array) -> None:
        """Robot at rest at a posture [rad], carrying its own weight; object at its pose."""
        data = self.data
        mujoco.mj_resetData(self.model, data)
        data.qpos[:N_JOINTS] = position
        if self._pose is not None:
            data.qpos[N_JOINTS : N_JOINTS + 3] = self._pose.position
            data.qpos[N_JOINTS + 3 : N_JOINTS + 7] = to_wxyz(self._pose.quaternion)
        self.set_friction(None)
        mujoco.mj_forward(self.model, data)
        self._motors.reset()
        self._motors.torque[HAND] = self._hand_weight
        self._note_effort()

    @property
    def torque(self) -> Array:
        """Torque of the motors without the arm's gravity compensation [N m], shape (23,)."""
        return self._motors.torque

    def begin_hold(self) -> None:
        """From the next hold() on, keep the present posture, and what the fingers grip.

        An arm that moves brakes first: a spring back to where it was would throw it.

        A joint that stands although it is driven presses on something or bears a load. Its hold
        begins with the torque that it has, as a spring from a point beyond, so that nothing is
        dropped; with nothing there any more it would move by a quarter of a radian at most.
        """
        load = self._motors.torque.copy()
        load[HAND] -= self._hand_weight
        stands = np.abs(self.velocity) < _STANDS
        self._hold_position = self.position + np.where(stands, load / HOLD_STIFFNESS, 0.0)
        self._hold_velocity = np.zeros(N_JOINTS)
        self._hold_velocity[ARM] = np.where(stands, 0.0, self.velocity)[ARM]
        self._hold_turning = _TURN_ROUND
        diagonal = self._inertia().diagonal()[:N_JOINTS]
        self._hold_damping = 2.0 * np.sqrt(HOLD_STIFFNESS * diagonal)
        self._motors.forget()

    def hold(self, steps: int) -> Array:
        """Run physics steps with the hardware's own hold; the last torques asked for [N m]."""
        slower = math.exp(-self._timestep / _BRAKING)
        for _ in range(steps):
            mujoco.mj_step1(self.model, self.data)
            self._brake(slower)
            effort = HOLD_STIFFNESS * (self._hold_position - self.position)
            effort += self._hold_damping * (self._hold_velocity - self.velocity)
            if self._hold_velocity.any():
                # With the whole inertia, or a joint that brakes hard would throw its neighbours.
                effort[ARM] -= self._inertia()[ARM, ARM] @ self._hold_velocity[ARM] / _BRAKING
            effort[HAND] += self._hand_weight  # the arm has its own in any case
            np.minimum(effort, LIMITS.effort, out=effort)
            np.maximum(effort, -LIMITS.effort, out=effort)
            self._advance(effort)
        self._note_effort()
        return effort

    def _brake(self, slower: float) -> None:
        """Let the point that is held go on for a step, slower by a factor."""
        wanted, measured = self._hold_velocity, self.velocity
        if self._hold_turning > 0.0:
            # Motors take their time to turn round: a spring that grew meanwhile would throw.
            self._hold_turning -= self._timestep
            ahead = wanted * (measured - wanted) > 0.0
            self._hold_position[ahead] = self.position[ahead]
        wanted *= slower
        wanted[np.abs(wanted) < _RESTS] = 0.0
        self._hold_position += self._timestep * wanted

    def follow(self, commanded: Array, before: Array, steps: int) -> None:
        """Run physics steps with commanded torques [N m]; `before` is what acts until they do."""
        effort = self._motors.delayed(commanded, before)
        for _ in range(steps):
            mujoco.mj_step1(self.model, self.data)
            self._advance(effort)
        self._note_effort()

    def check(self) -> None:
        """Raise BackendError when the numbers of the simulation are no longer numbers."""
        # One sum finds any of them, at a tenth of the cost of looking at each.
        if not math.isfinite(self.data.qpos.sum() + self.data.qvel.sum()):
            raise BackendError('the simulation has diverged: positions are no longer finite')

    def set_friction(self, friction: float | None) -> None:
        """Another friction of object and table; None: its own."""
        if self.thing is not None:
            self.friction = self.thing.friction if friction is None else friction
            self.model.geom_friction[self._object_geoms, 0] = self.friction

    def _inertia(self) -> Array:
        """Joint-space inertia of robot and object [kg m^2]; the robot's joints come first."""
        inertia = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, inertia)
        return inertia

    def _advance(self, effort: Array) -> None:
        """The second half of a physics step."""
        self._control[:] = self._motors.drive(effort)
        # MuJoCo carries the weight of every link; on the hand nobody does.
        np.negative(self._hand_weight, out=self._hand_applied)
        if self.data.ncon:
            remove_lift(self.data)
        mujoco.mj_step2(self.model, self.data)

    def _note_effort(self) -> None:
        self.effort[:] = self._motors.torque
        self.effort[ARM] += self._arm_weight

    def _compile(self, thing: ObjectModel | None) -> None:
        settings = self._motor_settings
        self.model = scene_spec(
            self.scene,
            thing,
            timestep=self._timestep,
            hand=self._hand,
            friction_scale=settings.friction_scale,
            rotor_inertia_scale=settings.rotor_inertia_scale,
        ).compile()
        # A simulation that diverges would be set back to zero and go on as if nothing were.
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        names = tuple(self.model.joint(i).name for i in range(N_JOINTS))
        assert names == JOINT_NAMES, f'joints of the model come in the order {names}'
        self.data = data = mujoco.MjData(self.model)
        self.truth = Truth(self.model, data)
        self.position: Array = data.qpos[:N_JOINTS]
        """True joint positions [rad], shape (23,)."""
        self.velocity: Array = data.qvel[:N_JOINTS]
        """True joint velocities [rad/s], shape (23,)."""
        self.effort = np.zeros(N_JOINTS)
        """Torque of the motors in the last physics step, gravity compensation included [N m]."""
        self.unexplained: Array = data.qfrc_constraint[ARM]
        """Torque on the arm's joints that no motor and no free motion explains: contacts, end
        stops and joint friction [N m], shape (7,). A real arm sees no more of a collision."""
        self._arm_weight: Array = data.qfrc_gravcomp[ARM]
        self._hand_weight: Array = data.qfrc_gravcomp[HAND]
        self._hand_applied: Array = data.qfrc_applied[HAND]
        self._control: Array = data.ctrl
        self._object_geoms = [
            i for i in range(self.model.ngeom) if self.model.geom(i).name.startswith(OBJECT)
        ]


def _checked(pose: ObjectPose) -> ObjectPose:
    length = float(np.linalg.norm(pose.quaternion))
    # Comparisons with NaN are false, so each asks for what is right.
    if not (np.isfinite(pose.position).all() and abs(length - 1.0) <= _UNIT):
        raise ValueError(
            f'object pose: position {np.asarray(pose.position).tolist()}, '
            f'quaternion of length {length:g}, must be finite and of length 1'
        )
    if not (np.abs(pose.position) <= _REACH).all():
        raise ValueError(
            f'object pose: position {np.asarray(pose.position).tolist()} m, '
            f'must be within {_REACH:g} m of the robot'
        )
    return pose
