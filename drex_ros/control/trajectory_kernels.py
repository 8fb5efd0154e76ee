# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pieces of motions and splines, evaluated fast: trajectory.py puts them together."""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel

_SAMPLES = 300  # of a motion along a path, for its greatest speeds


@kernel
def integrate(lengths, jerks, p, v, a, table):  # type: ignore[no-untyped-def]
    """Fill in the table from the lengths and jerks of its pieces and where they start."""
    for k in range(lengths.shape[0]):
        now = np.array((0.0, p[k], v[k], a[k], 0.0))
        for i in range(lengths.shape[1]):
            t, j = lengths[k, i], jerks[k, i]
            table[k, i, :4], table[k, i, 4] = now[:4], j
            now[0] += t
            now[1] += t * (now[2] + t * (0.5 * now[3] + t * j / 6.0))
            now[2] += t * (now[3] + 0.5 * t * j)
            now[3] += t * j


@kernel
def spline(nodes):  # type: ignore[no-untyped-def]
    """Coefficients of the natural cubic spline by the share of each step. Shape (n - 1, 4, 7)."""
    count = nodes.shape[0]
    bend, ratio = np.zeros_like(nodes), np.zeros(count)  # bend: second derivatives at the nodes
    # Thomas' elimination of bend[i-1] + 4 bend[i] + bend[i+1] = 6 (second difference).
    for i in range(1, count - 1):
        ratio[i] = 1.0 / (4.0 - ratio[i - 1])
        right = 6.0 * (nodes[i + 1] - 2.0 * nodes[i] + nodes[i - 1])
        bend[i] = (right - bend[i - 1]) * ratio[i]
    for i in range(count - 2, 0, -1):
        bend[i] -= ratio[i] * bend[i + 1]
    pieces = np.empty((count - 1, 4, nodes.shape[1]))
    for i in range(count - 1):
        pieces[i, 0] = nodes[i]
        pieces[i, 1] = nodes[i + 1] - nodes[i] - (2.0 * bend[i] + bend[i + 1]) / 6.0
        pieces[i, 2] = 0.5 * bend[i]
        pieces[i, 3] = (bend[i + 1] - bend[i]) / 6.0
    return pieces


@kernel
def pieces_at(table, time, out):  # type: ignore[no-untyped-def]
    """Fill in position, velocity and acceleration at a time; out has shape (3, joints)."""
    for k in range(table.shape[0]):
        i = table.shape[1] - 1
        while i > 0 and table[k, i, 0] > time:
            i -= 1
        begin, p, v, a, j = table[k, i]
        t = time - begin
        out[0, k] = p + t * (v + t * (0.5 * a + t * j / 6.0))
        out[1, k] = v + t * (a + 0.5 * t * j)
        out[2, k] = a + t * j


@kernel
def along(table, pieces, time, out):  # type: ignore[no-untyped-def]
    """The same for the arm on a spline and the hand; the table's first row is the parameter."""
    pieces_at(table[1:], time, out[:, pieces.shape[2] :])
    s, q = np.empty((3, 1)), out[:, : pieces.shape[2]]
    pieces_at(table[:1], time, s)
    evaluate(pieces, s[0, 0], q)
    for k in range(pieces.shape[2]):
        q[2, k] = q[2, k] * s[1, 0] ** 2 + q[1, k] * s[2, 0]
        q[1, k] *= s[1, 0]


@kernel
def excess(  # type: ignore[no-untyped-def]
    pieces, table, duration, parameter_jerk, velocity, acceleration, jerk
):
    """By how much a motion s(t) along a spline q(s) is too fast for any joint; 1: not at all.

    By the chain rule, with derivatives q1, q2, q3 by s and s1, s2, s3 by time, a joint's
    acceleration is q2 s1^2 + q1 s2, and its jerk q3 s1^3 + 3 q2 s1 s2 + q1 s3.
    """
    count, worst_v, worst_a, worst_j = pieces.shape[0], 1.0, 1.0, 1.0
    s, q = np.empty((3, 1)), np.empty((3, pieces.shape[2]))
    for i in range(_SAMPLES + 1):
        pieces_at(table, duration * i / _SAMPLES, s)
        evaluate(pieces, s[0, 0], q)
        s1, s2 = s[1, 0], s[2, 0]
        piece = min(int(min(max(s[0, 0], 0.0), 1.0) * count), count - 1)
        for k in range(pieces.shape[2]):
            q1, q2, q3 = q[1, k], q[2, k], 6.0 * count**3 * pieces[piece, 3, k]
            j = abs(q3 * s1**3 + 3.0 * q2 * s1 * s2) + abs(q1) * parameter_jerk
            worst_v = max(worst_v, abs(q1 * s1) / velocity[k])
            worst_a = max(worst_a, abs(q2 * s1**2 + q1 * s2) / acceleration[k])
            worst_j = max(worst_j, j / jerk[k])
    return max(worst_v, np.sqrt(worst_a), worst_j ** (1.0 / 3.0))


@kernel
def evaluate(pieces, parameter, out):  # type: ignore[no-untyped-def]
    """Fill in value, first and second derivative of a spline at a parameter in 0 .. 1."""
    count = pieces.shape[0]
    place = min(max(parameter, 0.0), 1.0) * count
    i = min(int(place), count - 1)
    u = place - i
    for k in range(out.shape[1]):
        a, b, c, d = pieces[i, 0, k], pieces[i, 1, k], pieces[i, 2, k], pieces[i, 3, k]
        out[0, k] = a + u * (b + u * (c + u * d))
        out[1, k] = count * (b + u * (2.0 * c + u * 3.0 * d))
        out[2, k] = count * count * (2.0 * c + u * 6.0 * d)
