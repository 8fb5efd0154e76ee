# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A camera sequence with its truth: in memory, and as a folder of arrays."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from drex_ros.evaluation.motion import FPS, EvaluationError
from drex_ros.perception.frame import RgbdFrame
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array

_FORMAT = 1
_META = 'meta.json'
_ARRAYS = (
    'colour', 'depth', 'time', 'joint_position', 'pose', 'twist', 'visible', 'present',
)  # fmt: skip
_CAMERA = ('width', 'height', 'fx', 'fy', 'cx', 'cy', 'position', 'quaternion')


@dataclass(frozen=True)
class SequenceSpec:
    """Which sequence: the same spec gives the same pictures."""

    thing: str
    """Name of the object in the library."""
    kind: str
    seed: int
    split: str
    """'tuning' or 'scored'."""
    fps: float = FPS

    @property
    def name(self) -> str:
        """Of its folder."""
        return f'{self.thing}-{self.kind}-{self.seed}'


@dataclass(frozen=True, eq=False)
class Sequence:
    """Pictures of an object that moves, and where it truly was."""

    spec: SequenceSpec
    camera: CameraModel
    colour: npt.NDArray[np.uint8]
    """Red, green, blue. Shape (n, height, width, 3)."""
    depth: npt.NDArray[np.uint16]
    """Along the optical axis [mm], 0 where there is no value. Shape (n, height, width)."""
    time: Array
    """[s], shape (n,)."""
    joint_position: Array
    """Of the robot [rad], shape (n, 23)."""
    pose: Array
    """Truth: the object in world, position [m] and quaternion x y z w. Shape (n, 7)."""
    twist: Array
    """Truth: velocity of its origin [m/s] and of its turn [rad/s], world axes. Shape (n, 6)."""
    visible: Array
    """Truth: share of the object's own pixels that nothing hides. Shape (n,)."""
    present: npt.NDArray[np.bool_]
    """Truth: the right object is to be seen, by 15 % at least. Shape (n,)."""
    event: int | None = None
    """First frame at which it is lost or elsewhere; None: never."""
    back: int | None = None
    """First frame at which it is to be seen again; None: there is no event."""

    def __len__(self) -> int:
        return len(self.time)

    def frame(self, i: int) -> RgbdFrame:
        """What a tracker is given at frame `i`; nothing of the truth is in it."""
        return RgbdFrame(
            time=float(self.time[i]),
            colour=np.asarray(self.colour[i]),
            depth=self.depth[i].astype(np.float32) * np.float32(1e-3),
            joint_position=np.array(self.joint_position[i]),
        )

    def save(self, parent: Path) -> Path:
        """Write the folder `parent`/name, whole or not at all; an old one is replaced."""
        folder = parent / self.spec.name
        unfinished = parent / f'.{self.spec.name}.{os.getpid()}'
        camera = {key: np.asarray(getattr(self.camera, key)).tolist() for key in _CAMERA}
        meta = {
            'format': _FORMAT,
            **asdict(self.spec),
            'event': self.event,
            'back': self.back,
            'camera': camera,
        }
        try:
            unfinished.mkdir(parents=True)
            for name in _ARRAYS:
                np.save(unfinished / f'{name}.npy', getattr(self, name))
            (unfinished / _META).write_text(json.dumps(meta, indent=1) + '\n', encoding='utf-8')
            if folder.is_dir():
                shutil.rmtree(folder)
            unfinished.rename(folder)
        except OSError as error:
            raise EvaluationError(f'{folder}: cannot be written: {error.strerror}') from None
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return folder


def load_sequence(folder: Path) -> Sequence:
    """Read a sequence; its pictures are read from the disk as they are looked at."""
    try:
        meta: dict[str, Any] = json.loads((folder / _META).read_text(encoding='utf-8'))
        if meta['format'] != _FORMAT:
            raise EvaluationError(
                f'{folder}: has format {meta["format"]}, must be {_FORMAT}: make it again'
            )
        arrays = {name: np.load(folder / f'{name}.npy', mmap_mode='r') for name in _ARRAYS}
        spec = SequenceSpec(*(meta[key] for key in ('thing', 'kind', 'seed', 'split', 'fps')))
        camera = CameraModel(**{key: meta['camera'][key] for key in _CAMERA})
        event, back = meta['event'], meta['back']
    except OSError as error:
        missing = Path(error.filename or folder).name
        raise EvaluationError(
            f'{folder}: is no sequence: {missing}: {error.strerror}; '
            'write some with: drex sequences --output DIR'
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        raise EvaluationError(f'{folder}: is no whole sequence: {error}') from None
    sizes = {name: len(array) for name, array in arrays.items()}
    if len(set(sizes.values())) != 1:
        raise EvaluationError(f'{folder}: arrays of different lengths: {sizes}')
    return Sequence(spec=spec, camera=camera, event=event, back=back, **arrays)


def load_sequences(parent: Path) -> list[Sequence]:
    """All sequences in a folder, by name."""
    found = sorted(path.parent for path in parent.glob(f'[!.]*/{_META}'))
    if not found:
        raise EvaluationError(
            f'{parent}: has no sequences; write some with: drex sequences --output {parent}'
        )
    return [load_sequence(folder) for folder in found]
