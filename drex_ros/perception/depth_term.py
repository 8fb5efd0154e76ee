# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the depth image says about a pose: distances of measured points from the model's surface.

Each pixel of the drawn model is compared with the depth measured there, along the normal of the
triangle that it shows. The sums are those of a Gauss-Newton step: the step is the solution of
information @ step = gradient, with position first and a rotation about the object's origin after
it, both along the axes of the optical frame.
"""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.edge_lines import mirror
from drex_ros.perception.smooth_normals import normal_at

# Places in `counts`.
TOTAL, MISSING, OCCLUDED, VIOLATED, INLIERS, FOREIGN = range(6)
N_COUNTS = 6

APART = 0.012
"""Depths that differ by more [m] are of two surfaces."""

_EDGE = 2  # [px] from where the model's depth jumps: the camera's edges are not to be trusted
_ITS_COLOUR = 0.9  # probability of a colour that is surely the object's
_GRAZING = 0.12  # cosine between ray and normal below which a depth says little
_TABLE_HEIGHT = 0.004  # [m] what is lower belongs to the table
_ABOVE_TABLE = 0.006  # [m] model points that are higher cannot measure the table


@kernel
def add_depth(  # type: ignore[no-untyped-def]
    drawn, face, points, faces, normals, rotation, measured, scale, robot, blocked, lens, region,
    origin, table, gate, noise, step, likely, information, gradient, counts,
):  # fmt: skip
    """Add what depth says.

    Args:
        drawn: depth of the model in the region [m].
        face: triangle of each pixel of the region, -1: none.
        points: vertices in the optical frame [m], shape (n, 3).
        faces: shape (m, 3).
        normals: of the surface at the corners of the faces, object's frame, shape (m, 3, 3).
        rotation: of the object.
        measured: depth image [m], 0: none. Shape (height, width).
        scale: factor on measured depth.
        robot: depth of the robot [m], far where it is not. Shape (height, width).
        blocked: not zero where something is in front of the object, or near that.
        lens: fx, fy, cx, cy [px].
        region: left, top, width, height [px].
        origin: of the object in the optical frame [m].
        table: plane n, d with n . p + d the height of a point above the table [m].
        gate: largest distance from the surface that counts [m].
        noise: deviation of depth at 1 m [m] (it grows with the square of depth), and of the model.
        step: every so many pixels are looked at.
        likely: probability that a pixel has the object's colour. Shape (height, width).
        information: shape (6, 6), added to.
        gradient: shape (6,), added to.
        counts: of pixels, see the names above, added to.
    """
    fx, fy, cx, cy = lens[0], lens[1], lens[2], lens[3]
    left, top, width, height = region[0], region[1], region[2], region[3]
    row = np.zeros(6)
    for y in range(_EDGE, height - _EDGE, step):
        for x in range(_EDGE, width - _EDGE, step):
            f = face[y, x]
            if f < 0:
                continue
            z = float(drawn[y, x])
            if (
                abs(drawn[y, x - _EDGE] - z) > APART
                or abs(drawn[y, x + _EDGE] - z) > APART
                or abs(drawn[y - _EDGE, x] - z) > APART
                or abs(drawn[y + _EDGE, x] - z) > APART
            ):
                continue
            counts[TOTAL] += 1.0
            if robot[y + top, x + left] < z + APART or blocked[y + top, x + left] != 0:
                counts[OCCLUDED] += 1.0
                continue
            seen = scale * float(measured[y + top, x + left])
            if not seen > 0.0:
                counts[MISSING] += 1.0
                continue
            beyond = seen - z
            if beyond < -APART:
                counts[OCCLUDED] += 1.0
            elif beyond > APART:
                # Two cameras that see past a thin thing: its colours are there.
                if likely[y + top, x + left] > _ITS_COLOUR:
                    counts[MISSING] += 1.0
                    continue
                counts[VIOLATED] += 1.0
            rx, ry = (x + left - cx) / fx, (y + top - cy) / fy
            up = table[0] * rx + table[1] * ry + table[2]
            if seen * up + table[3] < _TABLE_HEIGHT and z * up + table[3] > _ABOVE_TABLE:
                continue
            nx, ny, nz = normal_at(rx * z, ry * z, z, points, faces, normals, f, rotation)
            along = nx * rx + ny * ry + nz
            if -along < _GRAZING:
                continue
            distance = along * beyond
            if abs(distance) > gate or abs(beyond) > 2.5 * gate:
                continue
            counts[INLIERS] += 1.0
            variance = (along * noise[0] * z * z) ** 2 + noise[1] * noise[1]
            ratio = distance / gate
            trust = 0.1 + 0.9 * float(likely[y + top, x + left])
            weight = trust * (1.0 - ratio * ratio) ** 2 / variance
            px, py, pz = rx * z - origin[0], ry * z - origin[1], z - origin[2]
            row[0], row[1], row[2] = nx, ny, nz
            row[3], row[4], row[5] = py * nz - pz * ny, pz * nx - px * nz, px * ny - py * nx
            for i in range(6):
                gradient[i] += weight * row[i] * distance
                for j in range(i + 1):
                    information[i, j] += weight * row[i] * row[j]
    mirror(information)
