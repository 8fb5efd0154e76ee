# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What colours say about a pose: where the object's region ends, along lines across its outline.

On each line the share of the object's colour changes from high to low where the outline is. The
posterior over the line's offset, under a smoothed step, gives its mean and variance.
"""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception.edge_lines import across, add_line, mirror, offset, smooth_step

# Places in `counts`.
LINES, USED, HIDDEN, DISTANCE, TELLING, TELLING_SQUARED = range(6)
N_COUNTS = 6

REACH = 6
"""Steps along a line that the outline may be off."""
TAIL = 5
"""Steps beyond it that are looked at."""

_SAMPLES = REACH + TAIL  # on each side
_SLOPE = 0.5  # [steps] width of the smoothed step
_TRUST = 0.43  # how far from even the step's two sides are: colours err
_APART = 0.012  # [m]
_BEHIND = 0.03  # [m] an edge so far behind the model is hidden by it; round sides fall off fast
_NEARER = 0.014  # [m] of something in front of the outline
_WIDEST = 0.4  # of REACH: posteriors that are wider say nothing
_INSIDE = 2.0  # [px] from the outline to where the model must be drawn
_BEYOND = 5.0  # [px] from an edge to where depth is that of what is beside it
_NOT_BEHIND = 0.005  # [m] farther than the edge
_ABOVE_TABLE = 0.008  # [m]
_CLOSE = 3.0  # steps to each side of an outline that something is beside,
_SEEN = 1.6  # of which so many must be seen
_OUTSIDE = 1.0  # [px] to where it must not: edges of a wall's other side are near the outline


def step_table() -> np.ndarray:
    """The smoothed step of the outline."""
    return smooth_step(_SAMPLES, REACH, _SLOPE, _TRUST)


@kernel
def _both_sides(chance, edge):  # type: ignore[no-untyped-def]
    """Whether the object is seen on the one side of an edge, its surroundings on the other."""
    inside, outside = 0.0, 0.0
    for i in range(-_SAMPLES, _SAMPLES + 1):
        told = 2.0 * chance[i + _SAMPLES] - 1.0
        if edge - _CLOSE <= i < edge:
            inside += told
        elif edge <= i <= edge + _CLOSE:
            outside -= told
    return inside > _SEEN and outside > _SEEN


@kernel
def add_contour(  # type: ignore[no-untyped-def]
    points, edges, edge_faces, edge_opposite, edge_normals, rotation, front, drawn, face,
    measured, scale, robot, blocked, likely,
    lens, region, origin, table, stride, spacing, step, least_variance, clear, settled,
    turn, information, gradient, counts,
):  # fmt: skip
    """Add what the outline says, sums as in `add_depth`.

    Args:
        points: vertices in the optical frame [m], shape (n, 3).
        edges: shape (k, 2).
        edge_faces: shape (k, 2).
        edge_opposite: shape (k, 2).
        edge_normals: of the round surface at the edges' ends, shape (k, 2, 3).
        rotation: of the object.
        front: whether each triangle faces the camera.
        drawn: depth of the model in the region [m].
        face: triangle of each pixel of the region, -1: none.
        measured: depth image [m], 0: none.
        scale: factor on measured depth.
        robot: depth of the robot [m], far where it is not. Shape (height, width).
        blocked: not zero where something is in front of the object, or near that.
        likely: probability that a pixel has the object's colour. Shape (height, width).
        lens: fx, fy, cx, cy [px].
        region: left, top, width, height [px].
        origin: of the object in the optical frame [m].
        table: plane n, d with n . p + d the height of a point above the table [m].
        stride: length of a step along a line [px].
        spacing: between two lines [px].
        step: table of the smoothed step.
        least_variance: of a line's offset [px^2].
        clear: whether colours alone tell the object: then it is also seen beside what hides it.
        settled: whether the pose is about right: lines that are far off then see something else.
        turn: a step of which is to be known how many lines tell it. Shape (6,).
        information: shape (6, 6), added to.
        gradient: shape (6,), added to.
        counts: of lines, see the names above, added to; TELLING are the sums of the lines'
            information on the turn, and of its square.
    """
    left, top, width, height = region[0], region[1], region[2], region[3]
    chance = np.zeros(2 * _SAMPLES + 1)
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
            xo, yo = round(u + _OUTSIDE * nx), round(v + _OUTSIDE * ny)
            if min(xi, yi, xo, yo) < 0 or max(xi, xo) >= width or max(yi, yo) >= height:
                continue
            # Only where the model ends: an edge in front of the model itself is none.
            if face[yi, xi] < 0 or face[yo, xo] >= 0 or z - drawn[yi, xi] > _BEHIND:
                continue
            counts[LINES] += 1.0
            hidden, beside = False, False
            for k in (-5, -2, 3, 6):
                x, y = round(u + k * nx), round(v + k * ny)
                if x < 0 or y < 0 or x >= width or y >= height:
                    continue
                seen = scale * float(measured[y + top, x + left])
                # Round sides come towards the camera inside of the outline.
                surface = min(z, drawn[y, x])
                if robot[y + top, x + left] < z + _APART:
                    hidden = True
                if 0.0 < seen < surface - _NEARER or blocked[y + top, x + left] != 0:
                    beside = True
            if hidden or (beside and not clear):
                counts[HIDDEN] += 1.0
                continue
            inside = True
            for i in range(-_SAMPLES, _SAMPLES + 1):
                x, y = round(u + i * stride * nx), round(v + i * stride * ny)
                if x < 0 or y < 0 or x >= width or y >= height:
                    inside = False
                    break
                p = likely[y + top, x + left]
                # Where the model itself ends or begins again, as beyond a thin part, the line
                # says nothing.
                if (i < -1 and face[y, x] < 0) or (i > 1 and face[y, x] >= 0):
                    p = np.float32(0.5)
                # What is in front of the object is not its surroundings. Two cameras see less
                # beside it than one: where the object's colours are, it is in sight.
                elif beside and p < 0.5:
                    seen = scale * float(measured[y + top, x + left])
                    if 0.0 < seen < z - _NEARER or blocked[y + top, x + left] != 0:
                        p = np.float32(0.5)
                chance[i + _SAMPLES] = p
            if not inside:
                continue
            mean, spread = offset(chance, _SAMPLES, REACH, step)
            if spread < 0.0 or spread > (_WIDEST * REACH) ** 2:
                continue
            if beside and not _both_sides(chance, mean):
                counts[HIDDEN] += 1.0
                continue
            shift = mean * stride
            # Where something else begins that is not behind it, the object may go on.
            x = round(u + (shift + _BEYOND) * nx)
            y = round(v + (shift + _BEYOND) * ny)
            if 0 <= x < width and 0 <= y < height and face[y, x] < 0:
                seen = scale * float(measured[y + top, x + left])
                rx = (x + left - lens[2]) / lens[0]
                ry = (y + top - lens[3]) / lens[1]
                above = seen * (table[0] * rx + table[1] * ry + table[2]) + table[3]
                if 0.0 < seen < z + _NOT_BEHIND and above > _ABOVE_TABLE:
                    counts[HIDDEN] += 1.0
                    continue
            variance = spread * stride * stride + least_variance * max(1.0, 0.5 * stride * stride)
            counts[USED] += 1.0
            counts[DISTANCE] += abs(shift)
            weight = 1.0 / variance
            far = 3.0 * np.sqrt(variance) + stride
            if abs(shift) > far:
                weight *= (far / abs(shift)) ** (4.0 if settled else 1.0)
            row = add_line(
                lens, nx, ny, px, py, z, origin, edge_normals[e], ib * z, rotation, shift, weight,
                information, gradient,
            )  # fmt: skip
            moved = 0.0
            for i in range(6):
                moved += row[i] * turn[i]
            counts[TELLING] += weight * moved * moved
            counts[TELLING_SQUARED] += (weight * moved * moved) ** 2
        carry = at - length
    mirror(information)
