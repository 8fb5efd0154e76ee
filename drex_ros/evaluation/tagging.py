# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A printed AprilTag that lies on an object, for trackers that need one."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from drex_ros.evaluation.motion import EvaluationError, Motion, Prop
from drex_ros.objects import ObjectModel
from drex_ros.perception.tag_tracker import TagSettings, dictionaries
from drex_ros.robot.joints import constant
from drex_ros.robot.rotations import rotation_matrix

TAGGED = {
    'box': (0.04, 0.0, 0.0),
    'can': (0.04, 0.0, 0.0),
    'cookie': (0.04, 0.0, 0.0),
    'domino': (0.04, 0.0, 0.0),
    'dumbbell': (0.02, -0.0555, 0.0),
    'lego': (0.02, 0.0, 0.0),
    'letter_a': (0.02, 0.0, 0.034),
    'letter_u': (0.02, -0.032, 0.0),
}
"""Objects with a level top that is large enough: side of the black square, x and y of its middle
in the object's frame [m]."""

_ID = 7
_ABOVE = 0.0003  # [m] over the top, so that the two do not flicker
_CELL = 32  # pixels of the print for a cell of the tag


@dataclass(frozen=True, eq=False)
class TagPlate:
    """A tag on an object, as a tracker is told of it and as it is seen."""

    settings: TagSettings
    prop: Prop


def tag_plate(thing: ObjectModel) -> TagPlate:
    """The tag of an object of TAGGED, with a white rim one cell wide."""
    if thing.name not in TAGGED:
        raise EvaluationError(
            f'{thing.name}: has no level top for a tag; those with one: {", ".join(TAGGED)}'
        )
    size, x, y = TAGGED[thing.name]
    top = float(thing.mesh.bounds[1][2]) + _ABOVE
    settings = TagSettings(_ID, size, position=constant((x, y, top)))
    dictionary = cv2.aruco.getPredefinedDictionary(dictionaries()[settings.dictionary])
    cells = dictionary.markerSize + 2
    tag = cv2.aruco.generateImageMarker(dictionary, _ID, cells * _CELL)
    half = 0.5 * size * (cells + 2) / cells
    picture = np.pad(tag, _CELL, constant_values=255)
    return TagPlate(settings, Prop('sheet', (half,), constant((1, 1, 1, 1)), picture=picture))


def with_tag(motion: Motion, plate: TagPlate) -> Motion:
    """A motion in which the object carries its tag."""
    pose = np.array(motion.pose)
    offset = plate.settings.position
    pose[:, :3] += [rotation_matrix(each[3:]) @ offset for each in pose]
    return motion.with_props((plate.prop,), pose[:, None])
