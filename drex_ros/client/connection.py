# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node of a script's own: it listens in a thread, and calls wait for what it hears."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import rclpy
from rclpy.action.client import ActionClient
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


@dataclass
class _Errand:
    """A goal that an action server was sent."""

    sent: Any = None
    """Future of its acceptance."""
    answer: Any = None
    """Future of its result."""
    feedback: Any = None
    """The newest that was not looked at."""


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
        self._action_clients: list[ActionClient] = []
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
        # An executor must not be taken from under the thread that spins it.
        self._executor.create_task(lambda: None)
        self._thread.join()
        self._executor.shutdown()
        self._context.try_shutdown()
        for client in self._action_clients:
            client.destroy()  # else the node stays in the graph for as long as they live
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

    def _ignore(self, *subscriptions: Subscription) -> None:
        """Listen no longer.

        Done by the thread that listens: it ends with an InvalidHandle when a subscription is taken
        from under it, and every later call would wait in vain.
        """

        def destroy() -> None:
            for subscription in subscriptions:
                self._node.destroy_subscription(subscription)

        with contextlib.suppress(DrexError):  # closed meanwhile: they are gone
            self._in_spin(destroy)

    def _action_client(self, action_type: Any, name: str) -> ActionClient:
        """A client of an action, for `_act`."""
        self._action_clients.append(ActionClient(self._node, action_type, name))
        return self._action_clients[-1]

    def _start(self) -> None:
        """Begin to listen; the last act of a constructor."""
        self._thread.start()

    def _call(self, client: Any, request: Any, timeout: float) -> Any:
        """Call a service; its answer when it says success, else a DrexError with its message."""
        response = self._answer_of(client, request, timeout)
        if not response.success:
            raise DrexError(f'{client.srv_name}: {response.message}')
        return response

    def _answer_of(self, client: Any, request: Any, timeout: float) -> Any:
        """Call a service; its answer, whatever it says."""
        name = client.srv_name
        self._wait_for(
            lambda: client.service_is_ready() or None,
            timeout,
            f'service {name}',
            lambda: self._nobody(name),
        )
        future = client.call_async(request)
        return self._wait_for(
            lambda: future.result() if future.done() else None,
            timeout,
            f'an answer of {name}',
            lambda: self._silent('controller/status'),
        )

    def _act(
        self,
        client: ActionClient,
        name: str,
        goal: Any,
        timeout: float,
        *,
        on_feedback: Callable[[Any], None],
        ended: Callable[[], str],
    ) -> Any:
        """Have an action carried out; its result. It is cancelled when this ends before it does.

        Args:
            client: of the action.
            name: of the action.
            goal: what is asked for.
            timeout: wall time to wait [s].
            on_feedback: called in this thread with the newest feedback.
            ended: says why no result can come any more; empty while it can.
        """
        deadline = time.monotonic() + timeout
        errand = _Errand()

        def take(message: Any) -> None:
            with self._changed:
                errand.feedback = message.feedback
                self._changed.notify_all()

        def send() -> None:
            errand.sent = client.send_goal_async(goal, feedback_callback=take)

        def ask() -> None:
            errand.answer = errand.sent.result().get_result_async()

        def news() -> bool | None:
            if reason := ended():
                raise DrexError(f'{name} ended on its way: {reason}')
            return True if errand.feedback is not None or errand.answer.done() else None

        self._wait_for(
            lambda: client.server_is_ready() or None,
            timeout,
            f'action {name}',
            lambda: self._nobody(name),
        )
        try:
            self._in_spin(send)
            wait = partial(self._wait_for, timeout=timeout, deadline=deadline)
            wait(lambda: errand.sent.done() or None, what=f'an answer of {name}')
            if not errand.sent.result().accepted:
                raise DrexError(f'{name}: the goal was not accepted')
            self._in_spin(ask)
            while not errand.answer.done():
                wait(news, what=f'{name} to end', seen=lambda: 'it is cancelled')
                feedback, errand.feedback = errand.feedback, None
                if feedback is not None:
                    on_feedback(feedback)
            return errand.answer.result().result
        except BaseException:
            self._cancel(errand)
            raise

    def _cancel(self, errand: _Errand) -> None:
        """Cancel a goal, also one that is not answered yet; waits a while for its end."""

        def cancel(sent: Any) -> None:
            if sent.result() is not None and sent.result().accepted:
                sent.result().cancel_goal_async()

        answer = errand.answer
        if errand.sent is None or (answer is not None and answer.done()):
            return
        with contextlib.suppress(DrexError):
            self._in_spin(lambda: errand.sent.add_done_callback(cancel))
            if answer is not None:
                self._wait_for(lambda: answer.done() or None, PATIENCE, 'the end')

    def _in_spin(self, call: Callable[[], object]) -> None:
        """Have a call made by the thread that listens.

        An action client forgets an answer that comes before it has noted its question, which
        cannot be where both are done by one thread.
        """
        task = self._executor.create_task(call)
        self._wait_for(lambda: task.done() or None, PATIENCE, 'the thread of the client')
        if (error := task.exception()) is not None:
            raise error

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
        deadline: float | None = None,
    ) -> T:
        """Wait for `get()` to give something; `seen()` tells the user what there is instead.

        With a deadline [s] on the steady clock, the timeout is only what the user is told.
        """
        if deadline is None:
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
            while not self._closed:
                self._executor.spin_once()
