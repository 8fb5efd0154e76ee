# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What pose_tracker says about itself on /diagnostics."""

from __future__ import annotations

from drex_ros.health import Level
from drex_ros.nodes.camera_input import CameraInput
from drex_ros.nodes.joint_history import JointTopic
from drex_ros.nodes.monitor import Status
from drex_ros.nodes.tracked_object import TrackedObject
from drex_ros.nodes.tracker_statistics import TrackerStatistics
from drex_ros.perception.estimate import TrackStatus

_SEEN = (TrackStatus.TRACKING, TrackStatus.UNCERTAIN)


def idle_status(refusal: str) -> Status:
    """The status without an object; `refusal`: why the one that was named is not tracked."""
    if refusal:
        return Status('', Level.WARN, f'nothing to track: {refusal}')
    return Status('', Level.OK, 'nothing to track: tracker/detect can name an object')


def tracker_status(
    thing: TrackedObject,
    problem: str,
    statistics: TrackerStatistics,
    camera: CameraInput,
    joints: JointTopic | None,
) -> Status:
    """The status of a tracker with an object.

    Args:
        thing: what is tracked.
        problem: why it cannot be, in words; empty: nothing is wrong with the input.
        statistics: of pictures and answers.
        camera: the intake of pictures.
        joints: where the robot's posture comes from; None: it is not masked.
    """
    last = thing.last
    level, text = Level.WARN, 'waiting for the first picture'
    if problem:
        text = problem
    elif last is not None:
        text = last.status.name.lower() + (f', {last.reason}' if last.reason else '')
        level = Level.OK if last.status in _SEEN and not thing.camera_doubt else Level.WARN
    values = _values(thing, statistics, camera)
    if joints is not None:
        values['robot masked'] = joints.problem or 'yes'
    return Status('', level, f'{thing.model.name}: {text}', values)


def _values(
    thing: TrackedObject, statistics: TrackerStatistics, camera: CameraInput
) -> dict[str, str]:
    last, table = thing.last, thing.table
    median, most = statistics.latency
    colours, depths = camera.unpaired
    values = {
        'object': thing.model.name,
        'status': '' if last is None else last.status.name.lower(),
        'pictures looked at': str(statistics.tracked),
        'pictures dropped': str(statistics.dropped),
        'colour without depth': str(colours),
        'depth without colour': str(depths),
        'jumps of time': str(camera.jumps),
        'searches': str(thing.searches),
        'pictures late by [s]': f'{statistics.arrival:.4f}',
        'latency median [s]': f'{median:.4f}',
        'latency 95 % [s]': f'{most:.4f}',
    }
    if last is not None and last.evidence.pixels:
        values['inliers'] = f'{last.evidence.inliers:.3f}'
        values['occluded'] = f'{last.evidence.occluded:.3f}'
    if table is not None:
        values['table'] = table.words or f'fits, depth scale {table.scale:.4f}'
    if thing.colour_delay is not None:
        values['colour later than its stamp by [s]'] = f'{thing.colour_delay:.4f}'
    if thing.camera_doubt:
        values['camera pose'] = thing.camera_doubt
    if thing.external is not None:
        values['poses taken'] = str(thing.external.taken)
        values['poses refused'] = str(sum(thing.external.refused.values()))
    return values
