# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What depth says about edges of the model in front of itself, as of a mug's handle.

There colours do not change, and points that are off the edge are of another surface, which the
depth term leaves out. Along a line across the edge, measured depth changes from that of the near
surface to that of the far one; the posterior over the offset is made as for the outline.
"""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.edge_lines import across, add_line, mirror, offset, smooth_step

# Places in `counts`.
LINES, USED = range(2)
N_COUNTS = 2

_REACH = 5  # [px] that the edge may be off
_SAMPLES = 8  # [px] on each side that are looked at
_JUMP = 0.015  # [m] from the near to the far surface, at least
_TRUST = 0.35  # how far from even a depth's say is: edges of depth images are ragged
_SLOPE = 1.0  # [px] width of the smoothed step
_INSIDE = 2.0  # [px] from the edge to where the near and the far surface are drawn
_WIDEST = 0.45  # of _REACH: posteriors that are wider say nothing
_SAME = 0.012  # [m]


def step_table() -> np.ndarray:
    """The smoothed step of an inner edge."""
    return smooth_step(_SAMPLES, _REACH, _SLOPE, _TRUST)


@kernel
def add_relief(  # type: ignore[no-untyped-def]
    points, edges, edge_faces, edge_opposite, edge_normals, rotation, front, drawn, face,
    measured, scale, robot, lens,
    region, origin, spacing, step, least_variance, information, gradient, counts,
):  # fmt: skip
    """Add what inner edges say, sums as in `add_depth`, arguments as in `add_contour`."""
    left, top, width, height = region[0], region[1], region[2], region[3]
    near_chance = np.zeros(2 * _SAMPLES + 1)
    carry = 0.5 * spacing
    for e in range(edges.shape[0]):
        first, second = edge_faces[e, 0], edge_faces[e, 1]
        if front[first] == front[second]:
            continue
        opposite = edge_opposite[e, 0] if front[first] else edge_opposite[e, 1]
        a, b = edges[e, 0], edges[e, 1]
        ua, va, du, dv, length, nx, ny = across(points, a, b, opposite, lens, left, top)
        if length <= 0.0:
            continue
        at = carry
        while at < length:
            share = at / length
            at += spacing
            ia, ib = (1.0 - share) / points[a, 2], share / points[b, 2]
            z = 1.0 / (ia + ib)
            px = (ia * points[a, 0] + ib * points[b, 0]) * z
            py = (ia * points[a, 1] + ib * points[b, 1]) * z
            u, v = ua + share * du, va + share * dv
            xi, yi = round(u - _INSIDE * nx), round(v - _INSIDE * ny)
            xo, yo = round(u + _INSIDE * nx), round(v + _INSIDE * ny)
            if min(xi, yi, xo, yo) < 0 or max(xi, xo) >= width or max(yi, yo) >= height:
                continue
            if face[yi, xi] < 0 or face[yo, xo] < 0:
                continue
            near, far = drawn[yi, xi], drawn[yo, xo]
            if abs(near - z) > _SAME or far - z < _JUMP:
                continue
            counts[LINES] += 1.0
            said, hidden = 0, False
            for i in range(-_SAMPLES, _SAMPLES + 1):
                near_chance[i + _SAMPLES] = 0.5
                x, y = round(u + i * nx), round(v + i * ny)
                if x < 0 or y < 0 or x >= width or y >= height or face[y, x] < 0:
                    continue
                # Where the model itself is something else, the line says nothing.
                expected = near if i < 0 else far
                if abs(drawn[y, x] - expected) > _SAME and i != 0:
                    continue
                if robot[y + top, x + left] < z + _SAME:
                    hidden = True
                    break
                seen = scale * measured[y + top, x + left]
                if not seen > 0.0:
                    continue
                if seen < near - 2.0 * _SAME:
                    hidden = True
                    break
                said += 1
                middle = 0.5 * (near + far)
                near_chance[i + _SAMPLES] = 0.9 if seen < middle else 0.1
            if hidden or said < _SAMPLES:
                continue
            mean, spread = offset(near_chance, _SAMPLES, _REACH, step)
            if spread < 0.0 or spread > (_WIDEST * _REACH) ** 2:
                continue
            counts[USED] += 1.0
            weight = 1.0 / (spread + least_variance)
            add_line(
                lens, nx, ny, px, py, z, origin, edge_normals[e], ib * z, rotation, mean, weight,
                information, gradient,
            )  # fmt: skip
        carry = at - length
    mirror(information)
