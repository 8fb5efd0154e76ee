# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: arm and hand in MuJoCo behind the contract of a backend.

Like the real arm it compensates its own gravity, so a commanded arm torque comes on top; the
hand, like the real one, gets exactly what is commanded. Time stands still between two calls of
step(), each of which runs one control cycle. Equal commands give bit-identical states.
"""

from __future__ import annotations

import mujoco
import numpy as np

from drex_ros.hardware.backend import Backend, BackendError, RobotInfo, refusal
from drex_ros.hardware.mujoco_model import GravityModel, JointMap, robot_spec
from drex_ros.robot.joints import (
    ARM,
    HOME,
    JOINT_NAMES,
    LIMITS,
    N_JOINTS,
    Array,
    check_posture,
    constant,
)
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

HOLD_STIFFNESS = constant((600, 600, 600, 600, 250, 150, 50) + 16 * (3.0,))
"""Spring of the hardware's own hold [N m/rad], critically damped. Shape (23,)."""

_LATCHED = (RobotMode.STOPPED, RobotMode.REFLEX)


class MujocoBackend(Backend):
    """Arm and hand in MuJoCo."""

    def __init__(
        self,
        *,
        control_rate: float = 500.0,
        physics_rate: float = 1000.0,
        command_deadline: float = 0.02,
        start_spread: float = 0.0,
        seed: int = 0,
    ) -> None:
        """Settings of the simulator.

        Args:
            control_rate: control cycles per simulated second [Hz].
            physics_rate: physics steps per simulated second [Hz], a multiple of control_rate.
            command_deadline: simulated time that one command counts [s].
            start_spread: each joint starts up to this far from home [rad], drawn with the seed.
            seed: of every random number.
        """
        self._substeps = round(physics_rate / control_rate)
        if self._substeps < 1 or abs(self._substeps * control_rate - physics_rate) > 1e-6:
            raise BackendError(
                f'physics_rate is {physics_rate:g} Hz, must be a multiple of '
                f'control_rate ({control_rate:g} Hz)'
            )
        self._physics_rate = physics_rate
        self._deadline_cycles = round(command_deadline * control_rate)
        self._start_spread = start_spread
        self._seed = seed
        self._info = RobotInfo('mujoco', JOINT_NAMES, LIMITS, control_rate, command_deadline)
        self._connected = False
        self._mode = RobotMode.IDLE
        self._reason = ''

    def describe(self) -> RobotInfo:
        """What this robot is."""
        return self._info

    def connect(self) -> None:
        """Build the simulator; the robot holds its starting posture."""
        self._model = robot_spec(1.0 / self._physics_rate).compile()
        self._data = mujoco.MjData(self._model)
        self._joints = JointMap(self._model)
        self._gravity = GravityModel(self._model, self._joints)
        self._sequence = -1  # the reset below makes it the first
        self._refused = 0
        self._missed = 0
        self._connected = True
        self.reset(seed=self._seed)

    def close(self) -> None:
        """Forget the simulator."""
        self._connected = False

    def reset(self, position: Array | None = None, *, seed: int | None = None) -> None:
        """Put the robot at rest at a posture [rad] (default: home).

        Time goes on by one cycle; commands that answer a state from before are refused.
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        if position is None:
            spread = self._random.uniform(-self._start_spread, self._start_spread, N_JOINTS)
            position = np.clip(HOME + spread, LIMITS.lower, LIMITS.upper)
        else:
            check_posture(position)
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[self._joints.position] = position
        mujoco.mj_forward(self._model, self._data)
        self._effort = np.zeros(N_JOINTS)
        self._commanded = np.zeros(N_JOINTS)
        self._sequence += 1
        self._first_sequence = self._sequence
        self._cycles_since_command = 0
        self._missed_this_cycle = False
        self._begin_hold(RobotMode.IDLE, '')

    def read(self) -> RobotState:
        """The present state."""
        return RobotState(
            time=self._sequence * self._substeps / self._physics_rate,
            sequence=self._sequence,
            mode=self._mode,
            reason=self._reason,
            position=self._data.qpos[self._joints.position],
            velocity=self._data.qvel[self._joints.velocity],
            effort=self._effort.copy(),
            effort_commanded=self._commanded.copy(),
            commands_refused=self._refused,
            commands_missed=self._missed,
        )

    def write(self, command: RobotCommand) -> bool:
        """Follow a command in the next cycles. False: refused, and the robot holds."""
        self._cycles_since_command = 0
        reason = self._refusal(command)
        if reason:
            self._refused += 1
            self.hold(f'command refused: {reason}')
            return False
        if command.mode is CommandMode.HOLD:
            self.hold('hold commanded')
        else:
            self._mode, self._reason = RobotMode.EFFORT, ''
            self._commanded = np.array(command.effort, dtype=np.float64)
        return True

    def hold(self, reason: str) -> None:
        """Hold the present posture until the next command."""
        if self._mode in _LATCHED:
            return
        if self._mode is RobotMode.EFFORT:
            self._begin_hold(RobotMode.HOLD, reason)
        else:
            self._mode, self._reason = RobotMode.HOLD, reason

    def miss(self, reason: str) -> None:
        """Count this cycle as one whose command did not come, and hold."""
        if self._mode in (RobotMode.EFFORT, RobotMode.HOLD) and not self._missed_this_cycle:
            self._missed_this_cycle = True
            self._missed += 1
            self.hold(reason)

    def stop(self, reason: str) -> None:
        """Stop and hold; every command is refused until recover()."""
        self._begin_hold(RobotMode.STOPPED, reason)

    def recover(self) -> None:
        """Leave a stop; the robot holds until the next command."""
        if self._mode in _LATCHED:
            self._begin_hold(RobotMode.HOLD, 'recovered')

    def step(self) -> None:
        """Run one control cycle of simulated time."""
        if not self._connected:
            raise BackendError('the simulated robot is not connected')
        if self._cycles_since_command >= self._deadline_cycles:
            self.miss(f'no command for {self._info.command_deadline:g} s')
        data, joints = self._data, self._joints
        for _ in range(self._substeps):
            position = data.qpos[joints.position]
            gravity = self._gravity(position)
            if self._mode is RobotMode.EFFORT:
                commanded = self._commanded
            else:
                commanded = self._hold_effort(position, gravity)
                self._commanded = commanded
            effort = commanded.copy()
            effort[ARM] += gravity[ARM]
            data.ctrl[joints.motor] = effort
            mujoco.mj_step(self._model, data)
        self._effort = effort
        self._sequence += 1
        self._cycles_since_command += 1
        self._missed_this_cycle = False

    def _begin_hold(self, mode: RobotMode, reason: str) -> None:
        self._mode, self._reason = mode, reason
        self._hold_position: Array = self._data.qpos[self._joints.position]
        inertia = self._gravity.effective_inertia(self._hold_position)
        self._hold_damping = 2.0 * np.sqrt(HOLD_STIFFNESS * inertia)

    def _hold_effort(self, position: Array, gravity: Array) -> Array:
        velocity = self._data.qvel[self._joints.velocity]
        effort = HOLD_STIFFNESS * (self._hold_position - position) - self._hold_damping * velocity
        effort[ARM.stop :] += gravity[ARM.stop :]  # the arm gets its own in any case
        clipped: Array = np.clip(effort, -LIMITS.effort, LIMITS.effort)
        return clipped

    def _refusal(self, command: RobotCommand) -> str:
        if self._mode in _LATCHED:
            return f'the robot is stopped ({self._reason}): recover it first'
        behind = self._sequence - command.sequence
        if behind < 0:
            return f'it answers state {command.sequence}, which is not yet: now {self._sequence}'
        if command.sequence < self._first_sequence:
            return f'it answers state {command.sequence}, from before the reset'
        if behind > self._deadline_cycles:
            return f'it answers state {command.sequence}, {behind} cycles ago'
        return refusal(command, LIMITS)
