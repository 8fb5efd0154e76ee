# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Blocking Python calls over the stack's topics and services.

    from drex_ros.client import Drex

    with Drex() as drex:
        drex.wait_until_ready()
        hand = drex.state().position[HAND]
        hand[1] += 0.5
        drex.move_joints(hand=hand)

Every call waits until the thing has happened, or raises a DrexError that names the cause.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from std_srvs.srv import Trigger

from drex_interfaces.msg import ControllerStatus, ControllerTarget, SystemStatus
from drex_interfaces.msg import RobotState as RobotStateMessage
from drex_ros.nodes.conversions import LATCHED, NEWEST, robot_state
from drex_ros.robot.joints import ARM, HAND, N_ARM, N_HAND
from drex_ros.robot.state import RobotState

T = TypeVar('T')


class DrexError(RuntimeError):
    """A call could not be carried out; the message says why."""


class DrexTimeoutError(DrexError):
    """What was waited for did not happen in time; the message says what was seen instead."""


class Drex:
    """The running stack, seen from a script.

    Args:
        namespace: the namespace the stack was launched in; '' for none.
        name: name of this client's node, shown where a target of another source is refused.
    """

    def __init__(self, namespace: str = '', *, name: str = 'drex_client') -> None:
        self._context = rclpy.Context()
        self._context.init()
        self._node = rclpy.create_node(name, namespace=namespace, context=self._context)
        self.name = name
        self._changed = threading.Condition()
        self._state: RobotStateMessage | None = None
        self._status: ControllerStatus | None = None
        self._system: SystemStatus | None = None
        self.states_seen = 0
        node = self._node
        node.create_subscription(RobotStateMessage, 'robot/state', self._on_state, NEWEST)
        node.create_subscription(ControllerStatus, 'controller/status', self._on_status, 10)
        node.create_subscription(SystemStatus, 'system/status', self._on_system, LATCHED)
        self._targets = node.create_publisher(ControllerTarget, 'controller/target', NEWEST)
        self._stop = node.create_client(Trigger, 'controller/stop')
        self._recover = node.create_client(Trigger, 'controller/recover')
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(node)
        self._thread = threading.Thread(target=self._spin, name=f'{name} spin', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown()
        self._context.try_shutdown()
        self._thread.join()
        self._node.destroy_node()

    def __enter__(self) -> Drex:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # What is

    def wait_until_ready(self, timeout: float = 30.0) -> SystemStatus:
        """Wait until every node of the stack is active and well; returns its system/status."""
        try:
            return self._wait_for(
                lambda: self._system if self._is_ready(self._system) else None,
                timeout,
                'the stack to be ready',
            )
        except DrexTimeoutError as error:
            seen = 'no system/status: is the stack running, in this namespace and ROS domain?'
            if self._system is not None:
                seen = self._system.message
            raise DrexTimeoutError(f'{error}: {seen}') from None

    def system(self) -> SystemStatus | None:
        """The last system/status; None before the first."""
        return self._system

    def state(self, timeout: float = 2.0) -> RobotState:
        """The next robot state."""
        seen = self.states_seen
        message = self._wait_for(
            lambda: self._state if self.states_seen > seen else None, timeout, 'robot/state'
        )
        return robot_state(message)

    def status(self, timeout: float = 2.0) -> ControllerStatus:
        """The last controller status."""
        return self._wait_for(lambda: self._status, timeout, 'controller/status')

    # What shall be

    def move_joints(
        self,
        arm: Sequence[float] | np.ndarray | None = None,
        hand: Sequence[float] | np.ndarray | None = None,
        *,
        tolerance: float = 0.05,
        timeout: float = 15.0,
    ) -> RobotState:
        """Move to joint positions [rad] and wait until they are reached.

        Args:
            arm: 7 positions; None leaves the arm as it is.
            hand: 16 positions; None leaves the hand as it is.
            tolerance: largest error of any joint at the end [rad].
            timeout: wall time to wait [s].
        """
        wanted = {'arm': (arm, ARM, N_ARM), 'hand': (hand, HAND, N_HAND)}
        for part, (values, _, size) in wanted.items():
            if values is not None and len(values) != size:
                raise DrexError(f'{part} has {len(values)} positions, must have {size}')
        self.set_target(arm, hand)

        def arrived() -> RobotState | None:
            state = robot_state(self._state)
            errors = [
                np.abs(state.position[part] - np.asarray(values)).max()
                for values, part, _ in wanted.values()
                if values is not None
            ]
            return state if max(errors, default=0.0) <= tolerance else None

        try:
            return self._wait_for(arrived, timeout, f'the joints to come within {tolerance} rad')
        except DrexTimeoutError as error:
            reason = self._status.reason if self._status else ''
            raise DrexTimeoutError(f'{error}{": " + reason if reason else ""}') from None

    def set_target(
        self,
        arm: Sequence[float] | np.ndarray | None = None,
        hand: Sequence[float] | np.ndarray | None = None,
        *,
        timeout: float = 2.0,
    ) -> None:
        """Give joint positions [rad] to the controller; returns once they are accepted."""
        before = self.status(timeout)
        target = ControllerTarget(source=self.name)
        if arm is not None:
            target.arm_mode = ControllerTarget.MODE_JOINT_IMPEDANCE
            target.arm_position = [float(value) for value in arm]
        if hand is not None:
            target.hand_mode = ControllerTarget.MODE_JOINT_IMPEDANCE
            target.hand_position = [float(value) for value in hand]
        self._targets.publish(target)

        def answered() -> ControllerStatus | None:
            status = self._status
            if status is None or status.targets_refused + status.targets_accepted <= (
                before.targets_refused + before.targets_accepted
            ):
                return None
            return status

        status = self._wait_for(answered, timeout, 'an answer to controller/target')
        if status.targets_refused > before.targets_refused:
            raise DrexError(f'target refused: {status.reason}')

    def stop(self, timeout: float = 2.0) -> str:
        """Stop the robot where it is; returns what the controller answers."""
        return self._trigger(self._stop, timeout)

    def recover(self, timeout: float = 2.0) -> str:
        """Let the robot move again after a stop; nothing moves by this alone."""
        return self._trigger(self._recover, timeout)

    # Inside

    @staticmethod
    def _is_ready(system: SystemStatus | None) -> bool:
        usable = (SystemStatus.LEVEL_OK, SystemStatus.LEVEL_DEGRADED)
        return system is not None and system.level in usable

    def _trigger(self, client: Any, timeout: float) -> str:
        name = client.srv_name
        if not client.wait_for_service(timeout):
            raise DrexTimeoutError(f'no service {name} within {timeout:g} s')
        future = client.call_async(Trigger.Request())
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        if not done.wait(timeout):
            raise DrexTimeoutError(f'no answer of {name} within {timeout:g} s')
        response = future.result()
        if not response.success:
            raise DrexError(f'{name}: {response.message}')
        return str(response.message)

    def _wait_for(self, get: Callable[[], T | None], timeout: float, what: str) -> T:
        deadline = time.monotonic() + timeout
        with self._changed:
            while (value := get()) is None:
                left = deadline - time.monotonic()
                if left <= 0.0:
                    raise DrexTimeoutError(f'waited {timeout:g} s for {what}')
                self._changed.wait(left)
        return value

    def _spin(self) -> None:
        try:
            self._executor.spin()
        except ExternalShutdownException:
            pass

    def _on_state(self, message: RobotStateMessage) -> None:
        with self._changed:
            self._state = message
            self.states_seen += 1
            self._changed.notify_all()

    def _on_status(self, message: ControllerStatus) -> None:
        with self._changed:
            self._status = message
            self._changed.notify_all()

    def _on_system(self, message: SystemStatus) -> None:
        with self._changed:
            self._system = message
            self._changed.notify_all()
