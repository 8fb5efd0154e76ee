# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The controller of arm and hand: answers each robot/state with one robot/command.

It works when a state comes, never by a timer, so it keeps the robot's time whatever that is. At
start it holds the posture it finds. What it does is in control/controller.py.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from std_msgs.msg import Header
from std_srvs.srv import Trigger

from drex_interfaces.msg import ControllerStatus, ControllerTarget, RobotCommand, RobotState
from drex_ros.control.controller import Controller, ControllerState
from drex_ros.control.interventions import Rule
from drex_ros.control.move_planning import MovePlanner, Workspace
from drex_ros.control.warm_up import warm_up
from drex_ros.health import Level
from drex_ros.nodes.base import ConfigurationError, ManagedNode, Status, run
from drex_ros.nodes.controller_messages import controller_target, fill_status
from drex_ros.nodes.controller_parameters import PARAMETERS, controller_settings
from drex_ros.nodes.conversions import NEWEST, QUEUED, fill_command, robot_state
from drex_ros.nodes.move_server import MoveServer
from drex_ros.nodes.one_publisher import OnePublisher
from drex_ros.robot.description import BASE_LINK, DescriptionError
from drex_ros.robot.dynamics import Dynamics

_SLICE = 0.005  # [s] longest wait for a state in one piece, so that services are served
_COMPARABLE = 10.0  # [s] two clocks that differ by more have nothing to do with each other
_SILENT_STATUS = 2.0  # [Hz] of controller/status while no state comes


class HybridImpedanceController(ManagedNode):
    """Hybrid impedance of 23 joints as a node."""

    NAME = 'hybrid_impedance_controller'
    PARAMETERS = PARAMETERS

    def configure(self) -> None:
        """Load the robot's dynamics; make topics, services and the action."""
        self._settings = controller_settings(self.params)
        try:
            self._dynamics = Dynamics(hand=self.params.hand)
        except DescriptionError as error:
            raise ConfigurationError(str(error)) from error
        self.get_logger().info('loading the control laws; a first start compiles them, a minute')
        warm_up(self._dynamics, self._settings, lambda: not self.stop.requested)
        self._start_anew()
        self._command_publisher = self.create_lifecycle_publisher(
            RobotCommand, 'robot/command', NEWEST
        )
        self._status_publisher = self.create_lifecycle_publisher(
            ControllerStatus, 'controller/status', QUEUED
        )
        self._state_subscription = self.polled_subscription(
            RobotState, 'robot/state', NEWEST, stale_after=self.params.state_timeout
        )
        self._one_publisher = OnePublisher(self, 'controller/target')
        self.monitored_subscription(
            ControllerTarget, 'controller/target', self._on_target, QUEUED, with_info=True
        )
        self.monitored_service(Trigger, 'controller/stop', self._on_stop)
        self.monitored_service(Trigger, 'controller/recover', self._on_recover)
        self.monitored_service(Trigger, 'controller/tare', self._on_tare)
        self._moves = MoveServer(self, self.params.speed)
        # Wall time: the status must also come when the robot's time stands still.
        self.monitored_timer(
            1.0 / _SILENT_STATUS,
            self._publish_silence,
            name='controller/status',
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    def activate(self) -> None:
        """Forget what was before: the robot may stand anywhere now."""
        self._start_anew()
        workspace = Workspace(self._settings.lower, self._settings.upper)
        planner = MovePlanner(self._dynamics, self._controller.proximity, workspace)
        self._moves.serve(self._controller, planner)

    def deactivate(self) -> None:
        """Serve no move any more."""
        self._moves.serve(None, None)

    def _start_anew(self) -> None:
        self._controller = Controller(self._dynamics, self._settings)
        self._command = RobotCommand()
        self.last_header = Header(frame_id=BASE_LINK)
        self._last_taken: float | None = None
        self._last_latency = 0.0
        self._status_due = -math.inf
        self._clocks_agree: bool | None = None

    def step(self) -> None:
        """Answer the next robot state, if one comes soon."""
        message = self._state_subscription.wait(_SLICE)
        if message is None:
            return
        taken = time.perf_counter()
        controller = self._controller
        before = (controller.state, controller.reason)
        was_silent = bool(self._silence())
        robot = robot_state(message)
        command = controller.update(robot, age=self._age(robot.time))
        fill_command(self._command, command, message)
        self._command_publisher.publish(self._command)
        self.last_header = message.header
        self._last_taken = taken
        self._last_latency = time.perf_counter() - taken
        self._moves.step(robot.time)
        due = robot.time >= self._status_due or robot.time < self._status_due - 1.0
        if due or was_silent or (controller.state, controller.reason) != before:
            self._status_due = robot.time + 1.0 / self.params.status_rate
            self._publish_status()

    def _age(self, stamp: float) -> float:
        """How old a state is by our clock [s]; 0 where the clocks have nothing in common."""
        now = float(self.get_clock().now().nanoseconds) * 1e-9
        if now == 0.0:
            return 0.0  # simulated time that has not come yet
        if self._clocks_agree is None:
            self._clocks_agree = abs(now - stamp) < _COMPARABLE
        return now - stamp if self._clocks_agree else 0.0

    def _on_target(self, message: ControllerTarget, info: Any) -> None:
        controller = self._controller
        if controller.source != message.source:
            self._one_publisher.forget()  # nobody commands under this name
        other = self._one_publisher.refusal(
            message.source,
            info['publication_sequence_number'] or 0,
            controller.time,
            self._settings.source_timeout,
        )
        if other:
            refused = controller.refuse(message.source, Rule.SECOND_SOURCE, other)
        else:
            refused = controller.accept(controller_target(message))
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

    def _on_tare(self, request: Any, response: Any) -> Any:
        if self._controller.estimates is None or self._silence():
            response.message = self._silence() or 'no robot state yet'
            return response
        self._controller.estimator.tare()
        response.success = True
        response.message = 'the next second counts as no payload at this posture'
        return response

    def _silence(self) -> str:
        """Says that robot/state does not come; empty while it does."""
        if self._last_taken is None:
            return 'no robot/state yet'
        age = time.perf_counter() - self._last_taken
        return f'no robot/state for {age:.1f} s' if age > self.params.state_timeout else ''

    def _publish_silence(self) -> None:
        if self._silence():
            self._publish_status()

    def _publish_status(self) -> None:
        controller, silence = self._controller, self._silence()
        message = ControllerStatus(header=self.last_header)
        fill_status(message, controller)
        message.state_age = self._last_latency
        if silence:
            if controller.state is not ControllerState.STOPPED:
                message.state = ControllerStatus.STATE_INACTIVE
            message.reason = '; '.join(text for text in (silence, controller.reason) if text)
            since = self._last_taken
            message.state_age = math.inf if since is None else time.perf_counter() - since
        self._status_publisher.publish(message)

    def diagnose(self) -> list[Status]:
        """What the controller does, and what it refused or changed."""
        controller = self._controller
        level = Level.WARN if controller.state is ControllerState.STOPPED else Level.OK
        message = self._silence() or controller.reason or controller.state.name.lower()
        values = {
            'source': controller.source,
            'targets accepted': str(controller.targets_accepted),
            'targets refused': str(controller.targets_refused),
            'limits applied': str(controller.limits_applied),
            'payload held up [kg]': f'{controller.arm.payload.mass:.3f}',
        }
        for rule, record in controller.interventions.records.items():
            values[str(rule)] = f'{record.count} {record.reason}'.strip()
        return [Status('', level, message, values)]


def main() -> None:
    """Run the node."""
    sys.exit(run(HybridImpedanceController))


if __name__ == '__main__':
    main()
