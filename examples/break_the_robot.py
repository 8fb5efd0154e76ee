# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Break the simulated robot of a running stack in three ways, and see what it says.

Start the stack in one terminal (`drex launch drex.launch.yaml object:=can`), this in another.
"""

import time

from drex_ros.client import Drex, Fault, Simulator
from drex_ros.robot.joints import joint_index


def wait_for(drex: Drex, mode: str) -> None:
    """Wait until the robot is in a mode, and say why it is."""
    deadline = time.monotonic() + 20.0
    while (state := drex.state()).mode.name != mode:
        if time.monotonic() > deadline:
            raise SystemExit(f'the robot is {state.mode.name}, not {mode}')
    print(f'  {state.time:7.3f} s  {mode:8} {state.reason}')


with Drex() as drex, Simulator() as simulator:
    drex.wait_until_ready()
    simulator.reset(thing='can', mass=0.5, friction=0.3, seed=7)

    print('every command gets lost:')
    simulator.inject_fault(Fault.DROP_COMMANDS, magnitude=1.0)
    wait_for(drex, 'HOLD')
    wait_for(drex, 'STOPPED')
    simulator.inject_fault(Fault.NONE)
    drex.recover()
    wait_for(drex, 'EFFORT')

    print('a position sensor is off by 0.1 rad:')
    joint = joint_index('joint_2.0')
    before = drex.state().position[joint]
    simulator.inject_fault(Fault.BIAS_JOINT, joint='joint_2.0', magnitude=0.1, duration=0.5)
    time.sleep(0.1)
    print(f'  joint_2.0 reads {before:.3f} rad, then {drex.state().position[joint]:.3f} rad')
    time.sleep(1.0)

    print('the arm trips:')
    simulator.inject_fault(Fault.REFLEX)
    wait_for(drex, 'REFLEX')
    drex.recover()
    wait_for(drex, 'EFFORT')

    truth = simulator.truth()
    place = truth.object_pose.position
    print(f'the {truth.object} of {truth.object_mass:g} kg is at {place.x:.2f}, {place.y:.2f} m')
