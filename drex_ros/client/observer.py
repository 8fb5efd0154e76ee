# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the robot and its controller say, for a script that looks at them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from drex_interfaces.msg import ControllerStatus, ObjectTrack, SystemStatus
from drex_interfaces.msg import RobotState as RobotStateMessage
from drex_ros.client.connection import PATIENCE, Connection, DrexError, DrexTimeoutError
from drex_ros.nodes.conversions import LATCHED, NEWEST, QUEUED, robot_state, seconds
from drex_ros.nodes.tracker_messages import estimate
from drex_ros.perception.estimate import ObjectEstimate
from drex_ros.robot.joints import Array
from drex_ros.robot.state import RobotState

T = TypeVar('T')

# [s] of rest after which a lifted thing is weighed. The arm sags so slowly that friction bears a
# part of the weight meanwhile: 9 % after 0.5 s, 3 % after 1.5 s, nothing after 3 s.
_SETTLED = 3.0


class PayloadEstimate(NamedTuple):
    """What the arm weighs."""

    mass: float
    """[kg]"""
    sigma: float
    """Its standard deviation [kg]."""


class Observer(Connection):
    """Hears the stack and moves nothing.

    Args:
        namespace: the namespace the stack was launched in; '' for none.
        name: name of this client's node.
    """

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__(namespace, name)
        self._state: RobotStateMessage | None = None
        self._statuses: deque[ControllerStatus] = deque(maxlen=100)
        self._statuses_seen = 0
        self._system: SystemStatus | None = None
        self._track: ObjectTrack | None = None
        self._tracks_seen = 0
        self.states_seen = 0
        self._listen(RobotStateMessage, 'robot/state', self._on_state, NEWEST)
        self._listen(ControllerStatus, 'controller/status', self._on_status, QUEUED)
        self._listen(SystemStatus, 'system/status', self._on_system, LATCHED)
        self._listen(ObjectTrack, 'object/track', self._on_track, NEWEST)

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

    def last_position(self) -> Array | None:
        """Joint positions by the last robot state [rad], shape (23,), at once; None: none yet."""
        return None if self._state is None else np.array(self._state.position)

    def object_track(self, timeout: float = PATIENCE) -> ObjectEstimate:
        """Where the tracker has the object in the next picture, how sure, and why not surer.

        The pose is to be used while `status` is TRACKING; it is None where nothing is known. What
        is common to pose and velocity is left out of the covariance.

        Args:
            timeout: wall time to wait for a picture [s].
        """
        seen = self._tracks_seen
        message = self._wait_for(
            lambda: self._track if self._tracks_seen > seen else None,
            timeout,
            'the next picture of the object',
            lambda: self._nobody('object/track'),
        )
        return estimate(message)

    def status(self, timeout: float = PATIENCE) -> ControllerStatus:
        """The last controller status."""
        return self._wait_for(
            lambda: self._statuses[-1] if self._statuses else None,
            timeout,
            'the controller',
            lambda: self._nobody('controller/status'),
        )

    def wait_for_status(
        self,
        check: Callable[[ControllerStatus], T | None],
        what: str,
        timeout: float = PATIENCE,
        *,
        since: int | None = None,
        deadline: float | None = None,
    ) -> T:
        """Wait until a status of the controller is as wanted.

        Args:
            check: called with each status, in turn; what it gives is returned, None: go on.
            what: is waited for, for the message of the timeout.
            timeout: wall time to wait [s].
            since: as many statuses as were seen before the first that counts; None: the next.
            deadline: end of the timeout on time.monotonic() [s]; None: that from now.
        """
        seen = self._statuses_seen if since is None else since

        def look() -> T | None:
            nonlocal seen
            fresh = min(self._statuses_seen - seen, len(self._statuses))
            seen = self._statuses_seen
            for index in range(len(self._statuses) - fresh, len(self._statuses)):
                if (value := check(self._statuses[index])) is not None:
                    return value
            return None

        def instead() -> str:
            silent = self._silent('controller/status') or self._silent('robot/state')
            if silent or not self._statuses:
                return silent or self._nobody('controller/status')
            return str(self._statuses[-1].reason)

        return self._wait_for(look, timeout, what, instead, deadline)

    def payload(
        self, timeout: float = 6 * PATIENCE, *, settle: float = _SETTLED
    ) -> PayloadEstimate:
        """Mass of what the hand holds, and its standard deviation [kg].

        It is weighed against the last tare(), which must have been made with the empty hand at
        the same posture of the arm.

        Args:
            timeout: wall time to wait for it [s].
            settle: time of the robot that the arm must have rested and weighed for [s].
        """
        if not self.status(timeout).tared:
            raise DrexError('nothing to compare the payload with: call tare() with the empty hand')
        began = math.nan

        def weighed(status: ControllerStatus) -> PayloadEstimate | None:
            nonlocal began
            if not status.tared:
                raise DrexError('the payload cannot be weighed: another tare is being made')
            now = seconds(status.header.stamp)
            if math.isnan(status.payload_mass) or now < began:
                began = math.nan
                return None
            began = now if math.isnan(began) else began
            if now - began < settle:
                return None
            return PayloadEstimate(status.payload_mass, status.payload_mass_sigma)

        try:
            return self.wait_for_status(weighed, 'the payload to be weighed', timeout)
        except DrexTimeoutError as error:
            why = 'the arm moves, or is at another posture than at the tare'
            raise DrexTimeoutError(
                f'{error} ({why})' if math.isnan(began) else str(error)
            ) from None

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

    def _on_state(self, message: RobotStateMessage) -> None:
        self._state = message
        self.states_seen += 1

    def _on_status(self, message: ControllerStatus) -> None:
        self._statuses.append(message)
        self._statuses_seen += 1

    def _on_system(self, message: SystemStatus) -> None:
        self._system = message

    def _on_track(self, message: ObjectTrack) -> None:
        self._track = message
        self._tracks_seen += 1
