# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A short soak of the simulated robot's node; bench/soak_nodes.py runs it with the camera."""

import os
import signal

import pytest
from mischief import SoakError
from soak_count import RefusalCount
from soak_nodes import Nodes
from soak_player import Player

from drex_ros.robot.joints import HOME
from drex_ros.robot.state import RobotMode, RobotState


def test_random_commands_faults_and_resets(ros_domain):
    with Nodes(camera=False) as nodes, Player(seed=1) as player:
        player.run(15.0, lambda share: nodes.check())
        player.rest()
        nodes.end()
    events = player.events
    assert events['states with a known count'] > events['states'] / 3
    assert events['refusals known and counted'] > 20
    assert {'illegal', 'heard'} <= {name.split(':')[0] for name in events + player.heard}


def test_finds_a_node_that_ends(ros_domain):
    with Nodes(camera=False) as nodes, Player(seed=2) as player:
        player.run(0.2)
        process = nodes.processes['mock_hardware']
        process.send_signal(signal.SIGINT)
        process.wait()
        with pytest.raises(SoakError, match='mock_hardware ended with exit code 0'):
            nodes.end()
    assert not os.path.exists(f'/proc/{process.pid}')


def state(sequence, refused, reason=''):
    return RobotState(
        sequence * 0.002, sequence, RobotMode.HOLD, reason, HOME, HOME, HOME, HOME, refused
    )


@pytest.fixture
def count():
    """A count that knows: the robot has recovered in state 1, with 5 commands refused before."""
    found = RefusalCount(patience=0.5)
    for _ in range(10):
        found.sent(must_refuse=False, recovers=True)
    assert found.check(state(1, 5, 'recovered'), state(0, 5), heard_at=0.0) == ''
    assert found.known
    return found


@pytest.mark.parametrize(
    ('must_refuse', 'refused', 'problem'),
    [
        (True, 6, ''),
        (False, 5, ''),
        (True, 5, '0 refusals counted after one illegal command'),
        (False, 6, '1 refusals counted after one legal command'),
        (True, 7, '2 refusals counted after one illegal command'),
        (False, 4, 'commands_refused shrinks by 1'),
    ],
)
def test_counts_exactly(count, must_refuse, refused, problem):
    count.sent(must_refuse=must_refuse, recovers=False)
    assert count.check(state(2, refused), state(1, 5), heard_at=0.0) == problem


def test_counts_no_more_than_was_sent_while_the_line_fails(count):
    count.line_fails(until=1.0, delay=0.0)
    assert count.check(state(2, 5), state(1, 5), heard_at=0.0) == ''
    assert not count.known
    count.sent(must_refuse=False, recovers=False)
    assert count.check(state(3, 6), state(2, 5), heard_at=0.0) == ''
    problem = count.check(state(4, 7), state(3, 6), heard_at=0.0)
    assert problem == '2 refusals counted after 1 commands'


def test_knows_nothing_after_a_gap_until_the_robot_recovers(count):
    count.sent(must_refuse=True, recovers=False)
    assert count.check(state(4, 5), state(1, 5), heard_at=0.0) == ''
    assert not count.known
    count.sent(must_refuse=False, recovers=True)
    assert count.check(state(5, 5, 'recovered'), state(4, 5), heard_at=0.0) == ''
    assert count.known
