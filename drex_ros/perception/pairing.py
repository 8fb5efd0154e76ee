# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which colour picture belongs to which depth image: the one nearest in time.

A pair is given out as soon as nothing nearer can come: its stamps are closer than half a period
of either stream, or what came since is farther away.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Generic, TypeVar

Colour = TypeVar('Colour')
Depth = TypeVar('Depth')

TOLERANCE = 0.02
"""Stamps of a pair differ by no more [s]."""

_MOST_WAITING = 10
_GAPS = 10  # between stamps that are remembered, to know the period


@dataclass(frozen=True)
class Pair(Generic[Colour, Depth]):
    """A colour picture and the depth image that belongs to it."""

    colour_time: float
    """[s]"""
    colour: Colour
    depth_time: float
    """[s]"""
    depth: Depth


class _Stream:
    """What came of one kind and waits, oldest first."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[float, object]] = deque()
        self.unpaired = 0
        self.last = float('-inf')
        self._gaps: deque[float] = deque(maxlen=_GAPS)

    def clear(self) -> None:
        """Begin anew; what waited has no partner."""
        self.unpaired += len(self.waiting)
        self.waiting.clear()
        self._gaps.clear()
        self.last = float('-inf')

    def add(self, time: float, payload: object) -> None:
        if self.last > float('-inf'):
            self._gaps.append(time - self.last)
        self.last = time
        self.waiting.append((time, payload))
        if len(self.waiting) > _MOST_WAITING:
            self.drop()

    def drop(self) -> None:
        """Give up the oldest."""
        self.waiting.popleft()
        self.unpaired += 1

    @property
    def half_period(self) -> float:
        """Half the time from one to the next when none is missing [s]; infinite: not known."""
        return 0.5 * min(self._gaps, default=float('inf'))

    def nearest(self, time: float) -> int:
        """Place of what is nearest to a time, the older of two; there must be one."""
        distances = [abs(stamp - time) for stamp, _ in self.waiting]
        return distances.index(min(distances))

    def may_bring_nearer(self, number: int, time: float, distance: float) -> bool:
        """Whether something is still to come that is nearer to `time` than a waiting one is."""
        newest = number == len(self.waiting) - 1
        return newest and self.waiting[number][0] < time and distance > self.half_period


class Pairing(Generic[Colour, Depth]):
    """Pairs two streams by their stamps: each used once, in order, in bounded memory."""

    def __init__(self, tolerance: float = TOLERANCE) -> None:
        """Begin with nothing.

        Args:
            tolerance: greatest difference of two stamps [s].
        """
        if not tolerance >= 0.0:
            raise ValueError(f'tolerance is {tolerance} s, must not be negative')
        self.tolerance = tolerance
        self.jumps = 0
        """How often stamps went back, and all began anew."""
        self._colours, self._depths = _Stream(), _Stream()

    @property
    def unpaired_colours(self) -> int:
        """Pictures that were given up."""
        return self._colours.unpaired

    @property
    def unpaired_depths(self) -> int:
        """Depth images that were given up."""
        return self._depths.unpaired

    @property
    def depth_waits(self) -> bool:
        """Whether a depth image is there whose picture may still come."""
        return bool(self._depths.waiting)

    def add_colour(self, time: float, payload: Colour) -> list[Pair[Colour, Depth]]:
        """Take a picture with its stamp [s]; the pairs that it completes."""
        return self._add(self._colours, time, payload)

    def add_depth(self, time: float, payload: Depth) -> list[Pair[Colour, Depth]]:
        """Take a depth image with its stamp [s]; the pairs that it completes."""
        return self._add(self._depths, time, payload)

    def clear(self) -> None:
        """Begin anew, as after a jump of time."""
        self._colours.clear()
        self._depths.clear()

    def _add(self, stream: _Stream, time: float, payload: object) -> list[Pair[Colour, Depth]]:
        if time == stream.last:  # the same again
            stream.unpaired += 1
            return []
        if time < stream.last:
            self.jumps += 1
            self.clear()
        stream.add(time, payload)
        pairs = []
        while (pair := self._next()) is not None:
            pairs.append(pair)
        return pairs

    def _next(self) -> Pair[Colour, Depth] | None:
        """The next pair that is certain."""
        colours, depths = self._colours, self._depths
        while depths.waiting and colours.waiting:
            depth_time, depth = depths.waiting[0]
            number = colours.nearest(depth_time)
            colour_time, colour = colours.waiting[number]
            distance = abs(colour_time - depth_time)
            if distance > self.tolerance:
                if colours.last <= depth_time:
                    return None  # its picture may still come
                depths.drop()
            elif depths.nearest(colour_time) > 0:
                depths.drop()  # the picture belongs to a later one
            elif colours.may_bring_nearer(number, depth_time, distance) or depths.may_bring_nearer(
                0, colour_time, distance
            ):
                return None
            else:
                for _ in range(number):
                    colours.drop()
                colours.waiting.popleft()
                depths.waiting.popleft()
                return Pair(colour_time, colour, depth_time, depth)  # type: ignore[arg-type]
        return None
