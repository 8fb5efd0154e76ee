# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS entities of a managed node: who owns them, and a subscription that is read by hand."""

import inspect
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rclpy.action.client import ActionClient
from rclpy.action.server import ActionServer
from rclpy.callback_groups import CallbackGroup
from rclpy.duration import Duration
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.lifecycle import LifecycleNode, LifecyclePublisher
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from drex_ros.nodes.monitor import CallbackMonitor

if TYPE_CHECKING:
    from drex_ros.nodes.base import ManagedNode

_KINDS = ('subscription', 'timer', 'client', 'service')

# Longest wait in one piece [s]: how late a waiting node can notice that it must stop.
_SLICE = 0.05
# Longest wait for the last messages to arrive [s]; a subscriber that hangs must not hold us.
_FLUSH = 0.5


class EntityScope:
    """Finds what a node created since `open`, and destroys it on `close`."""

    def __init__(self, node: LifecycleNode) -> None:
        self._node = node
        self._before: set[int] = set()

    def open(self) -> None:
        self._before = {id(entity) for entity in self._entities()}

    def close(self) -> None:
        node = self._node
        # Actions are waitables made of services and topics of their own, so they go first.
        for waitable in self._new(node.waitables):
            if isinstance(waitable, (ActionClient, ActionServer)):
                waitable.destroy()
        flush(self._new(node.publishers))
        for publisher in self._new(node.publishers):
            if isinstance(publisher, LifecyclePublisher):
                node.destroy_lifecycle_publisher(publisher)
            else:
                node.destroy_publisher(publisher)
        for subscription in self._new(node.subscriptions):
            # The time source makes this one when use_sim_time is switched on.
            if subscription.topic_name != '/clock':
                node.destroy_subscription(subscription)
        for service in self._new(node.services):
            node.destroy_service(service)
        for client in self._new(node.clients):
            node.destroy_client(client)
        for timer in self._new(node.timers):
            node.destroy_timer(timer)
        for guard in self._new(node.guards):
            node.destroy_guard_condition(guard)

    def _entities(self) -> list[Any]:
        node = self._node
        return [
            *node.waitables,
            *node.publishers,
            *node.subscriptions,
            *node.services,
            *node.clients,
            *node.timers,
            *node.guards,
        ]

    def _new(self, entities: Any) -> list[Any]:
        return [entity for entity in entities if id(entity) not in self._before]


def flush(publishers: list[Publisher]) -> None:
    """Let the last messages of reliable publishers arrive before these are destroyed."""
    deadline = time.monotonic() + _FLUSH
    for publisher in publishers:
        left = max(deadline - time.monotonic(), 0.0)
        publisher.wait_for_all_acked(Duration(nanoseconds=int(left * 1e9)))


class _NeverExecuted(CallbackGroup):
    """Keeps an entity out of the executor."""

    def can_execute(self, entity: Any) -> bool:
        return False

    def beginning_execution(self, entity: Any) -> bool:
        return False

    def ending_execution(self, entity: Any) -> None:
        pass


class PolledSubscription:
    """A subscription that the node reads itself, past the executor.

    Made by `ManagedNode.polled_subscription`.
    """

    def __init__(
        self,
        node: 'ManagedNode',
        msg_type: Any,
        topic: str,
        qos: QoSProfile | int,
        monitor: CallbackMonitor,
    ) -> None:
        self._node = node
        self._monitor = monitor
        self._subscription = node.create_subscription(
            msg_type, topic, _unused, qos, callback_group=_NeverExecuted()
        )
        self._wait_set = _rclpy.WaitSet(2, 0, 0, 0, 0, 0, node.context.handle)

    def take(self) -> Any | None:
        """The next message that has come, or None. Does not wait."""
        subscription = self._subscription
        with subscription.handle:
            taken = subscription.handle.take_message(subscription.msg_type, False)
        if taken is None:
            return None
        now = self._monitor.clock()
        self._monitor.tick(now, now)
        return taken[0]

    def wait(self, timeout: float, *, until: 'PolledSubscription | None' = None) -> Any | None:
        """The next message; None when none came in `timeout` seconds or the node must stop.

        With `until`, also None as soon as that one has a message, which is left there.
        """
        message = self.take()
        deadline = time.perf_counter() + timeout
        while message is None and not self._node.stop.requested:
            left = deadline - time.perf_counter()
            if left <= 0.0:
                return None
            other = self._wait_once(min(left, _SLICE), until)
            message = self.take()
            if other:
                break
        return message

    def _wait_once(self, timeout: float, until: 'PolledSubscription | None') -> bool:
        """Wait for a message of this subscription or another; whether the other has one."""
        handle, wait_set = self._subscription.handle, self._wait_set
        second = handle if until is None else until._subscription.handle
        with handle, second:
            wait_set.clear_entities()
            wait_set.add_subscription(handle)
            if until is not None:
                wait_set.add_subscription(second)
            wait_set.wait(int(timeout * 1e9))
            return until is not None and bool(wait_set.is_ready('subscription', 1))


class ReadyCheck:
    """Whether the executor would find something to do for a node.

    The executor builds its wait set anew, in Python, each time it looks: 0.3 to 0.7 ms. This
    looks for messages, calls, timers and goals of actions for a tenth of that. QoS events and
    guard conditions, which a look would consume, wait for the next look of the executor itself.
    """

    def __init__(self, node: LifecycleNode) -> None:
        self._node = node
        self._sizes: tuple[int, ...] = ()

    def __call__(self) -> bool:
        node = self._node
        subscriptions = [s for s in node.subscriptions if s.callback_group.can_execute(s)]
        timers, clients, services = list(node.timers), list(node.clients), list(node.services)
        actions = [w for w in node.waitables if isinstance(w, ActionServer)]
        sizes: tuple[int, ...] = (len(subscriptions), 0, len(timers), len(clients))
        sizes += (len(services),)
        for action in actions:
            sizes = tuple(a + b for a, b in zip(sizes, _numbers(action), strict=True))
        if sizes != self._sizes:
            self._sizes = sizes
            self._wait_set = _rclpy.WaitSet(*sizes, 0, node.context.handle)
        wait_set = self._wait_set
        wait_set.clear_entities()
        for subscription in subscriptions:
            wait_set.add_subscription(subscription.handle)
        for timer in timers:
            wait_set.add_timer(timer.handle)
        for client in clients:
            wait_set.add_client(client.handle)
        for service in services:
            wait_set.add_service(service.handle)
        for action in actions:
            action.add_to_wait_set(wait_set)
        wait_set.wait(0)
        return any(wait_set.get_ready_entities(kind) for kind in _KINDS) or any(
            action.is_ready(wait_set) for action in actions
        )


def _numbers(action: ActionServer) -> tuple[int, ...]:
    """How many subscriptions, guard conditions, timers, clients and services an action has."""
    of = action.get_num_entities()
    return (
        of.num_subscriptions,
        of.num_guard_conditions,
        of.num_timers,
        of.num_clients,
        of.num_services,
    )


def _unused(message: Any) -> None:
    """Stand in for the callback that rclpy wants; the executor never calls it."""


def not_async(callback: Callable[..., Any]) -> None:
    """Refuse a coroutine function where a plain one is timed."""
    if inspect.iscoroutinefunction(callback):
        raise TypeError(f'{callback.__qualname__}: given an async function, must be a plain one')
