# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rate, jitter, staleness and duration of a callback, and what to think of them. No ROS here."""

import math
import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from drex_ros.health import Level

# Power of two, so that the ring index wraps with a mask; 2 s of a 500 Hz callback.
_RING = 1024
_MASK = _RING - 1


@dataclass(frozen=True)
class Status:
    """One line of diagnostics: `name` is what it is about, '' for the node itself."""

    name: str
    level: Level
    message: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CallbackStatistics:
    """What a monitor saw lately.

    Attributes:
        count: calls since the monitor was started.
        rate: calls per second over the last `window` seconds [Hz].
        jitter: standard deviation of the time between calls [s].
        age: time since the last call, or since the start when there was none [s].
        duration_mean: mean time that a call took [s].
        duration_max: longest time that a call took [s].
    """

    count: int
    rate: float
    jitter: float
    age: float
    duration_mean: float
    duration_max: float


class CallbackMonitor:
    """Times the calls of one callback.

    Args:
        name: what is called, for the report ('robot/state').
        expected_rate: rate that it should have [Hz]; None when it comes when it comes.
        stale_after: longest healthy silence [s]; None when silence is healthy.
        window: time over which the rate is taken [s].
        clock: steady clock [s].
    """

    def __init__(
        self,
        name: str,
        *,
        expected_rate: float | None = None,
        stale_after: float | None = None,
        window: float = 5.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.name = name
        self.expected_rate = expected_rate
        self.stale_after = stale_after
        self.wall_time = False  # the callback keeps wall time, whatever clock the node has
        self.window = window
        self.clock = clock
        self._starts = array('d', bytes(8 * _RING))
        self._durations = array('d', bytes(8 * _RING))
        self.count = 0
        self._since = clock()

    def restart(self) -> None:
        """Forget the past; called when the node is activated."""
        self.count = 0
        self._since = self.clock()

    def tick(self, start: float, end: float) -> None:
        """Note a call that began at `start` and returned at `end` [s, by `clock`]."""
        index = self.count & _MASK
        self._starts[index] = start
        self._durations[index] = end - start
        self.count += 1

    def statistics(self) -> CallbackStatistics:
        """What the calls of the last `window` seconds were like."""
        now = self.clock()
        count = self.count
        if count == 0:
            return CallbackStatistics(0, 0.0, 0.0, now - self._since, 0.0, 0.0)
        starts, durations = self._newest()
        age = now - float(starts[-1])
        first = int(starts.searchsorted(now - self.window))
        starts, durations = starts[first:], durations[first:]
        calls = len(starts)
        if calls == 0:
            return CallbackStatistics(count, 0.0, 0.0, age, 0.0, 0.0)
        rate = jitter = 0.0
        if calls > 1:
            begin = float(starts[0])
            span = float(starts[-1]) - begin
            period = span / (calls - 1)
            deviation = starts[1:] - starts[:-1] - period
            jitter = math.sqrt(float(deviation @ deviation) / (calls - 1))
            # A stream that has stopped must lose rate: count the silence after the last call too.
            span = max(span, now - begin - period)
            rate = (calls - 1) / span if span > 0.0 else 0.0
        mean = float(durations.sum()) / calls
        return CallbackStatistics(count, rate, jitter, age, mean, float(durations.max()))

    def _newest(self) -> tuple[np.ndarray, np.ndarray]:
        """Start times and durations of the calls that the ring holds, oldest first."""
        starts, durations = np.frombuffer(self._starts), np.frombuffer(self._durations)
        if self.count <= _RING:
            return starts[: self.count], durations[: self.count]
        oldest = self.count & _MASK
        return (
            np.concatenate((starts[oldest:], starts[:oldest])),
            np.concatenate((durations[oldest:], durations[:oldest])),
        )

    def status(self, time_scale: float = 1.0) -> Status:
        """What to think of the callback.

        `time_scale` is how fast the node's clock runs against the wall clock: expected rates are
        in the node's time, so a simulator at half speed halves them, unless `wall_time` is set.
        The rules, first that holds:

        - older than `stale_after` (stretched for a slow clock, tenfold at most): STALE;
        - rate below half of `expected_rate`, seen for five periods: WARN;
        - else OK.
        """
        seen = self.statistics()
        if self.wall_time:
            time_scale = 1.0
        level, message = Level.OK, f'{seen.rate:.4g} Hz'
        if seen.count == 0:
            message = 'waiting for the first call'
        stretch = 1.0 / min(max(time_scale, 0.1), 1.0)
        if self.stale_after is not None and seen.age > self.stale_after * stretch:
            level = Level.STALE
            message = f'silent for {seen.age:.2f} s, must come within {self.stale_after:g} s'
        elif self.expected_rate is not None:
            expected = self.expected_rate * time_scale
            observed = self.clock() - self._since
            if expected > 0.0 and observed > 5.0 / expected and seen.rate < expected / 2.0:
                level = Level.WARN
                message = f'{seen.rate:.4g} Hz, expected {expected:.4g} Hz'
        values = {
            'count': str(seen.count),
            'rate [Hz]': f'{seen.rate:.3f}',
            'jitter [s]': f'{seen.jitter:.6f}',
            'age [s]': f'{seen.age:.3f}',
            'duration mean [s]': f'{seen.duration_mean:.6f}',
            'duration max [s]': f'{seen.duration_max:.6f}',
        }
        if self.expected_rate is not None:
            values['rate expected [Hz]'] = f'{self.expected_rate:g}'
        if self.stale_after is not None:
            values['stale after [s]'] = f'{self.stale_after:g}'
        return Status(self.name, level, message, values)
