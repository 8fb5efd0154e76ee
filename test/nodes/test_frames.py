# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""When pictures are taken and handed on, and where the physics waits for them."""

import time
from collections import deque

import pytest
from std_msgs.msg import UInt64

from drex_ros.nodes.frames import Frames

CYCLE = 0.002  # [s]
PATIENCE = 60.0  # [s]


class Answers:
    """Stands in for the subscription; the test plays the camera."""

    def __init__(self):
        self.waiting = deque()
        self.waits = 0

    def give(self, *numbers):
        self.waiting.extend(UInt64(data=number) for number in numbers)

    def take(self):
        return self.waiting.popleft() if self.waiting else None

    def wait(self, timeout):
        self.waits += 1
        return self.take()


class Physics:
    """Runs control cycles as mock_hardware does, as long as it may."""

    def __init__(self, *, delay=0.02, wait=True, rate=30.0):
        self.answers = Answers()
        self.repeated = 0
        self.frames = Frames(self.answers, self._repeat, rate=rate, wait=wait)
        self.delay = delay
        self.cycle = 0
        self.taken = {}
        self.handed_on = []
        self._publish()

    def _repeat(self):
        self.repeated += 1

    @property
    def now(self):
        return self.cycle * CYCLE

    def _publish(self):
        if self.frames.hand_on(self.now):
            self.handed_on.append(self.now)
        if self.frames.due(self.now):
            self.taken[self.frames.take(self.now, self.delay)] = self.now

    def run(self, until, patience=PATIENCE):
        """Go on to a simulated time [s], or as far as the camera lets it; where it is then."""
        while self.now < until - 1e-9 and self.frames.ready(self.now, 0.0, patience):
            self.cycle += 1
            self._publish()
        return pytest.approx(self.now)

    def finish_until(self, until):
        """Go on to a simulated time [s] with a camera that finishes every picture."""
        while self.run(until) != until:
            self.answers.give(self.frames.taken)

    def begin(self):
        """Have the camera answer for the first time."""
        self.answers.give(1)
        assert self.run(CYCLE) == CYCLE
        assert self.frames.in_step


def test_frames_are_taken_at_their_rate_without_a_camera():
    physics = Physics()
    assert physics.run(1.0) == 1.0
    assert len(physics.taken) == 31
    assert list(physics.taken.values())[:4] == pytest.approx([0.0, 0.034, 0.068, 0.1])
    assert physics.answers.waits == 0
    assert not physics.frames.in_step


def test_the_physics_goes_on_while_a_picture_is_drawn_until_it_is_due():
    physics = Physics(delay=0.02)
    physics.begin()
    assert physics.run(1.0) == 0.054  # taken at 0.034
    assert physics.answers.waits == 1
    physics.answers.give(2)
    assert physics.run(1.0) == 0.088
    # One that is finished before it is due is not waited for.
    physics.answers.give(3)
    physics.run(0.1)
    physics.answers.give(4)
    waits = physics.answers.waits
    assert physics.run(0.13) == 0.13
    assert physics.answers.waits == waits
    assert physics.frames.finished == 4


@pytest.mark.parametrize(('delay', 'until'), [(0.0, 0.034), (0.0211, 0.056), (0.03, 0.064)])
def test_the_moment_is_the_first_cycle_at_or_after_the_delay(delay, until):
    physics = Physics(delay=delay)
    physics.begin()
    assert physics.run(1.0) == until
    assert physics.handed_on[-1] == pytest.approx(until) or delay == 0.0


def test_moments_are_told_once_each_also_when_nobody_waits():
    physics = Physics(delay=0.02, wait=False)
    assert physics.run(0.2) == 0.2
    assert physics.handed_on == pytest.approx([0.02, 0.054, 0.088, 0.12, 0.154, 0.188])


def test_with_a_long_delay_the_camera_may_be_one_picture_behind():
    physics = Physics(delay=0.1)
    physics.begin()
    assert physics.run(1.0) == 0.068  # the second of two that are not finished
    physics.answers.give(2)
    assert physics.run(1.0) == 0.1
    physics.answers.give(3, 4)
    assert physics.run(1.0) == 0.168
    assert physics.handed_on == pytest.approx([0.1, 0.134, 0.168])


def test_a_delay_that_ends_counts_for_all_that_wait():
    physics = Physics(delay=0.5)
    physics.begin()
    physics.finish_until(0.15)
    assert physics.handed_on == []
    physics.delay = 0.02  # known with the frame at 0.168
    physics.finish_until(0.2)
    # Those of before come with the next cycle, then each at its moment.
    assert physics.handed_on == pytest.approx([0.17, 0.188])


def test_free_running_never_waits():
    physics = Physics(wait=False)
    physics.begin()
    assert physics.run(1.0) == 1.0
    assert physics.answers.waits == 0


def test_a_camera_that_is_gone_is_not_waited_for_until_it_is_back():
    physics = Physics()
    physics.begin()
    assert physics.run(1.0) == 0.054
    time.sleep(0.02)
    assert physics.run(1.0, patience=0.01) == 1.0
    assert not physics.frames.in_step
    physics.answers.give(3)  # a late one: it is there again
    physics.run(1.036)
    assert physics.frames.in_step
    assert physics.run(2.0) == physics.taken[max(physics.taken)] + 0.02


def test_a_frame_is_sent_again_when_no_answer_comes(monkeypatch):
    physics = Physics()
    physics.begin()
    physics.run(1.0)
    assert physics.repeated == 0
    real = time.perf_counter
    monkeypatch.setattr(time, 'perf_counter', lambda: real() + 0.6)
    assert physics.run(1.0) == 0.054
    assert physics.run(1.0) == 0.054
    assert physics.repeated == 1


def test_answers_from_before_a_restart_do_not_count():
    physics = Physics()
    physics.answers.give(700)
    assert physics.run(0.5) == 0.5
    assert physics.frames.finished == 0
    assert not physics.frames.in_step
