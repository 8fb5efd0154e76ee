# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The twin's physics: an object on a table, pushed by a fingertip; compiled, loop and all.

Semi-implicit Euler. Contacts push back like springs with dampers, friction is Coulomb's with a
rounded corner. The fingertip is a sphere on a body whose inertia, stiffness and damping are those
that the robot has at the tip, and which follows the robot's command.

The same code runs with real and with complex numbers: the imaginary part of a parameter of 1e-30
comes out as the exact derivative (no difference is taken, so no digit is lost). Levenberg and
Marquardt want the derivatives of every residual with respect to a few parameters; one such pass
a parameter is cheaper than reverse mode, which gives those of one sum with respect to many.
"""

from __future__ import annotations

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.twin.distance_field import spline_distance

COLUMNS = 19
"""Of the output: place, quaternion x y z w, tip, velocity, turning (own axes), tip's velocity."""

_GRAVITY = 9.81
_CORNER = 0.002  # [m/s] at which friction is about 0.7 of sliding friction
_RAMP_TABLE = 0.2  # of the resting depth within which damping sets in
_RAMP_FINGER = 1e-4  # [m]
_STEP_SHARE = 0.7  # of the speed that friction takes away in a step, by which the corner is wider


@kernel
def rotation(q0, q1, q2, q3):  # type: ignore[no-untyped-def]
    """Rotation matrix, row by row, of a quaternion x y z w."""
    return (
        1.0 - 2.0 * (q1 * q1 + q2 * q2), 2.0 * (q0 * q1 - q3 * q2), 2.0 * (q0 * q2 + q3 * q1),
        2.0 * (q0 * q1 + q3 * q2), 1.0 - 2.0 * (q0 * q0 + q2 * q2), 2.0 * (q1 * q2 - q3 * q0),
        2.0 * (q0 * q2 - q3 * q1), 2.0 * (q1 * q2 + q3 * q0), 1.0 - 2.0 * (q0 * q0 + q1 * q1),
    )  # fmt: skip


@kernel
def _turn(r, x, y, z):  # type: ignore[no-untyped-def]
    return (
        r[0] * x + r[1] * y + r[2] * z,
        r[3] * x + r[4] * y + r[5] * z,
        r[6] * x + r[7] * y + r[8] * z,
    )


@kernel
def _turn_back(r, x, y, z):  # type: ignore[no-untyped-def]
    return (
        r[0] * x + r[3] * y + r[6] * z,
        r[1] * x + r[4] * y + r[7] * z,
        r[2] * x + r[5] * y + r[8] * z,
    )


@kernel
def _turned(q, x, y, z):  # type: ignore[no-untyped-def]
    """A quaternion after a small turn about its own axes, of length 1."""
    a = q[0] + 0.5 * (q[3] * x + q[1] * z - q[2] * y)
    b = q[1] + 0.5 * (q[3] * y + q[2] * x - q[0] * z)
    c = q[2] + 0.5 * (q[3] * z + q[0] * y - q[1] * x)
    d = q[3] - 0.5 * (q[0] * x + q[1] * y + q[2] * z)
    s = 1.0 / np.sqrt(a * a + b * b + c * c + d * d)
    return a * s, b * s, c * s, d * s


@kernel
def _inverse(xx, yy, zz, xy, xz, yz):  # type: ignore[no-untyped-def]
    """Of a symmetric matrix: the same six numbers."""
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * a + xy * b + xz * c
    return (
        a / det, (xx * zz - xz * xz) / det, (xx * yy - xy * xy) / det,
        b / det, c / det, (xy * xz - xx * yz) / det,
    )  # fmt: skip


@kernel
def _write(out, rate, p, q, f, v, w, g, com):  # type: ignore[no-untyped-def]
    """Add the state times `rate` to a row of the output; the place is that of the origin."""
    r = rotation(q[0], q[1], q[2], q[3])
    cx, cy, cz = _turn(r, com[0], com[1], com[2])
    # The origin goes around the centre of mass.
    tx = w[1] * com[2] - w[2] * com[1]
    ty = w[2] * com[0] - w[0] * com[2]
    tz = w[0] * com[1] - w[1] * com[0]
    ux, uy, uz = _turn(r, tx, ty, tz)
    row = (
        p[0] - cx, p[1] - cy, p[2] - cz, q[0], q[1], q[2], q[3], f[0], f[1], f[2],
        v[0] - ux, v[1] - uy, v[2] - uz, w[0], w[1], w[2], g[0], g[1], g[2],
    )  # fmt: skip
    for i in range(19):
        out[i] += rate * row[i]


@kernel
def rollout(  # type: ignore[no-untyped-def]
    theta, start, tip, points, reach, origin, cell, field, command, dt, moments, out
):
    """Simulate one push into `out`.

    Args:
        theta: parameters as in `parameters.NAMES`, real or complex.
        start: place, quaternion, velocity and turning (own axes) of the object. Shape (13,).
        tip: place and velocity of the fingertip, its radius. Shape (7,).
        points: of the object that can touch the table, own frame [m]. Shape (n, 3).
        reach: share of the table's stiffness of each; mobility for a mass of 1 kg of all together
            along the table, and of the farthest. Shape (n + 2,).
        origin: of the grid of distances around the object, see `distance_field`.
        cell: of that grid [m].
        field: its coefficients.
        command: one row for each step: place, velocity, force; stiffness, damping and inverse
            inertia, each as xx yy zz xy xz yz. Shape (steps, 27).
        dt: step [s].
        moments: times of the rows of the output [steps], growing. Shape (m,).
        out: shape (m, COLUMNS), of the type of theta.

    Returns:
        The greatest depth at which tip and object touched [m].
    """
    m, mu, mu_f = theta[0], theta[1], theta[2]
    zero = 0.0 * m
    com = (theta[3], theta[4], theta[5])
    ixx, iyy, izz = m * theta[6], m * theta[7], m * theta[8]
    ixy, ixz, iyz = m * theta[9], m * theta[10], m * theta[11]
    inverse = _inverse(ixx, iyy, izz, ixy, ixz, iyz)
    kt, ct = m * theta[12], m * theta[13]
    kf, cf, fc = theta[14], theta[15], theta[16]
    ramp = _RAMP_TABLE * _GRAVITY / theta[12]
    mobility = reach[points.shape[0] + 1]
    # What friction can take away in one step must not turn the motion around.
    wide = _STEP_SHARE * mu * _GRAVITY * dt * reach[points.shape[0]]
    corner = _CORNER * _CORNER + wide * wide

    q = (zero + start[3], zero + start[4], zero + start[5], zero + start[6])
    q = _turned(q, theta[23], theta[24], theta[25])
    r = rotation(q[0], q[1], q[2], q[3])
    w = (start[10] + theta[29], start[11] + theta[30], start[12] + theta[31])
    cx, cy, cz = _turn(r, com[0], com[1], com[2])
    p = (start[0] + theta[20] + cx, start[1] + theta[21] + cy, start[2] + theta[22] + cz)
    tx, ty, tz = _turn(
        r, w[1] * com[2] - w[2] * com[1], w[2] * com[0] - w[0] * com[2],
        w[0] * com[1] - w[1] * com[0],
    )  # fmt: skip
    v = (start[7] + theta[26] + tx, start[8] + theta[27] + ty, start[9] + theta[28] + tz)
    f = (zero + tip[0], zero + tip[1], zero + tip[2])
    g = (zero + tip[3], zero + tip[4], zero + tip[5])
    radius = tip[6]
    deepest = 0.0
    row = 0
    out[:, :] = 0.0
    while row < moments.shape[0] and moments[row] <= 0.0:
        _write(out[row], 1.0, p, q, f, v, w, g, com)
        row += 1
    for k in range(command.shape[0]):
        if row == moments.shape[0]:
            break
        u = command[k]
        r = rotation(q[0], q[1], q[2], q[3])
        sx, sy, sz = _turn(r, w[0], w[1], w[2])  # turning along the world's axes
        fx, fy, fz = zero, zero, -m * _GRAVITY
        mx, my, mz = zero, zero, zero
        for i in range(points.shape[0]):
            lx, ly, lz = points[i, 0] - com[0], points[i, 1] - com[1], points[i, 2] - com[2]
            rz = r[6] * lx + r[7] * ly + r[8] * lz
            depth = -(p[2] + rz)
            if depth.real <= 0.0:
                continue
            rx = r[0] * lx + r[1] * ly + r[2] * lz
            ry = r[3] * lx + r[4] * ly + r[5] * lz
            ux = v[0] + sy * rz - sz * ry
            uy = v[1] + sz * rx - sx * rz
            uz = v[2] + sx * ry - sy * rx
            share = depth / ramp
            if share.real > 1.0:
                share = zero + 1.0
            normal = reach[i] * (kt * depth - ct * uz * share)
            if normal.real <= 0.0:
                continue
            rub = -mu * normal / np.sqrt(ux * ux + uy * uy + corner)
            hx, hy = rub * ux, rub * uy
            fx, fy, fz = fx + hx, fy + hy, fz + normal
            mx, my, mz = (
                mx + ry * normal - rz * hy,
                my + rz * hx - rx * normal,
                mz + rx * hy - ry * hx,
            )
        # The tip on the object.
        bx, by, bz = _turn_back(r, f[0] - p[0], f[1] - p[1], f[2] - p[2])
        distance, ax, ay, az = spline_distance(
            bx + com[0], by + com[1], bz + com[2], origin, cell, field
        )
        depth = radius - distance
        hx, hy, hz = zero, zero, zero
        if depth.real > 0.0:
            deepest = max(deepest, depth.real)
            length = np.sqrt(ax * ax + ay * ay + az * az)
            ax, ay, az = ax / length, ay / length, az / length
            # Where they touch, seen from the centre of mass; and the normal, in the world.
            rx, ry, rz = _turn(r, bx - distance * ax, by - distance * ay, bz - distance * az)
            nx, ny, nz = _turn(r, ax, ay, az)
            ux = g[0] - (v[0] + sy * rz - sz * ry)
            uy = g[1] - (v[1] + sz * rx - sx * rz)
            uz = g[2] - (v[2] + sx * ry - sy * rx)
            apart = ux * nx + uy * ny + uz * nz
            share = depth / _RAMP_FINGER
            if share.real > 1.0:
                share = zero + 1.0
            normal = kf * depth - cf * apart * share
            if normal.real > 0.0:
                ux, uy, uz = ux - apart * nx, uy - apart * ny, uz - apart * nz
                wide = _STEP_SHARE * mu_f * normal * dt * (mobility / m + u[21] + u[22] + u[23])
                rub = (
                    -mu_f
                    * normal
                    / np.sqrt(ux * ux + uy * uy + uz * uz + _CORNER * _CORNER + wide * wide)
                )
                hx, hy, hz = normal * nx + rub * ux, normal * ny + rub * uy, normal * nz + rub * uz
                fx, fy, fz = fx - hx, fy - hy, fz - hz
                mx, my, mz = mx - ry * hz + rz * hy, my - rz * hx + rx * hz, mz - rx * hy + ry * hx
        # The robot at the tip.
        ex, ey, ez = u[0] - f[0], u[1] - f[1], u[2] - f[2]
        dx, dy, dz = u[3] - g[0], u[4] - g[1], u[5] - g[2]
        drag = fc / np.sqrt(
            g[0] * g[0]
            + g[1] * g[1]
            + g[2] * g[2]
            + _CORNER * _CORNER
            + (_STEP_SHARE * fc * dt * (u[21] + u[22] + u[23])) ** 2
        )
        px = (
            u[6]
            + theta[17]
            + hx
            - drag * g[0]
            + u[9] * ex
            + u[12] * ey
            + u[13] * ez
            + (u[15] * dx + u[18] * dy + u[19] * dz)
        )
        py = (
            u[7]
            + theta[18]
            + hy
            - drag * g[1]
            + u[12] * ex
            + u[10] * ey
            + u[14] * ez
            + (u[18] * dx + u[16] * dy + u[20] * dz)
        )
        pz = (
            u[8]
            + theta[19]
            + hz
            - drag * g[2]
            + u[13] * ex
            + u[14] * ey
            + u[11] * ez
            + (u[19] * dx + u[20] * dy + u[17] * dz)
        )
        g1 = (
            g[0] + dt * (u[21] * px + u[24] * py + u[25] * pz),
            g[1] + dt * (u[24] * px + u[22] * py + u[26] * pz),
            g[2] + dt * (u[25] * px + u[26] * py + u[23] * pz),
        )
        # The object: Euler's equations along its own axes.
        mx, my, mz = _turn_back(r, mx, my, mz)
        lx = ixx * w[0] + ixy * w[1] + ixz * w[2]
        ly = ixy * w[0] + iyy * w[1] + iyz * w[2]
        lz = ixz * w[0] + iyz * w[1] + izz * w[2]
        mx, my, mz = (
            mx - w[1] * lz + w[2] * ly,
            my - w[2] * lx + w[0] * lz,
            mz - w[0] * ly + w[1] * lx,
        )
        w1 = (
            w[0] + dt * (inverse[0] * mx + inverse[3] * my + inverse[4] * mz),
            w[1] + dt * (inverse[3] * mx + inverse[1] * my + inverse[5] * mz),
            w[2] + dt * (inverse[4] * mx + inverse[5] * my + inverse[2] * mz),
        )
        v1 = (v[0] + dt * fx / m, v[1] + dt * fy / m, v[2] + dt * fz / m)
        p1 = (p[0] + dt * v1[0], p[1] + dt * v1[1], p[2] + dt * v1[2])
        f1 = (f[0] + dt * g1[0], f[1] + dt * g1[1], f[2] + dt * g1[2])
        q1 = _turned(q, dt * w1[0], dt * w1[1], dt * w1[2])
        while row < moments.shape[0] and moments[row] <= k + 1.0:
            late = moments[row] - k
            _write(out[row], 1.0 - late, p, q, f, v, w, g, com)
            _write(out[row], late, p1, q1, f1, v1, w1, g1, com)
            row += 1
        p, q, f, v, w, g = p1, q1, f1, v1, w1, g1
    return deepest


@kernel
def rollouts(  # type: ignore[no-untyped-def]
    thetas, start, tip, points, reach, origin, cell, field, command, dt, moments, out, depths
):
    """`rollout` for each row of `thetas`, into `out` and `depths`."""
    for i in range(thetas.shape[0]):
        depths[i] = rollout(
            thetas[i], start, tip, points, reach, origin, cell, field, command, dt, moments, out[i]
        )
