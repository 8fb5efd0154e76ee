# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot: arm and hand in MuJoCo behind the contract of a backend.

Like the real arm it compensates its own gravity, so a commanded arm torque comes on top; the
hand, like the real one, gets exactly what is commanded. Time stands still between two calls of
step(), each of which runs one control cycle. Equal commands give bit-identical states.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from drex_ros.hardware.backend import Backend, BackendError, RobotInfo, refusal
from drex_ros.hardware.faults import FaultError, FaultKind, Faults
from drex_ros.hardware.motors import MotorSettings
from drex_ros.hardware.reflexes import CollisionDetector, ReflexSettings, overspeed, torque_jump
from drex_ros.hardware.scene import ObjectPose
from drex_ros.hardware.sensors import JointSensors, SensorSettings
from drex_ros.hardware.simulation import Simulation
from drex_ros.objects import ObjectModel
from drex_ros.robot.joints import HOME, JOINT_NAMES, LIMITS, N_JOINTS, Array, check_posture
from drex_ros.robot.state import CommandMode, RobotCommand, RobotMode, RobotState

_LATCHED = (RobotMode.STOPPED, RobotMode.REFLEX)


@dataclass(frozen=True)
class MujocoSettings:
    """Settings of the simulated robot."""

    control_rate: float = 500.0
    """Control cycles per simulated second [Hz]."""
    physics_rate: float = 1000.0
    """Physics steps per simulated second [Hz], a multiple of control_rate."""
    command_deadline: float = 0.02
    """Simulated time that one command counts [s]; then the robot holds."""
    stop_after: float = 0.5
    """Simulated time without a command [s] after which a hold becomes a stop."""
    start_spread: float = 0.0
    """Each joint starts up to this far from home [rad], drawn with the seed."""
    seed: int = 0
    """Of every random number."""
    hand: str = 'right'
    scene: str = 'table'
    """Name of a scene, or path of its file."""
    motors: MotorSettings = field(default_factory=MotorSettings)
    sensors: SensorSettings = field(default_factory=SensorSettings)
    reflexes: ReflexSettings = field(default_factory=ReflexSettings)

    @classmethod
    def ideal(cls) -> MujocoSettings:
        """A robot without friction, delay and sensor errors, for closed formulas."""
        motors = MotorSettings(delay=0, friction_scale=0.0)
        return cls(motors=motors, sensors=SensorSettings.exact())


class MujocoBackend(Backend):
    """Arm and hand in MuJoCo, with a table, and an object or none."""

    def __init__(self, settings: MujocoSettings | None = None) -> None:
        """A robot that is yet to be connected. Raises BackendError for rates that do not fit."""
        self.settings = settings = settings or MujocoSettings()
        rate, physics = settings.control_rate, settings.physics_rate
        self._substeps = round(physics / rate)
        if self._substeps < 1 or abs(self._substeps * rate - physics) > 1e-6:
            raise BackendError(
                f'physics_rate is {physics:g} Hz, must be a multiple of control_rate ({rate:g} Hz)'
            )
        self._period = 1.0 / rate
        self._deadline_cycles = max(round(settings.command_deadline * rate), 1)
        self._stop_cycles = max(round(settings.stop_after * rate), self._deadline_cycles)
        self._info = RobotInfo('mujoco', JOINT_NAMES, LIMITS, rate, settings.command_deadline)
        self._connected = False
        self._mode = RobotMode.IDLE
        self._reason = ''
        self.faults = Faults()

    def describe(self) -> RobotInfo:
        """What this robot is."""
        return self._info

    def connect(self) -> None:
        """Build the simulator; the robot holds its starting posture."""
        settings = self.settings
        self.simulation = Simulation(
            scene=settings.scene,
            hand=settings.hand,
            timestep=1.0 / settings.physics_rate,
            motors=settings.motors,
        )
        self._sensors = JointSensors(settings.sensors, self._period)
        self._collisions = CollisionDetector(settings.reflexes, self._period)
        self.episode = 0
        """Counts resets."""
        self._sequence = -1  # the reset below makes it the first
        self._refused = 0
        self._missed = 0
        self._connected = True
        self.reset(seed=settings.seed)

    def close(self) -> None:
        """Forget the simulator."""
        self._connected = False

    def reset(
        self,
        position: Array | None = None,
        *,
        thing: ObjectModel | None = None,
        pose: ObjectPose | None = None,
        seed: int | None = None,
    ) -> None:
        """Put the robot at rest at a posture [rad] (default: home), with an object or none.

        Time goes on by one cycle; commands that answer a state from before are refused, and every
        fault is over. Raises ValueError, and nothing is changed then.

        Args:
            position: shape (23,).
            thing: the object.
            pose: where it is; default: at its place in the scene.
            seed: of every random number from here on; default: go on with the present ones.
        """
        if position is not None:
            check_posture(position)
        self.simulation.prepare(thing, pose)
        if seed is not None:
            self.seed = seed
            self._random = np.random.default_rng(seed)
        if position is None:
            spread = self.settings.start_spread
            start = HOME + self._random.uniform(-spread, spread, N_JOINTS)
            position = np.clip(start, LIMITS.lower, LIMITS.upper)
        self.simulation.place(position)
        self.episode += 1
        self.faults.clear()
        self._sensors.reset(position, self._random)
        self._collisions.reset()
        self._commanded = self.simulation.torque.copy()
        self._sequence += 1
        self._first_sequence = self._sequence
        self._cycles_since_command = 0
        self._missed_this_cycle = False
        self.simulation.begin_hold()
        self._mode, self._reason = RobotMode.IDLE, ''
        self._measure()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._sequence * self._substeps / self.settings.physics_rate

    def read(self) -> RobotState:
        """The present state."""
        reading = self._sensors.last
        return RobotState(
            time=self.time,
            sequence=self._sequence,
            mode=self._mode,
            reason=self._reason,
            position=reading.position,
            velocity=reading.velocity,
            effort=reading.effort,
            effort_commanded=self._commanded,
            commands_refused=self._refused,
            commands_missed=self._missed,
        )

    def write(self, command: RobotCommand) -> bool:
        """Follow a command in the next cycles. False: refused, and the robot holds."""
        reason = self._refusal(command)
        if reason:
            self._refused += 1
            self._cycles_since_command = 0
            self.hold(f'command refused: {reason}')
            return False
        elapsed, self._cycles_since_command = max(self._cycles_since_command, 1), 0
        if command.mode is CommandMode.RECOVER:
            self.recover()
            self.hold('recovered')
        elif command.mode is CommandMode.HOLD:
            self.hold('hold commanded')
        else:
            if self._mode is not RobotMode.EFFORT:
                elapsed = 1
            jump = torque_jump(command.effort, self._commanded, elapsed * self._period)
            if jump:
                self._refused += 1
                self._trip(jump)
                return False
            self._mode, self._reason = RobotMode.EFFORT, ''
            self._before, self._commanded = self._commanded, np.array(command.effort)
        return True

    def hold(self, reason: str) -> None:
        """Hold the present posture until the next command."""
        if self._mode not in _LATCHED:
            self._hold_as(RobotMode.HOLD, reason)

    def miss(self, reason: str) -> None:
        """Count this cycle as one whose command did not come, and hold."""
        if self._mode in (RobotMode.EFFORT, RobotMode.HOLD) and not self._missed_this_cycle:
            self._missed_this_cycle = True
            self._missed += 1
            self.hold(reason)

    def stop(self, reason: str) -> None:
        """Stop and hold; every command is refused until recover()."""
        self._hold_as(RobotMode.STOPPED, reason)

    def recover(self) -> None:
        """Leave a stop or reflex; the robot holds until the next command."""
        if self._mode in _LATCHED:
            self._collisions.reset()
            self._hold_as(RobotMode.HOLD, 'recovered')

    def inject(self, kind: int, joint: str, magnitude: float, duration: float) -> FaultKind:
        """Have a fault from now on (see Faults.inject). Raises FaultError."""
        if kind == FaultKind.FRICTION and self.simulation.thing is None:
            raise FaultError('FRICTION: there is no object whose friction could change')
        fault = self.faults.inject(kind, joint, magnitude, duration, self.time)
        if fault is FaultKind.REFLEX:
            self._trip('injected fault')
        self._apply_friction()
        return fault

    def step(self) -> None:
        """Run one control cycle of simulated time."""
        if not self._connected:
            raise BackendError('the simulated robot is not connected')
        if self._cycles_since_command >= self._deadline_cycles:
            self._watch_silence()
        if self.faults and self.faults.expire(self.time):
            self._apply_friction()
        simulation = self.simulation
        if self._mode is RobotMode.EFFORT:
            simulation.follow(self._commanded, self._before, self._substeps)
            self._before = self._commanded
        else:
            self._commanded = simulation.hold(self._substeps)
        simulation.check()
        self._sequence += 1
        self._cycles_since_command += 1
        self._missed_this_cycle = False
        reason = self._collisions.update(simulation.unexplained)
        if self._mode is RobotMode.EFFORT:
            reason = reason or overspeed(simulation.velocity)
            if reason:
                self._trip(reason)
        self._measure()

    def _watch_silence(self) -> None:
        if self._mode is RobotMode.EFFORT or self._mode is RobotMode.HOLD:
            self.miss(f'no command for {self.settings.command_deadline:g} s')
            if self._cycles_since_command >= self._stop_cycles:
                self.stop(f'no command for {self._stop_cycles * self._period:g} s')

    def _measure(self) -> None:
        simulation, faults = self.simulation, self.faults
        broken = {}
        if faults:
            broken = {
                'frozen': faults.of_joints(FaultKind.FREEZE_JOINT),
                'position_bias': faults.of_joints(FaultKind.BIAS_JOINT),
                'effort_bias': faults.of_joints(FaultKind.BIAS_EFFORT),
            }
        self._sensors.read(simulation.position, simulation.velocity, simulation.effort, **broken)

    def _apply_friction(self) -> None:
        self.simulation.set_friction(self.faults.get(FaultKind.FRICTION))

    def _trip(self, reason: str) -> None:
        if self._mode not in _LATCHED:
            self._hold_as(RobotMode.REFLEX, f'reflex: {reason}')

    def _hold_as(self, mode: RobotMode, reason: str) -> None:
        """Hold in a mode; one that holds already goes on as it does."""
        if self._mode is RobotMode.EFFORT:
            self.simulation.begin_hold()
        self._mode, self._reason = mode, reason

    def _refusal(self, command: RobotCommand) -> str:
        if self._mode in _LATCHED and command.mode is not CommandMode.RECOVER:
            return f'the robot is stopped ({self._reason}): recover it first'
        behind = self._sequence - command.sequence
        if behind < 0:
            return f'it answers state {command.sequence}, which is not yet: now {self._sequence}'
        if command.sequence < self._first_sequence:
            return f'it answers state {command.sequence}, from before the reset'
        if behind > self._deadline_cycles:
            return f'it answers state {command.sequence}, {behind} cycles ago'
        return refusal(command, LIMITS)


def overridden(
    thing: ObjectModel,
    *,
    mass: float = 0.0,
    friction: float = 0.0,
    finger_friction: float = 0.0,
) -> ObjectModel:
    """The object with another mass [kg] or friction; 0 keeps its own. Raises ValueError."""
    for name, value, least, most in (
        ('object_mass', mass, 1e-3, 20.0),
        ('object_friction', friction, 0.0, 2.0),
        ('finger_friction', finger_friction, 0.0, 2.0),
    ):
        if value != 0.0 and not least <= value <= most:  # false for NaN too
            raise ValueError(f'{name} is {value:g}, must be 0 or in {least:g} .. {most:g}')
    if mass:
        thing = replace(thing, mass=mass, inertia=thing.inertia * (mass / thing.mass))
    return replace(
        thing,
        friction=friction or thing.friction,
        finger_friction=finger_friction or thing.finger_friction,
    )
