# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The tracking benchmark: which sequences and events there are, and how one is made."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import numpy.typing as npt

from drex_ros.evaluation.hiding import swept
from drex_ros.evaluation.lifting import FRAMES as LIFT_FRAMES
from drex_ros.evaluation.lifting import lifts
from drex_ros.evaluation.losses import FRAMES as LOSS_FRAMES
from drex_ros.evaluation.losses import LOSSES, loss
from drex_ros.evaluation.motion import FPS, EvaluationError, Motion
from drex_ros.evaluation.pushing import STYLES, pushes
from drex_ros.evaluation.sequence import Sequence, SequenceSpec
from drex_ros.evaluation.stage import Sensor, Stage
from drex_ros.evaluation.swinging import swings
from drex_ros.evaluation.tagging import TagPlate, with_tag
from drex_ros.hardware.rendering import Picture
from drex_ros.hardware.scene_file import Scene, load_scene
from drex_ros.objects import ObjectModel, load_object, object_names

KINDS = ('slow', 'fast', 'spin', 'occluded', 'lifted')
SPLITS = ('tuning', 'scored')
FRAMES = 63
"""Frames of a sequence; one in which the object is lifted has a few more."""
SEEN = 0.15
"""Least share of an object's pixels at which it counts as present."""

# Shares of the object that are to be seen: at least, in the first frame, and at most once.
_LEAST = {'slow': 0.5, 'fast': 0.5, 'spin': 0.9, 'occluded': 0.3, 'lifted': 0.3}
_FIRST = 0.75
_HIDDEN_ONCE = {'occluded': 0.6}
_TRIES = 40
_FEWEST = 45  # frames
_FIRST_SEEDS = {'tuning': 0, 'scored': 2000}  # scored: another number when it was looked at

Progress = Callable[[int, int], None]
Shares = list[float]
Colours = npt.NDArray[np.uint8]


def benchmark(split: str) -> tuple[SequenceSpec, ...]:
    """All sequences of a split, 'tuning' or 'scored': every kind with every object."""
    return _specs(split, KINDS, first=1)


def events(split: str) -> tuple[SequenceSpec, ...]:
    """All losses of a split: every kind with every object."""
    return _specs(split, LOSSES, first=501)


def make_sequence(
    spec: SequenceSpec,
    *,
    frames: int | None = None,
    progress: Progress | None = None,
    tag: TagPlate | None = None,
) -> Sequence:
    """Make a sequence of `benchmark`; the same spec gives the same one.

    Args:
        spec: which one.
        frames: how many; None: as many as the kind has.
        progress: is told how many frames are done, and of how many.
        tag: lies on the object; the motion is that of the sequence without it.
    """
    scene, thing = load_scene(), load_object(spec.thing)
    motion, seen, visible = _filmed(spec, scene, thing, frames)
    if tag is not None:
        tagged = with_tag(motion, tag)
        with Stage(scene, thing, tagged.props) as stage:
            seen = [stage.draw(tagged, i) for i in range(len(motion))]
    return _develop(spec, scene, motion, seen, visible, progress)


def make_late_colour(spec: SequenceSpec, *, frames: int | None = None) -> Colours:
    """Colour pictures of a sequence of `benchmark`, each half a frame later; the last is missing.

    Shape (n - 1, height, width, 3).
    """
    scene, thing = load_scene(), load_object(spec.thing)
    later = _filmed(spec, scene, thing, frames)[0].between()
    sensor = Sensor(scene, zlib.crc32(f'{spec.name} later'.encode()))
    with Stage(scene, thing, later.props) as stage:
        pictures = [sensor.measure(stage.draw(later, i), i)[0] for i in range(len(later))]
    return np.array(pictures)


def _filmed(
    spec: SequenceSpec, scene: Scene, thing: ObjectModel, frames: int | None
) -> tuple[Motion, list[Picture], Shares]:
    """The motion of a spec, its pictures without noise, and how much of the object they show."""
    _check(spec, KINDS)
    if frames is None:
        frames = LIFT_FRAMES if spec.kind == 'lifted' else FRAMES
    if frames < _FEWEST:
        raise EvaluationError(f'{frames} frames, must be {_FEWEST} or more: all rests at first')
    motions = _motions(scene, thing, spec.kind, frames, _random(spec))
    for motion in islice(motions, _TRIES):
        with Stage(scene, thing, motion.props) as stage:
            seen, visible = _draw(stage, motion, _LEAST[spec.kind])
        whole = len(seen) == frames and visible[0] >= _FIRST
        if whole and min(visible) <= _HIDDEN_ONCE.get(spec.kind, 1.0):
            return motion, seen, visible
    raise EvaluationError(
        f'{spec.name}: no motion was found that shows the object as it should; take another seed'
    )


def make_event(
    spec: SequenceSpec, *, frames: int = LOSS_FRAMES, progress: Progress | None = None
) -> Sequence:
    """Make a sequence of `events`; the same spec gives the same one."""
    _check(spec, LOSSES)
    scene, thing = load_scene(), load_object(spec.thing)
    lost = loss(scene, thing, spec.kind, frames, _random(spec))
    with Stage(scene, thing, lost.motion.props) as stage:
        seen, visible = _draw(stage, lost.motion)
    return _develop(
        spec, scene, lost.motion, seen, visible, progress, event=lost.event, back=lost.back
    )


def _draw(stage: Stage, motion: Motion, least: float = 0.0) -> tuple[list[Picture], Shares]:
    """Pictures without noise, up to the first that shows less than `least` of the object."""
    seen: list[Picture] = []
    visible: Shares = []
    for i in range(len(motion)):
        picture = stage.draw(motion, i)
        share = stage.visible(motion, i, picture)
        if share < least:
            break
        seen.append(picture)
        visible.append(share)
    return seen, visible


def _develop(
    spec: SequenceSpec,
    scene: Scene,
    motion: Motion,
    seen: list[Picture],
    visible: Shares,
    progress: Progress | None,
    *,
    event: int | None = None,
    back: int | None = None,
) -> Sequence:
    """What the camera makes of the pictures, with the truth."""
    sensor = Sensor(scene, zlib.crc32(spec.name.encode()))
    colour, depth = [], []
    for i, picture in enumerate(seen):
        rgb, millimetres = sensor.measure(picture, i)
        colour.append(rgb)
        depth.append(millimetres)
        if progress is not None:
            progress(i + 1, len(seen))
    return Sequence(
        spec=spec,
        camera=scene.camera,
        colour=np.array(colour),
        depth=np.array(depth),
        time=np.arange(len(seen)) / FPS,
        joint_position=motion.joint_position,
        pose=motion.pose,
        twist=motion.twist,
        visible=np.array(visible),
        present=np.array(visible) >= SEEN,
        event=event,
        back=back,
    )


def _motions(
    scene: Scene, thing: ObjectModel, kind: str, frames: int, random: np.random.Generator
) -> Iterator[Motion]:
    if kind == 'spin':
        yield from swings(scene, thing, frames, random)
    elif kind == 'lifted':
        yield from lifts(scene, thing, frames, random)
    else:
        for motion in pushes(scene, thing, STYLES[kind], frames, random):
            if kind == 'occluded':
                # The bars are made narrower a few times, then there is another push.
                yield from islice(swept(scene.camera, thing, motion, random), 4)
            else:
                yield motion


def _specs(split: str, kinds: tuple[str, ...], first: int) -> tuple[SequenceSpec, ...]:
    if split not in SPLITS:
        raise EvaluationError(f'no split {split!r}; there are: {", ".join(SPLITS)}')
    first += _FIRST_SEEDS[split]
    return tuple(
        SequenceSpec(thing, kind, first + number, split)
        for number, kind in enumerate(kinds)
        for thing in object_names()
    )


def _check(spec: SequenceSpec, kinds: tuple[str, ...]) -> None:
    if spec.kind not in kinds:
        raise EvaluationError(f'no kind {spec.kind!r} here; there are: {", ".join(kinds)}')
    if spec.fps != FPS:
        raise EvaluationError(f'fps is {spec.fps:g}, must be {FPS:g}')


def _random(spec: SequenceSpec) -> np.random.Generator:
    # Names as numbers that are the same in every run, which hash() is not.
    words = [zlib.crc32(word.encode()) for word in (spec.thing, spec.kind)]
    return np.random.default_rng([spec.seed, *words])
