# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sequences as folders: written whole, read again as they were, or a clear message."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drex_ros.evaluation.motion import EvaluationError
from drex_ros.evaluation.sequence import (
    Sequence,
    SequenceSpec,
    load_sequence,
    load_sequences,
)
from drex_ros.robot.camera import CameraModel

ARRAYS = ('colour', 'depth', 'time', 'joint_position', 'pose', 'twist', 'visible', 'present')


@pytest.fixture
def sequence() -> Sequence:
    random = np.random.default_rng(3)
    camera = CameraModel.from_pose((1.0, 0.2, 0.5), (0.0, 0.6, 2.0), width=8, height=6, cx=3.25)
    return Sequence(
        spec=SequenceSpec('mug', 'slow', 7, 'tuning'),
        camera=camera,
        colour=random.integers(0, 256, (4, 6, 8, 3), dtype=np.uint8),
        depth=random.integers(0, 3000, (4, 6, 8), dtype=np.uint16),
        time=np.arange(4) / 30.0,
        joint_position=random.normal(size=(4, 23)),
        pose=random.normal(size=(4, 7)),
        twist=random.normal(size=(4, 6)),
        visible=random.random(4),
        present=np.array((True, True, False, True)),
        event=2,
        back=3,
    )


def test_read_as_it_was_written(sequence: Sequence, tmp_path: Path) -> None:
    folder = sequence.save(tmp_path / 'all')
    assert folder == tmp_path / 'all/mug-slow-7'
    again = load_sequence(folder)
    assert again.spec == sequence.spec
    assert (again.event, again.back) == (2, 3)
    for name in ARRAYS:
        first, second = getattr(sequence, name), getattr(again, name)
        assert first.dtype == second.dtype
        assert np.array_equal(first, second), name
    assert np.array_equal(again.camera.matrix, sequence.camera.matrix)
    assert np.array_equal(again.camera.position, sequence.camera.position)
    assert np.array_equal(again.camera.quaternion, sequence.camera.quaternion)
    assert isinstance(again.colour, np.memmap)  # pictures stay on the disk until looked at


def test_frame_is_what_a_tracker_gets(sequence: Sequence) -> None:
    frame = sequence.frame(2)
    assert frame.time == pytest.approx(2.0 / 30.0)
    assert np.array_equal(frame.colour, sequence.colour[2])
    assert frame.depth.dtype == np.float32
    assert np.allclose(frame.depth, sequence.depth[2] * 1e-3)
    assert frame.joint_position is not None
    assert np.array_equal(frame.joint_position, sequence.joint_position[2])


def test_old_sequence_is_replaced_and_nothing_else_is_left(
    sequence: Sequence, tmp_path: Path
) -> None:
    sequence.save(tmp_path)
    (tmp_path / 'mug-slow-7/stray').touch()
    replace(sequence, event=1).save(tmp_path)
    assert load_sequence(tmp_path / 'mug-slow-7').event == 1
    assert [path.name for path in tmp_path.iterdir()] == ['mug-slow-7']
    assert not (tmp_path / 'mug-slow-7/stray').exists()


def test_failed_write_leaves_the_old_one_whole(
    sequence: Sequence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequence.save(tmp_path)
    written: list[Path] = []

    def full_disk(path: Path, array: np.ndarray) -> None:
        written.append(path)
        if len(written) == 3:
            raise OSError(28, 'No space left on device')
        path.touch()

    monkeypatch.setattr(np, 'save', full_disk)
    with pytest.raises(EvaluationError, match='mug-slow-7: cannot be written: No space left'):
        replace(sequence, event=1).save(tmp_path)
    monkeypatch.undo()
    assert load_sequence(tmp_path / 'mug-slow-7').event == 2
    assert [path.name for path in tmp_path.iterdir()] == ['mug-slow-7']


def test_all_of_a_folder_by_name(sequence: Sequence, tmp_path: Path) -> None:
    for thing in ('mug', 'ball'):
        replace(sequence, spec=replace(sequence.spec, thing=thing)).save(tmp_path)
    assert [each.spec.thing for each in load_sequences(tmp_path)] == ['ball', 'mug']


def test_folder_without_sequences_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r'has no sequences.*drex sequences --output'):
        load_sequences(tmp_path)
    with pytest.raises(EvaluationError, match=r'is no sequence: meta.json.*drex sequences'):
        load_sequence(tmp_path)


def test_broken_folders_say_what_is_wrong(sequence: Sequence, tmp_path: Path) -> None:
    folder = sequence.save(tmp_path)
    (folder / 'pose.npy').rename(folder / 'hidden')
    with pytest.raises(EvaluationError, match=r'is no sequence: pose.npy: No such file'):
        load_sequence(folder)
    np.save(folder / 'pose.npy', np.zeros((2, 7)))
    with pytest.raises(EvaluationError, match=r"different lengths.*'pose': 2"):
        load_sequence(folder)
    (folder / 'pose.npy').write_bytes(b'no array')
    with pytest.raises(EvaluationError, match='is no whole sequence'):
        load_sequence(folder)
    meta = json.loads((folder / 'meta.json').read_text())
    (folder / 'meta.json').write_text(json.dumps({**meta, 'format': 99}))
    with pytest.raises(EvaluationError, match='has format 99, must be 1: make it again'):
        load_sequence(folder)
    (folder / 'meta.json').write_text('{')
    with pytest.raises(EvaluationError, match='is no whole sequence'):
        load_sequence(folder)
