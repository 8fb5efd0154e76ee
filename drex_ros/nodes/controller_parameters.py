# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the controller, and its settings from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from drex_ros.control.arm_control import ArmSettings
from drex_ros.control.hand_control import HandSettings
from drex_ros.control.proximity import Margins
from drex_ros.control.settings import HAND_FORCE, ControllerSettings
from drex_ros.control.target_checks import (
    DAMPING_RATIO_RANGE,
    MAX_CARTESIAN_STIFFNESS,
    MAX_STIFFNESS,
    target_refusal,
)
from drex_ros.control.targets import ArmTarget, HandTarget, Target, TargetMode
from drex_ros.control.trajectory import TOP_SPEED
from drex_ros.nodes.parameters import Parameter
from drex_ros.nodes.process import ConfigurationError
from drex_ros.objects import ObjectError, load_object
from drex_ros.robot.description import HANDS
from drex_ros.robot.joints import ARM, HAND, N_ARM, N_HAND

_DEFAULTS = ControllerSettings()


def _fixed(name: str, value: Any, text: str, **options: Any) -> Parameter:
    return Parameter(name, value, text, read_only=True, **options)


PARAMETERS = (
    _fixed('hand', 'right', 'which hand the robot has', choices=HANDS),
    _fixed(
        'object',
        '',
        'object of the library, or path of its file, whose crush_force bounds the fingers; '
        'empty: none',
    ),
    _fixed(
        'arm_stiffness',
        _DEFAULTS.arm.stiffness.tolist(),
        'joint stiffness of the arm at start and when held',
        unit='N m/rad',
        range=(0.0, float(MAX_STIFFNESS[ARM].max())),
        size=N_ARM,
    ),
    _fixed(
        'arm_cartesian_stiffness',
        _DEFAULTS.arm.cartesian_stiffness.tolist(),
        'stiffness of the palm where a target gives none: x y z [N/m], about x y z [N m/rad]',
        range=(0.0, float(MAX_CARTESIAN_STIFFNESS.max())),
        size=6,
    ),
    _fixed(
        'arm_posture_stiffness',
        _DEFAULTS.arm.posture_stiffness.tolist(),
        'stiffness of the posture that the pose of the palm leaves free',
        unit='N m/rad',
        range=(0.0, float(MAX_STIFFNESS[ARM].max())),
        size=N_ARM,
    ),
    _fixed(
        'hand_stiffness',
        _DEFAULTS.hand.stiffness.tolist(),
        'joint stiffness of the hand at start and when held',
        unit='N m/rad',
        range=(0.0, float(MAX_STIFFNESS[HAND].max())),
        size=N_HAND,
    ),
    _fixed(
        'damping_ratio',
        1.0,
        'of every spring at start; 1 is critical',
        range=DAMPING_RATIO_RANGE,
    ),
    _fixed(
        'friction_compensation',
        1.0,
        'share of the friction of the arm that is made up for; 0 for an arm that does it itself',
        range=(0.0, 1.5),
    ),
    _fixed(
        'speed',
        0.3,
        'fastest that set-points and moves go; 1 is 0.65 of the joint velocity limits',
        range=(0.01, 1.0),
    ),
    _fixed(
        'palm_speed',
        _DEFAULTS.arm.palm_speed,
        'fastest that the set-point of the palm goes',
        unit='m/s',
        range=(0.01, 2.0),
    ),
    _fixed(
        'palm_turning',
        _DEFAULTS.arm.palm_turning,
        'fastest that the set-point of the palm turns',
        unit='rad/s',
        range=(0.05, 5.0),
    ),
    _fixed(
        'target_timeout',
        _DEFAULTS.target_timeout,
        'a target with a stamp further than this from the time of the robot is refused',
        unit='s',
        range=(0.01, 60.0),
    ),
    _fixed(
        'source_timeout',
        _DEFAULTS.source_timeout,
        'a second source is refused for so long after the last target of the first',
        unit='s',
        range=(0.0, 60.0),
    ),
    _fixed(
        'effort_timeout',
        _DEFAULTS.arm.effort_timeout,
        'longest that joint torques count without new ones',
        unit='s',
        range=(0.005, 1.0),
    ),
    _fixed(
        'stop_after',
        _DEFAULTS.stop_after,
        'how long it holds after a target with a timeout expired before it stops',
        unit='s',
        range=(0.0, 60.0),
    ),
    _fixed(
        'state_timeout',
        _DEFAULTS.state_timeout,
        'a robot state that is older than this, or comes so long after the last, stops it',
        unit='s',
        range=(0.01, 60.0),
    ),
    _fixed(
        'effort_share',
        _DEFAULTS.effort_share,
        'share of the torque limits of the robot that is used',
        range=(0.05, 1.0),
    ),
    _fixed(
        'workspace_lower',
        _DEFAULTS.lower.tolist(),
        'corner of the box that the palm stays in, in the base of the arm',
        unit='m',
        range=(-2.0, 2.0),
        size=3,
    ),
    _fixed(
        'workspace_upper',
        _DEFAULTS.upper.tolist(),
        'the corner opposite',
        unit='m',
        range=(-2.0, 2.0),
        size=3,
    ),
    _fixed(
        'table_height',
        _DEFAULTS.table_height,
        'of the top of the table above the base of the arm',
        unit='m',
        range=(-2.0, 1.0),
    ),
    _fixed(
        'arm_margin',
        _DEFAULTS.margins.arm_arm,
        'distance that the links of the arm keep from each other',
        unit='m',
        range=(0.0, 0.2),
    ),
    _fixed(
        'hand_margin',
        _DEFAULTS.margins.hand_arm,
        'distance that the hand keeps from the arm',
        unit='m',
        range=(0.0, 0.2),
    ),
    _fixed(
        'table_margin',
        _DEFAULTS.margins.arm_table,
        'distance that arm and palm keep from the table',
        unit='m',
        range=(0.0, 0.2),
    ),
    _fixed(
        'finger_margin',
        _DEFAULTS.margins.finger_table,
        'distance that the fingers keep from the table; below 0: they may press on it so deep',
        unit='m',
        range=(-0.05, 0.1),
    ),
    _fixed(
        'finger_force_limit',
        _DEFAULTS.finger_force,
        'largest force of any fingertip; targets can lower it, and the object does',
        unit='N',
        range=(0.1, HAND_FORCE),
    ),
    _fixed(
        'status_rate',
        50.0,
        'messages on controller/status per second of the robot, besides those on a change',
        unit='Hz',
        range=(0.1, 500.0),
    ),
)


def controller_settings(params: Any) -> ControllerSettings:
    """The settings by the parameters. Raises ConfigurationError."""
    settings = ControllerSettings(
        arm=ArmSettings(
            stiffness=np.array(params.arm_stiffness),
            cartesian_stiffness=np.array(params.arm_cartesian_stiffness),
            posture_stiffness=np.array(params.arm_posture_stiffness),
            damping_ratio=params.damping_ratio,
            speed=params.speed * TOP_SPEED[ARM],
            palm_speed=params.palm_speed,
            palm_turning=params.palm_turning,
            effort_timeout=params.effort_timeout,
            friction_compensation=params.friction_compensation,
        ),
        hand=HandSettings(
            stiffness=np.array(params.hand_stiffness),
            damping_ratio=params.damping_ratio,
            effort_timeout=params.effort_timeout,
            speed=params.speed * TOP_SPEED[HAND],
        ),
        hand_side=params.hand,
        target_timeout=params.target_timeout,
        source_timeout=params.source_timeout,
        stop_after=params.stop_after,
        state_timeout=params.state_timeout,
        effort_share=params.effort_share,
        lower=np.array(params.workspace_lower),
        upper=np.array(params.workspace_upper),
        table_height=params.table_height,
        margins=Margins(
            arm_arm=params.arm_margin,
            hand_arm=params.hand_margin,
            arm_table=params.table_margin,
            finger_table=params.finger_margin,
        ),
        finger_force=min(params.finger_force_limit, _crush_force(params.object)),
    )
    if not (settings.lower < settings.upper).all():
        raise ConfigurationError(
            f'workspace_lower is {settings.lower.tolist()} m, '
            f'must be below workspace_upper {settings.upper.tolist()} m'
        )
    _check_gains(settings)
    return settings


def _crush_force(name: str) -> float:
    """What an object bears on one contact [N]; the rest of it is not the controller's to know."""
    if not name:
        return float('inf')
    try:
        return load_object(name).crush_force
    except ObjectError as error:
        raise ConfigurationError(str(error)) from error


def _check_gains(settings: ControllerSettings) -> None:
    """Refuse stiffness that a target could not ask for either."""
    arm, hand = settings.arm, settings.hand
    bounds = settings.bounds
    for mode, stiffness, palm in (
        (TargetMode.JOINT_IMPEDANCE, arm.stiffness, None),
        (TargetMode.CARTESIAN_IMPEDANCE, arm.posture_stiffness, arm.cartesian_stiffness),
    ):
        target = ArmTarget(mode, stiffness=stiffness, cartesian_stiffness=palm)
        if reason := target_refusal(Target(arm=target), bounds):
            raise ConfigurationError(reason)
    fingers = HandTarget(TargetMode.JOINT_IMPEDANCE, stiffness=hand.stiffness)
    if reason := target_refusal(Target(hand=fingers), bounds):
        raise ConfigurationError(reason)
