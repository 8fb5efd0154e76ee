# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tags on objects: they are where trackers are told, and only where there is room for one."""

import numpy as np
import pytest

from drex_ros.evaluation.motion import EvaluationError, Motion
from drex_ros.evaluation.placing import resting
from drex_ros.evaluation.scoring import pose_error
from drex_ros.evaluation.stage import Sensor, Stage
from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.evaluation.tagging import TAGGED, tag_plate, with_tag
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import load_object
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.tag_tracker import TagTracker
from drex_ros.robot.joints import HOME


def test_tag_is_read_where_the_object_is() -> None:
    """Also that it is not mirrored, and turns with the object."""
    scene, thing = load_scene(), load_object('box')
    plate = tag_plate(thing)
    poses = np.array([resting(thing, np.array((0.5, 0.05)), yaw) for yaw in (0.3, 2.0)])
    plain = Motion(np.repeat(HOME[None], 2, axis=0), poses, np.zeros((2, 6)))
    motion = with_tag(plain, plate)
    tracker, sensor = TagTracker(plate.settings, scene.camera), Sensor(scene, 1)
    with Stage(scene, thing, motion.props) as stage:
        for i, pose in enumerate(poses):
            colour, depth = sensor.measure(stage.draw(motion, i), i)
            frame = RgbdFrame(0.1 * i, colour, depth * np.float32(1e-3))
            seen = tracker.observe(frame)
            assert seen is not None
            error = pose_error(
                SymmetryGroup(()), pose, np.concatenate((seen.position, seen.quaternion))
            )
            assert error.distance < 0.012
            assert error.angle < np.radians(3.0)


@pytest.mark.parametrize('name', TAGGED)
def test_tag_lies_on_the_top(name: str) -> None:
    thing = load_object(name)
    plate = tag_plate(thing)
    lower, upper = thing.mesh.bounds
    x, y, z = plate.settings.position
    assert 0.0 < z - upper[2] < 0.001
    # With its white rim it reaches over the edge by 2 mm at most.
    half = plate.prop.size[0]
    assert half == pytest.approx(0.625 * plate.settings.size)
    assert (np.array((x, y)) - half > lower[:2] - 0.002).all()
    assert (np.array((x, y)) + half < upper[:2] + 0.002).all()


def test_object_without_a_level_top_has_no_tag() -> None:
    with pytest.raises(EvaluationError, match='banana: has no level top'):
        tag_plate(load_object('banana'))
