# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Small dense linear algebra inside compiled kernels: matrices of 3 to 7 rows.

numpy takes 10 us and more for a system of this size, nearly all of it before the first
multiplication, and numba's own numpy.linalg needs scipy. Written out, a Cholesky factor of 7 rows
takes 0.1 us. All functions are for use inside other kernels: they check nothing.
"""

from __future__ import annotations

import math

import numpy as np

from drex_ros.kernel import kernel

_PIVOT = 1e-12  # least squared pivot: keeps a singular matrix finite
_SWEEPS = 8  # of Jacobi's method; matrices of this size take 3 to 5


@kernel
def cholesky(a, out):  # type: ignore[no-untyped-def]
    """Lower L with L L^T = a, a symmetric and positive definite; only its lower half is read.

    out may be a itself. Its upper half is left alone.
    """
    n = a.shape[0]
    for j in range(n):
        pivot = a[j, j]
        for k in range(j):
            pivot -= out[j, k] * out[j, k]
        pivot = math.sqrt(max(pivot, _PIVOT))
        out[j, j] = pivot
        for i in range(j + 1, n):
            rest = a[i, j]
            for k in range(j):
                rest -= out[i, k] * out[j, k]
            out[i, j] = rest / pivot


@kernel
def solve_lower(lower, b):  # type: ignore[no-untyped-def]
    """Replace the vector b by L^-1 b."""
    for i in range(lower.shape[0]):
        rest = b[i]
        for k in range(i):
            rest -= lower[i, k] * b[k]
        b[i] = rest / lower[i, i]


@kernel
def solve_upper(lower, b):  # type: ignore[no-untyped-def]
    """Replace the vector b by L^-T b."""
    n = lower.shape[0]
    for i in range(n - 1, -1, -1):
        rest = b[i]
        for k in range(i + 1, n):
            rest -= lower[k, i] * b[k]
        b[i] = rest / lower[i, i]


@kernel
def cholesky_solve(lower, b):  # type: ignore[no-untyped-def]
    """Replace the vector b by (L L^T)^-1 b."""
    solve_lower(lower, b)
    solve_upper(lower, b)


@kernel
def symmetric_eigen(a, vectors):  # type: ignore[no-untyped-def]
    """Eigenvalues of a symmetric matrix, left on its own diagonal; its eigenvectors as columns.

    Jacobi's method: for so few rows as fast as any, and never fails.
    """
    n = a.shape[0]
    size = 0.0
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 1.0 if i == j else 0.0
            size = max(size, abs(a[i, j]))
    small = 1e-9 * size
    for _ in range(_SWEEPS):
        largest = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                off = a[p, q]
                largest = max(largest, abs(off))
                if abs(off) <= small:
                    continue
                # The rotation that makes a[p, q] zero.
                half = 0.5 * (a[q, q] - a[p, p]) / off
                t = math.copysign(1.0, half) / (abs(half) + math.sqrt(1.0 + half * half))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for k in range(n):
                    x, y = a[k, p], a[k, q]
                    a[k, p] = c * x - s * y
                    a[k, q] = s * x + c * y
                for k in range(n):
                    x, y = a[p, k], a[q, k]
                    a[p, k] = c * x - s * y
                    a[q, k] = s * x + c * y
                    x, y = vectors[k, p], vectors[k, q]
                    vectors[k, p] = c * x - s * y
                    vectors[k, q] = s * x + c * y
        if largest <= small:
            return


@kernel
def rotation_vector(r, out):  # type: ignore[no-untyped-def]
    """Axis times angle [rad] of a rotation matrix, angle 0 .. pi.

    By way of the quaternion with its largest element first, so that it is exact at pi too.
    """
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    i = 0
    if r[1, 1] > r[0, 0]:
        i = 1
    if r[2, 2] > r[i, i]:
        i = 2
    if trace >= r[i, i]:
        out[0] = r[2, 1] - r[1, 2]
        out[1] = r[0, 2] - r[2, 0]
        out[2] = r[1, 0] - r[0, 1]
        w = 1.0 + trace
    else:
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i] = 1.0 + 2.0 * r[i, i] - trace
        out[j] = r[j, i] + r[i, j]
        out[k] = r[k, i] + r[i, k]
        w = r[k, j] - r[j, k]
    # (w, out) is the quaternion by a common factor.
    if w < 0.0:
        w = -w
        for axis in range(3):
            out[axis] = -out[axis]
    length = math.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    factor = 2.0 / max(w, 1e-12) if length < 1e-9 * w else 2.0 * math.atan2(length, w) / length
    for axis in range(3):
        out[axis] *= factor


@kernel
def dot(a, b):  # type: ignore[no-untyped-def]
    """Written out, for (a * b).sum() makes an array, which costs more than the numbers in it."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@kernel
def add_cross(a, b, scale, out):  # type: ignore[no-untyped-def]
    """Add scale (a x b) to out, vectors of 3."""
    out[0] += scale * (a[1] * b[2] - a[2] * b[1])
    out[1] += scale * (a[2] * b[0] - a[0] * b[2])
    out[2] += scale * (a[0] * b[1] - a[1] * b[0])


@kernel
def transposed_product(a, b, out):  # type: ignore[no-untyped-def]
    """Write a^T b to out, for matrices."""
    for i in range(a.shape[1]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[0]):
                total += a[k, i] * b[k, j]
            out[i, j] = total


@kernel
def multiply(a, b, out):  # type: ignore[no-untyped-def]
    """Out = a b, of 3 rows each."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@kernel
def rotation_of(vector, out):  # type: ignore[no-untyped-def]
    """Rotation matrix of a turn about an axis: direction the axis, length the angle [rad]."""
    square = vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]
    angle = math.sqrt(square)
    if angle < 1e-6:
        s, c = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i, i] = 1.0 - c * (vector[j] * vector[j] + vector[k] * vector[k])
        out[i, j] = c * vector[i] * vector[j] - s * vector[k]
        out[j, i] = c * vector[i] * vector[j] + s * vector[k]


def identity(n: int) -> np.ndarray:
    """Read-only identity matrix of n rows."""
    matrix = np.eye(n)
    matrix.setflags(write=False)
    return matrix
