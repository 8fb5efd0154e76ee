# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Plans reach their goals without touching anything, and what cannot be is refused in words."""

import mujoco
import numpy as np
import pytest

from drex_ros.control.inverse_kinematics import ArmKinematics
from drex_ros.control.move_planning import MoveGoal, MovePlanner, Workspace
from drex_ros.control.proximity import Proximity
from drex_ros.control.trajectory import Motion, Trajectory, retime
from drex_ros.hardware.mujoco_model import JointMap, robot_spec
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_JOINTS

ZERO = np.zeros(N_JOINTS)
AT_HOME = Motion(HOME, ZERO, ZERO)
FOLDED = np.array((0.0, -1.5, 0.0, -3.0, 0.0, 0.5, 0.0))
ASIDE = HOME[ARM] + np.array((0.8, 0.3, -0.2, 0.3, 0.2, -0.3, 0.5))


@pytest.fixture(scope='module')
def dynamics():
    return Dynamics()


@pytest.fixture(scope='module')
def proximity(dynamics):
    return Proximity(dynamics)


@pytest.fixture(scope='module')
def kinematics(dynamics):
    return ArmKinematics(dynamics)


@pytest.fixture(scope='module')
def planner(dynamics, proximity):
    return MovePlanner(dynamics, proximity)


@pytest.fixture(scope='module')
def palm(kinematics):
    """Position and rotation of the palm at home."""
    return kinematics.palm_pose(HOME[ARM])


def finish(planning):
    """The result, and the number of slices."""
    slices = 1
    while True:
        try:
            next(planning)
        except StopIteration as end:
            return end.value, slices
        slices += 1


def planned(planner, goal, start=AT_HOME):
    result, _ = finish(planner.plan(start, goal))
    assert isinstance(result, Trajectory), result
    return result


def refusal(planner, goal, start=AT_HOME):
    result, _ = finish(planner.plan(start, goal))
    assert isinstance(result, str), result.goal
    return result


def test_goes_to_joints(planner):
    hand = HOME[HAND] + 0.1
    motion = planned(planner, MoveGoal(arm=ASIDE, hand=hand))
    np.testing.assert_array_equal(motion.goal, np.concatenate((ASIDE, hand)))


def test_what_is_not_given_stays(planner):
    np.testing.assert_array_equal(planned(planner, MoveGoal(arm=ASIDE)).goal[HAND], HOME[HAND])
    hand = HOME[HAND] + 0.1
    motion = planned(planner, MoveGoal(hand=hand))
    np.testing.assert_array_equal(motion.goal[ARM], HOME[ARM])
    np.testing.assert_array_equal(motion.at(0.5 * motion.duration).position[ARM], HOME[ARM])


@pytest.mark.parametrize('straight', [False, True])
def test_brings_the_palm_to_a_pose(planner, kinematics, palm, straight):
    position, rotation = palm[0] + np.array((0.1, 0.2, -0.1)), palm[1]
    goal = MoveGoal(palm_position=position, palm_orientation=rotation, straight=straight)
    motion = planned(planner, goal)
    there, turned = kinematics.palm_pose(motion.goal[ARM])
    np.testing.assert_allclose(there, position, atol=1e-5)
    np.testing.assert_allclose(turned, rotation, atol=1e-5)


def test_both_signs_of_a_quaternion_are_one_turn(planner):
    half = np.array((1.0, 0.0, 0.0, 0.0))
    goals = [
        MoveGoal(palm_position=np.array((0.45, 0.1, 0.45)), palm_orientation=sign * half)
        for sign in (1.0, -1.0)
    ]
    first, second = (planned(planner, goal) for goal in goals)
    np.testing.assert_array_equal(first.goal, second.goal)


def test_a_straight_line_is_straight(planner, kinematics, palm):
    way = np.array((0.1, 0.25, -0.15))
    goal = MoveGoal(palm_position=palm[0] + way, palm_orientation=palm[1], straight=True)
    motion = planned(planner, goal)
    for time in np.linspace(0.0, motion.duration, 101):
        position, rotation = kinematics.palm_pose(motion.at(time).position[ARM])
        share = (position - palm[0]) @ way / (way @ way)
        assert -1e-6 <= share <= 1.0 + 1e-6
        np.testing.assert_allclose(position, palm[0] + share * way, atol=2e-4)
        np.testing.assert_allclose(rotation, palm[1], atol=1e-3)


def test_from_a_motion_a_straight_line_begins_where_it_can_stop(planner, kinematics, palm):
    moving = planned(planner, MoveGoal(arm=ASIDE, speed=0.5))
    now = moving.at(0.3 * moving.duration)
    goal = MoveGoal(palm_position=palm[0], palm_orientation=palm[1], straight=True)
    motion = planned(planner, goal, now)
    np.testing.assert_allclose(motion.at(0.0).velocity, now.velocity, atol=1e-12)
    np.testing.assert_allclose(kinematics.palm_pose(motion.goal[ARM])[0], palm[0], atol=1e-5)


def test_what_is_accepted_touches_nothing(planner, kinematics):
    """Random poses from random starts, replayed in MuJoCo with a table."""
    spec = robot_spec(0.001)
    spec.worldbody.add_geom(name='table', type=mujoco.mjtGeom.mjGEOM_PLANE, size=(3, 3, 1))
    model = spec.compile()
    data, joints = mujoco.MjData(model), JointMap(model)
    random = np.random.default_rng(0)
    start, accepted = AT_HOME, 0
    for _ in range(25):
        arm = random.uniform(LIMITS.lower[ARM], LIMITS.upper[ARM])
        position, rotation = kinematics.palm_pose(arm)
        goal = MoveGoal(palm_position=position, palm_orientation=rotation, speed=1.0)
        motion, _ = finish(planner.plan(start, goal))
        if isinstance(motion, str):
            continue
        accepted += 1
        start = Motion(motion.goal, ZERO, ZERO)
        for time in np.linspace(0.0, motion.duration, 60):
            data.qpos[joints.position] = motion.at(time).position
            mujoco.mj_fwdPosition(model, data)
            assert not touching(model, data)
    assert accepted >= 10


def touching(model, data):
    """Contacts that are not of fingers among themselves or of the base with the table."""
    found = []
    for contact in data.contact[: data.ncon]:
        bodies = [model.body(model.geom_bodyid[g]).name for g in contact.geom]
        on_base = 'world' in bodies and bool({'panda_link0', 'panda_link1'} & set(bodies))
        hand = all(name == 'palm_link' or name.startswith('link_') for name in bodies)
        if not on_base and not hand:
            found.append(bodies)
    return found


def test_another_posture_is_tried_where_the_first_is_in_the_way(planner, kinematics, proximity):
    """Of many poses some have a first posture that collides, and another that does not."""
    random = np.random.default_rng(5)
    rescued = 0
    for _ in range(60):
        arm = random.uniform(LIMITS.lower[ARM], LIMITS.upper[ARM])
        pose = kinematics.palm_pose(arm)
        first = next(iter(kinematics.search(*pose, HOME[ARM])))
        bad = proximity.nearest(np.concatenate((first.arm, HOME[HAND]))).distance < 0.0
        if first.found and bad:
            goal = MoveGoal(palm_position=pose[0], palm_orientation=pose[1])
            result, _ = finish(planner.plan(AT_HOME, goal))
            rescued += isinstance(result, Trajectory)
    assert rescued > 0


def test_plans_repeat_bit_by_bit(planner, dynamics, palm):
    goal = MoveGoal(palm_position=palm[0] + np.array((0.1, 0.2, -0.1)), palm_orientation=palm[1])
    first, slices = finish(planner.plan(AT_HOME, goal))
    second, again = finish(MovePlanner(dynamics, Proximity(dynamics)).plan(AT_HOME, goal))
    assert slices == again
    assert slices > 5
    np.testing.assert_array_equal(first.goal, second.goal)
    np.testing.assert_array_equal(first.at(0.3).position, second.at(0.3).position)


def test_a_plan_can_start_later(planner, palm):
    """The set-point moves on while the plan is made."""
    moving = planned(planner, MoveGoal(arm=ASIDE, speed=0.3))
    plan = planned(planner, MoveGoal(arm=HOME[ARM], speed=0.3), moving.at(0.5))
    later = moving.at(0.6)
    motion = retime(plan, later)
    np.testing.assert_allclose(motion.at(0.0).velocity, later.velocity, atol=1e-12)
    np.testing.assert_array_equal(motion.goal, plan.goal)


def test_a_start_that_touches_may_move_away(planner, proximity):
    """From inside the table up is allowed, deeper is not."""
    inside = HOME.copy()
    inside[1], inside[3], inside[5] = 0.5, -2.2, 2.7
    assert proximity.nearest(inside).distance < -0.01
    start = Motion(inside, ZERO, ZERO)
    planned(planner, MoveGoal(arm=HOME[ARM]), start)
    deeper = inside[ARM].copy()
    deeper[1] += 0.1
    assert refusal(planner, MoveGoal(arm=deeper), start).startswith('the goal is in collision: ')


REFUSED = {
    'panda_joint4 is 0.3 rad, must be in -3.0718 .. -0.0698': {
        'arm': np.array((0.0, 0.0, 0.0, 0.3, 0.0, 1.0, 0.0))
    },
    'joint_1.0 is 2 rad, must be in -0.196 .. 1.61': {
        'hand': HOME[HAND] * 0.0 + 2.0 * np.eye(16)[1]
    },
    'must be finite': {'arm': np.full(7, np.nan)},
    'arm has shape (6,), must have (7,)': {'arm': np.zeros(6)},
    'the goal is in collision: link_': {'arm': FOLDED},
    "the palm's x is 1.200 m": {
        'palm_position': np.array((1.2, 0.0, 0.4)),
        'palm_orientation': np.array((1.0, 0.0, 0.0, 0.0)),
    },
    'out of reach: the palm comes within': {
        'palm_position': np.array((0.85, 0.6, 0.4)),
        'palm_orientation': np.array((1.0, 0.0, 0.0, 0.0)),
    },
    'inside the table': {
        'palm_position': np.array((0.5, 0.0, 0.05)),
        'palm_orientation': np.array((1.0, 0.0, 0.0, 0.0)),
    },
    'palm orientation has length 2, a quaternion must have 1': {
        'palm_position': np.array((0.5, 0.0, 0.4)),
        'palm_orientation': np.array((2.0, 0.0, 0.0, 0.0)),
    },
    'palm orientation is no rotation matrix': {
        'palm_position': np.array((0.5, 0.0, 0.4)),
        'palm_orientation': -np.eye(3),
    },
    'needs an orientation': {'palm_position': np.array((0.5, 0.0, 0.4))},
    'needs a position': {'arm': ASIDE, 'straight': True},
    'both joints of the arm and a pose': {'arm': ASIDE, 'palm_position': np.zeros(3)},
    'speed is 1.5, must be over 0 and at most 1': {'arm': ASIDE, 'speed': 1.5},
    'speed is nan': {'arm': ASIDE, 'speed': np.nan},
}


@pytest.mark.parametrize('said', REFUSED)
def test_refuses_and_says_why(planner, said):
    assert said in refusal(planner, MoveGoal(**REFUSED[said]))


def test_refuses_a_start_that_is_no_number(planner):
    start = Motion(HOME, np.full(N_JOINTS, np.inf), ZERO)
    assert 'start velocity' in refusal(planner, MoveGoal(arm=ASIDE), start)


def test_refuses_a_way_that_touches_between_clear_ends(dynamics, proximity):
    planner = MovePlanner(dynamics, proximity, Workspace(np.full(3, -2.0), np.full(3, 2.0)))
    random, tried = np.random.default_rng(6), 0
    while tried < 5:
        arms = random.uniform(LIMITS.lower[ARM], LIMITS.upper[ARM], (2, 7))
        ends = np.column_stack((arms, np.tile(HOME[HAND], (2, 1))))
        clear = all(proximity.nearest(end).clearance > 0.0 for end in ends)
        if not clear or proximity.nearest(ends.mean(axis=0)).distance > 0.0:
            continue
        tried += 1
        said = refusal(planner, MoveGoal(arm=arms[1]), Motion(ends[0], ZERO, ZERO))
        assert said.startswith('the way there is ')
        assert ' %' in said


def test_refuses_a_line_that_leaves_the_reach(planner, palm):
    far = palm[0] + np.array((0.5, 0.0, 0.4))
    goal = MoveGoal(palm_position=far, palm_orientation=palm[1], straight=True)
    said = refusal(planner, goal)
    assert '% of the straight line' in said


def test_refuses_a_motion_that_cannot_stop_before_a_limit(planner):
    near = HOME.copy()
    near[6] = LIMITS.upper[6] - 0.05
    speed = ZERO.copy()
    speed[6] = 2.0
    said = refusal(planner, MoveGoal(arm=HOME[ARM], speed=0.2), Motion(near, speed, ZERO))
    assert 'panda_joint7 would swing to' in said


def test_keeps_the_palm_in_the_workspace(dynamics, proximity, palm):
    box = Workspace(palm[0] - 0.15, palm[0] + 0.15)
    planner = MovePlanner(dynamics, proximity, box)
    inside = palm[0] + np.array((0.1, 0.1, -0.1))
    planned(planner, MoveGoal(palm_position=inside, palm_orientation=palm[1]))
    outside = palm[0] + np.array((0.0, 0.2, 0.0))
    said = refusal(planner, MoveGoal(palm_position=outside, palm_orientation=palm[1]))
    assert said.startswith("the goal is outside of the workspace: the palm's y is 0.2")
    # From outside it may come back in.
    start = Motion(np.concatenate((ASIDE, HOME[HAND])), ZERO, ZERO)
    planned(planner, MoveGoal(arm=HOME[ARM]), start)
    # A swing round the base leaves the box between two places within it.
    wide = Workspace(np.array((0.15, -0.5, 0.0)), np.array((0.35, 0.5, 1.0)))
    ends = [Motion(HOME + turn * np.eye(N_JOINTS)[0], ZERO, ZERO) for turn in (-0.8, 0.8)]
    assert all(
        (wide.lower < place).all() and (place < wide.upper).all()
        for place in (ArmKinematics(dynamics).palm_pose(end.position[ARM])[0] for end in ends)
    )
    narrow = Workspace(wide.lower, np.array((0.28, 0.5, 1.0)))
    said = refusal(
        MovePlanner(dynamics, proximity, narrow), MoveGoal(arm=ends[1].position[ARM]), ends[0]
    )
    assert said.startswith('the way there at ')
    assert 'is outside of the workspace' in said
