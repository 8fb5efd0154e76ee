# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How well objects are tracked: accuracy, cost, losses, bad cameras, detection, and other ways.

    python bench/tracking.py [--data DIR ...] [--events] [--stress] [--detection]
                             [--baselines [ICP] [tag]] [--jobs 2] [--json FILE]

Without --data the sequences of the split are made in memory, one by one, which takes longer than
tracking them; `drex sequences` writes them to folders. Sequences with tags are always made.

Times are those of the processor, on one core, after all is compiled. They are only worth something
with --jobs 1: two processes take each other's cache.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

os.environ.setdefault('OMP_NUM_THREADS', '1')  # numpy looks at it when it is imported
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from tracking_report import as_json, report
from tracking_tables import show
from tracking_work import ICP, TAG, Job, Questions, Result, measure, prepare

from drex_ros.evaluation.losses import LOSSES
from drex_ros.evaluation.motion import EvaluationError
from drex_ros.evaluation.sequence import load_sequences
from drex_ros.evaluation.sequences import KINDS, SPLITS, benchmark, events
from drex_ros.objects import object_names

_WIDTH = 150  # columns


def main() -> int:
    """Measure, print, write."""
    options = parse()
    # Wide enough for the tables where the output goes to a file.
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    baselines = options.baselines if options.baselines is not None else []
    everything = options.baselines == []
    questions = Questions(
        icp=everything or ICP in baselines,
        tag=everything or TAG in baselines,
        events=options.events,
        stress=options.stress,
        detection=options.detection,
    )
    try:
        jobs = chosen(options)
        results = list(_watched(console, work(jobs, questions, options.jobs), len(jobs)))
    except EvaluationError as error:
        Console(stderr=True).print(f'error: {error}', style='red', soft_wrap=True)
        return 2
    figures = report(sorted(results, key=lambda result: result.spec.name))
    show(console, figures, timed=options.jobs == 1)
    if options.json is not None:
        document = {'jobs': options.jobs, 'split': options.split, **as_json(figures)}
        options.json.write_text(json.dumps(document, indent=1) + '\n', encoding='utf-8')
    return 0


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--data', type=Path, nargs='+', help='folders of written sequences')
    parser.add_argument('--split', choices=SPLITS, help='default: scored, or all of --data')
    parser.add_argument('--objects', nargs='+', choices=object_names(), metavar='NAME')
    parser.add_argument('--kinds', nargs='+', choices=(*KINDS, *LOSSES), metavar='KIND')
    parser.add_argument('--events', action='store_true', help='losses and false alarms')
    parser.add_argument('--stress', action='store_true', help='cameras that are not as they say')
    parser.add_argument('--detection', action='store_true', help='single frames')
    parser.add_argument(
        '--baselines', nargs='*', choices=(ICP, TAG), help='other trackers; default: both'
    )
    parser.add_argument('--jobs', type=int, default=1, help='processes; times need 1')
    parser.add_argument('--json', type=Path, help='file for all figures')
    return parser.parse_args()


def chosen(options: argparse.Namespace) -> list[Job]:
    """The sequences that are to be measured."""
    with_events = options.events or options.detection
    if options.data:
        there = [
            Job(sequence.spec, parent / sequence.spec.name)
            for parent in options.data
            for sequence in load_sequences(parent)
            if options.split in (None, sequence.spec.split)
        ]
    else:
        split = options.split or 'scored'
        there = [Job(spec) for spec in (*benchmark(split), *events(split))]
    jobs = [
        job
        for job in there
        if (options.objects is None or job.spec.thing in options.objects)
        and (options.kinds is None or job.spec.kind in options.kinds)
        and (job.plain or with_events)
    ]
    if not jobs:
        raise EvaluationError('no sequence is left to measure: look at --objects and --kinds')
    return jobs


def work(jobs: list[Job], questions: Questions, processes: int) -> Iterator[Result]:
    """Measure the sequences, in any order."""
    if processes == 1:
        prepare(questions)
        yield from map(measure, jobs)
        return
    # Processes that share nothing: OpenGL does not bear a fork.
    context = multiprocessing.get_context('spawn')
    with context.Pool(processes, prepare, (questions,)) as pool:
        yield from pool.imap_unordered(measure, jobs)


def _watched(console: Console, results: Iterable[Result], total: int) -> Iterator[Result]:
    with Progress(
        TextColumn('{task.description:<28}'),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn('left:'),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as progress:
        task = progress.add_task('compiling', total=total)
        for result in results:
            progress.update(task, description=result.spec.name, advance=1)
            yield result


if __name__ == '__main__':
    sys.exit(main())
