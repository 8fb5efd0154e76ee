# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One source commands at a time, for as long as its word counts."""

import math

from drex_ros.control.authority import Authority


def test_the_second_is_refused_and_told_who_commands():
    authority = Authority(silence=0.5)
    assert authority.refusal('a', 0.0) == ''
    authority.take('a', 1.0, 0.0)
    assert authority.refusal('a', 1.1) == ''
    assert authority.refusal('b', 1.2) == "'a' commands, its last target is 0.20 s old"
    assert authority.refusal('b', 1.5) == ''
    authority.release()
    assert authority.refusal('b', 1.2) == ''


def test_a_word_counts_for_its_timeout():
    authority = Authority(silence=0.5)
    authority.take('a', 1.0, 0.1)
    assert round(authority.deadline, 9) == 1.1
    authority.take('a', 1.3, 0.0)
    assert authority.deadline == math.inf
