# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex sequences`: write the tracking benchmark's camera sequences with their truth."""

from __future__ import annotations

import shutil
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from drex_ros.evaluation.losses import LOSSES
from drex_ros.evaluation.motion import EvaluationError
from drex_ros.evaluation.sequence import SequenceSpec
from drex_ros.evaluation.sequences import KINDS, benchmark, events, make_event, make_sequence
from drex_ros.hardware.gl import choose_gl
from drex_ros.objects import object_names

_BYTES = 105e6  # of a sequence, about


def write_sequences(
    output: Path, split: str, objects: str | None, kinds: str | None, *, loss_events: bool
) -> None:
    """Write sequences below a folder, each as a folder of its own; old ones are replaced.

    Args:
        output: the folder.
        split: tuning or scored.
        objects: names between commas; None: all.
        kinds: the same for kinds.
        loss_events: events in which the object is lost, in place of plain sequences.
    """
    specs = _chosen(split, objects, kinds, loss_events)
    choose_gl()
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvaluationError(f'{output}: cannot be made: {error.strerror}') from None
    free, needed = shutil.disk_usage(output).free, _BYTES * len(specs)
    if free < needed:
        raise EvaluationError(
            f'{output}: needs about {1e-9 * needed:.1f} GB, {1e-9 * free:.1f} GB are free'
        )
    make = make_event if loss_events else make_sequence
    console = Console()
    with Progress(
        TextColumn('{task.description}'),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn('left:'),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        task = progress.add_task('', total=len(specs))
        for spec in specs:
            progress.update(task, description=f'{spec.name:<24}')
            make(spec).save(output)
            progress.advance(task)
    console.print(f'{len(specs)} sequences of split {split} in {output}', soft_wrap=True)


def _chosen(
    split: str, objects: str | None, kinds: str | None, loss_events: bool
) -> list[SequenceSpec]:
    there = LOSSES if loss_events else KINDS
    things = _names('object', objects, object_names())
    wanted = _names('kind', kinds, there)
    specs = events(split) if loss_events else benchmark(split)
    return [spec for spec in specs if spec.thing in things and spec.kind in wanted]


def _names(what: str, given: str | None, there: tuple[str, ...]) -> tuple[str, ...]:
    """Names between commas, each of which must be there."""
    if given is None:
        return there
    names = tuple(name.strip() for name in given.split(',') if name.strip())
    wrong = [name for name in names if name not in there]
    if wrong or not names:
        raise EvaluationError(
            f'no {what} {(wrong or [given])[0]!r}; there are: {", ".join(there)}'
        )
    return names
