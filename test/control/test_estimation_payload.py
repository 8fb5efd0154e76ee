# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Weighing with the arm, and slip, against the simulator's truth."""

import numpy as np
import pytest
from estimating import WatchedGrasp, slips, weigh

from drex_ros.robot.joints import ARM


@pytest.mark.parametrize(('mass', 'seed'), [(0.1, 11), (0.3, 12), (0.6, 13), (1.0, 14)])
def test_mass_of_a_lifted_can(mass, seed):
    found, sigma = weigh(mass, seed)
    assert abs(found - mass) < max(0.015, 0.03 * mass)
    assert abs(found - mass) < 2.5 * sigma
    assert sigma < 0.03


def test_weighs_only_against_a_tare_at_the_same_posture():
    grasp = WatchedGrasp(0.3, 0.8, seed=0)
    grasp.hold(0.2)
    assert np.isnan(grasp.estimates.payload_mass)
    assert grasp.estimator.payload_reason == 'no tare'
    grasp.estimator.tare()
    grasp.hold(0.5)
    assert not grasp.estimates.tared
    assert 'averaged' in grasp.estimator.payload_reason
    grasp.hold(1.5)
    assert grasp.estimates.tared
    assert grasp.estimator.payload_reason == ''
    assert abs(grasp.estimates.payload_mass) < 0.015
    there = grasp._target.copy()
    there[ARM][1] -= 0.2
    grasp.go(there, 1.0, 0.0)
    grasp.hold(1.0)
    assert np.isnan(grasp.estimates.payload_mass)
    assert '0.2 rad from the posture of the tare' in grasp.estimator.payload_reason


def test_slip_is_seen_where_friction_cannot_carry():
    found = slips(0.2, seed=5)
    assert found['slipping'] > 0.2
    assert found['delay'] < 0.1
    assert found['missed'] < 0.4


def test_no_slip_where_the_can_is_held():
    assert slips(0.8, seed=6)['in vain at rest'] == 0.0
