# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Targets that try to break the robot, drawn at random: wrong ones, wild ones, and valid ones.

Nobody says here which must be refused: a wild target may be taken as long as no limit is passed.
Only those of kinds in `MUST_BE_REFUSED` hold a value that no controller can follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3, Wrench

from drex_interfaces.msg import ControllerTarget, FingertipTarget, Payload
from drex_ros.nodes.conversions import stamp
from drex_ros.robot.joints import ARM, HAND, HOME, LIMITS, N_ARM, N_HAND, Array

BAD_NUMBERS = (math.nan, math.inf, -math.inf)
SOURCES = ('', 'mallory', 'trudy', 'policy')
_JOINT, _PALM, _EFFORT, _FORCE = 1, 2, 3, 4  # ControllerTarget.MODE_*
_HUGE = (1e3, 1e5, 1e12, 1e300)
_DOWN = (0.9238795, -0.3826834, 0.0, 0.0)  # the palm at home: it looks down
# How the fields of a target are called that hold one value for each joint or axis.
_ARRAYS = {
    'arm_position': N_ARM,
    'arm_stiffness': N_ARM,
    'arm_effort': N_ARM,
    'arm_cartesian_stiffness': 6,
    'arm_cartesian_damping': 6,
    'hand_position': N_HAND,
    'hand_stiffness': N_HAND,
    'hand_effort': N_HAND,
}
_SCALARS = ('timeout', 'arm_damping_ratio', 'hand_damping_ratio', 'finger_force_limit')
_MODE_OF = {
    'arm_position': _JOINT,
    'arm_stiffness': _JOINT,
    'arm_effort': _EFFORT,
    'arm_cartesian_stiffness': _PALM,
    'arm_cartesian_damping': _PALM,
    'hand_position': _JOINT,
    'hand_stiffness': _JOINT,
    'hand_effort': _EFFORT,
}
MUST_BE_REFUSED = (
    *('not finite', 'wrong size', 'no quaternion', 'wrong frame', 'old stamp', 'future stamp'),
    *('no such mode', 'torque over limit', 'huge gain', 'force of 100 N', 'bad payload'),
    *('negative timeout', 'out of reach', 'limit above the hand', 'joint beyond its stop'),
)
"""Kinds whose every target is wrong."""


class HostileTargets:
    """Draws targets; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self._kinds: dict[str, Callable[[], ControllerTarget]] = {
            'not finite': self.not_finite,
            'wrong size': self._wrong_size,
            'no quaternion': self._no_quaternion,
            'wrong frame': self._wrong_frame,
            'old stamp': self._valid,
            'future stamp': self._valid,
            'no such mode': self._no_such_mode,
            'torque over limit': self._torque_over_limit,
            'huge gain': self._huge_gain,
            'force of 100 N': lambda: _press(self.random, 100.0),
            'bad payload': self._bad_payload,
            'negative timeout': self._negative_timeout,
            'out of reach': self._out_of_reach,
            'limit above the hand': self._limit_above,
            'joint beyond its stop': self._beyond_stop,
            'valid': self._valid,
            'jumping joints': self._jumping_joints,
            'jumping hand': self._jumping_hand,
            'jumping palm': self._jumping_palm,
            'palm by itself': self._palm_by_itself,
            'full torques': self._full_torques,
            'highest gains': self._highest_gains,
            'pushed palm': self._pushed_palm,
            'pressing fingers': lambda: _press(self.random, 9.9),
            'random modes': self._random_modes,
        }

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of what can be drawn."""
        return tuple(self._kinds)

    def draw(self, now: float) -> tuple[str, ControllerTarget]:
        """A kind and a target of it, at a time of the robot [s]."""
        kind = str(self.random.choice(self.kinds))
        return kind, self.of_kind(kind, now)

    def of_kind(self, kind: str, now: float) -> ControllerTarget:
        """A target of one kind, at a time of the robot [s]."""
        random = self.random
        target = self._kinds[kind]()
        if kind == 'old stamp' and now > 2.0:
            target.header.stamp = stamp(now - float(random.uniform(1.0, now)))
        elif kind.endswith('stamp'):  # before the start of the robot there is no time
            target.header.stamp = stamp(now + float(random.uniform(1.0, 1e6)))
        elif random.random() < 0.3:
            target.header.stamp = stamp(now)
        if not target.source and random.random() < 0.2:
            target.source = str(random.choice(SOURCES))
        if target.timeout == 0.0 and random.random() < 0.2:
            target.timeout = float(random.choice((1e-9, 0.002, 0.05, 1.0)))
        return target

    # What no controller can follow

    def not_finite(self) -> ControllerTarget:
        """One number of one field is none."""
        bad = float(self.random.choice(BAD_NUMBERS))
        return not_finite(str(self.random.choice(NUMBERS)), bad, self.random)

    def _wrong_size(self) -> ControllerTarget:
        name = str(self.random.choice(list(_ARRAYS)))
        sizes = [n for n in (1, 3, 6, 7, 8, 16, 23, 1000) if n != _ARRAYS[name]]
        return _with(name, np.zeros(int(self.random.choice(sizes))))

    def _no_quaternion(self) -> ControllerTarget:
        target = self._at(HOME_PALM)
        turn = target.arm_pose[0].orientation
        factor = float(self.random.choice((0.0, 1e-300, 0.5, -2.0, 1e6)))
        turn.x, turn.y, turn.z, turn.w = (factor * each for each in _DOWN)
        return target

    def _wrong_frame(self) -> ControllerTarget:
        if self.random.random() < 0.5:
            target = _press(self.random, 1.0)
            target.fingertips[0].frame_id = 'map'
            return target
        target = self._at(HOME_PALM)
        target.header.frame_id = str(self.random.choice(('map', 'camera_link', 'panda_link8')))
        return target

    def _no_such_mode(self) -> ControllerTarget:
        arm = bool(self.random.random() < 0.5)
        if arm:
            return ControllerTarget(arm_mode=int(self.random.choice((4, 5, 255))))
        return ControllerTarget(hand_mode=int(self.random.choice((2, 5, 255))))

    def _torque_over_limit(self) -> ControllerTarget:
        factor = float(self.random.choice((1.01, 10.0, 1e9)))
        if self.random.random() < 0.5:
            return _with('arm_effort', factor * LIMITS.effort[ARM])
        return _with('hand_effort', -factor * LIMITS.effort[HAND])

    def _huge_gain(self) -> ControllerTarget:
        name = str(self.random.choice([n for n in _ARRAYS if 'stiff' in n or 'damp' in n]))
        values = np.full(_ARRAYS[name], float(self.random.choice(_HUGE)))
        return _with(name, values * float(self.random.choice((1.0, -1.0))))

    def _bad_payload(self) -> ControllerTarget:
        mass = float(self.random.choice((-1.0, -1e-9, 50.0, 1e300)))
        place = Vector3(x=0.1)
        if self.random.random() < 0.3:
            mass, place = 0.5, Vector3(z=float(self.random.choice(_HUGE)))
        return ControllerTarget(payload=[Payload(mass=mass, position=place)])

    def _negative_timeout(self) -> ControllerTarget:
        target = self._valid()
        target.timeout = -float(self.random.choice((1e-9, 1.0, 1e9)))
        return target

    def _out_of_reach(self) -> ControllerTarget:
        if self.random.random() < 0.5:
            place = self.random.choice((-1.0, 1.0), 3) * self.random.uniform(1.3, 100.0, 3)
        else:  # below the table
            place = np.array((0.4, 0.0, -float(self.random.uniform(0.01, 1.0))))
        return self._at(place)

    def _limit_above(self) -> ControllerTarget:
        limit = float(self.random.choice((-1.0, 10.1, 1e9)))
        return ControllerTarget(finger_force_limit=limit)

    def _beyond_stop(self) -> ControllerTarget:
        posture = HOME.copy()
        joint = int(self.random.integers(len(posture)))
        posture[joint] = LIMITS.upper[joint] + float(self.random.uniform(1e-6, 10.0))
        name, joints = ('arm_position', ARM) if joint < N_ARM else ('hand_position', HAND)
        return _with(name, posture[joints])

    # What can be followed, and tempts the robot over a limit

    def _valid(self) -> ControllerTarget:
        posture = HOME + self.random.uniform(-0.2, 0.2, len(HOME))
        posture = np.clip(posture, LIMITS.lower, LIMITS.upper)
        target = _with('arm_position', posture[ARM])
        target.hand_mode = _JOINT
        target.hand_position = posture[HAND].tolist()
        return target

    def _jumping_joints(self) -> ControllerTarget:
        """Anywhere in the range of the joints, most often to an end of it."""
        place = self.random.choice((0.0, 1.0, float(self.random.random())), N_ARM)
        return _with('arm_position', _between(LIMITS.lower, LIMITS.upper, place, ARM))

    def _jumping_hand(self) -> ControllerTarget:
        place = self.random.choice((0.0, 1.0), N_HAND)
        target = _with('hand_position', _between(LIMITS.lower, LIMITS.upper, place, HAND))
        target.hand_stiffness = [10.0] * N_HAND
        return target

    def _jumping_palm(self) -> ControllerTarget:
        """Anywhere in the workspace, also into the table and the robot itself."""
        target = self._at(self.random.uniform((-0.2, -0.7, 0.0), (0.8, 0.7, 1.1)))
        if self.random.random() < 0.7:
            turn = self.random.normal(size=4)
            _set_turn(target.arm_pose[0].orientation, turn / np.linalg.norm(turn))
        if self.random.random() < 0.5:
            target.arm_cartesian_stiffness = [3000.0] * 3 + [150.0] * 3
        return target

    def _palm_by_itself(self) -> ControllerTarget:
        """Relative to where it is, by as much as there is; each moves it on."""
        target = self._at(self.random.uniform(-1.0, 1.0, 3))
        target.header.frame_id = 'palm_link'
        _set_turn(target.arm_pose[0].orientation, -np.array((0.0, 0.0, 0.0, 1.0)))
        return target

    def _full_torques(self) -> ControllerTarget:
        sign = self.random.choice((-1.0, 0.0, 1.0), len(HOME))
        target = _with('arm_effort', (sign * LIMITS.effort)[ARM])
        if self.random.random() < 0.5:
            target.hand_mode = _EFFORT
            target.hand_effort = (sign * LIMITS.effort)[HAND].tolist()
        return target

    def _highest_gains(self) -> ControllerTarget:
        ratio = float(self.random.choice((0.3, 1.0, 2.0)))
        if self.random.random() < 0.5:
            target = self._at(self.random.uniform((0.2, -0.4, 0.2), (0.6, 0.4, 0.8)))
            target.arm_cartesian_stiffness = [3000.0] * 3 + [150.0] * 3
            if self.random.random() < 0.5:
                target.arm_cartesian_damping = [400.0] * 3 + [30.0] * 3
        else:
            target = self._valid()
            target.arm_stiffness = [1000.0] * 4 + [500.0, 300.0, 200.0]
            target.hand_stiffness = [10.0] * N_HAND
            target.hand_damping_ratio = ratio
        target.arm_damping_ratio = ratio
        return target

    def _pushed_palm(self) -> ControllerTarget:
        """No spring holds it, but a wrench drives it."""
        target = ControllerTarget(arm_mode=_PALM, arm_cartesian_stiffness=[0.0] * 6)
        x, y, z = self.random.choice((-50.0, 0.0, 50.0), 3).tolist()
        target.arm_wrench = [Wrench(force=Vector3(x=x, y=y, z=z), torque=Vector3(z=10.0))]
        if self.random.random() < 0.3:
            target.payload = [Payload(mass=3.0, position=Vector3(x=0.1))]
        return target

    def _random_modes(self) -> ControllerTarget:
        arm, hand = self.random.integers(0, 5, 2).tolist()
        target = ControllerTarget(arm_mode=arm, hand_mode=hand)
        if arm == _EFFORT:
            target.arm_effort = [0.0] * N_ARM
        if hand == _EFFORT:
            target.hand_effort = [0.0] * N_HAND
        return target

    def _at(self, place: Array) -> ControllerTarget:
        pose = Pose(position=Point(**dict(zip('xyz', place.tolist(), strict=True))))
        # A quaternion and its negative are the same turn.
        _set_turn(pose.orientation, float(self.random.choice((1.0, -1.0))) * np.array(_DOWN))
        return ControllerTarget(arm_mode=_PALM, arm_pose=[pose])


HOME_PALM = np.array((0.307, 0.0, 0.495))
"""Where the palm is at home [m]."""

NUMBERS = (
    *_ARRAYS,
    *_SCALARS,
    *('pose', 'quaternion', 'wrench force', 'wrench torque', 'fingertip'),
    *('payload mass', 'payload position'),
)
"""Every field of a target that holds numbers."""


def not_finite(name: str, bad: float, random: np.random.Generator) -> ControllerTarget:
    """A target in which one number of a field (of NUMBERS) is none."""
    axis = str(random.choice(list('xyz')))
    if name in _ARRAYS:
        values = HOME[ARM if name.startswith('arm') else HAND][: _ARRAYS[name]].copy()
        values[int(random.integers(len(values)))] = bad
        return _with(name, values)
    turn = Quaternion(x=0.92388, y=-0.38268, w=0.0)
    pose = Pose(position=Point(x=0.307, z=0.495), orientation=turn)
    target = ControllerTarget(arm_mode=_PALM)
    if name == 'pose':
        setattr(pose.position, axis, bad)
        target.arm_pose = [pose]
    elif name == 'quaternion':
        setattr(pose.orientation, axis, bad)
        target.arm_pose = [pose]
    elif name.startswith('wrench'):
        vector = {name.split()[1]: Vector3(**{axis: bad})}
        target.arm_wrench = [Wrench(**vector)]
    elif name == 'fingertip':
        target = _press(random, 1.0)
        setattr(target.fingertips[0].force, axis, bad)
    elif name == 'payload mass':
        target = ControllerTarget(payload=[Payload(mass=bad)])
    elif name == 'payload position':
        target = ControllerTarget(payload=[Payload(mass=0.1, position=Vector3(**{axis: bad}))])
    else:
        part = {'arm_damping_ratio': {'arm_mode': _JOINT}, 'hand_damping_ratio': {'hand_mode': 1}}
        target = ControllerTarget(**part.get(name, {}))
        setattr(target, name, bad)
    return target


def _with(name: str, values: Array) -> ControllerTarget:
    """A target with one field and the mode that uses it."""
    part = name.split('_')[0]
    target = ControllerTarget(**{f'{part}_mode': _MODE_OF[name]})
    setattr(target, name, [float(value) for value in values])
    return target


def _press(random: np.random.Generator, size: float) -> ControllerTarget:
    """All fingers press with a force [N], in a frame of any kind."""
    frame = str(random.choice(('', 'palm_link', 'panda_link0', 'grip')))
    axis = 0 if frame == 'grip' else int(random.integers(3))
    tips = []
    for finger in range(4):
        sign = 1.0 if frame == 'grip' else float(random.choice((-1.0, 1.0)))
        tip = FingertipTarget(finger=finger, frame_id=frame)
        setattr(tip.force, 'xyz'[axis], sign * size)
        tip.force_axes = [k == axis for k in range(3)]
        tips.append(tip)
    return ControllerTarget(hand_mode=_FORCE, fingertips=tips)


def _between(low: Array, high: Array, share: Array, joints: slice) -> Array:
    place: Array = low[joints] + share * (high[joints] - low[joints])
    return place


def _set_turn(turn: Quaternion, values: Array) -> None:
    turn.x, turn.y, turn.z, turn.w = values.tolist()
