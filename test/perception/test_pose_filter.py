# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Kalman filter on poses and its smoother: the maths, and whether they know their errors."""

import numpy as np
import pytest

from drex_ros.perception import filter_kernels
from drex_ros.perception.estimate import ObjectState, PoseObservation
from drex_ros.perception.pose_filter import (
    FilterStep,
    FixedLagSmoother,
    corrected,
    distance,
    pose_difference,
    predict,
    rotation_vector,
    smooth,
    started,
    state_difference,
    update,
)
from drex_ros.robot.rotations import quaternion_from_vector, quaternion_product

STEP = 1.0 / 30.0
ACCELERATIONS = np.array((2.0, 2.0, 2.0, 15.0, 15.0, 15.0))
NOISE = np.diag((0.001, 0.001, 0.002, 0.02, 0.02, 0.01)) ** 2


def state_of(twist=(0.0,) * 6, sigma=0.01) -> ObjectState:
    return ObjectState(
        position=np.array((0.5, -0.1, 0.05)),
        quaternion=quaternion_from_vector((0.4, -0.8, 1.9)),
        twist=np.array(twist, dtype=np.float64),
        covariance=sigma**2 * np.eye(12),
    )


def observed(time: float, state: ObjectState, generator: np.random.Generator) -> PoseObservation:
    error = generator.multivariate_normal(np.zeros(6), NOISE)
    # truth = exp(error) observation
    turn = quaternion_product(quaternion_from_vector(-error[3:]), state.quaternion)
    return PoseObservation(time, state.position - error[:3], turn, NOISE)


def test_rotation_vector_is_the_inverse_of_its_quaternion():
    for vector in ((0.0, 0.0, 0.0), (1e-9, 0.0, 0.0), (0.3, -1.2, 2.0), (0.0, np.pi - 1e-9, 0.0)):
        quaternion = quaternion_from_vector(vector)
        assert rotation_vector(quaternion) == pytest.approx(vector, abs=1e-12)
        assert rotation_vector(-quaternion) == pytest.approx(vector, abs=1e-12)


def test_a_prediction_goes_on_with_the_same_velocity():
    state = state_of(twist=(0.3, 0.0, -0.1, 0.0, 0.0, 4.0))
    later = predict(state, 0.1, ACCELERATIONS)
    assert later.position == pytest.approx(state.position + np.array((0.03, 0.0, -0.01)))
    turn = pose_difference(later.position, later.quaternion, state.position, state.quaternion)[3:]
    assert turn == pytest.approx((0.0, 0.0, 0.4))
    back = predict(later, -0.1, ACCELERATIONS)
    assert state_difference(back, state) == pytest.approx(np.zeros(12), abs=1e-12)


@pytest.mark.parametrize('speed', [0.0, 1e-4, 4.0, 60.0])
def test_the_transition_is_the_derivative_of_the_prediction(speed):
    state = state_of(twist=(0.3, 0.2, -0.1, 0.5 * speed, -0.2 * speed, speed))
    matrix = np.empty((12, 12))
    filter_kernels.transition(state.twist, STEP, matrix)
    middle = predict(state, STEP, ACCELERATIONS)
    small = 1e-6
    for i, error in enumerate(small * np.eye(12)):
        moved = predict(corrected(state, error, state.covariance), STEP, ACCELERATIONS)
        slope = state_difference(moved, middle) / small
        assert slope == pytest.approx(matrix[:, i], abs=1e-5)


def test_prediction_adds_the_noise_of_a_constant_acceleration():
    state = state_of(sigma=0.0)
    covariance = predict(state, STEP, ACCELERATIONS).covariance
    reach = np.concatenate((ACCELERATIONS * STEP**2 / 2.0, ACCELERATIONS * STEP))
    assert np.sqrt(np.diag(covariance)) == pytest.approx(reach)
    assert covariance[0, 6] == pytest.approx(reach[0] * reach[6])
    # Backwards, what is faster was further behind.
    assert predict(state, -STEP, ACCELERATIONS).covariance[0, 6] == pytest.approx(
        -reach[0] * reach[6]
    )


def test_an_observation_moves_the_state_by_what_each_is_worth():
    state = state_of(sigma=0.01)
    turn = quaternion_product(quaternion_from_vector((0.02, 0.0, 0.0)), state.quaternion)
    place = state.position + np.array((0.0, 0.006, 0.0))
    seen = PoseObservation(0.0, place, turn, 1e-4 * np.eye(6) / 2.0)
    after = update(state, seen)
    expected = np.zeros(12)
    expected[1], expected[3] = 0.004, 0.02 * 2.0 / 3.0
    assert state_difference(after, state) == pytest.approx(expected, abs=1e-9)
    assert np.diag(after.covariance)[:6] == pytest.approx(np.full(6, 1e-4 / 3.0))
    assert distance(state, seen) == pytest.approx((0.006**2 + 0.02**2) / 1.5e-4)


def test_covariances_that_cannot_be_are_refused():
    state = state_of(sigma=0.0)
    seen = PoseObservation(0.0, state.position, state.quaternion, np.zeros((6, 6)))
    assert distance(state, seen) == np.inf
    with pytest.raises(ValueError, match='positive definite'):
        update(state, seen)


def test_smoothing_is_the_least_squares_fit_of_all_that_was_seen():
    """Without turns all is linear, so that the best answer can be worked out at once."""
    generator = np.random.default_rng(3)
    count = 6
    seen = 0.01 * generator.normal(size=count)
    sigma, start, acceleration = 0.003, 0.5, 2.0
    noise = np.diag((sigma, sigma, sigma, 0.1, 0.1, 0.1)) ** 2
    upright = np.array((0.0, 0.0, 0.0, 1.0))
    steps = []
    state = None
    for i, x in enumerate(seen):
        observation = PoseObservation(i * STEP, np.array((x, 0.0, 0.0)), upright, noise)
        if state is None:
            predicted = state = started(observation, (start, 1.0))
        else:
            predicted = predict(state, STEP, ACCELERATIONS)
            state = update(predicted, observation)
        steps.append(FilterStep(i * STEP, predicted, state))
    smoothed = smooth(steps)
    # Unknowns: first place and velocity, then an acceleration for each step.
    unknowns = 2 + count - 1
    rows, right = [], []
    place, speed = np.eye(unknowns)[0], np.eye(unknowns)[1]
    for i in range(count):
        rows.append(place / sigma)
        right.append(seen[i] / sigma)
        if i < count - 1:
            pushed = np.eye(unknowns)[2 + i]
            place = place + STEP * speed + STEP**2 / 2.0 * pushed
            speed = speed + STEP * pushed
    rows += [np.eye(unknowns)[1] / start, *(np.eye(unknowns)[2:] / acceleration)]
    right += [0.0] * (unknowns - 1)
    best = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    spread = np.linalg.inv(np.array(rows).T @ np.array(rows))
    assert (smoothed.position[0], smoothed.twist[0]) == pytest.approx(best[:2], rel=1e-6)
    assert smoothed.covariance[0, 0] == pytest.approx(spread[0, 0], rel=1e-6)
    assert smoothed.covariance[6, 6] == pytest.approx(spread[1, 1], rel=1e-6)


def test_filter_and_smoother_know_their_errors_and_the_smoother_has_fewer():
    """Objects that move as the filter supposes, fast turns included; two hundred times."""
    generator = np.random.default_rng(1)
    filtered, smoothed, gates = [], [], []
    for _ in range(200):
        truth = state_of(twist=(*generator.normal(0.0, 0.3, 3), *generator.normal(0.0, 2.0, 3)))
        smoother = FixedLagSmoother(3)
        state, past = None, []
        for i in range(12):
            seen = observed(i * STEP, truth, generator)
            if state is None:
                predicted = state = started(seen, (0.3, 2.0))
            else:
                predicted = predict(state, STEP, ACCELERATIONS)
                gates.append(distance(predicted, seen))
                state = update(predicted, seen)
            past.append((truth, state))
            result = smoother.add(FilterStep(i * STEP, predicted, state))
            assert (result is None) == (i < 3)
            change = np.concatenate((np.zeros(6), STEP * ACCELERATIONS * generator.normal(size=6)))
            half = corrected(truth, 0.5 * change, truth.covariance)
            truth = corrected(predict(half, STEP, ACCELERATIONS), 0.5 * change, truth.covariance)
        time, state = result
        assert time == pytest.approx(8 * STEP)
        for states, kept in ((past[-4], filtered), ((past[-4][0], state), smoothed)):
            error = state_difference(*states)
            kept.append((error, error @ np.linalg.solve(states[1].covariance, error)))
    assert np.mean(gates) == pytest.approx(6.0, rel=0.1)
    for kept in (filtered, smoothed):
        assert np.mean([score for _, score in kept]) == pytest.approx(12.0, rel=0.2)
    rms = [
        np.sqrt(np.mean([error**2 for error, _ in kept], axis=0)) for kept in (filtered, smoothed)
    ]
    assert (rms[1][6:] < 0.75 * rms[0][6:]).all()


def test_a_smoother_begins_anew_when_told():
    smoother = FixedLagSmoother(1)
    step = FilterStep(0.0, state_of(), state_of())
    assert smoother.add(step) is None
    smoother.clear()
    assert smoother.add(FilterStep(1.0, state_of(), state_of())) is None
    with pytest.raises(ValueError, match='lag is -1'):
        FixedLagSmoother(-1)
