# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the last words of the nodes say about the stack."""

import math

import pytest

from drex_ros.health import (
    HealthRules,
    Level,
    SystemLevel,
    Word,
    assess,
    worst_word,
)

RULES = HealthRules(silent_after=2.5, start_timeout=10.0)
EXPECTED = ('mock_hardware', 'controller')


def word(time=100.0, level=Level.OK, state='active', message=''):
    return Word(time, level, state, message)


def judge(words, now=100.5, started=90.0, expected=EXPECTED):
    return assess(expected, words, now, started, RULES)


def test_all_well():
    health = judge({'mock_hardware': word(), 'controller': word()})
    assert (health.level, health.message) == (SystemLevel.OK, 'all 2 nodes are well')
    assert [node.name for node in health.nodes] == list(EXPECTED)
    assert health.nodes[0].age == pytest.approx(0.5)


@pytest.mark.parametrize(
    ('bad', 'level', 'message'),
    [
        (word(97.3), SystemLevel.FAILED, 'mock_hardware: silent for 3.2 s'),
        (word(state='finalized'), SystemLevel.FAILED, 'mock_hardware: has shut down'),
        (word(state='inactive'), SystemLevel.STARTING, 'mock_hardware: is inactive, not active'),
        (word(level=Level.WARN, message='low'), SystemLevel.DEGRADED, 'mock_hardware: low'),
        (word(level=Level.STALE, message='old'), SystemLevel.DEGRADED, 'mock_hardware: old'),
        (word(level=Level.ERROR, message='hot'), SystemLevel.FAILED, 'mock_hardware: hot'),
    ],
)
def test_one_is_not_well(bad, level, message):
    health = judge({'mock_hardware': bad, 'controller': word()})
    assert (health.level, health.message) == (level, message)


def test_never_heard_is_starting_then_failed():
    words = {'controller': word(95.0)}
    health = judge(words, now=95.5)
    assert (health.level, health.message) == (
        SystemLevel.STARTING,
        'mock_hardware: not heard yet',
    )
    assert health.nodes[0].age == math.inf
    health = judge({'controller': word(101.0)}, now=101.0)
    assert (health.level, health.message) == (
        SystemLevel.FAILED,
        'mock_hardware: not heard for 11.0 s',
    )


def test_the_worst_speaks_and_the_others_are_named():
    health = judge({'mock_hardware': word(90.0), 'controller': word(level=Level.WARN)})
    assert health.level is SystemLevel.FAILED
    assert health.message == 'mock_hardware: silent for 10.5 s'
    health = judge({'mock_hardware': word(90.0), 'controller': word(90.0)})
    assert health.message == 'mock_hardware: silent for 10.5 s (and 1 more: controller)'


def test_nodes_that_nobody_expects_cannot_fail_the_stack():
    words = {name: word() for name in EXPECTED}
    health = judge({**words, 'extra': word(50.0)})
    assert health.level is SystemLevel.DEGRADED
    assert health.message == 'extra: silent for 50.5 s'
    assert [node.name for node in health.nodes] == [*EXPECTED, 'extra']
    health = judge({**words, 'controller': word(state='inactive'), 'extra': word(50.0)})
    assert health.level is SystemLevel.STARTING


def test_nodes_without_a_lifecycle_count_as_active():
    words = {'mock_hardware': word(state=''), 'controller': word()}
    assert judge(words).level is SystemLevel.OK


def test_unexpected_nodes_that_shut_down_are_forgotten():
    words = {name: word() for name in EXPECTED}
    health = judge({**words, 'extra': word(50.0, state='finalized')})
    assert (health.level, len(health.nodes)) == (SystemLevel.OK, 2)


def test_nothing_expected_is_well():
    assert judge({}, expected=()).level is SystemLevel.OK


def test_worst_status_of_a_node():
    statuses = [
        (Level.OK, 'fine'),
        (Level.ERROR, 'broken'),
        (Level.STALE, 'silent'),
    ]
    assert worst_word(1.0, 'active', statuses) == word(1.0, Level.ERROR, message='broken')
    assert worst_word(1.0, 'active', statuses[:1]) == word(1.0)
