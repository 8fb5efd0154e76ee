# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What makes a tracker lose its object: it is covered, gone, exchanged, or elsewhere at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from drex_ros.evaluation.hiding import cover
from drex_ros.evaluation.motion import (
    ATTEMPTS,
    AWAY,
    FPS,
    EvaluationError,
    Motion,
    Prop,
    numeric_twist,
    smooth,
)
from drex_ros.evaluation.placing import in_picture, resting
from drex_ros.hardware.scene_file import Scene
from drex_ros.objects import ObjectModel, load_object, object_names
from drex_ros.robot.joints import HOME, Array
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

LOSSES = ('covered', 'removed', 'swapped', 'teleported')
FRAMES = 52
"""Frames of an event: at least 0.6 s of them after the object is back."""
JUMP = 0.07
"""Distance of a teleport [m]."""

_AREA = ((0.42, 0.60), (-0.14, 0.14))  # [m] x and y


@dataclass(frozen=True, eq=False)
class Loss:
    """A motion in which the object is lost."""

    motion: Motion
    event: int
    """First frame at which things are not as before."""
    back: int
    """First frame at which the right object is to be seen, for good."""


def loss(
    scene: Scene, thing: ObjectModel, kind: str, frames: int, random: np.random.Generator
) -> Loss:
    """An event of a kind of LOSSES, at rest or in slow motion, as chance has it."""
    event = int(random.integers(11, 14))
    back = event if kind == 'teleported' else event + int(random.integers(15, 22))
    if frames <= back:
        raise EvaluationError(f'{frames} frames, must be more than {back} for this event')
    for _ in range(ATTEMPTS):
        pose = _slow_motion(thing, frames, random)
        twist = numeric_twist(pose, 1.0 / FPS)
        if kind == 'teleported':
            pose[event:] = _moved(pose[event:], JUMP, 0.0, random)
        elif kind == 'removed' and random.random() < 0.5:
            turn = random.uniform(-np.pi, np.pi)
            pose[back:] = _moved(pose[back:], random.uniform(0.05, 0.15), turn, random)
        if in_picture(scene, thing, pose):
            break
    else:
        raise EvaluationError(f'{thing.name}: is not whole in the picture anywhere')
    gone = np.zeros(frames, dtype=np.bool_)
    gone[event:back] = True
    motion = Motion(np.repeat(HOME[None], frames, axis=0), pose, twist)
    if kind == 'covered':
        motion = _covered(scene, thing, motion, gone, random)
    elif kind != 'teleported':
        shown = np.where(gone[:, None], AWAY, pose)
        motion = Motion(motion.joint_position, pose, twist, shown=shown)
        if kind == 'swapped':
            motion = _swapped(thing, motion, gone, random)
    return Loss(motion, event, back)


def _slow_motion(thing: ObjectModel, frames: int, random: np.random.Generator) -> Array:
    """Poses on the table, at rest or along a line with a turn; up to 0.15 m/s. Shape (n, 7)."""
    place = np.array([random.uniform(*side) for side in _AREA])
    pose = np.tile(resting(thing, place, random.uniform(-np.pi, np.pi)), (frames, 1))
    if random.random() < 0.5:
        return pose
    heading, length = random.uniform(-np.pi, np.pi), random.uniform(0.05, 0.12)
    turn = random.uniform(-0.8, 0.8)
    share = smooth((np.arange(frames) / FPS - 0.2) / (frames / FPS - 0.2))
    pose[:, 0] += share * length * np.cos(heading)
    pose[:, 1] += share * length * np.sin(heading)
    for i, part in enumerate(share):
        step = quaternion_from_vector((0.0, 0.0, part * turn))
        pose[i, 3:] = quaternion_product(step, pose[i, 3:])
    return pose


def _moved(pose: Array, distance: float, turn: float, random: np.random.Generator) -> Array:
    """Poses elsewhere on the table. Shape (n, 7)."""
    heading = random.uniform(-np.pi, np.pi)
    moved = pose.copy()
    moved[:, :2] += distance * np.array((np.cos(heading), np.sin(heading)))
    by = quaternion_from_vector((0.0, 0.0, turn))
    moved[:, 3:] = [quaternion_product(by, each[3:]) for each in pose]
    return moved


def _covered(
    scene: Scene,
    thing: ObjectModel,
    motion: Motion,
    gone: npt.NDArray[np.bool_],
    random: np.random.Generator,
) -> Motion:
    near, roll = random.uniform(0.5, 0.8), random.uniform(-0.3, 0.3)
    plates = [cover(scene.camera, thing, pose, near, roll) for pose in motion.pose]
    # One plate, as large as it must be for the worst frame.
    size = np.max([plate.size for plate, _ in plates], axis=0)
    plate = Prop('box', tuple(float(each) for each in size), plates[0][0].rgba)
    places = np.where(gone[:, None], [place for _, place in plates], AWAY)
    return motion.with_props((plate,), places[:, None])


def _swapped(
    thing: ObjectModel,
    motion: Motion,
    gone: npt.NDArray[np.bool_],
    random: np.random.Generator,
) -> Motion:
    others = [name for name in object_names() if name != thing.name]
    other = load_object(others[int(random.integers(len(others)))])
    place = resting(other, np.zeros(2), random.uniform(-np.pi, np.pi))
    places = np.tile(AWAY, (len(motion), 1))
    places[gone] = place
    places[gone, :2] = motion.pose[gone, :2]
    prop = Prop('mesh', (), other.rgba, other.mesh)
    return motion.with_props((prop,), places[:, None])
