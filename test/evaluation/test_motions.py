# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What moves in a sequence: pushes by physics, swings, lifts, bars, losses."""

from itertools import islice

import numpy as np
import pytest

from drex_ros.evaluation.hiding import cover, swept
from drex_ros.evaluation.lifting import lifts
from drex_ros.evaluation.losses import JUMP, LOSSES, loss
from drex_ros.evaluation.motion import AWAY, FPS, EvaluationError, Motion, numeric_twist
from drex_ros.evaluation.placing import (
    height,
    in_picture,
    resting,
    tilt,
    way_to_surface,
)
from drex_ros.evaluation.pushing import STYLES, PushStyle, pushes
from drex_ros.evaluation.swinging import swings
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import load_object
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import HOME, check_posture
from drex_ros.robot.rotations import quaternion_from_vector, rotation_matrix

SCENE = load_scene()
FRAMES = 50


def random() -> np.random.Generator:
    return np.random.default_rng(11)


def speeds(motion: Motion) -> np.ndarray:
    return np.linalg.norm(motion.twist[:, :3], axis=1)


@pytest.fixture(scope='module', params=['stick', 'finger'])
def push(request: pytest.FixtureRequest) -> Motion:
    """A push of a lego brick, by the stick or by the robot's finger."""
    style = STYLES['slow']
    wanted = PushStyle(style.speed, style.turn, fingers=float(request.param == 'finger'))
    return next(pushes(SCENE, load_object('lego'), wanted, FRAMES, random()))


def test_push_begins_at_rest_and_reaches_its_speed(push: Motion) -> None:
    speed = speeds(push)
    assert speed[: int(0.3 * FPS)].max() < 1e-3
    assert 0.09 < speed.max() < 0.28
    assert np.ptp(push.pose[:, :2], axis=0).max() > 0.05


def test_pushed_object_stays_upright_on_the_table_and_in_the_picture(push: Motion) -> None:
    brick = load_object('lego')
    assert np.allclose(push.pose[:, 2], brick.rest_height, atol=1e-3)
    assert tilt(brick, push.pose) < 0.1
    assert in_picture(SCENE, brick, push.pose)


def test_truth_of_the_twist_is_that_of_the_poses(push: Motion) -> None:
    """Central differences of 33 ms see a push begin and end, so not every frame agrees."""
    numeric = numeric_twist(push.pose, 1.0 / FPS)
    off = np.abs(numeric - push.twist)
    assert np.median(off[:, :3], axis=0).max() < 1e-3
    assert np.median(off[:, 3:], axis=0).max() < 1e-2
    assert off[:, :3].max() < 0.15


def test_half_a_frame_later_is_between_two_frames(push: Motion) -> None:
    later = push.between()
    assert len(later) == len(push) - 1
    middle = 0.5 * (push.pose[:-1, :3] + push.pose[1:, :3])
    assert np.abs(later.pose[:, :3] - middle).max() < 2e-3
    assert np.allclose(np.linalg.norm(later.pose[:, 3:], axis=1), 1.0)
    # A motion that is known at any time: the swing's own half frames.
    swing = next(swings(SCENE, load_object('lego'), FRAMES, random()))
    coarse = Motion(swing.joint_position[::2], swing.pose[::2], swing.twist[::2])
    half = coarse.between()
    # By FPS of the coarse motion all velocities are half of what they are between its frames.
    fast = Motion(coarse.joint_position, coarse.pose, 2.0 * coarse.twist).between()
    truth = swing.pose[1:-1:2]
    assert np.abs(fast.pose[:, :3] - truth[: len(fast), :3]).max() < 2e-4
    assert np.abs(half.pose[:, :3] - truth[: len(half), :3]).max() > 2e-4
    turned = np.abs(np.sum(fast.pose[:, 3:] * truth[: len(fast), 3:], axis=1))
    assert np.degrees(2.0 * np.arccos(np.clip(turned, 0.0, 1.0))).max() < 0.2
    if push.prop_pose is not None:
        assert later.prop_pose is not None
        assert later.prop_pose.shape == (len(later), *push.prop_pose.shape[1:])


def test_something_touches_what_is_pushed(push: Motion) -> None:
    """While the brick moves, the pusher is at its surface at least once."""
    if push.prop_pose is not None:
        tips = push.prop_pose[:, 0, :3] - (0.0, 0.0, 0.15)
        assert np.array_equal(push.joint_position, np.tile(HOME, (FRAMES, 1)))
    else:
        dynamics = Dynamics()
        tips = np.array([dynamics.fingertip_positions(each)[0] for each in push.joint_position])
        for posture in push.joint_position:
            check_posture(posture)
    moving = int(np.argmax(speeds(push) > 0.05))
    away = np.linalg.norm(tips[moving, :2] - push.pose[moving, :2])
    assert away < 0.06  # radius of the brick and of the tip
    assert tips[:, 2].min() > 0.01


def test_same_random_numbers_give_the_same_push() -> None:
    brick, style = load_object('lego'), STYLES['occluded']
    first, second = (next(pushes(SCENE, brick, style, FRAMES, random())) for _ in range(2))
    assert np.array_equal(first.pose, second.pose)
    assert first.prop_pose is not None
    assert second.prop_pose is not None
    assert np.array_equal(first.prop_pose, second.prop_pose)


def test_swing_is_fast_but_rests_at_first() -> None:
    mug = load_object('mug')
    motion = next(swings(SCENE, mug, FRAMES, random()))
    speed, turn = speeds(motion), np.abs(motion.twist[:, 5])
    assert speed[: int(0.2 * FPS)].max() < 1e-6
    assert 0.45 < speed.max() < 0.6
    assert 2.5 < turn.max() < 4.0
    assert tilt(mug, motion.pose) < 1e-6
    assert np.abs(numeric_twist(motion.pose, 1.0 / FPS) - motion.twist)[:, :3].max() < 0.05


def test_lifted_object_moves_with_the_palm_once_it_is_held() -> None:
    box = load_object('box')
    motion = next(lifts(SCENE, box, 69, random()))
    dynamics = Dynamics()
    seen = []
    for posture, pose in zip(motion.joint_position, motion.pose, strict=True):
        check_posture(posture)
        place, turn = dynamics.palm_pose(posture)
        seen.append(turn.T @ (pose[:3] - place))
    held = np.array(seen)[int(0.7 * FPS) + 1 :]
    assert np.ptp(held, axis=0).max() < 1e-5
    rest = motion.pose[: int(0.3 * FPS)]
    assert np.allclose(rest, rest[0])
    assert 0.08 <= motion.pose[-1, 2] - motion.pose[0, 2] <= 0.12
    assert np.radians(8.0) < tilt(box, motion.pose) < np.radians(31.0)
    assert speeds(motion).max() <= 0.3
    assert np.linalg.norm(motion.twist[:, 3:], axis=1).max() <= 1.5


def test_fingers_close_on_what_is_lifted() -> None:
    """Thumb and another finger end within a centimetre and a half of the box's surface."""
    box = load_object('box')
    motion = next(lifts(SCENE, box, 69, random()))
    tips = Dynamics().fingertip_positions(motion.joint_position[-1])
    pose = motion.pose[-1]
    inside = (tips - pose[:3]) @ rotation_matrix(pose[3:])
    gap = np.linalg.norm(np.maximum(np.abs(inside) - box.mesh.extents / 2, 0.0), axis=1)
    assert gap[3] < 0.015
    assert gap[:2].min() < 0.015


@pytest.mark.parametrize('kind', LOSSES)
def test_loss_has_its_event_and_its_end(kind: str) -> None:
    mug = load_object('mug')
    lost = loss(SCENE, mug, kind, 52, random())
    motion, gone = lost.motion, slice(lost.event, lost.back)
    assert 52 - lost.back >= 0.5 * FPS
    jumps = np.linalg.norm(np.diff(motion.pose[:, :2], axis=0), axis=1)
    if kind == 'teleported':
        assert lost.back == lost.event
        assert jumps[lost.event - 1] == pytest.approx(JUMP, abs=0.006)
        assert np.delete(jumps, lost.event - 1).max() < 0.006
        return
    assert 0.5 <= (lost.back - lost.event) / FPS <= 0.8
    if kind == 'covered':
        assert motion.shown is None
    else:
        assert motion.shown is not None
        assert (motion.shown[gone] == AWAY).all()
        assert np.array_equal(np.delete(motion.shown, gone, 0), np.delete(motion.pose, gone, 0))
    if kind == 'removed':
        assert motion.prop_pose is None
    else:
        assert motion.prop_pose is not None
        there = (motion.prop_pose[:, 0] != AWAY).any(axis=1)
        assert there[gone].all()
        assert not np.delete(there, gone).any()


def test_too_few_frames_for_a_loss_are_refused() -> None:
    with pytest.raises(EvaluationError, match='20 frames, must be more than'):
        loss(SCENE, load_object('mug'), 'covered', 20, random())


def test_plate_is_between_camera_and_object() -> None:
    mug, camera = load_object('mug'), SCENE.camera
    pose = resting(mug, np.array((0.5, 0.1)), 0.3)
    plate, place = cover(camera, mug, pose, near=0.6, roll=0.2)
    vertices = mug.mesh.vertices @ rotation_matrix(pose[3:]).T + pose[:3]
    turn = rotation_matrix(place[3:])
    seen = (vertices - camera.position) @ turn
    depth = float((place[:3] - camera.position) @ turn[:, 2])
    assert depth < seen[:, 2].min()
    middle = (place[:3] - camera.position) @ turn
    across = seen[:, :2] * (depth / seen[:, 2])[:, None] - middle[:2]
    assert (np.abs(across) < plate.size[:2]).all()


def test_way_to_a_surface() -> None:
    box = load_object('box')  # 100 x 60 x 50 mm
    pose = np.array((0.5, 0.0, 0.025, *quaternion_from_vector((0.0, 0.0, np.pi / 2))))
    start = np.array((0.3, 0.0, 0.025))
    ahead, up = np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0))
    assert way_to_surface(box, pose, start, ahead) == pytest.approx(0.17, abs=1e-4)
    assert way_to_surface(box, pose, start, up) == np.inf
    assert height(box) == pytest.approx(0.05)


def test_object_at_the_edge_is_not_in_the_picture() -> None:
    mug = load_object('mug')
    poses = [resting(mug, np.array((0.5, y)), 0.0) for y in np.linspace(0.0, 1.0, 30)]
    inside = [in_picture(SCENE, mug, pose[None]) for pose in poses]
    assert inside[0]
    assert not inside[-1]
    assert not in_picture(SCENE, mug, np.array(poses))


def test_sweeps_become_narrower() -> None:
    brick = load_object('lego')
    motion = next(pushes(SCENE, brick, STYLES['occluded'], FRAMES, random()))
    widths = [
        each.props[-1].size[0] for each in islice(swept(SCENE.camera, brick, motion, random()), 3)
    ]
    assert widths[1] == pytest.approx(0.85 * widths[0])
    assert widths[2] == pytest.approx(0.85 * widths[1])
