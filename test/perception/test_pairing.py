# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Colour and depth paired by their stamps."""

import random

import pytest

from drex_ros.perception.pairing import Pairing

PERIOD = 1.0 / 30.0


def feed(pairing: Pairing[str, str], *items: tuple[str, float]) -> list[tuple[float, float]]:
    """Stamps of the pairs that items ('c' or 'd', stamp) make, in the order they are given."""
    pairs = []
    for kind, time in items:
        add = pairing.add_colour if kind == 'c' else pairing.add_depth
        for pair in add(time, f'{kind}{time}'):
            assert pair.colour == f'c{pair.colour_time}'
            assert pair.depth == f'd{pair.depth_time}'
            pairs.append((pair.colour_time, pair.depth_time))
    return pairs


def test_equal_stamps_pair_at_once_in_either_order() -> None:
    pairing: Pairing[str, str] = Pairing()
    assert feed(pairing, ('c', 1.0), ('d', 1.0)) == [(1.0, 1.0)]
    assert feed(pairing, ('d', 1.03)) == []
    assert pairing.depth_waits
    assert feed(pairing, ('c', 1.03)) == [(1.03, 1.03)]
    assert (pairing.unpaired_colours, pairing.unpaired_depths, pairing.jumps) == (0, 0, 0)


def test_stamps_farther_apart_than_the_tolerance_do_not_pair() -> None:
    pairing: Pairing[str, str] = Pairing(tolerance=0.01)
    assert feed(pairing, ('c', 1.0), ('d', 1.0101), ('c', 1.033), ('d', 1.0333)) == [
        (1.033, 1.0333)
    ]
    assert (pairing.unpaired_colours, pairing.unpaired_depths) == (1, 1)


def test_a_missing_picture_shifts_nothing() -> None:
    pairing: Pairing[str, str] = Pairing()
    frames = [n * PERIOD for n in range(12)]
    items = [(kind, time) for time in frames for kind in 'cd']
    items.remove(('c', frames[4]))
    items.remove(('d', frames[7]))
    expected = [(t, t) for n, t in enumerate(frames) if n not in (4, 7)]
    assert feed(pairing, *items) == expected
    assert (pairing.unpaired_colours, pairing.unpaired_depths) == (1, 1)


def test_a_nearer_picture_that_is_still_to_come_is_waited_for() -> None:
    pairing: Pairing[str, str] = Pairing()
    # 60 Hz: a neighbour is within the tolerance, but not the partner.
    frames = [n / 60 for n in range(8)]
    feed(pairing, *((kind, time) for time in frames[:5] for kind in 'cd'))
    assert feed(pairing, ('c', frames[5]), ('d', frames[6])) == []  # its own depth is missing
    assert feed(pairing, ('c', frames[6])) == [(frames[6], frames[6])]
    assert pairing.unpaired_colours == 1


def test_a_lasting_skew_pairs_every_frame() -> None:
    pairing: Pairing[str, str] = Pairing()
    items = [(k, n * PERIOD + (0.012 if k == 'd' else 0.0)) for n in range(20) for k in 'cd']
    pairs = feed(pairing, *items)
    assert len(pairs) == 20
    assert all(depth - colour == pytest.approx(0.012) for colour, depth in pairs)


def test_one_stream_may_come_in_bursts() -> None:
    pairing: Pairing[str, str] = Pairing()
    colours = [('c', n * PERIOD) for n in range(6)]
    depths = [('d', n * PERIOD + 0.002) for n in range(6)]
    pairs = feed(pairing, *colours, *depths)
    assert pairs == [(c, d) for (_, c), (_, d) in zip(colours, depths, strict=True)]


def test_each_is_used_once_and_order_is_kept_whatever_is_lost() -> None:
    luck = random.Random(3)
    pairing: Pairing[str, str] = Pairing()
    items = []
    for n in range(400):
        for kind in 'cd':
            if luck.random() > 0.2:
                stamp = n * PERIOD + luck.uniform(-0.002, 0.002)
                items.append((stamp + luck.uniform(0.0, 0.02), kind, stamp))
    arrivals = [(kind, stamp) for _, kind, stamp in sorted(items)]
    pairs = feed(pairing, *arrivals)
    assert len(pairs) > 200
    for side in (0, 1):
        stamps = [pair[side] for pair in pairs]
        assert stamps == sorted(set(stamps))
    assert all(abs(colour - depth) < 0.005 for colour, depth in pairs)
    counted = 2 * len(pairs) + pairing.unpaired_colours + pairing.unpaired_depths
    assert len(arrivals) - counted < 5  # some still wait


def test_memory_is_bounded_when_one_stream_is_silent() -> None:
    pairing: Pairing[str, str] = Pairing()
    feed(pairing, *(('c', n * PERIOD) for n in range(1000)))
    assert pairing.unpaired_colours == 990
    assert feed(pairing, ('d', 999 * PERIOD)) == [(999 * PERIOD, 999 * PERIOD)]


def test_stamps_that_jump_back_begin_anew_and_are_counted() -> None:
    pairing: Pairing[str, str] = Pairing()
    feed(pairing, ('c', 100.0), ('d', 100.0), ('c', 100.03))
    assert feed(pairing, ('c', 0.0)) == []
    assert pairing.jumps == 1
    assert pairing.unpaired_colours == 1
    assert feed(pairing, ('d', 0.0)) == [(0.0, 0.0)]
    assert feed(pairing, ('c', 0.03), ('d', 0.03)) == [(0.03, 0.03)]


def test_the_same_picture_twice_is_used_once() -> None:
    pairing: Pairing[str, str] = Pairing()
    assert feed(pairing, ('c', 1.0), ('c', 1.0), ('d', 1.0), ('d', 1.0)) == [(1.0, 1.0)]
    assert (pairing.unpaired_colours, pairing.unpaired_depths) == (1, 1)


def test_a_tolerance_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match='tolerance is nan s, must not be negative'):
        Pairing(tolerance=float('nan'))
