# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How long distances, inverse kinematics and planning take, and how well they do.

    python bench/planning.py [--poses 1000]

Times are those of the processor in this thread: on a busy machine a clock on the wall would
measure the others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import mujoco
import numpy as np
import pinocchio as pin

from drex_ros.control.inverse_kinematics import ArmKinematics
from drex_ros.control.move_planning import MoveGoal, MovePlanner, Planning
from drex_ros.control.proximity import Margins, Proximity
from drex_ros.control.trajectory import Motion, Trajectory, joint_trajectory, pace
from drex_ros.hardware.mujoco_model import JointMap, robot_spec
from drex_ros.robot.collision_shapes import may_touch, read_shapes
from drex_ros.robot.description import robot_urdf
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, HOME, LIMITS, N_JOINTS, Array

ZERO = np.zeros(N_JOINTS)
AT_HOME = Motion(np.array(HOME), ZERO, ZERO)
ASIDE = HOME[ARM] + np.array((0.8, 0.3, -0.2, 0.3, 0.2, -0.3, 0.5))


def spent(work: Callable[[], object]) -> float:
    """Processor time of one call [us]."""
    begin = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - begin) / 1000.0


def line(name: str, times: list[float]) -> None:
    """Print median, 95th percentile and greatest of times [us]."""
    middle, high, most = np.percentile(times, (50, 95, 100))
    print(f'{name:44s} median {middle:8.1f}   p95 {high:8.1f}   most {most:8.1f} us')


def distances(dynamics: Dynamics, random: np.random.Generator) -> None:
    """Time of the nearest pair, beside all pairs by Pinocchio and coal."""
    proximity = Proximity(dynamics)
    near = [HOME + random.normal(0.0, 0.1, N_JOINTS) for _ in range(3000)]
    anywhere = list(random.uniform(LIMITS.lower, LIMITS.upper, (3000, N_JOINTS)))
    for name, postures in (('near home', near), ('anywhere', anywhere)):
        proximity.nearest(postures[0])
        line(f'nearest pair, {name}', [spent(partial(proximity.nearest, q)) for q in postures])
    model, data = dynamics.model, dynamics.model.createData()
    geometry, shapes = read_shapes(model, robot_urdf())
    for a, first in enumerate(shapes):
        for b, second in enumerate(shapes[:a]):
            if may_touch(first, second):
                geometry.addCollisionPair(pin.CollisionPair(a, b))
    placed = geometry.createData()
    q = pin.neutral(model)
    times = [
        spent(lambda: pin.computeDistances(model, data, geometry, placed, q)) for _ in range(500)
    ]
    line(f'all {len(geometry.collisionPairs)} pairs by pin.computeDistances', times)


def agreement(dynamics: Dynamics, random: np.random.Generator, count: int) -> None:
    """Contacts of MuJoCo against distances below zero, without and with the usual margins."""
    touch = Proximity(dynamics, margins=Margins(0.0, 0.0, 0.0, 0.0))
    usual = Proximity(dynamics)
    spec = robot_spec(0.001)
    spec.worldbody.add_geom(name='table', type=mujoco.mjtGeom.mjGEOM_PLANE, size=(3, 3, 1))
    model = spec.compile()
    data, joints = mujoco.MjData(model), JointMap(model)
    said: Counter[str] = Counter()
    for position in random.uniform(LIMITS.lower, LIMITS.upper, (count, N_JOINTS)):
        data.qpos[joints.position] = position
        mujoco.mj_fwdPosition(model, data)
        contact = _watched_contact(model, data)
        said['contact' if contact else 'clear'] += 1
        distance = touch.nearest(position).distance
        said['missed'] += contact and distance >= 0.0
        said['alarm'] += not contact and distance < 0.0
        said['margin'] += not contact and usual.nearest(position).clearance < 0.0
    print(
        f'{count} random postures: MuJoCo has {said["contact"]} in contact, of these '
        f'{said["missed"]} missed; of {said["clear"]} clear ones {said["alarm"]} called touching, '
        f'{said["margin"]} nearer than the usual margins'
    )


def _watched_contact(model: mujoco.MjModel, data: mujoco.MjData) -> bool:
    for pair in data.contact.geom[: data.ncon]:
        names = {str(model.body(model.geom_bodyid[g]).name) for g in pair}
        on_base = 'world' in names and bool(names & {'panda_link0', 'panda_link1', 'panda_link2'})
        hand = all(name == 'palm_link' or name.startswith('link_') for name in names)
        if not on_base and not hand:
            return True
    return False


def inverse_kinematics(dynamics: Dynamics, random: np.random.Generator, count: int) -> None:
    """Poses of random postures, from home."""
    kinematics = ArmKinematics(dynamics)
    kinematics.solve(*kinematics.palm_pose(HOME[ARM]), HOME[ARM])
    one, whole, found, first, worst = [], [], 0, 0, 0.0
    margin = 0.02  # what is found keeps so far off the limits
    arms = random.uniform(LIMITS.lower[ARM] + margin, LIMITS.upper[ARM] - margin, (count, 7))
    for arm in arms:
        pose = kinematics.palm_pose(arm)
        results: list[Array | str] = []
        whole.append(spent(lambda: results.append(kinematics.solve(*pose, HOME[ARM]))))  # noqa: B023
        one.append(spent(lambda: kinematics.attempt(*pose, HOME[ARM], HOME[ARM])))  # noqa: B023
        first += kinematics.attempt(*pose, HOME[ARM], HOME[ARM]).found
        if not isinstance(results[0], str):
            found += 1
            there, turned = kinematics.palm_pose(results[0])
            off = np.abs(there - pose[0]).max(), np.abs(turned - pose[1]).max()
            worst = max(worst, *map(float, off))
    print(
        f'{count} reachable poses: {found} found, {first} from home at once, '
        f'error up to {worst:.1e}'
    )
    line('one attempt', one)
    line('all attempts', whole)


def trajectories(random: np.random.Generator) -> None:
    """Ruckig's calculation, and reading a trajectory."""
    goals = random.uniform(LIMITS.lower, LIMITS.upper, (300, N_JOINTS))
    of = pace(0.3)
    whole = joint_trajectory(AT_HOME, goals[0], of)
    moving = whole.at(0.4 * whole.duration)
    for name, start in (('rest', AT_HOME), ('motion', moving)):
        times = [spent(partial(joint_trajectory, start, goal, of)) for goal in goals]
        line(f'trajectory of 23 joints from {name}', times)
    line('set-point of it', [spent(lambda: whole.at(0.3)) for _ in range(2000)])


def moves(dynamics: Dynamics, random: np.random.Generator) -> None:
    """Planning of typical moves and of random poses."""
    planner, kinematics = MovePlanner(dynamics, Proximity(dynamics)), ArmKinematics(dynamics)
    position, rotation = kinematics.palm_pose(HOME[ARM])
    place = position + np.array((0.1, 0.2, -0.1))
    goals = {
        'joints': MoveGoal(arm=ASIDE),
        'pose': MoveGoal(palm_position=place, palm_orientation=rotation),
        'straight line': MoveGoal(palm_position=place, palm_orientation=rotation, straight=True),
    }
    for name, goal in goals.items():
        _slices(planner.plan(AT_HOME, goal))
        # The least of some runs for each slice: what others do on the machine is not the plan's.
        runs = [_slices(planner.plan(AT_HOME, goal)) for _ in range(9)]
        least = np.min([times for times, _ in runs], axis=0)
        result = runs[0][1]
        said = result if isinstance(result, str) else f'takes {result.duration:.2f} s'
        print(
            f'plan to {name:14s} {said}; {len(least)} slices, longest {least.max():.0f} us, '
            f'together {least.sum() / 1000.0:.1f} ms'
        )
    outcome: Counter[str] = Counter()
    count, longest = [], []
    for arm in random.uniform(LIMITS.lower[ARM], LIMITS.upper[ARM], (150, 7)):
        pose = kinematics.palm_pose(arm)
        goal = MoveGoal(palm_position=pose[0], palm_orientation=pose[1])
        times, result = _slices(planner.plan(AT_HOME, goal))
        outcome['planned' if isinstance(result, Trajectory) else result.split(':')[0]] += 1
        count.append(len(times))
        longest.append(max(times))
    print(
        f'150 random poses: {dict(outcome)}; '
        f'slices median {np.median(count):.0f}, most {max(count)}'
    )
    line('longest slice of each', longest)


def _slices(planning: Planning) -> tuple[list[float], Trajectory | str]:
    times = []
    while True:
        begin = time.thread_time_ns()
        try:
            next(planning)
        except StopIteration as end:
            times.append((time.thread_time_ns() - begin) / 1000.0)
            return times, end.value
        times.append((time.thread_time_ns() - begin) / 1000.0)


def main() -> int:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--poses', type=int, default=1000, help='for inverse kinematics')
    poses = parser.parse_args().poses
    dynamics, random = Dynamics(), np.random.default_rng(0)
    distances(dynamics, random)
    agreement(dynamics, random, 5000)
    inverse_kinematics(dynamics, random, poses)
    trajectories(random)
    moves(dynamics, random)
    return 0


if __name__ == '__main__':
    sys.exit(main())
