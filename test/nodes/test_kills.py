# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Who commands dies, or says stop: the robot holds in time, and goes on without a jump."""

from collections.abc import Callable
from typing import Any

import kills
import numpy as np
from rclpy.action import ActionClient
from safety_lab import Lab

from drex_interfaces.action import Move
from drex_interfaces.msg import ControllerStatus, ControllerTarget, RobotState
from drex_interfaces.srv import InjectFault
from drex_ros.robot.joints import ARM, HOME

STOPPED = ControllerStatus.STATE_STOPPED
MOCK = kills.MOCK  # of the lab


def test_nobody_is_missed_for_long(lab: Lab) -> None:
    run = kills.Kills(lab, seed=3)
    run.run(list(kills.NAMES) * 2)
    lab.processes.pop(kills.SENDER).kill()
    print(run.table())
    assert run.problems == []
    lab.trigger('recover')


def aim(turn: float) -> ControllerTarget:
    arm = HOME[ARM].copy()
    arm[6] += turn
    return ControllerTarget(source='test', arm_mode=1, arm_position=arm.tolist())


def start_move(lab: Lab) -> None:
    client = ActionClient(lab.ros.node, Move, 'move')
    lab.wait(client.server_is_ready, 'the action')
    goal = Move.Goal(source='test', speed=0.1)
    goal.arm_position = (HOME[ARM] + 0.3).tolist()
    future = client.send_goal_async(goal)

    def moving() -> bool:
        lab.ros.executor.spin_once(timeout_sec=0.0)
        return future.done() and lab.watch.status.state == ControllerStatus.STATE_MOVING

    lab.wait(moving, 'the move')
    client.destroy()  # else its topics stay in the graph, for other tests to see


def trip(lab: Lab) -> None:
    lab.watch.reflexes_expected = True
    lab.inject(InjectFault.Request.FAULT_REFLEX)
    lab.wait(lambda: lab.watch.last.mode == RobotState.MODE_REFLEX, 'the reflex')


def test_stop_works_from_any_state_and_recover_moves_nothing(lab: Lab) -> None:
    ways: dict[str, Callable[[], Any]] = {
        'holding': lambda: None,
        'tracking': lambda: lab.send(aim(0.5)),
        'moving': lambda: start_move(lab),
        'stopped': lambda: lab.trigger('stop'),
        'reflex': lambda: trip(lab),
    }
    for name, bring_about in ways.items():
        lab.reset()
        bring_about()
        lab.run(0.2)
        lab.trigger('stop')
        lab.run(0.1)
        assert lab.watch.status.state == STOPPED, name
        assert lab.watch.last.mode != RobotState.MODE_EFFORT, name
        assert 'call controller/recover first' in lab.send(aim(0.1)).reason
        lab.run(0.5)
        np.testing.assert_allclose(lab.watch.last.velocity, 0.0, atol=0.05, err_msg=name)
        still = lab.watch.last.position.copy()
        lab.trigger('recover')
        lab.wait_for_control()
        lab.run(0.5)
        assert lab.watch.status.state == ControllerStatus.STATE_HOLDING, name
        np.testing.assert_allclose(lab.watch.last.position, still, atol=0.01, err_msg=name)
        assert lab.send(aim(0.1)).reason == '', name
    assert lab.watch.counted('stop') >= len(ways)


def test_recover_after_a_reflex_in_motion(lab: Lab) -> None:
    """At once, while the arm still moves: it comes to rest where it is."""
    for turn in (1.0, -1.0, 1.0):
        target = aim(turn)
        target.arm_position[0] += turn
        lab.send(target)
        lab.run(0.4)
        trip(lab)
        lab.trigger('recover')
        lab.wait_for_control()
        lab.run(0.6)
        np.testing.assert_allclose(lab.watch.last.velocity, 0.0, atol=0.05)
    assert lab.watch.counted('robot') >= 3
