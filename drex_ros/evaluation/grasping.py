# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A hand around an object: where the palm is, and how far each finger closes."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from drex_ros.control.inverse_kinematics import ArmKinematics
from drex_ros.evaluation.motion import choose
from drex_ros.evaluation.physics import PushPhysics
from drex_ros.evaluation.placing import height, resting, way_to_surface
from drex_ros.evaluation.pushers import TIP_RADIUS
from drex_ros.hardware.scene import OBJECT, TABLE
from drex_ros.objects import ObjectModel
from drex_ros.robot.dynamics import Dynamics
from drex_ros.robot.joints import ARM, FINGERS, HAND, HOME, LIMITS, N_JOINTS, Array, constant
from drex_ros.robot.rotations import rotation_matrix, to_wxyz

PALM_DOWN = constant((0.0, 0.0, -1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0)).reshape(3, 3)
"""Turn of the palm in world at which it faces the table and the fingers point to the base."""

_DEPTH = 0.100  # [m] from the palm's origin to the fingertips, along its x
_MIDDLE = constant((_DEPTH, 0.022, 0.012))  # [m] of the grip, in the palm's frame
_ACROSS = {'index': 0.046, 'middle': 0.0, 'ring': -0.046, 'thumb': 0.022}  # [m] along its y
_GAP = 0.022  # [m] between fingertip and object when the hand is open
_STEPS = 60  # from open to closed
_INTO = 0.0005  # [m] that a finger may press into an object
_ABOVE = 0.002  # [m] that nothing of the robot comes below
_SEARCH, _CLOSE = 40, 0.002  # steps, and [m] from the goal, at which a search ends
_AWAY = constant((0.0, -0.1, 0.0, 0.0))  # [rad] of a finger that does not take part
_START = {'thumb': constant((1.0, 0.8, 0.4, 0.8))}  # [rad] where the search begins
_BENT = constant((0.0, 0.7, 0.7, 0.6))  # [rad]
_NEAR_TABLE = ('panda_link5', 'panda_link6', 'panda_link7', 'palm')


@dataclass(frozen=True, eq=False)
class Grasp:
    """A hand that holds an object on the table."""

    object_pose: Array
    """On the table, shape (7,)."""
    palm_position: Array
    """[m], shape (3,)."""
    palm_rotation: Array
    """Shape (3, 3)."""
    arm: Array
    """Posture [rad], shape (7,)."""
    open_hand: Array
    """[rad], shape (16,)."""
    closed_hand: Array
    """[rad], shape (16,)."""


class Grasper:
    """Finds grasps of one object."""

    def __init__(self, physics: PushPhysics, thing: ObjectModel) -> None:
        """Prepare for the object of a scene."""
        dynamics = Dynamics()
        self.arm = ArmKinematics(dynamics)
        self._hand = HandKinematics(dynamics)
        self._thing = thing
        model = self._model = physics.model
        self._data = physics.data
        self._object = int(model.joint(OBJECT).qposadr[0])
        self._fingers = _finger_of_geom(model)
        self._table = model.geom(TABLE).id
        self._low = [
            i
            for i in range(model.ngeom)
            if model.geom_contype[i]
            and (
                self._fingers[i]
                or model.body(int(model.geom_bodyid[i])).name.startswith(_NEAR_TABLE)
            )
        ]

    def attempt(self, random: np.random.Generator) -> Grasp | None:
        """A grasp at a place and from a side of chance; None: it would not hold."""
        thing, tall = self._thing, height(self._thing)
        rotation = _about_vertical(random.uniform(-np.pi, np.pi)) @ PALM_DOWN
        place = np.array((random.uniform(0.40, 0.55), random.uniform(-0.12, 0.12)))
        # The object's narrow side is between thumb and fingers, along the palm's z.
        pinch = np.arctan2(rotation[1, 2], rotation[0, 2]) + random.uniform(-0.15, 0.15)
        yaw = pinch - _narrow_axis(thing) + choose(random, (0.0, np.pi))
        pose = resting(thing, place, yaw)
        centre = np.array((*place, max(0.5 * tall, tall - 0.06, 0.022)))
        centre[:2] += random.uniform(-0.008, 0.008, 2)
        position = centre - rotation @ _MIDDLE
        found = self.arm.solve(position, rotation, HOME[ARM])
        if isinstance(found, str):
            return None
        along = rotation[:, 2]
        ways = [way_to_surface(thing, pose, centre + s * along, -s * along) for s in (1, -1)]
        if not np.isfinite(ways).all():
            return None
        fingers = {'index', 'middle', 'thumb'} | ({'ring'} if random.random() < 0.5 else set())
        open_hand = self._hand.grip(fingers, (1.0 - ways[1], 1.0 - ways[0]), TIP_RADIUS + _GAP)
        through = self._hand.grip(fingers, (1.0 - ways[1], 1.0 - ways[0]), TIP_RADIUS - 0.03)
        posture = np.concatenate((found, open_hand))
        if self._touching(posture, pose) or not self._above_table(posture, pose):
            return None
        closed, holding = self._close(posture, through, pose)
        if 'thumb' not in holding or not holding & {'index', 'middle'}:
            return None
        if not self._above_table(closed, pose):
            return None
        return Grasp(pose, position, rotation, found, open_hand, closed[HAND])

    def _close(self, posture: Array, through: Array, pose: Array) -> tuple[Array, set[str]]:
        """Close each finger on its way through the object until it touches; which ones do."""
        posture = posture.copy()
        holding: set[str] = set()
        for name, joints in FINGERS.items():
            begin = posture[joints].copy()
            end = through[joints.start - HAND.start : joints.stop - HAND.start]
            for share in np.arange(1, _STEPS + 1) / _STEPS:
                before = posture[joints].copy()
                posture[joints] = begin + share * (end - begin)
                touches = name in self._touching(posture, pose)
                if touches or self._near_table(name):
                    posture[joints] = before
                    holding |= {name} if touches else set()
                    break
        return posture, holding

    def _pose(self, posture: Array, pose: Array) -> None:
        data = self._data
        data.qpos[:N_JOINTS] = posture
        data.qpos[self._object : self._object + 3] = pose[:3]
        data.qpos[self._object + 3 : self._object + 7] = to_wxyz(pose[3:])
        mujoco.mj_fwdPosition(self._model, data)

    def _touching(self, posture: Array, pose: Array) -> set[str]:
        """Fingers, or 'palm', that press into the object."""
        self._pose(posture, pose)
        contact = self._data.contact
        pressed = contact.geom[contact.dist < -_INTO]
        pairs = {(self._fingers[a], self._fingers[b]) for a, b in pressed}
        return {name for pair in pairs for name in pair if name}

    def _near_table(self, name: str) -> bool:
        """Whether a finger is too low, at the posture that was looked at last."""
        return any(self._gap(i) < _ABOVE for i in self._low if self._fingers[i] == name)

    def _above_table(self, posture: Array, pose: Array) -> bool:
        self._pose(posture, pose)
        return all(self._gap(i) >= _ABOVE for i in self._low)

    def _gap(self, geom: int) -> float:
        far = 0.01  # [m] beyond it the distance does not matter
        return float(mujoco.mj_geomDistance(self._model, self._data, geom, self._table, far, None))


class HandKinematics:
    """Postures of the hand by where its fingertips are in the palm's frame."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        self._palm, self._turn = dynamics.palm_pose(HOME)

    def grip(self, fingers: set[str], sides: tuple[float, float], beyond: float) -> Array:
        """Fingertips `beyond` [m] the sides of an object, which are from the middle of the grip.

        As near as they come, that is. Fingers that do not take part are straight.
        """
        posture = HOME.copy()
        for number, (name, joints) in enumerate(FINGERS.items()):
            if name not in fingers:
                posture[joints] = _AWAY
                continue
            z = -(sides[0] + beyond) if name == 'thumb' else sides[1] + beyond
            target = np.array((_DEPTH, _ACROSS[name], _MIDDLE[2] + z))
            posture[joints] = _START.get(name, _BENT)
            self._reach(posture, number, joints, target)
        return posture[HAND]

    def _reach(self, posture: Array, number: int, joints: slice, target: Array) -> None:
        """Bring a fingertip to a place in the palm's frame, posture in place."""
        goal = self._palm + self._turn @ target
        for _ in range(_SEARCH):
            error = goal - self._dynamics.fingertip_positions(posture)[number]
            if np.linalg.norm(error) < _CLOSE:
                break
            jacobian = self._dynamics.fingertip_jacobians(posture)[number, :3, joints]
            normal = jacobian.T @ jacobian + 1e-4 * np.eye(4)
            step = np.linalg.solve(normal, jacobian.T @ error)
            moved = posture[joints] + np.clip(step, -0.2, 0.2)
            posture[joints] = np.clip(moved, LIMITS.lower[joints], LIMITS.upper[joints])


def _about_vertical(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))


def _narrow_axis(thing: ObjectModel) -> float:
    """Direction of the object's narrow side as it rests at yaw 0 [rad]."""
    turned = thing.mesh.vertices @ rotation_matrix(thing.rest_quaternion).T
    width, depth = np.ptp(turned[:, :2], axis=0)
    return 0.0 if width < depth else np.pi / 2


def _finger_of_geom(model: mujoco.MjModel) -> list[str]:
    """For each geom: name of the finger it belongs to, 'palm', or nothing."""
    of_body: dict[int, str] = {}
    for name, joints in FINGERS.items():
        for joint in range(joints.start, joints.stop):
            of_body[int(model.jnt_bodyid[joint])] = name
    for body in range(model.nbody):
        parent = int(model.body_parentid[body])
        if body not in of_body and parent in of_body:
            of_body[body] = of_body[parent]
        if model.body(body).name.startswith('palm'):
            of_body[body] = 'palm'
    return [of_body.get(int(body), '') for body in model.geom_bodyid]
