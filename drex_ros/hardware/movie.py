# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Picture and video files: whole ones, or none."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import cv2

from drex_ros.hardware.studio import Pixels

PICTURE_SUFFIXES = ('.png', '.jpg', '.jpeg')
MOVIE_SUFFIXES = ('.mp4',)

_OPTIONS = {'crf': '18', 'preset': 'medium'}  # hardly any loss that can be seen
_JPEG_QUALITY = 95


class MovieError(RuntimeError):
    """A file cannot be written; the message is one readable line."""


def check_output(path: Path) -> None:
    """Raise MovieError when a picture or video cannot be written to a path."""
    if path.suffix.lower() not in PICTURE_SUFFIXES + MOVIE_SUFFIXES:
        valid = ', '.join(PICTURE_SUFFIXES + MOVIE_SUFFIXES)
        raise MovieError(f'{path}: the name must end with one of {valid}')
    if path.is_dir():
        raise MovieError(f'{path} is a folder')
    if not path.parent.is_dir():
        raise MovieError(f'{path}: there is no folder {path.parent}')
    if not os.access(path.parent, os.W_OK):
        raise MovieError(f'{path}: the folder {path.parent} cannot be written to')


def write_picture(path: Path, pixels: Pixels) -> None:
    """Write a picture, in the format that the suffix says. Raises MovieError."""
    suffix = '.png' if path.suffix.lower() == '.png' else '.jpg'
    quality = [] if suffix == '.png' else [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY]
    done, encoded = cv2.imencode(suffix, cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), quality)
    assert done, f'no encoder for {suffix}'
    part = _part(path)
    try:
        part.write_bytes(encoded.tobytes())
        part.replace(path)
    except OSError as error:
        raise MovieError(f'{path}: {error.strerror}') from None
    finally:
        part.unlink(missing_ok=True)


class MovieWriter:
    """Writes an H.264 video that browsers play; the file is there when all of it is.

    As a context manager it leaves nothing behind when the block raises.
    """

    def __init__(self, path: Path, size: tuple[int, int], rate: int) -> None:
        """Begin a video; width and height [px] must be even, `rate` is frames a second."""
        self._path = path
        self._part = _part(path)
        self.frames = 0
        try:
            # Only here: pictures do without it.
            import av
        except ImportError as error:
            raise MovieError(f'videos need PyAV ({error}): pip install av') from None
        self._frame = av.VideoFrame.from_ndarray
        try:
            self._part.touch()  # PyAV would say later that it cannot write
            self._file = av.open(
                str(self._part), 'w', format='mp4', options={'movflags': 'faststart'}
            )
        except OSError as error:
            raise MovieError(f'{path}: {error.strerror}') from None
        self._stream = self._file.add_stream('libx264', rate=rate, options=_OPTIONS)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = 'yuv420p'
        self._stream.codec_context.time_base = Fraction(1, rate)

    def add(self, pixels: Pixels) -> None:
        """Add a frame. Shape (height, width, 3)."""
        frame = self._frame(pixels, format='rgb24')
        frame.pts = self.frames
        try:
            self._file.mux(self._stream.encode(frame))
        except OSError as error:
            raise MovieError(f'{self._path}: {error.strerror}') from None
        self.frames += 1

    def __enter__(self) -> MovieWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._file.mux(self._stream.encode(None))
            self._file.close()
            if kind is None:
                self._part.replace(self._path)
        except OSError as problem:
            if kind is None:
                raise MovieError(f'{self._path}: {problem.strerror}') from None
        finally:
            self._part.unlink(missing_ok=True)


def _part(path: Path) -> Path:
    """Where a file is written before it is whole: beside it, hidden."""
    return path.with_name(f'.{path.name}.{os.getpid()}.part')
