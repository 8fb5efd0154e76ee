# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node of a script's own: it listens in a thread, and calls wait for what it hears."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import rclpy
from rclpy.context import Context
from rclpy.exceptions import NameValidationException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.validate_namespace import validate_namespace
from rclpy.validate_node_name import validate_node_name

from drex_ros.closing import Closing

T = TypeVar('T')

PATIENCE = 5.0
"""Wall time that a call waits [s]; on a busy machine a new client is not found before 3 s."""
_LOOK = 0.02  # [s]
_SILENCE = 3.0  # [s] after which a word of the stack no longer counts


class DrexError(RuntimeError):
    """A call could not be carried out; the message says why."""


class DrexTimeoutError(DrexError):
    """What was waited for did not happen in time; the message says what was seen instead."""


class Connection(Closing):
    """A place in the ROS graph. Use it as a context manager, or close it.

    Args:
        namespace: the namespace the stack was launched in; '' for none.
        name: name of this client's node.
    """

    def __init__(self, namespace: str, name: str) -> None:
        self.name = name
        self._changed = threading.Condition()
        self._closed = False
        self._heard: dict[str, float] = {}  # when each topic was heard last [s], steady clock
        try:
            validate_node_name(name)
            validate_namespace(namespace if namespace.startswith('/') else f'/{namespace}')
        except NameValidationException as error:
            raise DrexError(str(error).split('\n', 1)[0].rstrip(':')) from None
        self._context = Context()
        self._context.init()
        self._node = rclpy.create_node(name, namespace=namespace, context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, name=f'{name} spin', daemon=True)

    def close(self) -> None:
        """Leave the graph; calls that wait in other threads end with a DrexError."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        self._executor.shutdown()
        self._context.try_shutdown()
        self._thread.join()
        self._node.destroy_node()

    # For subclasses

    def _listen(
        self, message_type: Any, topic: str, take: Callable[[Any], None], qos: QoSProfile | int
    ) -> Subscription:
        """Have `take(message)` called with each message, while no call looks."""

        def on_message(message: Any) -> None:
            with self._changed:
                self._heard[topic] = time.monotonic()
                take(message)
                self._changed.notify_all()

        return self._node.create_subscription(message_type, topic, on_message, qos)

    def _start(self) -> None:
        """Begin to listen; the last act of a constructor."""
        self._thread.start()

    def _call(self, client: Any, request: Any, timeout: float) -> Any:
        """Call a service; its answer when it says success, else a DrexError with its message."""
        name = client.srv_name
        self._wait_for(
            lambda: client.service_is_ready() or None,
            timeout,
            f'service {name}',
            lambda: self._nobody(name),
        )
        future = client.call_async(request)
        response = self._wait_for(
            lambda: future.result() if future.done() else None, timeout, f'an answer of {name}'
        )
        if not response.success:
            raise DrexError(f'{name}: {response.message}')
        return response

    def _silent(self, topic: str) -> str:
        """That a topic which was heard before is silent now, in words; else empty."""
        age = time.monotonic() - self._heard.get(topic, math.inf)
        return f'{topic} is silent for {age:.1f} s: has the stack ended?' if age > _SILENCE else ''

    def _nobody(self, topic: str) -> str:
        """What to check when nobody is heard."""
        if self._node.count_publishers(self._node.resolve_topic_name(topic)):
            return f'no message on {topic}: is the simulator paused?'
        return (
            f'nobody serves {self._node.resolve_topic_name(topic)} in ROS domain '
            f'{self._context.get_domain_id()}: is the stack running, in this namespace and domain?'
        )

    def _wait_for(
        self,
        get: Callable[[], T | None],
        timeout: float,
        what: str,
        seen: Callable[[], str] = str,
    ) -> T:
        """Wait for `get()` to give something; `seen()` tells the user what there is instead."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while True:
                if self._closed:
                    raise DrexError(f'the client was closed while it waited for {what}')
                value = get()
                if value is not None:
                    return value
                left = deadline - time.monotonic()
                if left <= 0.0:
                    instead = seen()
                    raise DrexTimeoutError(
                        f'waited {timeout:g} s for {what}{": " + instead if instead else ""}'
                    )
                # The graph tells nobody when it changes, so look now and then.
                self._changed.wait(min(left, _LOOK))

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):
            self._executor.spin()
