# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A small real node that shows all that the base offers; the tests run it as a process."""

import sys
import time
from collections.abc import Sequence

from std_msgs.msg import Float64, String
from std_srvs.srv import Trigger

from drex_ros.nodes.base import ConfigurationError, ManagedNode, Parameter, run
from drex_ros.nodes.diagnostics import Level, Status


class ExampleNode(ManagedNode):
    """Scales the numbers on `input` and publishes them on `output`; ticks on `tick`."""

    NAME = 'example'
    PARAMETERS = (
        Parameter('rate', 50.0, 'ticks per second', unit='Hz', range=(1.0, 1000.0)),
        Parameter('gain', 2.0, 'factor from input to output', range=(-10.0, 10.0)),
        Parameter('count', 3, 'a whole number', range=(0, 10)),
        Parameter('mode', 'plain', 'what to do', choices=('plain', 'fancy')),
        Parameter(
            'arm.stiffness',
            [10.0, 20.0, 30.0],
            'joint stiffness',
            unit='N m/rad',
            size=3,
            range=(0.0, 100.0),
        ),
        Parameter('names', [], 'names to greet', kind='str[]'),
        Parameter('seed', 7, 'seed of the noise', read_only=True),
        Parameter('configure_time', 0.0, 'time that configure takes', unit='s', range=(0.0, 60.0)),
        Parameter('refuse', '', 'hook that refuses', choices=('', 'configure', 'activate')),
        Parameter(
            'crash',
            '',
            'where to raise',
            choices=('', 'configure', 'activate', 'deactivate', 'cleanup', 'callback', 'timer'),
        ),
    )

    def configure(self) -> None:
        self.say('configure')
        end = time.monotonic() + self.params.configure_time
        while time.monotonic() < end:
            time.sleep(0.01)
        self.output = self.create_lifecycle_publisher(Float64, 'output', 10)
        self.words = self.create_lifecycle_publisher(String, 'words', 10)
        self.monitored_subscription(
            Float64, 'input', self.on_input, 10, expected_rate=20.0, stale_after=0.5
        )
        self.monitored_timer(1.0 / self.params.rate, self.on_timer, name='tick')
        self.monitored_service(Trigger, 'greet', self.on_greet)
        self.fail_if('configure')

    def activate(self) -> None:
        self.say('activate')
        self.words.publish(String(data='activated'))
        self.fail_if('activate')

    def deactivate(self) -> None:
        self.say('deactivate')
        self.words.publish(String(data='deactivated'))
        self.fail_if('deactivate')

    def cleanup(self) -> None:
        self.say('cleanup')
        self.fail_if('cleanup')

    def diagnose(self) -> Sequence[Status]:
        return (
            Status('', Level.OK, f'gain is {self.params.gain:g}', {'gain': self.params.gain}),
            Status('battery', Level.WARN, 'half full', {'charge [%]': '50'}),
        )

    def parameters_changed(self, names: frozenset[str]) -> None:
        self.say('changed ' + ' '.join(f'{name}={self.params[name]}' for name in sorted(names)))

    def on_input(self, message: Float64) -> None:
        self.fail_if('callback')
        self.output.publish(Float64(data=self.params.gain * message.data))

    def on_timer(self) -> None:
        self.fail_if('timer')

    def on_greet(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.say('greeting')
        time.sleep(0.3)
        response.success = True
        response.message = 'hello ' + ', '.join(self.params.names)
        return response

    def fail_if(self, place: str) -> None:
        if self.params.refuse == place:
            raise ConfigurationError(f'{place} refused, as asked by parameter refuse')
        if self.params.crash == place:
            raise ZeroDivisionError(f'broken in {place}')

    def say(self, text: str) -> None:
        print(text, flush=True)


class LoopNode(ManagedNode):
    """Answers `question` from a loop of its own, as a simulator in lockstep does."""

    NAME = 'loop'
    PARAMETERS = (Parameter('offset', 1.0, 'added to each number'),)

    def configure(self) -> None:
        self.steps = 0
        self.answer = self.create_lifecycle_publisher(Float64, 'answer', 10)
        self.question = self.polled_subscription(Float64, 'question', 10)
        self.monitored_service(Trigger, 'count', self.on_count)

    def activate(self) -> None:
        print('activate', flush=True)

    def step(self) -> None:
        self.steps += 1
        message = self.question.wait(0.02)
        if message is not None:
            self.answer.publish(Float64(data=message.data + self.params.offset))

    def deactivate(self) -> None:
        print('deactivate', flush=True)

    def on_count(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        response.message = str(self.steps)
        return response


if __name__ == '__main__':
    loop = 'loop' in sys.argv
    sys.exit(run(LoopNode if loop else ExampleNode, [a for a in sys.argv[1:] if a != 'loop']))
