# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The matrices of `pose_filter`, compiled: in numpy a frame took three times as long.

Functions check nothing; results go to the arguments named last. The order of the twelve errors is
position, rotation, velocity, angular velocity.
"""

from __future__ import annotations

import math

import numpy as np

from drex_ros.kernel import kernel


@kernel
def product(a, b, out):  # type: ignore[no-untyped-def]
    """Matrix product a b; out must be neither of them."""
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0.0
        for k in range(a.shape[1]):
            factor = a[i, k]
            if factor != 0.0:
                for j in range(b.shape[1]):
                    out[i, j] += factor * b[k, j]


@kernel
def congruence(a, p, out):  # type: ignore[no-untyped-def]
    """Covariance of a x for x with covariance p: a p a^T, exactly symmetric."""
    half = np.empty((a.shape[0], p.shape[1]))
    product(a, p, half)
    for i in range(a.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(a.shape[1]):
                total += half[i, k] * a[j, k]
            out[i, j] = total
            out[j, i] = total


@kernel
def factor(a, out):  # type: ignore[no-untyped-def]
    """Lower L with L L^T = a; False, and no use of out, when a is not positive definite."""
    n = a.shape[0]
    for j in range(n):
        pivot = a[j, j]
        for k in range(j):
            pivot -= out[j, k] * out[j, k]
        if not pivot > 0.0:
            return False
        pivot = math.sqrt(pivot)
        out[j, j] = pivot
        for i in range(j + 1, n):
            rest = a[i, j]
            for k in range(j):
                rest -= out[i, k] * out[j, k]
            out[i, j] = rest / pivot
    return True


@kernel
def solve_rows(lower, rows):  # type: ignore[no-untyped-def]
    """Replace each row r by (L L^T)^-1 r."""
    n = lower.shape[0]
    for row in range(rows.shape[0]):
        for i in range(n):
            rest = rows[row, i]
            for k in range(i):
                rest -= lower[i, k] * rows[row, k]
            rows[row, i] = rest / lower[i, i]
        for i in range(n - 1, -1, -1):
            rest = rows[row, i]
            for k in range(i + 1, n):
                rest -= lower[k, i] * rows[row, k]
            rows[row, i] = rest / lower[i, i]


@kernel
def transition(twist, dt, out):  # type: ignore[no-untyped-def]
    """How an error grows over a time [s] at constant velocity. out has shape (12, 12).

    The error of a turn is turned along, by exp(w dt); one of the angular velocity w adds
    J(w dt) dt, with J the left Jacobian of exp.
    """
    w = dt * twist[3:6]
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = math.sqrt(square)
    if angle < 1e-3:
        s, c, d = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
    else:
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
        d = (1.0 - s) / square
    out[...] = 0.0
    for i in range(12):
        out[i, i] = 1.0
    for i in range(3):
        out[i, 6 + i] = dt
        j, k = (i + 1) % 3, (i + 2) % 3
        rest = w[j] * w[j] + w[k] * w[k]
        out[3 + i, 3 + i] = 1.0 - c * rest
        out[3 + i, 3 + j] = c * w[i] * w[j] - s * w[k]
        out[3 + j, 3 + i] = c * w[i] * w[j] + s * w[k]
        out[3 + i, 9 + i] = dt * (1.0 - d * rest)
        out[3 + i, 9 + j] = dt * (d * w[i] * w[j] - c * w[k])
        out[3 + j, 9 + i] = dt * (d * w[i] * w[j] + c * w[k])


@kernel
def propagate(covariance, twist, dt, accelerations, out):  # type: ignore[no-untyped-def]
    """Covariance after a time dt [s]; with the deviations of six accelerations."""
    matrix = np.empty((12, 12))
    transition(twist, dt, matrix)
    congruence(matrix, covariance, out)
    square = dt * dt
    for i in range(6):
        variance = accelerations[i] * accelerations[i]
        out[i, i] += 0.25 * variance * square * square
        # Odd in dt: backwards, a greater velocity means a place further behind.
        out[i, 6 + i] += 0.5 * variance * square * dt
        out[6 + i, i] += 0.5 * variance * square * dt
        out[6 + i, 6 + i] += variance * square


@kernel
def distance(covariance, noise, innovation):  # type: ignore[no-untyped-def]
    """Square of the Mahalanobis distance of a pose; infinite when the covariances are no use."""
    spread = covariance[:6, :6] + noise
    if not factor(spread, spread):
        return math.inf
    solved = np.empty((1, 6))
    solved[0] = innovation
    solve_rows(spread, solved)
    total = 0.0
    for i in range(6):
        total += innovation[i] * solved[0, i]
    return total


@kernel
def kalman(covariance, noise, innovation, error, out):  # type: ignore[no-untyped-def]
    """Correction and covariance after a pose was observed; False: not positive definite."""
    spread = covariance[:6, :6] + noise
    if not factor(spread, spread):
        return False
    gain = covariance[:, :6].copy()
    solve_rows(spread, gain)
    # Joseph's form stays positive definite where the short one loses digits.
    keep = np.zeros((12, 12))
    for i in range(12):
        error[i] = 0.0
        keep[i, i] = 1.0
        for j in range(6):
            error[i] += gain[i, j] * innovation[j]
            keep[i, j] -= gain[i, j]
    added = np.empty((12, 12))
    congruence(keep, covariance, out)
    congruence(gain, noise, added)
    out += added
    return True


@kernel
def smooth_back(twist, dt, filtered, predicted, later, difference, error, out):  # type: ignore[no-untyped-def]
    """One step of Rauch, Tung and Striebel; False: `predicted` is not positive definite.

    `filtered` is the covariance of this step, `predicted` that of the next before its update,
    `later` its smoothed one, and `difference` how far its smoothed state is from the predicted.
    """
    matrix = np.empty((12, 12))
    lower = np.zeros((12, 12))
    gain = np.empty((12, 12))
    transition(twist, dt, matrix)
    if not factor(predicted, lower):
        return False
    product(filtered, matrix.T, gain)
    solve_rows(lower, gain)
    for i in range(12):
        error[i] = 0.0
        for j in range(12):
            error[i] += gain[i, j] * difference[j]
    congruence(gain, later - predicted, out)
    out += filtered
    return True
