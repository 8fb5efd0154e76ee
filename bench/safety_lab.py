# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A simulated robot with its controller, each a process of its own, watched for limits."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

# Processes and the ROS client are those of the tests.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'test'))

from rclpy.node import Node
from ros_client import RosClient
from ros_harness import Domain, NodeProcess, session_environment
from safety_watch import SafetyWatch
from stack_harness import node_command, node_environment
from std_srvs.srv import Trigger

from drex_interfaces.msg import ControllerStatus, ControllerTarget, RobotState
from drex_interfaces.srv import InjectFault, MockReset

__all__ = [
    'CONTROLLER',
    'ROBOT',
    'START',
    'Lab',
    'NodeProcess',
    'RosClient',
    'node_environment',
    'open_lab',
]

ROBOT, CONTROLLER = 'mock_hardware', 'hybrid_impedance_controller'
START = 600.0
"""Wall time for both nodes to start [s]: kernels are compiled on the first start."""
PATIENCE = 60.0
"""Wall time for anything else [s]."""
# As fast as it goes; the truth of every second cycle. It waits for a controller on a busy machine.
_MOCK = {'real_time_factor': 0.0, 'lockstep_patience': 20.0, 'ground_truth_rate': 250.0}


class Lab:
    """Both nodes as processes, watched. Make it anew for other parameters."""

    def __init__(
        self,
        ros: RosClient,
        start: Callable[..., NodeProcess],
        *,
        mock: Mapping[str, Any] | None = None,
        controller: Mapping[str, Any] | None = None,
    ) -> None:
        self.ros = ros
        self.start_process = start
        self.params = {ROBOT: {**_MOCK, **(mock or {})}, CONTROLLER: dict(controller or {})}
        self.processes: dict[str, NodeProcess] = {}
        self._node = Node('safety_watch', context=ros.context)  # no executor has it
        self.watch = SafetyWatch(self._node)
        self._targets = ros.node.create_publisher(ControllerTarget, 'controller/target', 10)
        self.sent = 0
        for name in self.params:
            self.start(name)
        self.wait_for_control(START)

    def close(self) -> None:
        """Leave the graph; the processes are for others to end."""
        self.ros.node.destroy_publisher(self._targets)
        self._node.destroy_node()

    def start(self, name: str) -> None:
        """Start a node."""
        command = node_command(name, params=self.params[name])
        self.processes[name] = self.start_process(command, env=node_environment())

    def wait(self, predicate: Callable[[], Any], what: str, timeout: float = PATIENCE) -> Any:
        """Watch until something is so, and return it. Both nodes must live on."""
        deadline = time.monotonic() + timeout
        while True:
            heard = self.watch.poll()
            if result := predicate():
                return result
            for name, process in self.processes.items():
                assert process.running, f'{name} ended: {process.output[-2000:]}'
            if time.monotonic() > deadline:
                status = self.watch.status
                raise AssertionError(f'waited {timeout:g} s for {what}; last: {status}')
            if not heard:
                time.sleep(0.001)

    def wait_for_control(self, timeout: float = PATIENCE) -> None:
        """Wait until the controller drives the robot."""
        watch = self.watch
        self.wait(
            lambda: watch.last and watch.last.mode == RobotState.MODE_EFFORT, 'control', timeout
        )
        self.wait(self._targets.get_subscription_count, 'the subscriber of targets')
        self.wait(lambda: watch.status and watch.status.state != 0, 'a status')

    def run(self, duration: float) -> None:
        """Watch for a time of the robot [s]."""
        until = self.watch.time + duration
        self.wait(lambda: self.watch.time >= until, f'{duration:g} s of the robot')

    def wait_for_status(
        self,
        predicate: Callable[[ControllerStatus], Any],
        what: str,
        timeout: float = PATIENCE,
    ) -> ControllerStatus:
        """The first status from the next one on for which something is so."""
        seen = len(self.watch.statuses)

        def found() -> ControllerStatus | None:
            return next((s for s in self.watch.statuses[seen:] if predicate(s)), None)

        status: ControllerStatus = self.wait(found, what, timeout)
        return status

    def call(self, kind: Any, name: str, request: Any = None) -> Any:
        """Call a service, and go on watching meanwhile."""
        client = self.ros.node.create_client(kind, name)
        try:
            self.wait(client.service_is_ready, f'service {name}')
            future = client.call_async(request or kind.Request())

            def done() -> bool:
                self.ros.executor.spin_once(timeout_sec=0.0)
                return bool(future.done())

            self.wait(done, f'the response of {name}')
            return future.result()
        finally:
            self.ros.node.destroy_client(client)

    def trigger(self, name: str) -> None:
        """Call controller/stop, controller/recover or controller/tare."""
        response = self.call(Trigger, f'controller/{name}')
        assert response.success, response.message

    def inject(self, fault: int, magnitude: float = 0.0, duration: float = 0.0) -> None:
        """Let the mock fail."""
        request = InjectFault.Request(fault=fault, magnitude=magnitude, duration=duration)
        response = self.call(InjectFault, 'mock/inject_fault', request)
        assert response.success, response.message

    def send(self, target: ControllerTarget) -> ControllerStatus:
        """Send a target, and return the status that tells what became of it."""
        self.watch.poll()
        status = self.watch.status
        assert status is not None
        before = _handled(status)
        self._targets.publish(target)
        self.sent += 1
        seen = len(self.watch.statuses)

        def answer() -> ControllerStatus | None:
            new = self.watch.statuses[seen:]
            return next((s for s in new if _handled(s) == before + 1), None)

        found: ControllerStatus = self.wait(answer, 'the answer to a target')
        return found

    def start_anew(self) -> None:
        """Home, nothing broken, nothing counted, whatever was before."""
        watch = self.watch
        watch.reflexes_expected = True
        self.inject(InjectFault.Request.FAULT_NONE)
        self.reset()
        watch.problems.clear()
        watch.worst.clear()
        watch.count_from_here()
        watch.reflexes_expected = False

    def reset(self, **fields: Any) -> None:
        """Put the robot to a posture (home by default), and let the controller hold it there."""
        response = self.call(MockReset, 'mock/reset', MockReset.Request(**fields))
        assert response.success, response.message
        self.run(0.02)
        self.trigger('recover')
        self.wait_for_control()
        self.run(0.1)
        holding = ControllerStatus.STATE_HOLDING
        self.wait_for_status(lambda s: s.state == holding, 'the hold after a reset')
        self.watch.forget()
        self.run(0.04)
        self.wait(lambda: self.watch.status, 'a status')


@contextmanager
def open_lab(name: str, **params: Any) -> Iterator[Lab]:
    """A lab in a ROS domain of its own, for a program that is no test. All ends with it."""
    with ExitStack() as stack:
        domain = stack.enter_context(Domain())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for key, value in session_environment(domain, folder).items():
            if value is None:
                os.environ.pop(key, None)
            elif key != 'XDG_CACHE_HOME':  # what was made before is welcome
                os.environ[key] = value
        ros = stack.enter_context(RosClient(name))

        def start(command: list[str], env: dict[str, str]) -> NodeProcess:
            return stack.enter_context(NodeProcess(command, env=env))

        lab = Lab(ros, start, **params)
        stack.callback(lab.close)
        yield lab


def _handled(status: ControllerStatus) -> int:
    return int(status.targets_accepted + status.targets_refused)
