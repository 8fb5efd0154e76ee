# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of mock_hardware, and the settings of the simulated robot that they make."""

from __future__ import annotations

from functools import partial

from drex_ros.hardware.motors import MotorSettings
from drex_ros.hardware.mujoco_backend import MujocoSettings
from drex_ros.hardware.reflexes import ReflexSettings
from drex_ros.hardware.sensors import SensorSettings
from drex_ros.nodes.parameters import Parameter, ParameterValues
from drex_ros.robot.description import HANDS
from drex_ros.robot.joints import N_ARM

_ROBOT = MujocoSettings()
_MOTORS = _ROBOT.motors
_SENSORS = _ROBOT.sensors
_REFLEXES = _ROBOT.reflexes


_fixed = partial(Parameter, read_only=True)  # given at start only

TIME = (
    _fixed(
        'mode',
        'lockstep',
        'lockstep: wait for the command that answers each state; free_running: never wait',
        choices=('lockstep', 'free_running'),
    ),
    _fixed(
        'control_rate',
        _ROBOT.control_rate,
        'control cycles per simulated second',
        'Hz',
        (50.0, 1000.0),
    ),
    _fixed(
        'physics_rate',
        _ROBOT.physics_rate,
        'physics steps per simulated second, a multiple of control_rate',
        'Hz',
        (500.0, 10000.0),
    ),
    _fixed(
        'command_deadline',
        _ROBOT.command_deadline,
        'simulated time that one command counts; then the robot holds',
        's',
        (0.001, 1.0),
    ),
    _fixed(
        'stop_after',
        _ROBOT.stop_after,
        'simulated time without a command after which a hold becomes a stop',
        's',
        (0.001, 3600.0),
    ),
    Parameter(
        'lockstep_patience',
        0.5,
        'wall time to wait for an answer in lockstep; then the robot goes on holding',
        's',
        (0.001, 60.0),
    ),
    Parameter(
        'camera_patience',
        5.0,
        'wall time to wait for a picture in lockstep; then the robot goes on without the camera',
        's',
        (0.001, 60.0),
    ),
    Parameter(
        'real_time_factor',
        1.0,
        'simulated over wall time; 0: as fast as the machine allows (free running: 1)',
        range=(0.0, 100.0),
    ),
)

RATES = (
    _fixed(
        'joint_states_rate',
        100.0,
        'messages on joint_states per simulated second, at most control_rate',
        'Hz',
        (1.0, 1000.0),
    ),
    _fixed(
        'clock_rate',
        100.0,
        'messages on /clock per simulated second, at most control_rate',
        'Hz',
        (1.0, 1000.0),
    ),
    _fixed(
        'camera_rate',
        30.0,
        'pictures of the camera per simulated second, at most control_rate',
        'Hz',
        (1.0, 60.0),
    ),
    _fixed(
        'camera_delay',
        0.02,
        'simulated time from the middle of the exposure to the published picture',
        's',
        (0.0, 1.0),
    ),
    _fixed(
        'ground_truth_rate',
        100.0,
        'messages on mock/ground_truth per simulated second, at most control_rate',
        'Hz',
        (1.0, 1000.0),
    ),
)

SCENE = (
    _fixed('hand', _ROBOT.hand, 'which hand the robot has', choices=HANDS),
    _fixed('scene', _ROBOT.scene, 'scene of config/scenes, or path of a file like those'),
    _fixed('object', '', 'object of the library, or path of its file; empty: none'),
    _fixed('object_mass', 0.0, 'mass of the object; 0: its own', 'kg', (0.0, 20.0)),
    _fixed('object_friction', 0.0, 'of the object on the table; 0: its own', '', (0.0, 2.0)),
    _fixed('finger_friction', 0.0, 'of the object on the robot; 0: its own', '', (0.0, 2.0)),
    _fixed(
        'start_spread',
        _ROBOT.start_spread,
        'each joint starts up to this far from home, drawn with the seed',
        'rad',
        (0.0, 0.2),
    ),
    _fixed('seed', _ROBOT.seed, 'of every random number', '', (0, 2**31 - 1)),
)

ROBOT = (
    _fixed(
        'motor_delay',
        _MOTORS.delay,
        'control cycles from a command to its torque',
        '',
        (0, 10),
    ),
    _fixed(
        'friction_scale',
        _MOTORS.friction_scale,
        'factor on the friction of the joints in urdf/joint_limits.yaml',
        '',
        (0.0, 10.0),
    ),
    _fixed(
        'rotor_inertia_scale',
        _MOTORS.rotor_inertia_scale,
        'factor on the rotor inertia of the joints in urdf/joint_limits.yaml',
        '',
        (0.1, 10.0),
    ),
    _fixed(
        'arm_resolution',
        _SENSORS.arm_resolution,
        "step of the arm's encoders",
        'rad',
        (0.0, 0.1),
    ),
    _fixed(
        'hand_resolution',
        _SENSORS.hand_resolution,
        "step of the hand's encoders",
        'rad',
        (0.0, 0.1),
    ),
    _fixed(
        'velocity_bandwidth',
        _SENSORS.velocity_bandwidth,
        'low pass on differences of positions; 0: the true velocity',
        'Hz',
        (0.0, 1000.0),
    ),
    _fixed(
        'arm_effort_noise',
        _SENSORS.arm_effort_noise,
        "standard deviation of the arm's torque sensors",
        'N m',
        (0.0, 10.0),
    ),
    _fixed(
        'arm_effort_bias',
        _SENSORS.arm_effort_bias,
        'standard deviation of their constant error, drawn with the seed',
        'N m',
        (0.0, 10.0),
    ),
    _fixed(
        'hand_effort_noise',
        _SENSORS.hand_effort_noise,
        "standard deviation of the hand's efforts",
        'N m',
        (0.0, 1.0),
    ),
    _fixed(
        'hand_effort_bias',
        _SENSORS.hand_effort_bias,
        'standard deviation of their constant error, drawn with the seed',
        'N m',
        (0.0, 1.0),
    ),
    _fixed(
        'collision_torque',
        list(_REFLEXES.collision_torque),
        "torque from outside on the arm's joints that trips the reflex",
        'N m',
        (0.1, 100.0),
        size=N_ARM,
    ),
    _fixed(
        'collision_filter',
        _REFLEXES.collision_filter,
        'time constant of the low pass on that torque',
        's',
        (0.001, 1.0),
    ),
)

PARAMETERS = TIME + RATES + SCENE + ROBOT


def robot_settings(params: ParameterValues) -> MujocoSettings:
    """Settings of the simulated robot from the node's parameters."""
    return MujocoSettings(
        control_rate=params.control_rate,
        physics_rate=params.physics_rate,
        command_deadline=params.command_deadline,
        stop_after=params.stop_after,
        start_spread=params.start_spread,
        seed=params.seed,
        hand=params.hand,
        scene=params.scene,
        motors=MotorSettings(
            params.motor_delay, params.friction_scale, params.rotor_inertia_scale
        ),
        sensors=SensorSettings(
            arm_resolution=params.arm_resolution,
            hand_resolution=params.hand_resolution,
            velocity_bandwidth=params.velocity_bandwidth,
            arm_effort_noise=params.arm_effort_noise,
            arm_effort_bias=params.arm_effort_bias,
            hand_effort_noise=params.hand_effort_noise,
            hand_effort_bias=params.hand_effort_bias,
        ),
        reflexes=ReflexSettings(params.collision_torque, params.collision_filter),
    )
