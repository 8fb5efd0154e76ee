# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base of all our nodes: a managed (lifecycle) node with checked parameters and diagnostics.

A node is a class with `NAME`, `PARAMETERS` and the four hooks `configure`, `activate`,
`deactivate` and `cleanup`; its `main` is `sys.exit(run(MyNode))`.
"""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter as RosParameter
from rclpy.qos import QoSProfile
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from drex_ros.nodes.diagnostics import CallbackMonitor, DiagnosticsPublisher, Level, Status
from drex_ros.nodes.entities import PolledSubscription, not_async
from drex_ros.nodes.lifecycle import SUCCESS, HookedNode
from drex_ros.nodes.parameters import Parameter, ParameterError, declare
from drex_ros.nodes.process import ConfigurationError, run

# How long the answer of a service may travel before the node goes [s].
_ANSWER_TIME = 0.2

BASE_PARAMETERS = (
    Parameter('autostart', True, 'go to active by itself at start', read_only=True),
    Parameter('diagnostics_period', 1.0, 'time between diagnostics', unit='s', range=(0.1, 60.0)),
)


class ManagedNode(HookedNode):
    """A lifecycle node; subclasses fill in the hooks.

    Everything created in `configure` (publishers, subscriptions, services, clients, timers,
    actions) is destroyed after `cleanup`. Publishers that must be silent while the node is not
    active are made with `create_lifecycle_publisher`.
    """

    NAME: ClassVar[str]
    PARAMETERS: ClassVar[tuple[Parameter, ...]] = ()
    # While a node with `step` is active, one other callback is served this often [s]. Looking
    # for one costs the executor 0.3 ms, so this is 6 % of the loop's time.
    SERVE_PERIOD: ClassVar[float] = 0.005

    def __init__(self, **node_options: Any) -> None:
        super().__init__(self.NAME, **node_options)
        self._monitors: list[CallbackMonitor] = []
        self._monitored_timers: list[Timer] = []
        self._answered = -math.inf
        self.served_until = -math.inf
        """Until then the executor looks for work at every chance [s], steady clock."""
        try:
            self.params = declare(self, BASE_PARAMETERS + self.PARAMETERS)
        except ParameterError:
            self.destroy_node()
            raise
        self._diagnostics = DiagnosticsPublisher(self, self._statuses)
        # Wall time: a paused simulator must not silence the diagnostics.
        self._diagnostics_timer = self.create_timer(
            self.params.diagnostics_period,
            self._diagnostics.publish,
            clock=Clock(clock_type=ClockType.STEADY_TIME),
        )

    # Hooks for subclasses, beside configure, activate, deactivate and cleanup

    def step(self) -> None:
        """One turn of the node's own loop; `run` calls it again and again while active.

        Optional. It may wait, but for 0.1 s at most: signals, services and parameters are served
        between two steps, every `SERVE_PERIOD`.
        """

    def diagnose(self) -> Sequence[Status]:
        """Statuses of the node's own, asked for while active; name '' speaks for the node."""
        return ()

    def parameters_changed(self, names: frozenset[str]) -> None:
        """Called after parameters were set on the running node; `self.params` has the values."""

    @property
    def has_step(self) -> bool:
        return type(self).step is not ManagedNode.step

    # Helpers for `configure`

    def monitored_subscription(
        self,
        msg_type: Any,
        topic: str,
        callback: Callable[..., None],
        qos: QoSProfile | int,
        *,
        expected_rate: float | None = None,
        stale_after: float | None = None,
        with_info: bool = False,
    ) -> Subscription:
        """Subscribe; `callback(msg)` runs while active only, and is on /diagnostics.

        With `with_info` it is `callback(msg, info)`, as rclpy has it. `expected_rate` [Hz] and
        `stale_after` [s] are what CallbackMonitor makes of them.
        """
        not_async(callback)
        monitor = self.monitor(topic, expected_rate=expected_rate, stale_after=stale_after)
        clock = monitor.clock

        def timed(*arguments: Any) -> None:
            if self._active:
                start = clock()
                callback(*arguments)
                monitor.tick(start, clock())

        def plain(message: Any) -> None:
            timed(message)

        def informed(message: Any, info: Any) -> None:
            timed(message, info)

        # rclpy looks at the arguments that a callback takes.
        taking: Callable[..., None] = informed if with_info else plain
        return self.create_subscription(msg_type, topic, taking, qos)

    def monitored_timer(
        self, period: float, callback: Callable[[], None], *, name: str, clock: Clock | None = None
    ) -> Timer:
        """Call `callback()` every `period` seconds of a clock (the node's own) while active."""
        not_async(callback)
        monitor = self.monitor(name, expected_rate=1.0 / period)
        monitor.wall_time = clock is not None and clock is not self.get_clock()

        def timed() -> None:
            if self._active:
                start = monitor.clock()
                callback()
                monitor.tick(start, monitor.clock())

        timer = self.create_timer(period, timed, clock=clock, autostart=False)
        self._monitored_timers.append(timer)
        return timer

    def monitored_service(
        self, srv_type: Any, name: str, callback: Callable[[Any, Any], Any]
    ) -> Service:
        """Serve `callback(request, response) -> response`, also while inactive, with timing."""
        not_async(callback)
        monitor = self.monitor(name)

        def timed(request: Any, response: Any) -> Any:
            start = monitor.clock()
            result = callback(request, response)
            monitor.tick(start, monitor.clock())
            self._answered = time.monotonic()
            return result

        return self.create_service(srv_type, name, timed)

    def polled_subscription(
        self,
        msg_type: Any,
        topic: str,
        qos: QoSProfile | int,
        *,
        expected_rate: float | None = None,
        stale_after: float | None = None,
    ) -> PolledSubscription:
        """Subscribe without a callback: `step` takes messages itself, the fastest way."""
        monitor = self.monitor(topic, expected_rate=expected_rate, stale_after=stale_after)
        return PolledSubscription(self, msg_type, topic, qos, monitor)

    def monitor(
        self, name: str, *, expected_rate: float | None = None, stale_after: float | None = None
    ) -> CallbackMonitor:
        """A monitor of one's own, on /diagnostics as `name`; call its `tick(start, end)`."""
        monitor = CallbackMonitor(name, expected_rate=expected_rate, stale_after=stale_after)
        self._monitors.append(monitor)
        return monitor

    def serve_soon(self) -> None:
        """Have the executor run what was just handed to it, as the end of an action."""
        self.served_until = time.monotonic() + _ANSWER_TIME

    # Parameters

    def set_parameters_atomically(self, parameter_list: list[RosParameter]) -> SetParametersResult:
        """Set all or none, checked against their descriptions."""
        try:
            admitted = self.params.admit(parameter_list)
        except ParameterError as error:
            return SetParametersResult(successful=False, reason=str(error))
        result = super().set_parameters_atomically(admitted)
        if result.successful:
            names = self.params.update(admitted)
            if 'diagnostics_period' in names:
                period = int(self.params.diagnostics_period * 1e9)
                self._diagnostics_timer.timer_period_ns = period
            if names:
                self.parameters_changed(names)
        return result

    def set_parameters(self, parameter_list: list[RosParameter]) -> list[SetParametersResult]:
        """Set one after the other, each checked against its description."""
        return [self.set_parameters_atomically([parameter]) for parameter in parameter_list]

    # Transitions

    def start(self) -> None:
        super().start()
        self._diagnostics.publish()

    def shut_down(self) -> None:
        if self.is_active:
            self.trigger_deactivate()
        # ROS cannot tell whether the answer of a service has arrived: give it time to.
        time.sleep(max(self._answered + _ANSWER_TIME - time.monotonic(), 0.0))
        super().shut_down()
        # The last word, so that others know that the end was meant.
        self._diagnostics.publish()
        self._diagnostics.flush()

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        result = super().on_activate(state)
        if result == SUCCESS:
            for monitor in self._monitors:
                monitor.restart()
            for timer in self._monitored_timers:
                timer.reset()
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        for timer in self._monitored_timers:
            timer.cancel()
        return super().on_deactivate(state)

    def _release(self) -> None:
        self._monitors.clear()
        self._monitored_timers.clear()
        super()._release()

    def _on_change_state(self, request: Any, response: Any) -> Any:
        response = super()._on_change_state(request, response)
        self._answered = time.monotonic()
        self._diagnostics.publish()
        return response

    # Diagnostics

    def _statuses(self, time_scale: float) -> list[Status]:
        state = self.state_label
        level, message, values = Level.OK, state, {'state': state}
        statuses: list[Status] = []
        if self._active:
            statuses += [monitor.status(time_scale) for monitor in self._monitors]
            for status in self.diagnose():
                if status.name:
                    statuses.append(status)
                else:
                    level, message = max(level, status.level), status.message
                    values.update(status.values)
            if time_scale == 0.0:
                values['clock'] = 'stands still'
                level, message = max(level, Level.WARN), f'{message}; the clock stands still'
        return [Status('', level, message, values), *statuses]


__all__ = ['ConfigurationError', 'ManagedNode', 'Parameter', 'ParameterError', 'Status', 'run']
