# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The test's own node: publishes, collects, calls services and drives lifecycles."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.publisher import Publisher
from ros_harness import TIMEOUT

TRANSITIONS = {
    'configure': Transition.TRANSITION_CONFIGURE,
    'activate': Transition.TRANSITION_ACTIVATE,
    'deactivate': Transition.TRANSITION_DEACTIVATE,
    'cleanup': Transition.TRANSITION_CLEANUP,
}


class RosClient:
    """A node in a context of its own; everything waits with a timeout and spins meanwhile."""

    def __init__(self, name: str = 'test_client') -> None:
        self.context = Context()
        self.context.init()
        self.node = Node(name, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def __enter__(self) -> 'RosClient':
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def spin(self, duration: float) -> None:
        """Serve callbacks for `duration` seconds."""
        deadline = time.monotonic() + duration
        while (left := deadline - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def spin_until(
        self,
        predicate: Callable[[], Any],
        timeout: float = TIMEOUT,
        what: str = 'a condition',
    ) -> Any:
        """Serve callbacks until `predicate()` is true, and return it."""
        deadline = time.monotonic() + timeout
        while not (result := predicate()):
            if time.monotonic() > deadline:
                raise AssertionError(f'waited {timeout:g} s for {what}')
            self.executor.spin_once(timeout_sec=0.02)
        return result

    def collect(self, msg_type: Any, topic: str, qos: Any = 100) -> list[Any]:
        """Subscribe; the list that is returned grows with each message."""
        messages: list[Any] = []
        self.node.create_subscription(msg_type, topic, messages.append, qos)
        return messages

    def publisher(
        self, msg_type: Any, topic: str, qos: Any = 10, *, wait: bool = True
    ) -> Publisher:
        """Make a publisher, and wait until someone listens."""
        publisher = self.node.create_publisher(msg_type, topic, qos)
        if wait:
            self.spin_until(publisher.get_subscription_count, what=f'a subscriber of {topic}')
        return publisher

    def call(self, srv_type: Any, name: str, request: Any = None, timeout: float = TIMEOUT) -> Any:
        """Call a service and return the response."""
        client = self.node.create_client(srv_type, name)
        try:
            self.spin_until(client.service_is_ready, timeout, f'service {name}')
            future = client.call_async(request or srv_type.Request())
            self.spin_until(future.done, timeout, f'the response of {name}')
            return future.result()
        finally:
            self.node.destroy_client(client)

    def state(self, node: str) -> str:
        """Lifecycle state of a node, given by its full name."""
        return str(self.call(GetState, f'{node}/get_state').current_state.label)

    def wait_for_state(self, node: str, label: str, timeout: float = TIMEOUT) -> None:
        self.spin_until(lambda: self.state(node) == label, timeout, f'{node} to be {label}')

    def change_state(self, node: str, transition: str) -> bool:
        """Ask for a transition ('configure', 'activate', ...); returns whether it succeeded."""
        request = ChangeState.Request()
        if transition in TRANSITIONS:
            request.transition.id = TRANSITIONS[transition]
        else:
            request.transition.label = transition
        return bool(self.call(ChangeState, f'{node}/change_state', request).success)

    def set_parameter(self, node: str, name: str, value: Any) -> SetParametersResult:
        request = SetParameters.Request()
        request.parameters = [Parameter(name, value=value).to_parameter_msg()]
        results: list[SetParametersResult]
        results = self.call(SetParameters, f'{node}/set_parameters', request).results
        return results[0]

    def get_parameter(self, node: str, name: str) -> Any:
        response = self.call(
            GetParameters, f'{node}/get_parameters', GetParameters.Request(names=[name])
        )
        return parameter_value_to_python(response.values[0])

    def describe_parameter(self, node: str, name: str) -> ParameterDescriptor:
        response = self.call(
            DescribeParameters,
            f'{node}/describe_parameters',
            DescribeParameters.Request(names=[name]),
        )
        descriptors: list[ParameterDescriptor] = response.descriptors
        return descriptors[0]

    def diagnostics(self) -> dict[str, DiagnosticStatus]:
        """Listen to /diagnostics: the last status of each name, kept up to date."""
        last: dict[str, DiagnosticStatus] = {}

        def keep(array: DiagnosticArray) -> None:
            last.update({status.name: status for status in array.status})

        self.node.create_subscription(DiagnosticArray, '/diagnostics', keep, 100)
        return last
