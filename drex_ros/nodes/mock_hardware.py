# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot in simulation: makes robot/state and time, follows robot/command.

In lockstep each state waits for the command that answers it; free running, a command counts from
the cycle after it came, for command_deadline at most. Without commands the robot holds.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from drex_interfaces.msg import RobotCommand, RobotState
from drex_interfaces.srv import MockReset, MockStep
from drex_ros.hardware.backend import BackendError
from drex_ros.hardware.mujoco_backend import MujocoBackend
from drex_ros.health import Level
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Parameter, Status, run
from drex_ros.nodes.conversions import NEWEST, fill_state
from drex_ros.nodes.exchange import Exchange
from drex_ros.robot import state as plain
from drex_ros.robot.description import DescriptionError
from drex_ros.robot.joints import JOINT_NAMES

_MOST_CYCLES = 1000  # in one call of mock/step
_PAUSE_SLICE = 0.005  # [s] between two looks while paused


class MockHardware(ManagedNode):
    """Arm and hand in MuJoCo as a node."""

    NAME = 'mock_hardware'
    PARAMETERS = (
        Parameter(
            'mode',
            'lockstep',
            'lockstep: wait for the command that answers each state; free_running: never wait',
            choices=('lockstep', 'free_running'),
            read_only=True,
        ),
        Parameter(
            'control_rate',
            500.0,
            'control cycles per simulated second',
            unit='Hz',
            range=(50.0, 1000.0),
            read_only=True,
        ),
        Parameter(
            'physics_rate',
            1000.0,
            'physics steps per simulated second, a multiple of control_rate',
            unit='Hz',
            range=(500.0, 10000.0),
            read_only=True,
        ),
        Parameter(
            'command_deadline',
            0.02,
            'simulated time that one command counts; then the robot holds',
            unit='s',
            range=(0.001, 1.0),
            read_only=True,
        ),
        Parameter(
            'lockstep_patience',
            0.5,
            'wall time to wait for an answer in lockstep; then the robot goes on holding',
            unit='s',
            range=(0.001, 60.0),
        ),
        Parameter(
            'real_time_factor',
            1.0,
            'simulated over wall time; 0: as fast as the machine allows (lockstep only)',
            range=(0.0, 100.0),
        ),
        Parameter(
            'joint_states_rate',
            100.0,
            'messages on joint_states per simulated second, at most control_rate',
            unit='Hz',
            range=(1.0, 1000.0),
            read_only=True,
        ),
        Parameter(
            'clock_rate',
            100.0,
            'messages on /clock per simulated second, at most control_rate',
            unit='Hz',
            range=(1.0, 1000.0),
            read_only=True,
        ),
        Parameter(
            'start_spread',
            0.0,
            'each joint starts up to this far from home, drawn with the seed',
            unit='rad',
            range=(0.0, 0.2),
            read_only=True,
        ),
        Parameter('seed', 0, 'of every random number', range=(0, 2**31 - 1), read_only=True),
    )

    def configure(self) -> None:
        """Build the simulator, its topics and services."""
        params = self.params
        if self.get_parameter('use_sim_time').value:
            raise ConfigurationError('use_sim_time must be false: this node makes the time')
        self._lockstep = params.mode == 'lockstep'
        if not self._lockstep and params.real_time_factor == 0.0:
            raise ConfigurationError('real_time_factor 0 is for mode lockstep only')
        try:
            self._robot = MujocoBackend(
                control_rate=params.control_rate,
                physics_rate=params.physics_rate,
                command_deadline=params.command_deadline,
                start_spread=params.start_spread,
                seed=params.seed,
            )
            self._robot.connect()
        except (BackendError, DescriptionError) as error:
            raise ConfigurationError(str(error)) from error
        self._joint_states_every = max(1, round(params.control_rate / params.joint_states_rate))
        self._clock_every = max(1, round(params.control_rate / params.clock_rate))
        self._paused = False
        self._state_message = RobotState()
        self._joints_message = JointState(name=list(JOINT_NAMES))
        self._state_publisher = self.create_publisher(RobotState, 'robot/state', NEWEST)
        self._joint_publisher = self.create_publisher(JointState, 'joint_states', 10)
        self._clock_publisher = self.create_publisher(Clock, '/clock', NEWEST)
        commands = self.polled_subscription(RobotCommand, 'robot/command', NEWEST)
        self._exchange = Exchange(
            commands,
            lambda: self._state_publisher.publish(self._state_message),
            lockstep=self._lockstep,
            period=1.0 / params.control_rate,
        )
        self._cycle_monitor = self.monitor('control cycle')
        self.monitored_service(SetBool, 'mock/pause', self._on_pause)
        self.monitored_service(MockStep, 'mock/step', self._on_step)
        self.monitored_service(MockReset, 'mock/reset', self._on_reset)

    def activate(self) -> None:
        """Show the robot at rest; from here on step() runs."""
        self._paused = False
        self._publish()

    def deactivate(self) -> None:
        """Let no command act on when the node is activated again."""
        self._robot.hold('deactivated')

    def cleanup(self) -> None:
        """Forget the simulator."""
        self._robot.close()

    def step(self) -> None:
        """Wait a little for the next cycle's command and time; run it if both came."""
        if self._paused:
            time.sleep(_PAUSE_SLICE)
            return
        was_in_step = self._exchange.in_step
        if self._exchange.ready():
            self._run_cycle()
            self._note_change(was_in_step)

    def _note_change(self, was_in_step: bool) -> None:
        if self._exchange.in_step and not was_in_step:
            self.get_logger().info('robot/state is answered: in step')
        elif was_in_step and not self._exchange.in_step:
            patience = self.params.lockstep_patience
            self.get_logger().warning(f'no answer for {patience:g} s: holding, going on alone')

    def _run_cycle(self) -> None:
        start = time.perf_counter()
        if self._exchange.answer is not None:
            self._robot.write(self._exchange.answer)
        elif self._lockstep:
            self._robot.miss('nobody answers robot/state')
        self._robot.step()
        self._publish()
        self._cycle_monitor.tick(start, time.perf_counter())

    def _publish(self) -> None:
        """Publish the present state, and begin to wait for its answer."""
        state = self._state = self._robot.read()
        fill_state(self._state_message, state)
        self._state_publisher.publish(self._state_message)
        if state.sequence % self._clock_every == 0:
            self._clock_publisher.publish(Clock(clock=self._state_message.header.stamp))
        if state.sequence % self._joint_states_every == 0:
            message = self._joints_message
            message.header.stamp = self._state_message.header.stamp
            message.position = state.position.tolist()
            message.velocity = state.velocity.tolist()
            message.effort = state.effort.tolist()
            self._joint_publisher.publish(message)
        self._exchange.open(state.sequence, *self._timing)

    @property
    def _timing(self) -> tuple[float, float]:
        return self.params.real_time_factor, self.params.lockstep_patience

    def _on_pause(self, request: Any, response: Any) -> Any:
        self._paused = bool(request.data)
        self._exchange.renew(*self._timing)
        response.success = True
        response.message = 'paused' if self._paused else 'running'
        return response

    def _on_step(self, request: Any, response: Any) -> Any:
        if not (self.is_active and self._paused):
            response.message = 'not paused: call mock/pause with data true first'
        elif not 1 <= request.cycles <= _MOST_CYCLES:
            response.message = f'cycles is {request.cycles}, must be in 1 .. {_MOST_CYCLES}'
        else:
            self._exchange.renew(*self._timing)
            done = 0
            while done < request.cycles and not self.stop.requested:
                if self._exchange.ready(paced=False):
                    self._run_cycle()
                    done += 1
            self._clock_publisher.publish(Clock(clock=self._state_message.header.stamp))
            response.success = done == request.cycles
            response.message = f'{done} cycles run'
        response.header = self._state_message.header
        return response

    def _on_reset(self, request: Any, response: Any) -> Any:
        if request.object or request.use_object_pose or request.object_mass:
            what = repr(request.object) if request.object else 'to place or weigh'
            response.message = f'no object {what}: this simulator has the robot alone'
            return response
        try:
            posture = np.array(request.joint_position) if len(request.joint_position) else None
            self._robot.reset(posture, seed=request.seed or None)
        except ValueError as error:
            response.message = str(error)
            return response
        if self.is_active:
            self._publish()
        response.success = True
        response.message = 'reset'
        return response

    def diagnose(self) -> list[Status]:
        """What the robot does, and how fast time runs."""
        state = self._state
        message = f'{state.mode.name.lower()}: {state.reason}'.rstrip(': ')
        fine = state.mode in (plain.RobotMode.IDLE, plain.RobotMode.EFFORT)
        values = {
            'simulated time [s]': f'{state.time:.3f}',
            'in step': str(self._exchange.in_step).lower(),
            'paused': str(self._paused).lower(),
            'states repeated': str(self._exchange.repeated),
            'commands refused': str(state.commands_refused),
            'commands missed': str(state.commands_missed),
        }
        if self._paused:
            message = f'paused, {message}'
        return [Status('', Level.OK if fine else Level.WARN, message, values)]


def main() -> None:
    """Run the node."""
    sys.exit(run(MockHardware))


if __name__ == '__main__':
    main()
