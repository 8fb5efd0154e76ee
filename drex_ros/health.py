# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Health of the whole stack, from the last words of its nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Level(IntEnum):
    """How well a node is (numbers as in diagnostic_msgs/DiagnosticStatus)."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


class SystemLevel(IntEnum):
    """How well the stack is (numbers as in drex_interfaces/SystemStatus)."""

    STARTING = 0
    OK = 1
    DEGRADED = 2
    FAILED = 3


@dataclass(frozen=True)
class Word:
    """The last word of one node."""

    time: float
    """When it was heard [s], steady clock."""
    level: Level
    state: str
    """Lifecycle state; empty for a node that has none."""
    message: str
    """What is wrong; empty when nothing is."""


@dataclass(frozen=True)
class NodeHealth:
    """How one node is."""

    name: str
    level: Level
    state: str
    message: str
    age: float
    """Time since its last word [s]; infinite when never heard."""


@dataclass(frozen=True)
class SystemHealth:
    """How the stack is: expected nodes first, in their order."""

    level: SystemLevel
    message: str
    nodes: tuple[NodeHealth, ...]


@dataclass(frozen=True)
class HealthRules:
    """When silence is a failure."""

    silent_after: float
    """A node that was heard before has failed after this much silence [s]."""
    start_timeout: float
    """A node that was never heard has failed after this time [s]."""


def worst_word(time: float, state: str, statuses: Iterable[tuple[Level, str]]) -> Word:
    """One word of a node from the (level, message) of all its statuses; the worst one speaks."""
    # An error is worse than silence of an input, whatever the numbers say.
    order = (Level.OK, Level.WARN, Level.STALE, Level.ERROR)
    worst, text = Level.OK, ''
    for level, message in statuses:
        if order.index(level) > order.index(worst):
            worst, text = level, message
    return Word(time, worst, state, text)


def assess(
    expected: Sequence[str],
    words: Mapping[str, Word],
    now: float,
    started: float,
    rules: HealthRules,
) -> SystemHealth:
    """Judge the stack.

    Args:
        expected: names of the nodes that must be there.
        words: the last word of each node heard, by name.
        now: time of the judgement [s], steady clock.
        started: since when nodes are listened to [s].
        rules: when silence is a failure.
    """
    judged = [_judge(name, words.get(name), now, started, rules) for name in expected]
    level = max((system for system, _ in judged if system is not SystemLevel.OK), default=None)
    nodes = [health for _, health in judged]
    for name in sorted(set(words) - set(expected)):
        if words[name].state == 'finalized':
            continue  # it came and went as it liked
        system, health = _judge(name, words[name], now, started, rules)
        nodes.append(health)
        # The stack can do without it; that it is not well is worth a word.
        if system is not SystemLevel.OK and level is None:
            level = SystemLevel.DEGRADED
            judged.append((level, health))
    if level is None:
        return SystemHealth(SystemLevel.OK, f'all {len(expected)} nodes are well', tuple(nodes))
    guilty = [health for system, health in judged if system is level]
    message = f'{guilty[0].name}: {guilty[0].message}'
    if len(guilty) > 1:
        message += f' (and {len(guilty) - 1} more: {", ".join(h.name for h in guilty[1:])})'
    return SystemHealth(level, message, tuple(nodes))


def _judge(
    name: str, word: Word | None, now: float, started: float, rules: HealthRules
) -> tuple[SystemLevel, NodeHealth]:
    if word is None:
        waited = now - started
        late = waited > rules.start_timeout
        level = Level.STALE if late else Level.OK
        message = f'not heard for {waited:.1f} s' if late else 'not heard yet'
        system = SystemLevel.FAILED if late else SystemLevel.STARTING
        return system, NodeHealth(name, level, '', message, math.inf)
    age = now - word.time
    if word.state == 'finalized':
        system, level, message = SystemLevel.FAILED, Level.STALE, 'has shut down'
    elif age > rules.silent_after:
        system, level, message = SystemLevel.FAILED, Level.STALE, f'silent for {age:.1f} s'
    elif word.state not in ('active', ''):
        system, level, message = SystemLevel.STARTING, word.level, f'is {word.state}, not active'
    elif word.level is Level.OK:
        system, level, message = SystemLevel.OK, word.level, word.message
    else:
        failed = word.level is Level.ERROR
        system = SystemLevel.FAILED if failed else SystemLevel.DEGRADED
        level, message = word.level, word.message
    return system, NodeHealth(name, level, word.state, message, age)
