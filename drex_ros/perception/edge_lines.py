# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Lines across edges of the model: where an edge is drawn, where it is seen, what that says."""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.smooth_normals import turned


def smooth_step(samples: int, reach: int, slope: float, trust: float) -> np.ndarray:
    """Share that is inside at each distance from an edge, inside negative.

    Args:
        samples: steps on each side that are looked at.
        reach: steps that the edge may be off.
        slope: width of the step.
        trust: how far from even its two sides are, at most 0.5: what is seen may err.
    """
    distance = np.arange(-(samples + reach), samples + reach + 1)
    return 0.5 - trust * np.tanh(distance / (2.0 * slope))


@kernel
def across(points, a, b, opposite, lens, left, top):  # type: ignore[no-untyped-def]
    """An edge in the picture: its start, its extent, its length, and its outward normal [px].

    The length is 0 for an edge that cannot be seen.
    """
    za, zb, zo = points[a, 2], points[b, 2], points[opposite, 2]
    if za < 0.05 or zb < 0.05 or zo < 0.05:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    fx, fy, cx, cy = lens[0], lens[1], lens[2] - left, lens[3] - top
    ua, va = fx * points[a, 0] / za + cx, fy * points[a, 1] / za + cy
    ub, vb = fx * points[b, 0] / zb + cx, fy * points[b, 1] / zb + cy
    uo, vo = fx * points[opposite, 0] / zo + cx, fy * points[opposite, 1] / zo + cy
    du, dv = ub - ua, vb - va
    length = np.sqrt(du * du + dv * dv)
    if length < 1e-6:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    nx, ny = -dv / length, du / length
    if nx * (uo - ua) + ny * (vo - va) > 0.0:
        nx, ny = -nx, -ny
    return ua, va, du, dv, length, nx, ny


@kernel
def offset(chance, samples, reach, step):  # type: ignore[no-untyped-def]
    """Mean and variance of an edge's offset along a line, in steps; variance -1: none.

    Args:
        chance: probability of being inside at each sample. Shape (2 samples + 1,).
        samples: on each side.
        reach: steps that the edge may be off.
        step: table of `smooth_step`.
    """
    total, mean, square = 0.0, 0.0, 0.0
    for d in range(-reach, reach + 1):
        product = 1.0
        for i in range(-samples, samples + 1):
            inside = step[i - d + samples + reach]
            p = chance[i + samples]
            product *= 2.0 * (inside * p + (1.0 - inside) * (1.0 - p))
        total += product
        mean += d * product
        square += d * d * product
    if not total > 1e-200:
        return 0.0, -1.0
    mean /= total
    return mean, max(square / total - mean * mean, 0.0)


@kernel
def add_line(  # type: ignore[no-untyped-def]
    lens, nx, ny, px, py, z, origin, normals, share, rotation, shift, weight, information, gradient
):
    """Add what a line says: its edge at (px, py, z) [m] is seen `shift` [px] along (nx, ny).

    Gives the line's row: how its edge moves in the picture with each of the six [px].

    Args:
        lens: fx, fy, cx, cy [px].
        nx: direction of the line in the picture.
        ny: likewise.
        px: the edge's point, in the optical frame [m].
        py: likewise.
        z: likewise.
        origin: of the object in the optical frame [m].
        normals: of the surface at the two ends of the edge; zeros at a crease. Shape (2, 3).
        share: of the second end at the point.
        rotation: of the object.
        shift: [px]
        weight: of the line.
        information: lower half added to, sums as in `add_depth`.
        gradient: added to.
    """
    gx, gy = nx * lens[0] / z, ny * lens[1] / z
    gz = -(gx * px + gy * py) / z
    x = (1.0 - share) * normals[0, 0] + share * normals[1, 0]
    y = (1.0 - share) * normals[0, 1] + share * normals[1, 1]
    w = (1.0 - share) * normals[0, 2] + share * normals[1, 2]
    if x * x + y * y + w * w > 0.1:
        # The outline of a round side moves along the surface's normal, not along its facets'.
        mx, my, mz = turned(x, y, w, rotation)
        # At the outline it is square to the ray; on a coarse mesh only nearly so.
        along = (mx * px + my * py + mz * z) / (px * px + py * py + z * z)
        mx, my, mz = mx - along * px, my - along * py, mz - along * z
        length = np.sqrt(mx * mx + my * my + mz * mz) + 1e-15
        size = np.sqrt(gx * gx + gy * gy + gz * gz)
        if mx * gx + my * gy + mz * gz > 0.7 * size * length:
            gx, gy, gz = size * mx / length, size * my / length, size * mz / length
    qx, qy, qz = px - origin[0], py - origin[1], z - origin[2]
    row = (gx, gy, gz, qy * gz - qz * gy, qz * gx - qx * gz, qx * gy - qy * gx)
    for i in range(6):
        gradient[i] += weight * row[i] * shift
        for j in range(i + 1):
            information[i, j] += weight * row[i] * row[j]
    return row


@kernel
def mirror(information):  # type: ignore[no-untyped-def]
    """Fill in the upper half of a symmetric matrix from the lower."""
    for i in range(information.shape[0]):
        for j in range(i):
            information[j, i] = information[i, j]
