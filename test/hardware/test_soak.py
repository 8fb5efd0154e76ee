# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A short soak of the simulated robot; bench/soak.py runs the same for as long as you like."""

import numpy as np
import pytest
from mischief import MEMORY_GROWTH, SoakError, memory
from soak import Soak

from drex_ros.hardware.mujoco_backend import MujocoBackend


def test_random_commands_faults_and_resets():
    soak = Soak(seed=2)
    soak.run(5.0)
    before = memory()
    soak.run(15.0)
    assert memory() - before < MEMORY_GROWTH
    events = soak.events
    assert events['commands followed'] > 4000
    assert events['commands refused'] > 100
    kinds = {name.split(':')[0] for name in events}
    assert {'illegal', 'fault', 'reflex', 'reset', 'silence'} <= kinds
    assert soak.robot.read().commands_refused == events['commands refused']


def test_same_seed_does_the_same():
    first, second = Soak(seed=3), Soak(seed=3)
    for soak in (first, second):
        soak.run(1.0)
    assert first.events == second.events
    one, other = first.robot.read(), second.robot.read()
    np.testing.assert_array_equal(one.position, other.position)
    np.testing.assert_array_equal(one.effort, other.effort)


def test_finds_a_refusal_that_is_not_counted(monkeypatch):
    """What it checks can fail."""
    honest = MujocoBackend.write

    def forgetful(self, command):
        followed = honest(self, command)
        self._refused = 0
        return followed

    monkeypatch.setattr(MujocoBackend, 'write', forgetful)
    with pytest.raises(SoakError, match='commands refused, 0 counted'):
        Soak(seed=4).run(20.0)


def test_finds_a_state_that_is_no_number(monkeypatch):
    honest = MujocoBackend._measure

    def broken(self):
        honest(self)
        if self._sequence == 100:
            self._sensors.last.velocity[3] = np.nan

    monkeypatch.setattr(MujocoBackend, '_measure', broken)
    with pytest.raises(SoakError, match=r'the state is not a number, at 0\.2 s'):
        Soak(seed=5).run(1.0)
