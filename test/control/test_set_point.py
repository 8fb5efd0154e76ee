# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Set-points go to their goals without a jump in position, speed or acceleration."""

import numpy as np
import pinocchio as pin
import pytest

from drex_ros.control.pose_set_point import PoseFollower
from drex_ros.control.set_point import SINGLE, JointFollower, StreamClock

SPEED = np.array([1.0, 0.5, 3.0])
PERIOD = 0.002


def run(follower, cycles, period=PERIOD):
    """Positions, velocities and accelerations of the cycles, shapes (cycles, 3)."""
    rows = []
    for _ in range(cycles):
        follower.advance(period)
        rows.append((follower.position.copy(), follower.velocity.copy(), follower.acceleration))
        rows[-1] = (*rows[-1][:2], follower.acceleration.copy())
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@pytest.mark.parametrize('period', [0.001, 0.002, 0.0037])
@pytest.mark.parametrize('size', [1.0, 0.1, 1e-3])
def test_arrives_without_overshoot_and_within_its_speed(size, period):
    follower = JointFollower(np.zeros(3), SPEED)
    goal = size * np.array([1.0, -1.0, 0.7])
    follower.go(goal, SINGLE)
    position, velocity, _ = run(follower, round(4.0 / period), period)
    np.testing.assert_allclose(position[-1], goal, atol=1e-9)
    assert (np.abs(position) <= np.abs(goal) * (1.0 + 1e-9)).all()
    assert (np.abs(velocity) <= SPEED * (1.0 + 1e-6)).all()
    np.testing.assert_allclose(np.diff(position, axis=0) / period, velocity[1:], atol=0.03)


def test_takes_about_the_time_that_its_speed_allows():
    follower = JointFollower(np.zeros(3), SPEED)
    follower.go(np.ones(3), SINGLE)
    position, _, _ = run(follower, 2000)
    arrived = (np.abs(position - 1.0) < 0.01).all(axis=1).argmax() * PERIOD
    assert 2.0 < arrived < 2.5  # the slowest joint leads: 1 rad at 0.5 rad/s, and the lag


def test_a_stream_of_20_hz_moves_evenly():
    clock, follower = StreamClock(), JointFollower(np.zeros(3), SPEED)
    velocities, accelerations = [], []
    for target in range(60):
        time = 0.05 * target
        follower.go(0.3 * np.full(3, time), clock.tick(time))
        _, velocity, acceleration = run(follower, 25)
        velocities.append(velocity)
        accelerations.append(acceleration)
    steady = np.concatenate(velocities[30:])
    # Nothing of the 50 ms between two targets is left in the speed.
    np.testing.assert_allclose(steady, 0.3, rtol=0.01)
    change = np.abs(np.diff(np.concatenate(accelerations), axis=0)).max()
    assert change < 0.3 * 80.0**2 * PERIOD  # v w^2: a carrot that sets out at full speed
    assert np.abs(follower.position - 0.3 * 3.0).max() < 0.3 * 0.1  # less than 0.1 s behind


def test_stays_smooth_when_the_goal_jumps_about():
    random, follower = np.random.default_rng(0), JointFollower(np.zeros(3), SPEED)
    speeds, rates = [], []
    for _ in range(60):
        follower.go(random.uniform(-1, 1, 3), random.uniform(0.002, 0.3))
        _, velocity, acceleration = run(follower, int(random.integers(1, 200)))
        speeds.append(velocity)
        rates.append(acceleration)
    speed, rate = np.concatenate(speeds), np.concatenate(rates)
    assert (np.abs(speed) <= 1.35 * SPEED).all()  # it may make up for a lag
    assert (np.abs(np.diff(speed, axis=0)) <= (np.abs(rate[1:]) + 30.0) * PERIOD).all()


def test_a_stop_comes_to_rest_soon_without_turning_back():
    follower = JointFollower(np.zeros(3), SPEED)
    follower.go(np.full(3, 5.0), SINGLE)
    run(follower, 400)
    start, speed = follower.position.copy(), follower.velocity.copy()
    follower.stop()
    position, velocity, _ = run(follower, 300)
    assert (velocity >= -1e-9).all()
    np.testing.assert_allclose(velocity[-1], 0.0, atol=1e-6)
    assert (position[-1] - start <= 2.0 * speed / 30.0 + 1e-9).all()


def test_brakes_from_the_speed_that_the_robot_has():
    follower = JointFollower(np.zeros(3), SPEED)
    speed = np.array([1.0, -0.5, 0.05])  # the last counts as standing
    follower.brake(np.full(3, 0.3), speed)
    np.testing.assert_allclose(follower.velocity, [1.0, -0.5, 0.0])
    position, velocity, _ = run(follower, 300)
    assert (velocity * np.sign(speed) >= -1e-9).all()
    np.testing.assert_allclose(position[0], 0.3 + 0.002 * speed * (1, 1, 0), atol=1e-4)
    np.testing.assert_allclose(position[-1], 0.3 + 2.0 / 30.0 * np.array([1.0, -0.5, 0.0]))
    assert not follower.moves


def test_does_not_run_ahead_of_what_is_measured():
    follower = JointFollower(np.zeros(3), SPEED)
    follower.go(np.ones(3), SINGLE)
    reach = np.array([0.1, 0.1, 0.2])
    cut = False
    for _ in range(1000):
        follower.advance(PERIOD)
        cut |= follower.keep_near(np.zeros(3), reach)
        assert (np.abs(follower.position) <= reach + 1e-12).all()
    assert cut
    assert not follower.keep_near(follower.position.copy(), reach)


def test_the_time_between_targets_is_measured_and_forgotten():
    clock = StreamClock()
    assert clock.tick(1.0) == SINGLE
    assert clock.tick(1.05) == pytest.approx(0.05)
    assert clock.tick(1.05) == pytest.approx(0.05)  # two halves of one target
    assert clock.tick(1.11) == pytest.approx(0.053)
    assert clock.tick(5.0) == SINGLE
    clock.tick(5.01)
    clock.forget()
    assert clock.tick(5.02) == SINGLE


@pytest.mark.parametrize('angle', [0.3, 1.5, 3.0, np.pi])
def test_the_palm_goes_to_a_pose_and_turns_the_short_way(angle):
    palm, axis = PoseFollower(0.5, 1.5), np.array([0.6, 0.0, 0.8])
    start = pin.exp3(np.array([0.2, -0.4, 0.1]))
    palm.rest(np.array([0.4, 0.0, 0.3]), start)
    goal = pin.exp3(angle * axis) @ start
    palm.go(np.array([0.5, 0.1, 0.2]), goal, SINGLE)
    last, turned = palm.rotation.copy(), 0.0
    for _ in range(2500):
        palm.advance(PERIOD)
        step = pin.log3(palm.rotation @ last.T)
        np.testing.assert_allclose(step / PERIOD, palm.velocity[3:], atol=0.05)
        turned += np.linalg.norm(step)
        last = palm.rotation.copy()
    np.testing.assert_allclose(palm.position, [0.5, 0.1, 0.2], atol=1e-9)
    np.testing.assert_allclose(palm.rotation, goal, atol=1e-6)
    np.testing.assert_allclose(palm.rotation @ palm.rotation.T, np.eye(3), atol=1e-12)
    assert turned == pytest.approx(angle, abs=1e-3)


def test_the_palm_stays_smooth_when_its_goal_turns_about():
    random, palm = np.random.default_rng(1), PoseFollower(0.5, 1.5)
    palm.rest(np.zeros(3), np.eye(3))
    last = palm.rotation.copy()
    for _ in range(40):
        palm.go(random.uniform(-0.2, 0.2, 3), pin.exp3(random.uniform(-1.5, 1.5, 3)), 0.05)
        for _ in range(int(random.integers(1, 100))):
            palm.advance(PERIOD)
            assert np.linalg.norm(pin.log3(palm.rotation @ last.T)) < 3.0 * PERIOD
            last = palm.rotation.copy()
    palm.stop()
    for _ in range(300):
        palm.advance(PERIOD)
    np.testing.assert_allclose(palm.velocity, 0.0, atol=1e-5)


def test_the_palm_is_kept_near_what_is_measured():
    palm = PoseFollower(0.5, 1.5)
    palm.rest(np.zeros(3), np.eye(3))
    palm.go(np.full(3, 0.5), pin.exp3(np.array([0.0, 0.0, 2.0])), SINGLE)
    cut = False
    for _ in range(1500):
        palm.advance(PERIOD)
        cut |= palm.keep_near(np.zeros(3), np.eye(3), np.full(3, 0.05), 0.4)
        assert np.linalg.norm(pin.log3(palm.rotation)) <= 0.4 + 1e-9
    assert cut
