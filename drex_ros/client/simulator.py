# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated robot, seen from a script: what only a simulator can do.

    from drex_ros.client import Fault, Simulator

    with Simulator() as simulator:
        simulator.reset(thing='mug', mass=0.3, seed=7)
        simulator.inject_fault(Fault.REFLEX)
        print(simulator.truth().object_pose)

For tests, evaluation and demonstrations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sensor_msgs.msg import Image
from std_srvs.srv import SetBool

from drex_interfaces.msg import GroundTruth
from drex_interfaces.srv import InjectFault, MockReset, MockStep
from drex_ros.client.connection import PATIENCE, Connection, DrexError
from drex_ros.hardware.faults import FaultKind as Fault
from drex_ros.nodes.conversions import QUEUED, seconds
from drex_ros.robot.joints import N_JOINTS, Array


@dataclass(frozen=True)
class Pictures:
    """Pictures that came in a while, colour and depth."""

    colour: list[Image]
    depth: list[Image]


class Simulator(Connection):
    """The simulated robot of a running stack, seen from a script.

    Args:
        namespace: the namespace the stack was launched in; '' for none.
        name: name of this client's node.
    """

    def __init__(self, namespace: str = '', *, name: str = 'drex_simulator') -> None:
        super().__init__(namespace, name)
        node = self._node
        self._truth: GroundTruth | None = None
        self._begin = 0.0  # [s] of the last reset
        self._listen(GroundTruth, 'mock/ground_truth', self._on_truth, 10)
        self._reset = node.create_client(MockReset, 'mock/reset')
        self._pause = node.create_client(SetBool, 'mock/pause')
        self._step = node.create_client(MockStep, 'mock/step')
        self._inject = node.create_client(InjectFault, 'mock/inject_fault')
        self._start()

    def reset(
        self,
        posture: Sequence[float] | np.ndarray | None = None,
        *,
        thing: str = '',
        position: Sequence[float] | None = None,
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        mass: float = 0.0,
        friction: float = 0.0,
        finger_friction: float = 0.0,
        seed: int = 0,
        timeout: float = 4 * PATIENCE,
    ) -> None:
        """Put robot and object into a known state.

        Args:
            posture: 23 joint positions [rad]; None: home.
            thing: object of the library, or path of its file; empty: none.
            position: of the object in the world [m]; None: its place in the scene.
            quaternion: of the object, x y z w; used when a position is given.
            mass: of the object [kg]; 0: its own.
            friction: of object and table; 0: its own.
            finger_friction: of object and robot; 0: its own.
            seed: of every random number from here on; 0: go on with the present ones.
            timeout: wall time to wait [s]; a new mesh may have to be cut into convex parts.
        """
        _check('seed', seed, 0, 2**63 - 1)
        for name, values, size in (
            ('posture', posture, N_JOINTS),
            ('position', position, 3),
            ('quaternion', quaternion, 4),
        ):
            if values is not None and len(values) != size:
                raise DrexError(f'{name} has {len(values)} numbers, must have {size}')
        request = MockReset.Request(
            object=thing,
            object_mass=mass,
            object_friction=friction,
            finger_friction=finger_friction,
            seed=seed,
            use_object_pose=position is not None,
        )
        if posture is not None:
            request.joint_position = [float(value) for value in posture]
        if position is not None:
            place, turn = request.object_pose.position, request.object_pose.orientation
            place.x, place.y, place.z = (float(value) for value in position)
            turn.x, turn.y, turn.z, turn.w = (float(value) for value in quaternion)
        response = self._call(self._reset, request, timeout)
        with self._changed:
            self._begin = seconds(response.header.stamp)
            if self._truth is not None and seconds(self._truth.header.stamp) < self._begin:
                self._truth = None

    def pause(self, paused: bool = True, timeout: float = PATIENCE) -> None:
        """Stop the time of the simulator, or let it go on."""
        self._call(self._pause, SetBool.Request(data=paused), timeout)

    def step(self, cycles: int, timeout: float = 12 * PATIENCE) -> float:
        """Run control cycles of a paused simulator; the simulated time after them [s]."""
        _check('cycles', cycles, 1, 2**32 - 1)
        response = self._call(self._step, MockStep.Request(cycles=cycles), timeout)
        time = seconds(response.header.stamp)
        with self._changed:
            if self._truth is not None and seconds(self._truth.header.stamp) < time:
                self._truth = None
        return time

    def inject_fault(
        self,
        fault: Fault,
        *,
        joint: str = '',
        magnitude: float = 0.0,
        duration: float = 0.0,
        timeout: float = PATIENCE,
    ) -> None:
        """Make the robot fail; Fault.NONE ends every fault.

        Args:
            fault: what fails.
            joint: its name, for faults of one joint.
            magnitude: how much, as drex_interfaces/InjectFault says for each.
            duration: simulated time until it is over [s]; 0: until it is ended.
            timeout: wall time to wait [s].
        """
        try:
            fault = Fault(fault)
        except ValueError:
            names = ', '.join(kind.name for kind in Fault)
            raise DrexError(f'no fault {fault!r}; there are: {names}') from None
        request = InjectFault.Request(
            fault=int(fault), joint=joint, magnitude=magnitude, duration=duration
        )
        self._call(self._inject, request, timeout)
        self._truth = None  # it was before the fault

    def truth(self, timeout: float = PATIENCE) -> GroundTruth:
        """The newest mock/ground_truth that was not given before; waits for one."""

        def take() -> GroundTruth | None:
            newest, self._truth = self._truth, None
            return newest

        return self._wait_for(
            take, timeout, 'mock/ground_truth', lambda: self._nobody('mock/ground_truth')
        )

    def object_position(self, timeout: float = PATIENCE) -> Array:
        """Where the object is [m], shape (3,)."""
        place = self.truth(timeout).object_pose.position
        return np.array((place.x, place.y, place.z))

    def pictures(self, count: int, timeout: float = 6 * PATIENCE) -> Pictures:
        """Wait for a number of pictures of the camera, colour and depth each.

        None of them was taken before the last reset().
        """
        colour: list[Image] = []
        depth: list[Image] = []

        def keep(images: list[Image], image: Image) -> None:
            if seconds(image.header.stamp) >= self._begin:
                images.append(image)

        topics = {'camera/color': colour, 'camera/aligned_depth_to_color': depth}
        listeners = [
            self._listen(Image, f'{topic}/image_raw', partial(keep, images), QUEUED)
            for topic, images in topics.items()
        ]
        try:
            self._wait_for(
                lambda: min(len(colour), len(depth)) >= count or None,
                timeout,
                f'{count} pictures',
                lambda: f'{len(colour)} in colour and {len(depth)} of depth came',
            )
        finally:
            self._ignore(*listeners)
        return Pictures(colour, depth)

    def _on_truth(self, message: GroundTruth) -> None:
        self._truth = message


def _check(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise DrexError(f'{name} is {value}, must be in {least} .. {most}')
