# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller of arm and hand: answers each robot/state with one robot/command.

Today it does joint impedance; a target that asks for anything else is refused, with the reason in
controller/status. It works when a state comes, never by a timer, so it keeps the robot's time
whatever that is. At start it holds the posture it finds.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import numpy as np
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from drex_interfaces.msg import ControllerStatus, ControllerTarget, RobotCommand, RobotState
from drex_ros.control.controller import Controller, ControllerSettings, ControllerState
from drex_ros.control.joint_impedance import Impedance
from drex_ros.control.set_point import MotionLimits
from drex_ros.control.targets import (
    DAMPING_RATIO_RANGE,
    MAX_STIFFNESS,
    PartTarget,
    Target,
    TargetMode,
    target_refusal,
)
from drex_ros.health import Level
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Parameter, Status, run
from drex_ros.nodes.conversions import (
    NEWEST,
    controller_target,
    fill_command,
    robot_state,
    unknown_estimates,
)
from drex_ros.robot.description import BASE_LINK, HANDS, DescriptionError
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, LIMITS, N_ARM, N_HAND, N_JOINTS

_SLICE = 0.005  # [s] longest wait for a state in one piece, so that services are served


class HybridImpedanceController(ManagedNode):
    """Joint impedance of 23 joints as a node."""

    NAME = 'hybrid_impedance_controller'
    PARAMETERS = (
        Parameter(
            'hand',
            'right',
            'which hand the robot has',
            choices=HANDS,
            read_only=True,
        ),
        Parameter(
            'arm_stiffness',
            [400.0, 400.0, 400.0, 400.0, 150.0, 100.0, 40.0],
            'joint stiffness of the arm at start',
            unit='N m/rad',
            range=(0.0, float(MAX_STIFFNESS[ARM].max())),
            size=N_ARM,
            read_only=True,
        ),
        Parameter(
            'hand_stiffness',
            [3.0] * N_HAND,
            'joint stiffness of the hand at start',
            unit='N m/rad',
            range=(0.0, float(MAX_STIFFNESS[HAND].max())),
            size=N_HAND,
            read_only=True,
        ),
        Parameter(
            'damping_ratio',
            1.0,
            'of every joint at start; 1 is critical',
            range=DAMPING_RATIO_RANGE,
            read_only=True,
        ),
        Parameter(
            'speed',
            0.3,
            'fastest the set-point moves, as a share of the joint velocity limits',
            range=(0.01, 1.0),
            read_only=True,
        ),
        Parameter(
            'acceleration_time',
            0.2,
            'time that the set-point takes to its full speed',
            unit='s',
            range=(0.02, 5.0),
            read_only=True,
        ),
        Parameter(
            'target_timeout',
            0.5,
            'a target with a stamp further than this from the time of the robot is refused',
            unit='s',
            range=(0.01, 60.0),
            read_only=True,
        ),
        Parameter(
            'source_timeout',
            0.5,
            'a second source is refused for so long after the last target of the first',
            unit='s',
            range=(0.0, 60.0),
            read_only=True,
        ),
        Parameter(
            'state_timeout',
            0.5,
            'wall time without robot/state after which the status says so',
            unit='s',
            range=(0.01, 60.0),
            read_only=True,
        ),
        Parameter(
            'status_rate',
            10.0,
            'messages on controller/status per second of wall time, besides those on a change',
            unit='Hz',
            range=(0.1, 100.0),
            read_only=True,
        ),
    )

    def configure(self) -> None:
        """Load the robot's dynamics; make topics and services."""
        try:
            self._dynamics = Dynamics(hand=self.params.hand)
        except DescriptionError as error:
            raise ConfigurationError(str(error)) from error
        self._settings = self._read_settings()
        self._start_anew()
        self._command_publisher = self.create_lifecycle_publisher(
            RobotCommand, 'robot/command', NEWEST
        )
        self._status_publisher = self.create_lifecycle_publisher(
            ControllerStatus, 'controller/status', 10
        )
        self._state_subscription = self.polled_subscription(
            RobotState, 'robot/state', NEWEST, stale_after=self.params.state_timeout
        )
        self.monitored_subscription(ControllerTarget, 'controller/target', self._on_target, 10)
        self.monitored_service(Trigger, 'controller/stop', self._on_stop)
        self.monitored_service(Trigger, 'controller/recover', self._on_recover)
        # Wall time: the status must also come when the robot's time stands still.
        self.monitored_timer(
            1.0 / self.params.status_rate,
            self._publish_status,
            name='controller/status',
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def activate(self) -> None:
        """Forget what was before: the robot may stand anywhere now."""
        self._start_anew()

    def _start_anew(self) -> None:
        self._controller = Controller(self._dynamics, self._settings)
        self._command = RobotCommand()
        self._last_header = Header(frame_id=BASE_LINK)
        self._last_taken: float | None = None
        self._last_latency = 0.0

    def step(self) -> None:
        """Answer the next robot state, if one comes soon."""
        message = self._state_subscription.wait(_SLICE)
        if message is None:
            return
        taken = time.perf_counter()
        before = (self._controller.state, self._controller.reason)
        command = self._controller.update(robot_state(message))
        fill_command(self._command, command, message)
        self._command_publisher.publish(self._command)
        self._last_header = message.header
        self._last_taken = taken
        self._last_latency = time.perf_counter() - taken
        if (self._controller.state, self._controller.reason) != before:
            self._publish_status()

    def _read_settings(self) -> ControllerSettings:
        params = self.params
        arm = PartTarget(TargetMode.JOINT_IMPEDANCE, stiffness=np.array(params.arm_stiffness))
        hand = PartTarget(TargetMode.JOINT_IMPEDANCE, stiffness=np.array(params.hand_stiffness))
        reason = target_refusal(Target(arm=arm, hand=hand))
        if reason:
            raise ConfigurationError(reason)
        velocity = params.speed * LIMITS.velocity
        return ControllerSettings(
            impedance=Impedance(
                stiffness=np.array(params.arm_stiffness + params.hand_stiffness),
                damping_ratio=np.full(N_JOINTS, params.damping_ratio),
            ),
            motion=MotionLimits(velocity, velocity / params.acceleration_time),
            target_timeout=params.target_timeout,
            source_timeout=params.source_timeout,
        )

    def _on_target(self, message: ControllerTarget) -> None:
        refused = self._controller.accept(controller_target(message))
        if refused:
            self.get_logger().warning(refused, throttle_duration_sec=1.0)
        self._publish_status()

    def _on_stop(self, request: Any, response: Any) -> Any:
        self._controller.stop('stopped by controller/stop')
        self.get_logger().warning('stopped by controller/stop')
        self._publish_status()
        response.success = True
        response.message = 'stopped: the robot holds until controller/recover'
        return response

    def _on_recover(self, request: Any, response: Any) -> Any:
        self._controller.recover()
        self._publish_status()
        response.success = True
        response.message = 'holds the present posture and takes targets'
        return response

    def _silence(self) -> str:
        """Says that robot/state does not come; empty while it does."""
        if self._last_taken is None:
            return 'no robot/state yet'
        age = time.perf_counter() - self._last_taken
        return f'no robot/state for {age:.1f} s' if age > self.params.state_timeout else ''

    def _publish_status(self) -> None:
        controller, silence = self._controller, self._silence()
        message = ControllerStatus(header=self._last_header)
        message.state = int(controller.state)
        message.reason = controller.reason
        message.state_age = self._last_latency
        if silence:
            if controller.state is not ControllerState.STOPPED:
                message.state = ControllerStatus.STATE_INACTIVE
            message.reason = '; '.join(text for text in (silence, controller.reason) if text)
            since = self._last_taken
            message.state_age = math.inf if since is None else time.perf_counter() - since
        message.source = controller.source
        message.targets_accepted = controller.targets_accepted
        message.targets_refused = controller.targets_refused
        message.limits_applied = controller.limits_applied
        message.target_position = controller.set_point.position
        unknown_estimates(message)
        self._status_publisher.publish(message)

    def diagnose(self) -> list[Status]:
        """What the controller does, and what it refused."""
        controller = self._controller
        level = Level.WARN if controller.state is ControllerState.STOPPED else Level.OK
        message = self._silence() or controller.reason or controller.state.name.lower()
        values = {
            'source': controller.source,
            'targets accepted': str(controller.targets_accepted),
            'targets refused': str(controller.targets_refused),
            'limits applied': str(controller.limits_applied),
        }
        return [Status('', level, message, values)]


def main() -> None:
    """Run the node."""
    sys.exit(run(HybridImpedanceController))


if __name__ == '__main__':
    main()
