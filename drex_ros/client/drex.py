# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot and its controller, seen from a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

import numpy.typing as npt
from std_srvs.srv import Trigger

from drex_interfaces.action import Move
from drex_interfaces.msg import ControllerStatus, ControllerTarget
from drex_interfaces.srv import Detect
from drex_ros.client.connection import PATIENCE, DrexError
from drex_ros.client.detections import DetectResult
from drex_ros.client.hand import Hand
from drex_ros.client.moves import Goal, MoveResult
from drex_ros.client.observer import Observer
from drex_ros.client.targets import TargetFields, target_message
from drex_ros.nodes.conversions import NEWEST
from drex_ros.nodes.tracker_messages import estimate


class Drex(Observer):
    """The running stack, seen from a script.

    Args:
        namespace: the namespace the stack was launched in; '' for none.
        name: name of this client's node, and the source of its targets and moves: shown where
            those of another are refused.
    """

    def __init__(self, namespace: str = '', *, name: str = 'drex_client') -> None:
        super().__init__(namespace, name)
        self.hand = Hand(self)
        """The fingers: open, close, forces."""
        node = self._node
        self._targets = node.create_publisher(ControllerTarget, 'controller/target', NEWEST)
        self._stop = node.create_client(Trigger, 'controller/stop')
        self._recover = node.create_client(Trigger, 'controller/recover')
        self._tare = node.create_client(Trigger, 'controller/tare')
        self._detect = node.create_client(Detect, 'tracker/detect')
        self._move = self._action_client(Move, 'move')
        self._start()

    def move_to(
        self,
        *,
        arm: npt.ArrayLike | None = None,
        hand: npt.ArrayLike | None = None,
        position: npt.ArrayLike | None = None,
        quaternion: npt.ArrayLike | None = None,
        rotation: npt.ArrayLike | None = None,
        frame: str = '',
        straight: bool = False,
        speed: float | None = None,
        timeout: float = 60.0,
        on_progress: Callable[[float, float], None] | None = None,
    ) -> MoveResult:
        """Move on a smooth, collision-free path, and wait until the robot is there.

        A goal is a posture of the arm or a pose of the palm, with or without one of the hand.
        A goal that is refused, a move that is stopped, blocked or replaced by another, raises a
        DrexError that says why. When this call ends before the move does, by its timeout, an
        interrupt or an error in `on_progress`, the move is cancelled: the robot comes to rest.

        Args:
            arm: joint positions [rad], 7 numbers.
            hand: joint positions [rad], 16 numbers.
            position: of the palm [m], 3 numbers; left out: stays.
            quaternion: of the palm, x y z w; left out: the palm keeps its orientation.
            rotation: of the palm, as a matrix of shape (3, 3) instead.
            frame: of the pose: '' or 'panda_link0' the base of the arm, 'palm_link' the palm
                itself, for a move relative to where it is now.
            straight: the palm keeps to the straight line.
            speed: share of the robot's speed, 0.01 to 1; None: the controller's own.
            timeout: wall time to wait [s].
            on_progress: called in this thread with the share done (0 to 1) and the time to go [s].
        """
        goal = Goal(arm, hand, position, quaternion, rotation, frame, straight, speed)
        goal.message(self.name, None)  # what is wrong in it is said without a controller
        present = self.status(timeout).target_pose

        def tell(feedback: Any) -> None:
            if on_progress is not None:
                on_progress(feedback.progress, feedback.remaining)

        result = self._act(
            self._move,
            'move',
            goal.message(self.name, present),
            timeout,
            on_feedback=tell,
            ended=lambda: self._silent('robot/state') or self._silent('controller/status'),
        )
        if not result.success:
            raise DrexError(f'move: {result.message}')
        return MoveResult(result.position_error, result.duration)

    def set_target(
        self, *, confirm: bool = True, timeout: float = PATIENCE, **fields: Unpack[TargetFields]
    ) -> None:
        """Give the controller a target, or a stream of them; only what is given changes.

        The modes of arm and hand follow from what is given: a pose of the palm, its stiffness,
        damping or wrench make the arm a spring at the palm (MODE_CARTESIAN_IMPEDANCE), joint
        positions springs in the joints, torques neither; `fingertips` make the hand press, and
        every target of the hand without them ends that.

        Args:
            confirm: wait until the target is accepted, and raise a DrexError when it is refused;
                False: send it and return, for streams. What becomes of it is then in status().
            timeout: wall time to wait [s].
            **fields: arm: joint positions [rad], or the preferred posture with a pose, 7 numbers.
                arm_stiffness: of the joints, or of that posture [N m/rad], 7 numbers.
                arm_damping_ratio: 1 is critical.
                arm_effort: joint torques [N m], 7 numbers.
                position, quaternion, rotation, frame: pose of the palm, as for move_to().
                cartesian_stiffness: x y z [N/m], about x y z [N m/rad], in `frame`.
                cartesian_damping: x y z [N s/m], about x y z [N m s/rad], in `frame`.
                wrench: of the palm on the world [N, N m], 6 numbers, in `frame`.
                payload: what the hand carries: mass [kg], and its place in palm_link [m].
                hand: joint positions [rad], 16 numbers.
                hand_stiffness: of the joints [N m/rad], 16 numbers.
                hand_damping_ratio: 1 is critical.
                hand_effort: joint torques [N m], 16 numbers.
                fingertips: by name of the finger, a force towards the middle of the grip [N],
                    or a TipForce. Fingers left out press with nothing.
                finger_force_limit: largest force of any fingertip from now on [N].
                lifetime: the target counts for so long [s of the robot], then the robot holds
                    and, without another, stops; left out: until the next.
                time: when it was decided [s of the robot]; left out: now.
        """
        status = self._statuses[-1] if self._statuses else None
        target = target_message(self.name, fields, status)
        if status is None:
            target = target_message(self.name, fields, self.status(timeout))
        self._wait_for(
            lambda: self._targets.get_subscription_count() or None,
            timeout,
            'the controller',
            lambda: self._nobody('controller/target'),
        )
        with self._changed:
            before, seen = self._statuses[-1], self._statuses_seen
        self._targets.publish(target)
        if not confirm:
            return
        answer = self.wait_for_status(
            lambda status: self._answer(status, before),
            'an answer to controller/target',
            timeout,
            since=seen,
        )
        if answer:
            raise DrexError(answer)

    def detect(self, thing: str = '', *, timeout: float = 4 * PATIENCE) -> DetectResult:
        """Have the tracker look for an object anew, in a picture taken from now on.

        That it is not there is an answer, not an error: see `found` and `message`.

        Args:
            thing: name of an object or its file, which is tracked from then on, found or not;
                empty: the one being tracked. A new one takes some seconds to be loaded.
            timeout: wall time to wait for the answer [s].
        """
        # Before our patience ends the tracker says itself what it lacks.
        request = Detect.Request(object=thing, timeout=0.5 * timeout)
        answer = self._answer_of(self._detect, request, timeout)
        return DetectResult(answer.found, answer.score, answer.message, estimate(answer.track))

    def tare(self, timeout: float = 2 * PATIENCE) -> None:
        """Take the load that the arm bears now, at this posture, for none; takes 1 s at rest.

        Args:
            timeout: wall time to wait until it is done [s].
        """
        seen = self._statuses_seen
        self._trigger(self._tare, timeout)
        begun = False

        def done(status: ControllerStatus) -> bool | None:
            nonlocal begun
            begun |= not status.tared  # the first words may be of an earlier tare
            return True if begun and status.tared else None

        what = 'the tare to be done (does the arm rest?)'
        self.wait_for_status(done, what, timeout, since=seen)

    def stop(self, timeout: float = PATIENCE) -> str:
        """Stop the robot where it is; returns what the controller answers."""
        return self._trigger(self._stop, timeout)

    def recover(self, timeout: float = PATIENCE) -> str:
        """Let the robot move again after a stop; nothing moves by this alone."""
        return self._trigger(self._recover, timeout)

    # Inside

    def _answer(self, status: ControllerStatus, before: ControllerStatus) -> str | None:
        """What the controller says to our target: '' when accepted, why not, None for nothing."""
        # Others may send targets too: only an answer to us counts.
        refused = status.targets_refused != before.targets_refused
        accepted = status.targets_accepted != before.targets_accepted
        if refused and status.reason.startswith(f'target of {self.name!r} refused'):
            return str(status.reason)
        return '' if accepted and status.source == self.name else None

    def _trigger(self, client: Any, timeout: float) -> str:
        return str(self._call(client, Trigger.Request(), timeout).message)
