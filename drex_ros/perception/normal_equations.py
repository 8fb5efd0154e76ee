# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Six equations of a step: solved, and freed of what they hardly know.

By hand: a call of numpy's solvers takes 20 us for what is 1 us of work, several times a frame.
"""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.robot.matrices import cholesky, cholesky_solve, symmetric_eigen


@kernel
def solve(matrix, right, out):  # type: ignore[no-untyped-def]
    """Write the solution of a symmetric, positive definite system of equations to `out`."""
    lower = np.zeros(matrix.shape)
    cholesky(matrix, lower)
    out[:] = right
    cholesky_solve(lower, out)


@kernel
def largest_deviation(covariance):  # type: ignore[no-untyped-def]
    """Square root of the largest eigenvalue of a covariance."""
    values, vectors = covariance.copy(), np.zeros(covariance.shape)
    symmetric_eigen(values, vectors)
    largest = 0.0
    for i in range(values.shape[0]):
        largest = max(largest, values[i, i])
    return np.sqrt(largest)


@kernel
def covariance_of(information, least, out):  # type: ignore[no-untyped-def]
    """Write the inverse of a symmetric matrix to `out`, its eigenvalues no less than `least`."""
    values, vectors = information.copy(), np.zeros(information.shape)
    symmetric_eigen(values, vectors)
    n = values.shape[0]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += vectors[i, k] * vectors[j, k] / max(values[k, k], least)
            out[i, j] = total


@kernel
def turns_of(whole, turns, values):  # type: ignore[no-untyped-def]
    """Turns that are known independently of each other, and the information on each.

    What little is said about a turn that can hardly be seen, as of a mug without its handle, is
    the frames' errors, which last: it would make it spin. `leave` takes it away.

    Args:
        whole: all that is known, position first. Shape (6, 6).
        turns: steps of a turn by 1 rad, each with the move that keeps what is seen where it is.
            Shape (3, 6), written.
        values: [1/rad^2], shape (3,), written.
    """
    place = whole[:3, :3].copy()
    for i in range(3):
        place[i, i] += 1e-3
    lower = np.zeros((3, 3))
    cholesky(place, lower)
    along = np.zeros((3, 3))
    column = np.zeros(3)
    for j in range(3):
        for i in range(3):
            column[i] = -whole[i, 3 + j]
        cholesky_solve(lower, column)
        along[:, j] = column
    known = whole[3:, 3:].copy()
    for i in range(3):
        for j in range(3):
            for k in range(3):
                known[i, j] += whole[3 + i, k] * along[k, j]
    axes = np.zeros((3, 3))
    symmetric_eigen(known, axes)
    for n in range(3):
        values[n] = known[n, n]
        for i in range(3):
            turns[n, i], turns[n, 3 + i] = 0.0, axes[i, n]
            for k in range(3):
                turns[n, i] += along[i, k] * axes[k, n]


@kernel
def leave(information, gradient, step):  # type: ignore[no-untyped-def]
    """Take away what equations say about a step; its shape is (6,).

    Args:
        information: shape (6, 6), changed.
        gradient: shape (6,), changed.
        step: position first, shape (6,).
    """
    seen = np.zeros(6)
    size, pull = 0.0, 0.0
    for i in range(6):
        for j in range(6):
            seen[i] += information[i, j] * step[j]
        size += step[i] * seen[i]
        pull += step[i] * gradient[i]
    if size < 1e-9:
        return
    for i in range(6):
        gradient[i] -= seen[i] * pull / size
        for j in range(6):
            information[i, j] -= seen[i] * seen[j] / size
