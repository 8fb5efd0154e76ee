# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot in simulation: makes robot/state and time, follows robot/command.

In lockstep it publishes a state, waits for the command that answers it, and runs one control
cycle. When no answer comes within lockstep_patience it goes on alone, holding, at the pace of the
wall clock, and is in step again with the next answer. Free running, it never waits: a command
counts from the cycle after it came, for command_deadline at most.
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
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Parameter, Status, run
from drex_ros.nodes.conversions import NEWEST, fill_state, robot_command, stamp
from drex_ros.nodes.monitor import Level
from drex_ros.robot import state as plain
from drex_ros.robot.description import DescriptionError
from drex_ros.robot.joints import JOINT_NAMES

_SLICE = 0.02  # [s] longest wait in one piece, so that services are served meanwhile
_LATE = 0.1  # [s] behind the pace after which it is not caught up
_MOST_CYCLES = 10000  # in one call of mock/step


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
        self._period = 1.0 / params.control_rate
        self._joint_states_every = max(1, round(params.control_rate / params.joint_states_rate))
        self._clock_every = max(1, round(params.control_rate / params.clock_rate))
        self._paused = False
        self._in_step = False
        self._due = 0.0
        self._repeated = 0
        self._state_message = RobotState()
        self._joints_message = JointState(name=list(JOINT_NAMES))
        self._state_publisher = self.create_publisher(RobotState, 'robot/state', NEWEST)
        self._joint_publisher = self.create_publisher(JointState, 'joint_states', 10)
        self._clock_publisher = self.create_publisher(Clock, '/clock', NEWEST)
        self._command_input = self.polled_subscription(RobotCommand, 'robot/command', NEWEST)
        self._cycle_monitor = self.monitor('control cycle')
        self.monitored_service(SetBool, 'mock/pause', self._on_pause)
        self.monitored_service(MockStep, 'mock/step', self._on_step)
        self.monitored_service(MockReset, 'mock/reset', self._on_reset)

    def activate(self) -> None:
        """Show the robot at rest; from here on step() runs."""
        self._paused = False
        self._in_step = False
        self._due = time.perf_counter()
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
            time.sleep(_SLICE)
        elif self._ready(paced=True):
            self._run_cycle()

    def _ready(self, *, paced: bool) -> bool:
        """Whether the next cycle can run; waits for that, but no longer than one slice."""
        clock = time.perf_counter
        if self._lockstep and self._answer is None:
            left = self._give_up - clock()
            if left > 0.0:
                self._answer = self._listen(min(left, _SLICE))
                if self._answer is None and clock() < self._give_up:
                    # A message can get lost on a busy machine; nothing would follow it here.
                    self._state_publisher.publish(self._state_message)
                    self._repeated += 1
                    return False
            self._note_answer()
        left = self._due - clock() if paced else 0.0
        if left > 0.0:
            time.sleep(min(left, _SLICE))
        if left > _SLICE:
            return False
        if not self._lockstep:
            self._answer = self._newest()
        return True

    def _listen(self, timeout: float) -> plain.RobotCommand | None:
        """The command that answers the state just published, if it comes in time [s]."""
        until = time.perf_counter() + timeout
        while (left := until - time.perf_counter()) > 0.0:
            message = self._command_input.wait(left)
            if message is None:
                return None
            if message.sequence == self._sequence:
                return self._to_command(message)
            # Late, but somebody is there: be patient with this state's answer.
            self._give_up = time.perf_counter() + self.params.lockstep_patience
        return None

    def _newest(self) -> plain.RobotCommand | None:
        newest = None
        while (message := self._command_input.take()) is not None:
            newest = message
        return None if newest is None else self._to_command(newest)

    def _to_command(self, message: RobotCommand) -> plain.RobotCommand:
        try:
            return robot_command(message)
        except ValueError as error:  # no such mode: let it be refused as not a number
            self.get_logger().warning(f'robot/command: {error}', throttle_duration_sec=1.0)
            nothing = np.full(len(JOINT_NAMES), np.nan)
            return plain.RobotCommand(message.sequence, plain.CommandMode.EFFORT, nothing)

    def _note_answer(self) -> None:
        answered = self._answer is not None
        if answered and not self._in_step:
            self.get_logger().info('robot/state is answered: in step')
        elif self._in_step and not answered:
            patience = self.params.lockstep_patience
            self.get_logger().warning(f'no answer for {patience:g} s: holding, going on alone')
        self._in_step = answered

    def _run_cycle(self) -> None:
        start = time.perf_counter()
        if self._answer is not None:
            self._robot.write(self._answer)
        elif self._lockstep:
            self._robot.miss('nobody answers robot/state')
        self._robot.step()
        self._publish()
        self._cycle_monitor.tick(start, time.perf_counter())

    def _publish(self) -> None:
        """Publish the present state, and set when its answer and the next cycle are due."""
        state = self._robot.read()
        self._sequence = state.sequence
        fill_state(self._state_message, state)
        self._state_publisher.publish(self._state_message)
        if state.sequence % self._clock_every == 0:
            self._clock_publisher.publish(Clock(clock=stamp(state.time)))
        if state.sequence % self._joint_states_every == 0:
            message = self._joints_message
            message.header.stamp = self._state_message.header.stamp
            message.position = state.position.tolist()
            message.velocity = state.velocity.tolist()
            message.effort = state.effort.tolist()
            self._joint_publisher.publish(message)
        self._state = state
        self._answer = None
        self._set_due()

    def _set_due(self) -> None:
        now = time.perf_counter()
        factor = self.params.real_time_factor
        if factor == 0.0 and self._in_step:
            self._due = now
        else:
            self._due += self._period / (factor or 1.0)
            if self._due < now - _LATE:
                self._due = now
        # Alone, it listens as long as the pace allows and waits for nobody.
        self._give_up = now + self.params.lockstep_patience if self._in_step else self._due

    def _on_pause(self, request: Any, response: Any) -> Any:
        self._paused = bool(request.data)
        self._set_due()
        response.success = True
        response.message = 'paused' if self._paused else 'running'
        return response

    def _on_step(self, request: Any, response: Any) -> Any:
        if not (self.is_active and self._paused):
            response.message = 'not paused: call mock/pause with data true first'
        elif not 1 <= request.cycles <= _MOST_CYCLES:
            response.message = f'cycles is {request.cycles}, must be in 1 .. {_MOST_CYCLES}'
        else:
            self._set_due()
            done = 0
            while done < request.cycles and not self.stop.requested:
                if self._ready(paced=False):
                    self._run_cycle()
                    done += 1
            response.success = done == request.cycles
            response.message = f'{done} cycles run'
        response.header = self._state_message.header
        return response

    def _on_reset(self, request: Any, response: Any) -> Any:
        if request.object:
            response.message = f'no object {request.object!r}: this simulator has the robot alone'
            return response
        try:
            posture = np.array(request.joint_position) if len(request.joint_position) else None
            self._robot.reset(posture, seed=request.seed)
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
            'in step': str(self._in_step).lower(),
            'paused': str(self._paused).lower(),
            'states repeated': str(self._repeated),
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
