# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Picture and video files: what is in them, and that there are no halves."""

from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from drex_ros.hardware.movie import MovieError, MovieWriter, check_output, write_picture

SIZE = (64, 48)


def frame(number: int) -> np.ndarray:
    """Red grows with the number, to the right it is blue."""
    pixels = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    pixels[..., 0] = 20 * number
    pixels[:, SIZE[0] // 2 :, 2] = 200
    return pixels


@pytest.mark.parametrize(('name', 'error'), [('a.png', 0), ('a.jpg', 12), ('A.JPEG', 12)])
def test_a_picture_is_what_was_given(tmp_path: Path, name: str, error: int) -> None:
    write_picture(tmp_path / name, frame(5))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    read = cv2.cvtColor(cv2.imread(str(tmp_path / name)), cv2.COLOR_BGR2RGB).astype(int)
    away_from_the_edge = np.r_[0:24, 40:64]
    difference = np.abs(read - frame(5))[:, away_from_the_edge]
    assert difference.max() <= error


def test_a_video_has_every_frame(tmp_path: Path) -> None:
    path = tmp_path / 'a.mp4'
    with MovieWriter(path, SIZE, rate=20) as movie:
        for number in range(12):
            movie.add(frame(number))
        assert not path.exists()
    assert [each.name for each in tmp_path.iterdir()] == ['a.mp4']
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        context = stream.codec_context
        assert (context.name, context.pix_fmt) == ('h264', 'yuv420p')
        assert (context.width, context.height) == SIZE
        assert stream.average_rate == 20
        frames = [each.to_ndarray(format='rgb24').astype(int) for each in file.decode(stream)]
    assert len(frames) == 12
    red = [each[:, :24, 0].mean() for each in frames]
    np.testing.assert_allclose(np.diff(red), 20, atol=8)
    assert frames[0][:, 40:, 2].mean() > 150 > 50 > frames[0][:, :24, 2].mean()


def interrupted_video(path: Path) -> None:
    with MovieWriter(path, SIZE, rate=20) as movie:
        movie.add(frame(1))
        raise KeyboardInterrupt


def test_an_interrupted_video_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / 'a.mp4'
    path.write_bytes(b'of yesterday')
    with pytest.raises(KeyboardInterrupt):
        interrupted_video(path)
    assert [each.name for each in tmp_path.iterdir()] == ['a.mp4']
    assert path.read_bytes() == b'of yesterday'


@pytest.mark.parametrize(
    ('name', 'said'),
    [
        ('a.gif', 'must end with one of .png, .jpg, .jpeg, .mp4'),
        ('a', 'must end with one of .png, .jpg, .jpeg, .mp4'),
        ('none/a.png', 'there is no folder'),
        ('folder.png', 'is a folder'),
    ],
)
def test_where_nothing_can_be_written(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / 'folder.png').mkdir()
    with pytest.raises(MovieError, match=said):
        check_output(tmp_path / name)


def test_a_folder_that_is_gone_meanwhile(tmp_path: Path) -> None:
    said = 'gone/a.*: No such file or directory'
    with pytest.raises(MovieError, match=said):
        write_picture(tmp_path / 'gone/a.png', frame(1))
    with pytest.raises(MovieError, match=said):
        MovieWriter(tmp_path / 'gone/a.mp4', SIZE, rate=20)
