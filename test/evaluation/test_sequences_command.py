# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex sequences`: what it writes and what it says to wrong words."""

from pathlib import Path

import pytest

from drex_ros.cli.sequences import write_sequences
from drex_ros.evaluation.motion import EvaluationError
from drex_ros.evaluation.sequence import load_sequences


def write(output: Path, **given: object) -> None:
    options: dict = {'split': 'tuning', 'objects': None, 'kinds': None, 'loss_events': False}
    write_sequences(output, **{**options, **given})


def test_writes_what_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / 'new', objects='lego', kinds='teleported', loss_events=True, split='scored')
    (found,) = load_sequences(tmp_path / 'new')
    assert (found.spec.thing, found.spec.kind, found.spec.split) == (
        'lego', 'teleported', 'scored',
    )  # fmt: skip
    assert found.event == found.back
    assert '1 sequences of split scored in' in capsys.readouterr().out


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ({'objects': 'lego,spoon'}, "no object 'spoon'; there are: ball, banana"),
        ({'objects': ','}, "no object ','; there are: ball"),
        ({'kinds': 'covered'}, "no kind 'covered'; there are: slow, fast, spin"),
        ({'kinds': 'slow', 'loss_events': True}, "no kind 'slow'; there are: covered"),
        ({'split': 'other'}, "no split 'other'; there are: tuning, scored"),
    ],
)
def test_wrong_words(tmp_path: Path, given: dict[str, object], message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        write(tmp_path / 'new', **given)
    assert not (tmp_path / 'new').exists()


def test_output_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    with pytest.raises(EvaluationError, match='file: cannot be made: File exists'):
        write(tmp_path / 'file')


def test_full_disk_is_said_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr('drex_ros.cli.sequences._BYTES', 1e18)
    with pytest.raises(EvaluationError, match=r'needs about .* GB, .* GB are free'):
        write(tmp_path)
