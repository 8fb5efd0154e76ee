# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The action `move` of the controller: plans between two states, then watches the way.

Planning takes tens of milliseconds and the robot waits for no one, so one small slice of it runs
after each answered state. A goal ends with a result that says why, also when it is refused: ROS
has no reason for a goal that is not accepted, so every goal is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rclpy.action.server import ActionServer, CancelResponse

from drex_interfaces.action import Move as MoveAction
from drex_ros.control.controller import Controller
from drex_ros.control.move import Move
from drex_ros.control.move_planning import MoveGoal, MovePlanner, Planning
from drex_ros.control.target_checks import pose_refusal
from drex_ros.control.targets import BASE_FRAMES, FRAMES
from drex_ros.control.trajectory import Motion, Trajectory, TrajectoryError, retime
from drex_ros.nodes.controller_messages import pose
from drex_ros.robot.rotations import rotation_matrix

if TYPE_CHECKING:
    from drex_ros.nodes.base import ManagedNode

DEFAULT_SOURCE = 'move'
_FEEDBACK_PERIOD = 0.05  # [s] of the robot's time


@dataclass
class _Goal:
    """A goal on its way, from its arrival to its result."""

    handle: Any
    source: str
    planning: Planning | None = None
    move: Move | None = None
    told: float = -math.inf
    """When feedback was given last [s]."""


class MoveServer:
    """Serves `move` for a controller."""

    def __init__(self, node: ManagedNode, speed: float) -> None:
        """Offer the action; speed is what a goal without one moves with."""
        self._node = node
        self._speed = speed
        self._controller: Controller | None = None
        self._goal: _Goal | None = None
        self._server = ActionServer(
            node,
            MoveAction,
            'move',
            execute_callback=lambda handle: None,
            handle_accepted_callback=self._on_goal,
            cancel_callback=lambda handle: CancelResponse.ACCEPT,
        )

    def serve(self, controller: Controller | None, planner: MovePlanner | None) -> None:
        """Move this controller from now on; None: the node is not active."""
        if self._goal is not None:
            self._finish(self._goal, 'the controller was deactivated')
        self._controller, self._planner = controller, planner

    def step(self, time: float) -> None:
        """Do a little; to be called after each answered state, with its time [s]."""
        goal = self._goal
        if goal is None:
            return
        controller = self._controller
        assert controller is not None
        if goal.handle.is_cancel_requested:
            controller.cancel_move('cancelled')
            self._finish(goal, 'cancelled')
        elif goal.planning is not None:
            self._plan(goal, controller)
        elif goal.move is not None:
            if goal.move.over:
                self._finish(goal, goal.move.failure)
            elif time - goal.told >= _FEEDBACK_PERIOD:
                goal.told = time
                self._tell(goal)

    def _on_goal(self, handle: Any) -> None:
        goal = _Goal(handle, handle.request.source or DEFAULT_SOURCE)
        controller = self._controller
        if controller is None or controller.terms is None:
            self._finish(goal, 'the controller is not active, or has no robot state yet')
            return
        try:
            wanted = _move_goal(handle.request, controller, self._speed)
        except ValueError as error:
            self._finish(goal, str(error))
            return
        reason = controller.move_refusal(goal.source)
        if reason:
            self._finish(goal, reason)
            return
        if self._goal is not None:
            # Its move goes on while the next is planned, so that the robot does not halt.
            self._finish(self._goal, 'another move took its place')
        self._goal = goal
        assert self._planner is not None
        goal.planning = self._planner.plan(_set_point(controller), wanted)

    def _plan(self, goal: _Goal, controller: Controller) -> None:
        assert goal.planning is not None
        try:
            next(goal.planning)
            return
        except StopIteration as end:
            found: Trajectory | str = end.value
        goal.planning = None
        if isinstance(found, Trajectory):
            try:
                # The set-point may have moved on since the planning began.
                found = retime(found, _set_point(controller))
            except TrajectoryError as error:
                found = str(error)
        if isinstance(found, Trajectory):
            reason = controller.start_move(found, goal.source)
            if not reason:
                goal.move = controller.move
                return
            found = reason
        controller.cancel_move('the move that should follow was refused')
        self._finish(goal, found)

    def _tell(self, goal: _Goal) -> None:
        assert goal.move is not None
        feedback = MoveAction.Feedback()
        feedback.header = self._node.last_header  # type: ignore[attr-defined]
        feedback.progress = goal.move.progress
        feedback.remaining = goal.move.remaining
        goal.handle.publish_feedback(feedback)

    def _finish(self, goal: _Goal, failure: str) -> None:
        """Give a goal its result: arrived when there is no failure."""
        result = MoveAction.Result(success=not failure, message=failure or 'arrived')
        result.position_error = math.nan
        controller = self._controller
        if goal.move is not None and controller is not None and controller.terms is not None:
            result.duration = goal.move.elapsed
            place = controller.palm_position_at(goal.move.trajectory.goal)
            result.position_error = float(np.linalg.norm(controller.terms.palm_position - place))
        if self._goal is goal:
            self._goal = None

        def conclude(handle: Any) -> Any:
            if not failure:
                handle.succeed()
            elif handle.is_cancel_requested:
                handle.canceled()
            else:
                handle.abort()
            return result

        if failure:
            self._node.get_logger().warning(f'move of {goal.source!r}: {failure}')
        goal.handle.execute(conclude)
        self._node.serve_soon()


def _set_point(controller: Controller) -> Motion:
    arm, hand = controller.arm.joints, controller.hand.joints
    return Motion(
        np.concatenate((arm.position, hand.position)),
        np.concatenate((arm.velocity, hand.velocity)),
        np.concatenate((arm.acceleration, hand.acceleration)),
    )


def _move_goal(request: Any, controller: Controller, speed: float) -> MoveGoal:
    """The goal of a request. Raises ValueError for what is wrong in it."""
    hand = np.array(request.hand_position) if len(request.hand_position) else None
    share = request.speed if request.speed != 0.0 else speed
    arm = np.array(request.arm_position) if len(request.arm_position) else None
    if request.goal_type == MoveAction.Goal.GOAL_JOINT:
        if arm is None and hand is None:
            raise ValueError('neither arm_position nor hand_position is given')
        return MoveGoal(arm=arm, hand=hand, straight=request.straight, speed=share)
    if request.goal_type != MoveAction.Goal.GOAL_CARTESIAN:
        raise ValueError(f'goal_type is {request.goal_type}, must be 0 (joint) or 1 (Cartesian)')
    frame, wanted = request.arm_pose.header.frame_id, pose(request.arm_pose.pose)
    if frame not in FRAMES:
        raise ValueError(f'frame_id is {frame!r}, must be one of: {", ".join(FRAMES[1:])}')
    if arm is not None:
        raise ValueError('arm_position given with GOAL_CARTESIAN: leave it empty')
    if reason := pose_refusal('arm_pose', wanted):
        raise ValueError(reason)
    place = wanted.position
    turn = rotation_matrix(wanted.quaternion / np.linalg.norm(wanted.quaternion))
    if frame not in BASE_FRAMES:
        terms = controller.terms
        assert terms is not None
        place = terms.palm_position + terms.palm_rotation @ place
        turn = terms.palm_rotation @ turn
    return MoveGoal(
        palm_position=place,
        palm_orientation=turn,
        straight=request.straight,
        hand=hand,
        speed=share,
    )
