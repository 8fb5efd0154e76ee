# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How a tracker keeps up with its camera: pictures left out, and how late its answers are."""

from __future__ import annotations

from collections import deque

import numpy as np

_KEPT = 300  # answers, ten seconds
_GAPS = 30  # between pictures that are remembered, to know the period
_PAUSE = 2.0  # [s] a longer gap is a camera that paused


class TrackerStatistics:
    """Counts pictures and times answers."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.tracked = 0
        """Pictures that were answered."""
        self.dropped = 0
        """Pictures that were overtaken by a newer one before they could be looked at."""
        self._last: float | None = None
        self._gaps: deque[float] = deque(maxlen=_GAPS)
        self._arrivals: deque[float] = deque(maxlen=_KEPT)
        self._latencies: deque[float] = deque(maxlen=_KEPT)

    def picture(self, time: float, now: float) -> None:
        """Note the stamp of a picture that is looked at now [s]."""
        last, self._last = self._last, time
        self.tracked += 1
        self._arrivals.append(now - time)
        if last is None or not 0.0 < time - last < _PAUSE:
            return
        self._gaps.append(time - last)
        self.dropped += round((time - last) / min(self._gaps)) - 1

    def answer(self, latency: float) -> None:
        """Note the time from a picture's stamp to its answer [s]."""
        self._latencies.append(latency)

    def forget(self) -> None:
        """Begin anew after a jump of time; the counts go on."""
        self._last = None
        for record in (self._gaps, self._arrivals, self._latencies):
            record.clear()

    @property
    def arrival(self) -> float:
        """Median time from a stamp to the picture's arrival [s]; NaN: none yet."""
        return float(np.median(self._arrivals)) if self._arrivals else float('nan')

    @property
    def latency(self) -> tuple[float, float]:
        """Median and 95th percentile of the answers of late [s]; NaN: none yet."""
        if not self._latencies:
            return float('nan'), float('nan')
        median, most = np.percentile(self._latencies, (50, 95)).tolist()
        return median, most
