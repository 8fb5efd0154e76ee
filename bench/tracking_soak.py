# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the tracker's memory grows: half an hour of pictures, one after the other.

    python bench/tracking_soak.py [--minutes 30] [--object mug]

The pictures are those of one pushed object, forwards and backwards again and again, with an empty
table now and then, so that it is lost and found again. The node around it is watched by
`bench/tracking_latency.py --minutes`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from drex_ros.hardware.gl import choose_gl

choose_gl()

import numpy as np  # noqa: E402

from drex_ros.evaluation.sequence import SequenceSpec  # noqa: E402
from drex_ros.evaluation.sequences import make_sequence  # noqa: E402
from drex_ros.objects import load_object  # noqa: E402
from drex_ros.perception.estimate import TrackStatus  # noqa: E402
from drex_ros.perception.object_tracker import ObjectTracker  # noqa: E402
from drex_ros.perception.robot_silhouette import RobotSilhouette  # noqa: E402

_RATE = 30.0
_AWAY = (900, 30)  # every so many pictures, so many without anything


def resident() -> float:
    """Memory of this process [MB]."""
    with open('/proc/self/status', encoding='ascii') as file:
        line = next(each for each in file if each.startswith('VmRSS:'))
    return int(line.split()[1]) / 1024.0


def main() -> int:
    """Run and print; exit code 1 when memory grew by more than 5 MB after the first tenth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--minutes', type=float, default=30.0, help='of pictures at 30 Hz')
    parser.add_argument('--object', default='mug', help='name in the object library')
    options = parser.parse_args()
    sequence = make_sequence(SequenceSpec(options.object, 'slow', 1, 'tuning'))
    frames = [sequence.frame(i) for i in range(len(sequence))]
    around = [*frames, *frames[-2:0:-1]]
    nothing = np.zeros_like(frames[0].depth)
    tracker = ObjectTracker(
        load_object(options.object), sequence.camera, silhouette=RobotSilhouette(sequence.camera)
    )
    count = round(options.minutes * 60.0 * _RATE)
    tracked, readings = 0, []
    for number in range(count):
        frame = replace(around[number % len(around)], time=number / _RATE)
        if number % _AWAY[0] >= _AWAY[0] - _AWAY[1]:
            frame = replace(frame, depth=nothing)
        tracked += tracker.update(frame).status is TrackStatus.TRACKING
        if number % max(count // 10, 1) == 0:
            readings.append(resident())
            print(f'{number / _RATE / 60.0:5.1f} min  {readings[-1]:7.1f} MB', flush=True)
    growth = max(readings[1:] or readings) - readings[min(1, len(readings) - 1)]
    print(f'{count} pictures, {100.0 * tracked / count:.1f} % tracked, grew by {growth:.1f} MB')
    return int(growth > 5.0)


if __name__ == '__main__':
    sys.exit(main())
