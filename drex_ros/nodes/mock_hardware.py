# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot in simulation: makes robot/state and time, follows robot/command.

In lockstep each state waits for the command that answers it, and time stands at the moment at
which a picture is due until the camera has finished it; free running, a command counts from the
cycle after it came, for command_deadline at most. Without commands the robot holds, then stops.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from rclpy.publisher import Publisher
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String, UInt64
from std_srvs.srv import SetBool

from drex_interfaces.msg import GroundTruth, MockScene, RobotCommand, RobotState
from drex_interfaces.srv import InjectFault, MockReset, MockStep
from drex_ros.hardware.backend import BackendError
from drex_ros.hardware.faults import FaultKind, LossyLine
from drex_ros.hardware.heap import give_back
from drex_ros.hardware.mujoco_backend import MujocoBackend, overridden
from drex_ros.hardware.scene import ObjectPose
from drex_ros.health import Level
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Status, run
from drex_ros.nodes.conversions import LATCHED, NEWEST, QUEUED, fill_state, stamp
from drex_ros.nodes.exchange import SLICE, Exchange
from drex_ros.nodes.frames import Frames
from drex_ros.nodes.mock_messages import ground_truth, object_pose, scene_frame
from drex_ros.nodes.mock_parameters import PARAMETERS, robot_settings
from drex_ros.objects import ObjectError, load_object
from drex_ros.robot import state as plain
from drex_ros.robot.description import DescriptionError, robot_description_text
from drex_ros.robot.joints import JOINT_NAMES, Array

_MOST_CYCLES = 1000  # in one call of mock/step
_PAUSE_SLICE = 0.005  # [s] between two looks while paused


class MockHardware(ManagedNode):
    """Arm, hand and object in MuJoCo as a node."""

    NAME = 'mock_hardware'
    PARAMETERS = PARAMETERS

    def configure(self) -> None:
        """Build the simulator, its topics and services."""
        params = self.params
        if self.get_parameter('use_sim_time').value:
            raise ConfigurationError('use_sim_time must be false: this node makes the time')
        self._lockstep = params.mode == 'lockstep'
        if not self._lockstep and params.real_time_factor == 0.0:
            raise ConfigurationError('real_time_factor 0 is for mode lockstep only')
        try:
            self._robot = MujocoBackend(robot_settings(params))
            self._robot.connect()
            description = robot_description_text(params.hand, self._robot.simulation.scene.camera)
            self._put(
                params.object,
                mass=params.object_mass,
                friction=params.object_friction,
                finger_friction=params.finger_friction,
                seed=params.seed,
            )
        except (BackendError, DescriptionError, ValueError) as error:
            raise ConfigurationError(str(error)) from error
        self._paused = False
        self._make_topics()
        self._description_publisher.publish(String(data=description))
        self.monitored_service(SetBool, 'mock/pause', self._on_pause)
        self.monitored_service(MockStep, 'mock/step', self._on_step)
        self.monitored_service(MockReset, 'mock/reset', self._on_reset)
        self.monitored_service(InjectFault, 'mock/inject_fault', self._on_fault)

    def _make_topics(self) -> None:
        params = self.params
        self._state_message = RobotState()
        self._joints_message = JointState(name=list(JOINT_NAMES))
        self._state_publisher = self.create_publisher(RobotState, 'robot/state', NEWEST)
        self._joint_publisher = self.create_publisher(JointState, 'joint_states', 10)
        self._clock_publisher = self.create_publisher(Clock, '/clock', NEWEST)
        self._description_publisher = self.create_publisher(String, 'robot_description', LATCHED)
        self._truth_publisher = self.create_publisher(GroundTruth, 'mock/ground_truth', 10)
        self._scene_publisher = self.create_publisher(MockScene, 'mock/scene', QUEUED)
        commands = self.polled_subscription(RobotCommand, 'robot/command', NEWEST)
        rendered = self.polled_subscription(UInt64, 'mock/rendered', QUEUED)
        self._exchange = Exchange(
            commands,
            lambda: self._state_publisher.publish(self._state_message),
            lockstep=self._lockstep,
            period=1.0 / params.control_rate,
            deadline=params.command_deadline,
        )
        self._frame_message = MockScene()
        self._frames = Frames(
            rendered,
            lambda: self._scene_publisher.publish(self._frame_message),
            rate=params.camera_rate,
            wait=self._lockstep,
        )
        self._cycle_monitor = self.monitor('control cycle')
        self._joint_states_every = self._cycles(params.joint_states_rate)
        self._clock_every = self._cycles(params.clock_rate)
        self._truth_every = self._cycles(params.ground_truth_rate)
        self._truth_sequence = -1

    def _cycles(self, rate: float) -> int:
        """Control cycles from one message to the next at a rate [Hz]."""
        control_rate: float = self.params.control_rate
        return max(1, round(control_rate / rate))

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
        """Wait a little for the next cycle's command, picture and time; run it if they came."""
        if self._paused:
            time.sleep(_PAUSE_SLICE)
            return
        was_in_step, had_camera = self._exchange.in_step, self._frames.in_step
        if self._ready():
            self._run_cycle()
        self._note_change(was_in_step, had_camera)

    def _ready(self, *, paced: bool = True) -> bool:
        # The command first: its patience is not for the camera's pictures.
        return self._exchange.ready(paced=paced) and self._frames.ready(
            self._state.time, SLICE, self.params.camera_patience
        )

    def _note_change(self, was_in_step: bool, had_camera: bool) -> None:
        log, params = self.get_logger(), self.params
        if self._exchange.in_step and not was_in_step:
            log.info('robot/state is answered: in step')
        elif was_in_step and not self._exchange.in_step:
            log.warning(f'no answer for {params.lockstep_patience:g} s: holding, going on alone')
        if had_camera and not self._frames.in_step:
            log.warning(
                f'no picture for {params.camera_patience:g} s: going on without the camera'
            )

    def _run_cycle(self) -> None:
        start = time.perf_counter()
        answer = self._exchange.answer
        command = self._commands.pass_on(
            answer, self._state.time, *self._line_faults(FaultKind.DROP_COMMANDS)
        )
        if command is not None:
            self._robot.write(command)
        elif self._lockstep and answer is None and self._shown:
            self._robot.miss('nobody answers robot/state')
        self._robot.step()
        self._publish()
        self._cycle_monitor.tick(start, time.perf_counter())

    def _line_faults(self, drop: FaultKind) -> tuple[float | None, float | None]:
        """Loss and delay of commands or states; the kind of the delay follows that of the loss."""
        faults = self._robot.faults
        if not faults:
            return None, None
        return faults.get(drop), faults.get(FaultKind(drop + 1))

    def _publish(self) -> None:
        """Publish the present state, and begin to wait for its answer."""
        state = self._state = self._robot.read()
        shown = self._states.pass_on(state, state.time, *self._line_faults(FaultKind.DROP_STATES))
        self._shown = shown is not None
        if shown is not None:
            fill_state(self._state_message, shown)
            self._state_publisher.publish(self._state_message)
            if shown.sequence % self._joint_states_every == 0 and _wanted(self._joint_publisher):
                message = self._joints_message
                message.header.stamp = self._state_message.header.stamp
                message.position = shown.position.tolist()
                message.velocity = shown.velocity.tolist()
                message.effort = shown.effort.tolist()
                self._joint_publisher.publish(message)
        # Between its ticks too: the camera waits for the moment of its picture.
        if self._frames.hand_on(state.time) or state.sequence % self._clock_every == 0:
            self._publish_time()
        if self._frames.due(state.time):
            self._publish_scene()
        if state.sequence % self._truth_every == 0:
            self._publish_truth()
        self._exchange.open(None if shown is None else shown.sequence, *self._timing)

    def _publish_scene(self) -> None:
        """Have the camera take a picture."""
        late = self._robot.faults.get(FaultKind.DELAY_CAMERA) or 0.0
        delay = self.params.camera_delay + late
        number = self._frames.take(self._state.time, delay)
        if _wanted(self._scene_publisher):
            self._frame_message = scene_frame(self._robot, number, self._object, delay)
            self._scene_publisher.publish(self._frame_message)

    def _publish_truth(self) -> None:
        """Publish the truth of the present state, once."""
        sequence = self._state.sequence
        if sequence != self._truth_sequence and _wanted(self._truth_publisher):
            self._truth_sequence = sequence
            self._truth_publisher.publish(ground_truth(self._robot))

    def _publish_time(self) -> None:
        self._clock_publisher.publish(Clock(clock=stamp(self._state.time)))

    @property
    def _timing(self) -> tuple[float, float]:
        return self.params.real_time_factor, self.params.lockstep_patience

    def _put(
        self,
        name: str,
        *,
        posture: Array | None = None,
        pose: ObjectPose | None = None,
        mass: float = 0.0,
        friction: float = 0.0,
        finger_friction: float = 0.0,
        seed: int | None = None,
    ) -> None:
        """Put robot and object to their places. ValueError: nothing was changed."""
        thing = None
        if name:
            thing = overridden(
                load_object(name), mass=mass, friction=friction, finger_friction=finger_friction
            )
        elif mass or friction or finger_friction:
            raise ObjectError('a mass or friction of the object is given, but no object')
        self._robot.reset(posture, thing=thing, pose=pose, seed=seed)
        give_back()
        self._object = name
        if seed is not None:
            self._commands = LossyLine[plain.RobotCommand](seed, 1)
            self._states = LossyLine[plain.RobotState](seed, 2)
        self._commands.clear()
        self._states.clear()

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
                if self._ready(paced=False):
                    self._run_cycle()
                    done += 1
            self._publish_time()
            self._publish_truth()
            response.success = done == request.cycles
            response.message = f'{done} cycles run'
        response.header.stamp = stamp(self._robot.time)
        response.header.frame_id = self._state_message.header.frame_id
        return response

    def _on_reset(self, request: Any, response: Any) -> Any:
        try:
            self._put(
                request.object,
                posture=np.array(request.joint_position) if len(request.joint_position) else None,
                pose=object_pose(request.object_pose) if request.use_object_pose else None,
                mass=request.object_mass,
                friction=request.object_friction,
                finger_friction=request.finger_friction,
                seed=request.seed or None,
            )
        except ValueError as error:
            response.message = str(error)
            return response
        if self.is_active:
            self._publish()
            self._publish_time()
            self._publish_truth()
        response.success = True
        response.message = 'reset'
        response.header.stamp = stamp(self._robot.time)
        response.header.frame_id = self._state_message.header.frame_id
        return response

    def _on_fault(self, request: Any, response: Any) -> Any:
        try:
            fault = self._robot.inject(
                request.fault, request.joint, request.magnitude, request.duration
            )
        except ValueError as error:
            response.message = str(error)
            return response
        if fault is FaultKind.NONE:
            response.message = 'all faults cleared'
        else:
            response.message = f'{fault.name.lower()} {request.joint}'.rstrip()
        self.get_logger().warning(f'mock/inject_fault: {response.message}')
        response.success = True
        return response

    def diagnose(self) -> list[Status]:
        """What the robot does, and how fast time runs."""
        state = self._state
        mode = state.mode.name.lower()
        message = state.reason if state.reason.startswith(mode) else f'{mode}: {state.reason}'
        message = message.rstrip(': ')
        fine = state.mode in (plain.RobotMode.IDLE, plain.RobotMode.EFFORT)
        values = {
            'simulated time [s]': f'{state.time:.3f}',
            'in step': str(self._exchange.in_step).lower(),
            'camera in step': str(self._frames.in_step).lower(),
            'paused': str(self._paused).lower(),
            'object': self._object or 'none',
            'faults': ', '.join(self._robot.faults.names()) or 'none',
            'states repeated': str(self._exchange.repeated),
            'commands refused': str(state.commands_refused),
            'commands missed': str(state.commands_missed),
        }
        if self._paused:
            message = f'paused, {message}'
        return [Status('', Level.OK if fine else Level.WARN, message, values)]


def _wanted(publisher: Publisher) -> bool:
    return bool(publisher.get_subscription_count() > 0)


def main() -> None:
    """Run the node."""
    sys.exit(run(MockHardware))


if __name__ == '__main__':
    main()
