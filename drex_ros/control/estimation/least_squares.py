# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Weighted least squares with a prior, for a handful of unknowns, inside compiled functions.

Written by hand because numba has LAPACK only together with SciPy, and because at these sizes
(3 or 6 unknowns) a call to LAPACK takes longer than the whole sum.
"""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel


@kernel
def solve_weighted(rows, values, sigma, prior_sigma, solution, spread):  # type: ignore[no-untyped-def]
    """Find x in rows^T x = values, of which each has an error of its own sigma.

    Args:
        rows: row k belongs to unknown k. Shape (n, m), n up to 6.
        values: shape (m,).
        sigma: of the values, shape (m,).
        prior_sigma: of each unknown about zero before anything is measured, shape (n,); it bounds
            what the values do not show.
        solution: x, written here. Shape (n,).
        spread: standard deviation of x, written here. Shape (n,).
    """
    n, m = rows.shape
    lower = np.empty((6, 6))
    right = np.empty(6)
    for a in range(n):
        total = 0.0
        for k in range(m):
            total += rows[a, k] * values[k] / (sigma[k] * sigma[k])
        right[a] = total
        for b in range(a + 1):
            total = 0.0
            for k in range(m):
                total += rows[a, k] * rows[b, k] / (sigma[k] * sigma[k])
            if a == b:
                total += 1.0 / (prior_sigma[a] * prior_sigma[a])
            # Cholesky, row by row.
            for k in range(b):
                total -= lower[a, k] * lower[b, k]
            if a == b:
                lower[a, a] = np.sqrt(max(total, 1e-30))
            else:
                lower[a, b] = total / lower[b, b]
    for a in range(n):
        total = right[a]
        for k in range(a):
            total -= lower[a, k] * right[k]
        right[a] = total / lower[a, a]
    for a in range(n - 1, -1, -1):
        total = right[a]
        for k in range(a + 1, n):
            total -= lower[k, a] * solution[k]
        solution[a] = total / lower[a, a]
    # The covariance is the inverse of L L^T: its diagonal are the columns' squares of L^-1.
    for column in range(n):
        spread[column] = 0.0
    inverse = np.zeros((6, 6))
    for column in range(n):
        for a in range(column, n):
            total = 1.0 if a == column else 0.0
            for k in range(column, a):
                total -= lower[a, k] * inverse[k, column]
            inverse[a, column] = total / lower[a, a]
            spread[column] += inverse[a, column] * inverse[a, column]
        spread[column] = np.sqrt(spread[column])
