# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracking benchmark's figures as tables to read."""

from __future__ import annotations

import math
from collections import Counter

from rich.console import Console
from rich.table import Table
from tracking_detection import DetectionSummary
from tracking_report import ALL, Report

from drex_ros.evaluation.tagging import TAGGED
from drex_ros.evaluation.tracking_table import REPORTED, Accuracy, Share

_NOTHING = '-'


def show(console: Console, figures: Report, *, timed: bool) -> None:
    """Print a table for each question that was asked; `timed`: times are worth something."""
    if figures.accuracy:
        console.print(_accuracy(figures))
        _names(console, 'lost', figures.accuracy[ALL].lost)
    if figures.baselines:
        console.print(_baselines(figures, timed))
    if figures.events:
        console.print(_events(figures))
        _names(console, 'reported late or never', figures.events[ALL].late)
        _names(console, 'not right again in time', figures.events[ALL].not_again)
    if figures.false_alarms:
        for row, share in figures.false_alarms.items():
            console.print(
                f'false alarms, {row}: {_percent(share)} of {share.number} frames; not tracked, '
                f'rightly or not: {_percent(figures.alarms[row])}'
            )
    if figures.stress:
        console.print(_stress(figures))
    if figures.detection:
        title = 'Detection alone, nothing known but the mesh; right: 8 mm and 8 deg'
        console.print(_detection(title, figures.detection))
    if figures.absent:
        console.print(_absent(figures.absent))
    if not timed:
        console.print('[yellow]times are worth nothing with --jobs above 1[/]')


def _accuracy(figures: Report) -> Table:
    table = _table(
        'Accuracy, median / 95th percentile of frames with status TRACKING; wanted: 0.4 / 1.0 mm, '
        '0.35 / 1.3 deg, none lost, error squared 0.6 to 1.3, 90 % inside, 5 ms',
        'sequences', 'until found', 'frames', 'tracking', 'mm', 'deg', 'lost',
        'error²/dim', 'inside 95 %', 'ms',
    )  # fmt: skip
    for row, each in figures.accuracy.items():
        table.add_row(
            row,
            str(each.sequences),
            str(each.until_found),
            str(each.frames),
            _hundred(each.tracking),
            *_errors(each),
            str(len(each.lost)),
            _number(each.normalised_square, 2),
            _hundred(each.inside),
            _milliseconds(each),
            end_section=_ends(figures.accuracy, row),
        )
    return table


def _ends(rows: dict[str, Accuracy], row: str) -> bool:
    """Whether a line is drawn below: kinds, then objects, then all."""
    names = list(rows)
    after = names[names.index(row) + 1 :]
    return bool(after) and (after[0] == ALL or row == 'lifted')


def _names(console: Console, what: str, names: tuple[str, ...]) -> None:
    if names:
        console.print(f'{what}: ' + ', '.join(names), soft_wrap=True)


def _baselines(figures: Report, timed: bool) -> Table:
    title = 'Beside others'
    if 'ICP' in figures.baselines:
        title += '; point-to-plane ICP: small_gicp on one thread, given the first true pose'
    if 'tag' in figures.baselines:
        sizes = (f'{thing} {1e3 * size:.0f} mm' for thing, (size, _, _) in TAGGED.items())
        title += f'; AprilTag 36h11 on top: {", ".join(sizes)}'
    table = _table(
        title,
        'kind', 'sequences', 'frames', 'tracking', 'mm', 'deg', 'lost', 'ms', 'ours over its',
        first='tracker',
    )  # fmt: skip
    for name, rows in figures.baselines.items():
        for row, each in rows.items():
            ratio = figures.icp_ratio.get(row) if name == 'ICP' and timed else None
            table.add_row(
                name,
                row,
                str(each.sequences),
                str(each.frames + each.until_found),
                # A tag that is not seen at first is not found either.
                _hundred(each.tracking * each.frames / (each.frames + each.until_found)),
                *_errors(each),
                str(len(each.lost)),
                _milliseconds(each),
                _NOTHING if ratio is None else f'{ratio:.2f}',
                end_section=row == ALL,
            )
    return table


def _events(figures: Report) -> Table:
    table = _table(
        f'Events; wanted: reported within {REPORTED} frames in 95 %, right again within 0.5 s in '
        '95 %, false alarms under 1 %. Frames that come while a detection computes are missed',
        'events', 'not tracked before', 'reported', 'frames to report', 'right again',
        '95 % interval', 'median ms', 'tracking while gone', 'wrong at the end',
    )  # fmt: skip
    for row, each in figures.events.items():
        counts = Counter(min(frames, REPORTED + 1) for frames in each.report_frames)
        frames = ', '.join(
            f'{number}{"+" if number > REPORTED else ""}: {count}'
            for number, count in sorted(counts.items())
        )
        low, high = each.again.interval
        table.add_row(
            row,
            str(each.events),
            str(each.not_found_before),
            f'{each.reported.count}/{each.reported.number} {_percent(each.reported)}',
            frames or _NOTHING,
            f'{each.again.count}/{each.again.number} {_percent(each.again)}',
            f'{100 * low:.0f} to {100 * high:.0f} %',
            _number(1e3 * each.again_median, 0),
            _percent(each.deceived),
            str(each.wrong_end),
        )
    return table


def _stress(figures: Report) -> Table:
    table = _table(
        'What is wrong with the camera, median / 95th percentile of frames with status TRACKING',
        'sequences', 'frames', 'not tracking', 'mm', 'deg', 'lost', 'error²/dim',
    )  # fmt: skip
    for row, each in figures.stress.items():
        whole = each.frames + each.until_found
        table.add_row(
            row,
            str(each.sequences),
            str(whole),
            _hundred(1.0 - each.tracking * each.frames / whole if each.frames else 1.0),
            *_errors(each),
            str(len(each.lost)),
            _number(each.normalised_square, 2),
        )
    return table


def _detection(title: str, rows: dict[str, DetectionSummary]) -> Table:
    table = _table(
        title,
        'looks', 'right', '95 % interval', 'wrong', 'score 5, 50, 95 %', 'of right ones', 'ms',
    )  # fmt: skip
    for row, each in rows.items():
        low, high = each.right.interval
        table.add_row(
            row,
            str(each.right.number),
            _percent(each.right),
            f'{100 * low:.0f} to {100 * high:.0f} %',
            _percent(each.wrong),
            _three(each.score),
            _three(each.right_score),
            f'{1e3 * each.seconds_median:.0f} / {1e3 * each.seconds_95:.0f}',
        )
    return table


def _absent(rows: dict[str, DetectionSummary]) -> Table:
    table = _table(
        'Detection where the object is not',
        'looks', 'found', '95 % interval', 'score 5, 50, 95 %', 'ms',
    )  # fmt: skip
    for row, each in rows.items():
        low, high = each.wrong.interval
        table.add_row(
            row,
            str(each.wrong.number),
            _percent(each.wrong),
            f'{100 * low:.0f} to {100 * high:.0f} %',
            _three(each.score),
            f'{1e3 * each.seconds_median:.0f} / {1e3 * each.seconds_95:.0f}',
        )
    return table


def _table(title: str, *columns: str, first: str = '') -> Table:
    table = Table(title=title, title_justify='left', title_style='bold')
    table.add_column(first, no_wrap=True)
    for column in columns:
        table.add_column(column, justify='left' if column == 'kind' else 'right', min_width=4)
    return table


def _errors(each: Accuracy) -> tuple[str, str]:
    errors = each.errors
    turned = not math.isnan(errors.rotation_median)
    return (
        f'{1e3 * errors.translation_median:.2f} / {1e3 * errors.translation_95:.2f}',
        f'{math.degrees(errors.rotation_median):.2f} / {math.degrees(errors.rotation_95):.2f}'
        if turned
        else _NOTHING,
    )


def _milliseconds(each: Accuracy) -> str:
    return f'{1e3 * each.seconds_median:.1f} / {1e3 * each.seconds_95:.1f}'


def _hundred(share: float) -> str:
    return _NOTHING if math.isnan(share) else f'{100 * share:.1f} %'


def _percent(share: Share) -> str:
    return _hundred(share.value)


def _number(value: float, digits: int) -> str:
    return _NOTHING if math.isnan(value) else f'{value:.{digits}f}'


def _three(values: tuple[float, float, float]) -> str:
    return _NOTHING if math.isnan(values[1]) else ' '.join(f'{each:.2f}' for each in values)
