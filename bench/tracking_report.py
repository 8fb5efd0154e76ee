# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracking benchmark's figures from the results of all sequences; plain data for a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any

import numpy as np
from tracking_detection import DetectionSummary, Look, detection_summary
from tracking_stress import STRESSES
from tracking_work import ICP, OURS, TAG, Result

from drex_ros.evaluation.losses import LOSSES
from drex_ros.evaluation.sequences import KINDS
from drex_ros.evaluation.tracking_run import TrackingRun
from drex_ros.evaluation.tracking_table import (
    Accuracy,
    EventSummary,
    Share,
    accuracy,
    alarms,
    event_outcome,
    event_summary,
    false_alarms,
)

ALL = 'all'
WELL_SEEN = 0.5
"""Share of an object to be seen above which a detection should succeed."""


@dataclass(frozen=True)
class Report:
    """Figures by question, then by row."""

    accuracy: dict[str, Accuracy] = field(default_factory=dict)
    """Ours by kind, by object, and all."""
    baselines: dict[str, dict[str, Accuracy]] = field(default_factory=dict)
    """By tracker, then by kind and all; ours again on what the tag was tried on."""
    icp_ratio: dict[str, float] = field(default_factory=dict)
    """Median over frames of our time over that of ICP, in the same frames, by kind and all."""
    events: dict[str, EventSummary] = field(default_factory=dict)
    false_alarms: dict[str, Share] = field(default_factory=dict)
    alarms: dict[str, Share] = field(default_factory=dict)
    stress: dict[str, Accuracy] = field(default_factory=dict)
    detection: dict[str, DetectionSummary] = field(default_factory=dict)
    absent: dict[str, DetectionSummary] = field(default_factory=dict)
    """Where the object is not there, by kind of event."""
    wrong_looks: list[Look] = field(default_factory=list)
    """That missed the object, took something else for it, or found it wrongly."""
    sequences: dict[str, Accuracy] = field(default_factory=dict)
    """Ours by sequence."""


def report(results: list[Result]) -> Report:
    """Sum up."""
    ours = [result.runs[OURS] for result in results if OURS in result.runs]
    live = [result.live for result in results if result.live is not None]
    looks = [look for result in results for look in result.looks]
    return Report(
        accuracy=_by_rows(ours, objects=True),
        baselines=_baselines(results),
        icp_ratio=_icp_ratio(results),
        events=_events(live),
        false_alarms=_alarms(false_alarms, ours, live),
        alarms=_alarms(alarms, ours, live),
        stress=_stress(results),
        detection=_detection([look for look in looks if look.visible > 0.0]),
        absent=_absent([look for look in looks if look.visible == 0.0]),
        wrong_looks=[look for look in looks if look.found != (look.visible > 0.0) or _off(look)],
        sequences={run.spec.name: accuracy([run]) for run in ours},
    )


def _off(look: Look) -> bool:
    return look.found and not look.right


def _by_rows(runs: list[TrackingRun], *, objects: bool = False) -> dict[str, Accuracy]:
    if not runs:
        return {}
    rows = {kind: [run for run in runs if run.spec.kind == kind] for kind in KINDS}
    if objects:
        for thing in sorted({run.spec.thing for run in runs}):
            rows[thing] = [run for run in runs if run.spec.thing == thing]
    rows[ALL] = runs
    return {row: accuracy(chosen) for row, chosen in rows.items() if chosen}


def _baselines(results: list[Result]) -> dict[str, dict[str, Accuracy]]:
    found: dict[str, dict[str, Accuracy]] = {}
    for name in (ICP, TAG):
        chosen = [result for result in results if name in result.runs]
        if chosen:
            found[name] = _by_rows([result.runs[name] for result in chosen])
    if found:
        found = {OURS: _by_rows([r.runs[OURS] for r in results if OURS in r.runs]), **found}
    tagged = [result.runs[OURS] for result in results if TAG in result.runs]
    if tagged:
        found[f'{OURS}, same objects'] = _by_rows(tagged)
    return found


def _icp_ratio(results: list[Result]) -> dict[str, float]:
    ratios: dict[str, list[float]] = {}
    for result in results:
        ours = result.runs.get(OURS)
        if ours is None or ICP not in result.runs or ours.found is None:
            continue
        # Not the frame in which ours looks for the object, which ICP was given.
        both = list(zip(ours.frames, result.runs[ICP].frames, strict=True))[ours.found + 1 :]
        times = [own.seconds / icp.seconds for own, icp in both]
        for row in (result.spec.kind, ALL):
            ratios.setdefault(row, []).extend(times)
    return {row: float(np.median(values)) for row, values in ratios.items() if values}


def _events(live: list[TrackingRun]) -> dict[str, EventSummary]:
    outcomes = [(run.spec.kind, event_outcome(run)) for run in live]
    rows = {kind: [each for of, each in outcomes if of == kind] for kind in LOSSES}
    rows[ALL] = [each for _, each in outcomes]
    return {row: event_summary(chosen) for row, chosen in rows.items() if chosen}


def _alarms(
    count: Callable[[list[TrackingRun]], Share], ours: list[TrackingRun], live: list[TrackingRun]
) -> dict[str, Share]:
    rows = {'sequences': ours, 'events': live, ALL: ours + live}
    return {row: count(runs) for row, runs in rows.items() if runs and live}


def _stress(results: list[Result]) -> dict[str, Accuracy]:
    rows = {
        name: [result.stress[name] for result in results if name in result.stress]
        for name in STRESSES
    }
    return {name: accuracy(runs) for name, runs in rows.items() if runs}


def _detection(looks: list[Look]) -> dict[str, DetectionSummary]:
    first = [look for look in looks if look.index == 0]
    well = [look for look in looks if look.index and look.visible >= WELL_SEEN]
    badly = [look for look in looks if look.index and look.visible < WELL_SEEN]
    rows = {
        'first frame': first,
        f'others, {100 * WELL_SEEN:.0f} % or more in sight': well,
        'others, less in sight': badly,
    }
    for thing in sorted({look.thing for look in first}):
        rows[f'first frame, {thing}'] = [look for look in first if look.thing == thing]
    return {row: detection_summary(chosen) for row, chosen in rows.items() if chosen}


def _absent(looks: list[Look]) -> dict[str, DetectionSummary]:
    rows = {kind: [look for look in looks if look.kind == kind] for kind in LOSSES}
    return {row: detection_summary(chosen) for row, chosen in rows.items() if chosen}


def as_json(value: Any) -> Any:
    """Plain data: dataclasses as objects, shares with their values, NaN as null."""
    if isinstance(value, Share):
        return {**asdict(value), 'value': as_json(value.value), 'interval': value.interval}
    if is_dataclass(value) and not isinstance(value, type):
        return {key: as_json(getattr(value, key)) for key in value.__dataclass_fields__}
    if isinstance(value, dict):
        return {key.strip(): as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
