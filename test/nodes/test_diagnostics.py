# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The callback monitor on a clock of the test's own, and /diagnostics of a real node process."""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64

from drex_ros.nodes.diagnostics import CallbackMonitor, Level

EXAMPLE = [sys.executable, Path(__file__).with_name('example_node.py'), '--ros-args']


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def feed(monitor: CallbackMonitor, clock: FakeClock, periods: list[float], took: float) -> None:
    for period in periods:
        clock.now += period
        monitor.tick(clock.now, clock.now + took)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_rate_jitter_age_and_duration(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', clock=clock)
    feed(monitor, clock, [0.009, 0.011] * 100, took=0.002)
    clock.now += 0.005
    seen = monitor.statistics()
    assert seen.count == 200
    assert seen.rate == pytest.approx(100.0, rel=0.01)
    assert seen.jitter == pytest.approx(0.001, rel=0.01)
    assert seen.age == pytest.approx(0.005)
    assert seen.duration_mean == pytest.approx(0.002)
    assert seen.duration_max == pytest.approx(0.002)


def test_the_ring_keeps_the_newest_calls(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', window=1e9, clock=clock)
    feed(monitor, clock, [1.0] * 5000, took=0.5)
    feed(monitor, clock, [0.01] * 2000, took=0.001)
    seen = monitor.statistics()
    assert seen.count == 7000
    assert seen.rate == pytest.approx(100.0)
    assert seen.duration_max == pytest.approx(0.001)


def test_a_stream_that_stops_loses_its_rate(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', window=5.0, clock=clock)
    feed(monitor, clock, [0.1] * 20, took=0.0)
    rates = []
    for _ in range(6):
        rates.append(monitor.statistics().rate)
        clock.now += 1.0
    assert rates[0] == pytest.approx(10.0)
    assert all(later < earlier for earlier, later in itertools.pairwise(rates))
    assert monitor.statistics().rate == 0.0
    assert monitor.statistics().count == 20


def test_nothing_yet(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', clock=clock)
    clock.now += 3.0
    assert monitor.status().level == Level.OK
    assert monitor.status().message == 'waiting for the first call'
    assert monitor.statistics().age == pytest.approx(3.0)


def test_stale_after(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', stale_after=0.5, clock=clock)
    assert monitor.status().level == Level.OK
    clock.now += 0.6
    assert monitor.status().level == Level.STALE
    feed(monitor, clock, [0.01] * 10, took=0.0)
    assert monitor.status().level == Level.OK
    clock.now += 0.6
    assert monitor.status().level == Level.STALE
    assert monitor.status().message == 'silent for 0.60 s, must come within 0.5 s'
    monitor.restart()
    assert monitor.status().level == Level.OK


def test_half_the_expected_rate(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', expected_rate=100.0, clock=clock)
    assert monitor.status().level == Level.OK
    feed(monitor, clock, [1.0 / 55.0] * 50, took=0.0)
    assert monitor.status().level == Level.OK
    feed(monitor, clock, [1.0 / 20.0] * 200, took=0.0)
    assert monitor.status().level == Level.WARN
    assert monitor.status().message == '20 Hz, expected 100 Hz'


def test_a_callback_that_never_came_is_below_its_rate(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', expected_rate=100.0, clock=clock)
    clock.now += 1.0
    assert monitor.status().level == Level.WARN


def test_a_callback_in_wall_time_keeps_its_rate_in_a_fast_simulation(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', expected_rate=10.0, clock=clock)
    feed(monitor, clock, [0.1] * 200, took=0.0)
    assert monitor.status(time_scale=5.0).level == Level.WARN
    monitor.wall_time = True
    assert monitor.status(time_scale=5.0).level == Level.OK


def test_a_slow_simulation_is_no_fault(clock: FakeClock) -> None:
    monitor = CallbackMonitor('x', expected_rate=100.0, stale_after=0.1, clock=clock)
    feed(monitor, clock, [1.0 / 20.0] * 200, took=0.0)
    assert monitor.status(time_scale=0.2).level == Level.OK
    clock.now += 0.3
    assert monitor.status(time_scale=0.2).level == Level.OK
    assert monitor.status(time_scale=1.0).level == Level.STALE
    clock.now += 1.0
    # A simulation that stands still must not hide a silence for ever.
    assert monitor.status(time_scale=0.0).level == Level.STALE


def values(status: Any) -> dict[str, str]:
    return {pair.key: pair.value for pair in status.values}


def test_a_node_reports_itself_and_its_callbacks(start: Callable[..., Any], ros: Any) -> None:
    last = ros.diagnostics()
    node = start([*EXAMPLE, '-r', '__ns:=/lab', '-p', 'diagnostics_period:=0.2'])
    node.wait_for_line('^activate$')
    ros.spin_until(lambda: '/lab/example: input' in last, what='diagnostics')
    assert set(last) >= {
        '/lab/example',
        '/lab/example: input',
        '/lab/example: tick',
        '/lab/example: greet',
        '/lab/example: battery',
    }
    assert {status.hardware_id for status in last.values()} == {'/lab/example'}
    assert values(last['/lab/example'])['state'] == 'active'
    assert last['/lab/example'].message == 'gain is 2'
    assert last['/lab/example: battery'].level == bytes([Level.WARN])
    ros.spin_until(
        lambda: last['/lab/example: input'].level == bytes([Level.STALE]), what='a stale input'
    )

    publisher = ros.publisher(Float64, '/lab/input')

    def fed() -> bool:
        publisher.publish(Float64(data=1.0))
        return last['/lab/example: input'].level == bytes([Level.OK])

    ros.spin_until(fed, what='a healthy input')
    seen = values(last['/lab/example: input'])
    assert int(seen['count']) > 0
    assert seen['stale after [s]'] == '0.5'
    assert float(seen['rate expected [Hz]']) == 20.0
    assert float(values(last['/lab/example: tick'])['duration max [s]']) >= 0.0
    ticks = int(values(last['/lab/example: tick'])['count'])
    ros.spin_until(
        lambda: int(values(last['/lab/example: tick'])['count']) > ticks, what='more ticks'
    )

    assert node.terminate() == 0
    ros.spin_until(
        lambda: values(last['/lab/example'])['state'] == 'finalized', what='the last word'
    )


def test_diagnostics_go_on_while_simulated_time_stands_still(
    start: Callable[..., Any], ros: Any
) -> None:
    arrays = ros.collect(DiagnosticArray, '/diagnostics')
    clock = ros.node.create_publisher(Clock, '/clock', 10)
    node = start([*EXAMPLE, '-p', 'use_sim_time:=true', '-p', 'diagnostics_period:=0.1'])
    node.wait_for_line('^activate$')

    def stamped() -> bool:
        clock.publish(Clock(clock=Time(sec=1234)))
        return any(array.header.stamp.sec == 1234 for array in arrays)

    ros.spin_until(stamped, what='a stamp of simulated time')
    count = len(arrays)
    ros.spin_until(lambda: len(arrays) >= count + 5, what='diagnostics of a paused clock')
    assert {array.header.stamp.sec for array in arrays[count:]} == {1234}
    itself = next(status for status in arrays[-1].status if status.name == '/example')
    assert itself.level == bytes([Level.WARN])
    assert values(itself)['clock'] == 'stands still'
    # The jump from 0 to 1234 s was one tick of the timer; no time, no more ticks.
    ticks = {
        values(status)['count']
        for array in arrays[count:]
        for status in array.status
        if status.name == '/example: tick'
    }
    assert len(ticks) == 1
