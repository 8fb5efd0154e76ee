# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot and its controller, seen from a script."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from std_srvs.srv import Trigger

from drex_interfaces.msg import ControllerStatus, ControllerTarget, SystemStatus
from drex_interfaces.msg import RobotState as RobotStateMessage
from drex_ros.client.connection import PATIENCE, Connection, DrexError
from drex_ros.nodes.conversions import LATCHED, NEWEST, robot_state
from drex_ros.robot.joints import ARM, HAND, N_ARM, N_HAND
from drex_ros.robot.state import RobotState


class Drex(Connection):
    """The running stack, seen from a script.

    Args:
        namespace: the namespace the stack was launched in; '' for none.
        name: name of this client's node, shown where a target of another source is refused.
    """

    def __init__(self, namespace: str = '', *, name: str = 'drex_client') -> None:
        super().__init__(namespace, name)
        self._state: RobotStateMessage | None = None
        self._statuses: deque[ControllerStatus] = deque(maxlen=100)
        self._system: SystemStatus | None = None
        self.states_seen = 0
        node = self._node
        self._listen(RobotStateMessage, 'robot/state', self._on_state, NEWEST)
        self._listen(ControllerStatus, 'controller/status', self._statuses.append, 10)
        self._listen(SystemStatus, 'system/status', self._on_system, LATCHED)
        self._targets = node.create_publisher(ControllerTarget, 'controller/target', NEWEST)
        self._stop = node.create_client(Trigger, 'controller/stop')
        self._recover = node.create_client(Trigger, 'controller/recover')
        self._start()

    # What is

    def wait_until_ready(self, timeout: float = 30.0) -> SystemStatus:
        """Wait until every node is active and the robot is heard; returns system/status."""
        return self._wait_for(
            lambda: self._system if not self._not_ready() else None,
            timeout,
            'the stack to be ready',
            self._not_ready,
        )

    def system(self) -> SystemStatus | None:
        """The last system/status; None before the first."""
        return self._system

    def state(self, timeout: float = PATIENCE) -> RobotState:
        """The next robot state."""
        seen = self.states_seen
        message = self._wait_for(
            lambda: self._state if self.states_seen > seen else None,
            timeout,
            'the next robot state',
            lambda: self._nobody('robot/state'),
        )
        return robot_state(message)

    def status(self, timeout: float = PATIENCE) -> ControllerStatus:
        """The last controller status."""
        return self._wait_for(
            lambda: self._statuses[-1] if self._statuses else None,
            timeout,
            'the controller',
            lambda: self._nobody('controller/status'),
        )

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
            timeout: wall time to wait [s]; the robot moves on after it, until `stop`.
        """
        self.set_target(arm, hand)
        wanted = [
            (joints, np.asarray(values))
            for joints, values in ((ARM, arm), (HAND, hand))
            if values is not None
        ]

        def arrived() -> RobotState | None:
            status = self._statuses[-1]
            for topic in ('robot/state', 'controller/status'):
                if silent := self._silent(topic):
                    raise DrexError(f'the move ended on its way: {silent}')
            if status.state == ControllerStatus.STATE_STOPPED:
                raise DrexError(f'the move ended on its way: {status.reason}')
            if status.source not in ('', self.name):
                raise DrexError(
                    f'no longer in command: {status.source!r} is; what it leaves out moves on'
                )
            if self._state is None:
                return None
            state = robot_state(self._state)
            errors = [np.abs(state.position[joints] - values).max() for joints, values in wanted]
            return state if max(errors, default=0.0) <= tolerance else None

        return self._wait_for(
            arrived,
            timeout,
            f'the joints to come within {tolerance:g} rad',
            lambda: self._statuses[-1].reason,
        )

    def set_target(
        self,
        arm: Sequence[float] | np.ndarray | None = None,
        hand: Sequence[float] | np.ndarray | None = None,
        *,
        timeout: float = PATIENCE,
    ) -> None:
        """Give joint positions [rad] to the controller; returns once they are accepted."""
        for part, values, size in (('arm', arm, N_ARM), ('hand', hand, N_HAND)):
            if values is not None and len(values) != size:
                raise DrexError(f'{part} has {len(values)} positions, must have {size}')
        target = ControllerTarget(source=self.name)
        if arm is not None:
            target.arm_mode = ControllerTarget.MODE_JOINT_IMPEDANCE
            target.arm_position = [float(value) for value in arm]
        if hand is not None:
            target.hand_mode = ControllerTarget.MODE_JOINT_IMPEDANCE
            target.hand_position = [float(value) for value in hand]
        self.status(timeout)
        self._wait_for(
            lambda: self._targets.get_subscription_count() or None,
            timeout,
            'the controller',
            lambda: self._nobody('controller/target'),
        )
        with self._changed:
            before = self._statuses[-1]
            self._statuses.clear()
            self._statuses.append(before)
        self._targets.publish(target)
        answer = self._wait_for(
            lambda: self._answer(before),
            timeout,
            'an answer to controller/target',
            lambda: self._statuses[-1].reason,
        )
        if answer:
            raise DrexError(answer)

    def stop(self, timeout: float = PATIENCE) -> str:
        """Stop the robot where it is; returns what the controller answers."""
        return self._trigger(self._stop, timeout)

    def recover(self, timeout: float = PATIENCE) -> str:
        """Let the robot move again after a stop; nothing moves by this alone."""
        return self._trigger(self._recover, timeout)

    # Inside

    def _not_ready(self) -> str:
        """Why the stack cannot be used yet, in words; empty when it can."""
        if self._system is None or self._silent('system/status'):
            return self._silent('system/status') or self._nobody('system/status')
        if self._system.level not in (SystemStatus.LEVEL_OK, SystemStatus.LEVEL_DEGRADED):
            return str(self._system.message)
        if not self._statuses or self._silent('controller/status'):
            return self._silent('controller/status') or self._nobody('controller/status')
        # A node can be active and well before it has found the others.
        status = self._statuses[-1]
        return str(status.reason) if status.state == ControllerStatus.STATE_INACTIVE else ''

    def _answer(self, before: ControllerStatus) -> str | None:
        """What the controller says to our target: '' when accepted, why not, None for nothing."""
        for status in self._statuses:
            # Others may send targets too: only an answer to us counts.
            refused = status.targets_refused != before.targets_refused
            accepted = status.targets_accepted != before.targets_accepted
            if refused and status.reason.startswith(f'target of {self.name!r} refused'):
                return str(status.reason)
            if accepted and status.source == self.name:
                return ''
        return None

    def _trigger(self, client: Any, timeout: float) -> str:
        return str(self._call(client, Trigger.Request(), timeout).message)

    def _on_state(self, message: RobotStateMessage) -> None:
        self._state = message
        self.states_seen += 1

    def _on_system(self, message: SystemStatus) -> None:
        self._system = message
