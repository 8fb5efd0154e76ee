# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A plane through depth pixels of which many are something else."""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel


@kernel
def fit_plane(inverse, ray, block, width, last, plane, covariance, gradient):  # type: ignore[no-untyped-def]
    """Fit 1 / depth = plane . ray in place, with Tukey's weights; the number of pixels on it.

    The width beyond which a pixel has no weight goes down to the last one. The covariance takes
    the errors within a block as one, for those of neighbours are alike.
    """
    count = inverse.shape[0]
    m, step = np.empty((3, 3)), np.empty(3)
    rounds = 2
    while True:
        m[:], step[:], gradient[:] = 0.0, 0.0, 0.0
        on = 0
        for i in range(count):
            if inverse[i] == 0.0:
                continue
            x, y = ray[i, 0], ray[i, 1]
            error = inverse[i] - (plane[0] * x + plane[1] * y + plane[2])
            share = error / width
            share = 1.0 - share * share
            if share <= 0.0:
                continue
            on += 1
            weight = share * share
            m[0, 0] += weight * x * x
            m[0, 1] += weight * x * y
            m[0, 2] += weight * x
            m[1, 1] += weight * y * y
            m[1, 2] += weight * y
            m[2, 2] += weight
            pull = weight * error
            b = block[i]
            gradient[b, 0] += pull * x
            gradient[b, 1] += pull * y
            gradient[b, 2] += pull
        _inverse(m, covariance)  # of M, for now
        if not np.isfinite(covariance[2, 2]) or on < 20:
            covariance[:] = 0.0
            return 0
        for b in range(gradient.shape[0]):
            for i in range(3):
                step[i] += gradient[b, i]
        for i in range(3):
            for k in range(3):
                plane[i] += covariance[i, k] * step[k]
        if width > last:
            width = max(last, 0.5 * width)
            continue
        rounds -= 1
        if rounds == 0:
            break
    m[:], covariance[:] = covariance, 0.0
    for b in range(gradient.shape[0]):
        for i in range(3):
            step[i] = (
                m[i, 0] * gradient[b, 0] + m[i, 1] * gradient[b, 1] + m[i, 2] * gradient[b, 2]
            )
        for i in range(3):
            for k in range(3):
                covariance[i, k] += step[i] * step[k]
    return on


@kernel
def _inverse(m, out):  # type: ignore[no-untyped-def]
    """Inverse of a symmetric 3 x 3 matrix, of which the upper half is read; may be infinite."""
    a, b, c, d, e, f = m[0, 0], m[0, 1], m[0, 2], m[1, 1], m[1, 2], m[2, 2]
    determinant = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)
    out[0, 0] = (d * f - e * e) / determinant
    out[1, 1] = (a * f - c * c) / determinant
    out[2, 2] = (a * d - b * b) / determinant
    out[0, 1] = out[1, 0] = (c * e - b * f) / determinant
    out[0, 2] = out[2, 0] = (b * e - c * d) / determinant
    out[1, 2] = out[2, 1] = (b * c - a * e) / determinant
