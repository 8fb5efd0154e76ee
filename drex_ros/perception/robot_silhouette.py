# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as the camera should see it: its depth, drawn from the joint positions.

    silhouette = RobotSilhouette(camera)
    pixels = silhouette.draw(joint_position, (x0, y0, width, height), depth)

What is drawn are the links' visual meshes with fewer triangles, within about 2 mm of them at most
places: a mask should be grown by a pixel or two.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from drex_ros.kernel import kernel
from drex_ros.perception.frame import Depth
from drex_ros.perception.hand_motion import HandPlace
from drex_ros.perception.poses import Pose
from drex_ros.perception.reduced_mesh import Faces, reduce_surface
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.collision_shapes import chain_of, place_joints
from drex_ros.robot.description import CAMERA_LINK, FINGERTIP_LINKS, PALM_LINK, robot_urdf
from drex_ros.robot.joints import N_JOINTS, Array
from drex_ros.robot.rotations import rotation_matrix
from drex_ros.robot.visuals import visual_parts

Region = tuple[int, int, int, int]
"""First column and row, width and height of a part of the picture [px]."""

_ARM_TRIANGLES, _HAND_TRIANGLES = 1400, 400  # at most, a link
_NEAR = 0.05  # [m] triangles that come closer to the camera are not drawn
_ARM = 'panda_'


class LinkMeshes(NamedTuple):
    """Triangles of all links for compiled functions, each in the frame of the link's joint."""

    joint: npt.NDArray[np.int64]
    """That moves the link; 0: the world. Shape (links,)."""
    first_vertex: npt.NDArray[np.int64]
    """Where its vertices begin. Shape (links + 1,)."""
    first_face: npt.NDArray[np.int64]
    """Where its triangles begin. Shape (links + 1,)."""
    sphere: Array
    """Centre and radius of a ball about the link [m]. Shape (links, 4)."""
    vertices: Array
    """[m], shape (n, 3)."""
    faces: Faces
    """Anticlockwise seen from outside. Shape (m, 3)."""


class RobotSilhouette:
    """Draws the robot's depth; not for two threads at once."""

    def __init__(self, camera: CameraModel, hand: str = 'right') -> None:
        """Reduce the robot's meshes, which takes about a second.

        Args:
            camera: through which it is seen.
            hand: right or left.

        Raises DescriptionError where the robot's description or a mesh cannot be read.
        """
        urdf = robot_urdf(hand)
        model = pin.buildModelFromXML(urdf)
        self._chain = chain_of(model)
        self.meshes = link_meshes(urdf, model)
        self._joint_rotation = np.empty((model.njoints, 3, 3))
        self._joint_translation = np.empty((model.njoints, 3))
        self._seen = np.empty((len(self.meshes.vertices), 3))
        self._palm = model.frames[model.getFrameId(PALM_LINK)]
        self._tips = [model.frames[model.getFrameId(name)] for name in FINGERTIP_LINKS]
        self.aim(camera)

    def aim(self, camera: CameraModel) -> None:
        """Look through another camera from now on."""
        self.camera = camera
        self._view = np.ascontiguousarray(camera.rotation.T)
        self._intrinsics = np.array((camera.fx, camera.fy, camera.cx, camera.cy))

    def draw(self, joint_position: Array, region: Region, out: Depth) -> int:
        """Fill in the robot's depth [m] in a part of the picture; infinite where it is not.

        Args:
            joint_position: [rad], shape (23,).
            region: which part; may reach over the picture's edge.
            out: shape (height, width) of the region; it is overwritten.

        Returns:
            How many pixels see the robot.
        """
        x0, y0, width, height = region
        if out.shape != (height, width):
            raise ValueError(f'out has shape {out.shape}, must be {(height, width)}')
        if joint_position.shape != (N_JOINTS,):
            raise ValueError(f'{joint_position.size} joint positions, must be {N_JOINTS}')
        place_joints(self._chain, joint_position, self._joint_rotation, self._joint_translation)
        count: int = _draw_links(
            self.meshes,
            self._joint_rotation,
            self._joint_translation,
            self._view,
            self.camera.position,
            self._intrinsics,
            int(x0),
            int(y0),
            self._seen,
            out,
        )
        return count

    def hand(self, joint_position: Array) -> HandPlace:
        """Where palm and fingertips are, in the optical frame; joint positions (23,) [rad]."""
        rotation, translation = self._joint_rotation, self._joint_translation
        place_joints(self._chain, joint_position, rotation, translation)
        joints = [tip.parentJoint for tip in self._tips]
        tips = [
            translation[j] + rotation[j] @ tip.placement.translation
            for j, tip in zip(joints, self._tips, strict=True)
        ]
        j, inside = self._palm.parentJoint, self._palm.placement
        palm = translation[j] + rotation[j] @ inside.translation
        return HandPlace(
            Pose(self._view @ (palm - self.camera.position), self._view @ rotation[j]),
            (np.array(tips) - self.camera.position) @ self._view.T,
        )

    def picture(self, joint_position: Array) -> Depth:
        """The robot's depth in the whole picture [m]; infinite where it is not."""
        camera = self.camera
        out = np.empty((camera.height, camera.width), np.float32)
        self.draw(joint_position, (0, 0, camera.width, camera.height), out)
        return out


def link_meshes(urdf: str, model: pin.Model) -> LinkMeshes:
    """Reduced visual meshes of a robot, without the camera's own body."""
    surfaces: dict[str, list[tuple[Array, Faces]]] = defaultdict(list)
    for part in visual_parts(urdf):
        placed = part.surface.vertices @ rotation_matrix(part.quaternion).T + part.position
        surfaces[part.link].append((placed, part.surface.faces.astype(np.int64)))
    surfaces.pop(CAMERA_LINK, None)
    joints, vertices, faces, spheres = [], [], [], []
    for link, parts in surfaces.items():
        most = _ARM_TRIANGLES if link.startswith(_ARM) else _HAND_TRIANGLES
        points, corners = reduce_surface(*_joined(parts), most)
        frame = model.frames[model.getFrameId(link)]
        points = points @ frame.placement.rotation.T + frame.placement.translation
        centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
        radius = np.linalg.norm(points - centre, axis=1).max()
        joints.append(frame.parentJoint)
        vertices.append(points)
        faces.append(corners)
        spheres.append((*centre, radius))
    first_vertex = np.cumsum([0] + [len(each) for each in vertices])
    return LinkMeshes(
        joint=np.array(joints, dtype=np.int64),
        first_vertex=first_vertex,
        first_face=np.cumsum([0] + [len(each) for each in faces]),
        sphere=np.array(spheres),
        vertices=np.ascontiguousarray(np.vstack(vertices)),
        faces=np.vstack([f + n for f, n in zip(faces, first_vertex[:-1], strict=True)]),
    )


def _joined(parts: list[tuple[Array, Faces]]) -> tuple[Array, Faces]:
    start = np.cumsum([0] + [len(vertices) for vertices, _ in parts])
    faces = [f + n for (_, f), n in zip(parts, start[:-1], strict=True)]
    return np.vstack([vertices for vertices, _ in parts]), np.vstack(faces)


@kernel
def _draw_links(meshes, rotation, translation, view, eye, intrinsics, x0, y0, seen, out):  # type: ignore[no-untyped-def]
    """Depth of all links that a region can see; the number of its pixels that see one."""
    height, width = out.shape
    fx, fy, cx, cy = intrinsics
    out[:] = 0.0  # holds 1 / depth until the end
    # The region's borders as slopes of rays: x / z and y / z.
    left, right = (x0 - 0.5 - cx) / fx, (x0 + width - 0.5 - cx) / fx
    top, bottom = (y0 - 0.5 - cy) / fy, (y0 + height - 0.5 - cy) / fy
    r, p = np.empty((3, 3)), np.empty(3)
    for link in range(meshes.joint.shape[0]):
        j = meshes.joint[link]
        for i in range(3):
            p[i] = 0.0
            for k in range(3):
                p[i] += view[i, k] * (translation[j, k] - eye[k])
                r[i, k] = (
                    view[i, 0] * rotation[j, 0, k]
                    + view[i, 1] * rotation[j, 1, k]
                    + view[i, 2] * rotation[j, 2, k]
                )
        a, b, c, radius = meshes.sphere[link]
        x = p[0] + r[0, 0] * a + r[0, 1] * b + r[0, 2] * c
        y = p[1] + r[1, 0] * a + r[1, 1] * b + r[1, 2] * c
        z = p[2] + r[2, 0] * a + r[2, 1] * b + r[2, 2] * c
        if (
            z + radius < _NEAR
            or x - left * z < -radius * np.sqrt(1.0 + left * left)
            or right * z - x < -radius * np.sqrt(1.0 + right * right)
            or y - top * z < -radius * np.sqrt(1.0 + top * top)
            or bottom * z - y < -radius * np.sqrt(1.0 + bottom * bottom)
        ):
            continue
        for n in range(meshes.first_vertex[link], meshes.first_vertex[link + 1]):
            a, b, c = meshes.vertices[n]
            z = p[2] + r[2, 0] * a + r[2, 1] * b + r[2, 2] * c
            if z < _NEAR:
                seen[n, 2] = 0.0
                continue
            seen[n, 0] = fx * (p[0] + r[0, 0] * a + r[0, 1] * b + r[0, 2] * c) / z + cx - x0
            seen[n, 1] = fy * (p[1] + r[1, 0] * a + r[1, 1] * b + r[1, 2] * c) / z + cy - y0
            seen[n, 2] = 1.0 / z
        for m in range(meshes.first_face[link], meshes.first_face[link + 1]):
            f = meshes.faces[m]
            draw_triangle(seen[f[0]], seen[f[1]], seen[f[2]], out)
    count = 0
    for row in range(height):
        for column in range(width):
            if out[row, column] > 0.0:
                count += 1
            out[row, column] = np.float32(1.0) / out[row, column]
    return count


@kernel
def draw_triangle(a, b, c, out):  # type: ignore[no-untyped-def]
    """Put a triangle into an image of 1 / depth, where it is nearer than what is there.

    Corners are column, row [px] and 1 / depth; those behind the camera have 1 / depth = 0. Drawn
    are pixels whose centre, a whole number, is inside. Anticlockwise from outside is clockwise
    on the screen, whose rows go down: others are back faces.
    """
    if a[2] == 0.0 or b[2] == 0.0 or c[2] == 0.0:
        return
    abx, aby = b[0] - a[0], b[1] - a[1]
    acx, acy = c[0] - a[0], c[1] - a[1]
    area = abx * acy - aby * acx
    if not area < 0.0:  # NaN too
        return
    height, width = out.shape
    top = max(0, int(np.ceil(min(a[1], b[1], c[1]))))
    bottom = min(height - 1, int(np.floor(max(a[1], b[1], c[1]))))
    if top > bottom or min(a[0], b[0], c[0]) > width - 1 or max(a[0], b[0], c[0]) < 0.0:
        return
    # 1 / depth is linear on the screen.
    dx = ((b[2] - a[2]) * acy - (c[2] - a[2]) * aby) / area
    dy = ((c[2] - a[2]) * abx - (b[2] - a[2]) * acx) / area
    for row in range(top, bottom + 1):
        low, high = 0.0, width - 1.0
        for edge in range(3):
            if edge == 0:
                px, py, ex, ey = a[0], a[1], abx, aby
            elif edge == 1:
                px, py, ex, ey = b[0], b[1], c[0] - b[0], c[1] - b[1]
            else:
                px, py, ex, ey = c[0], c[1], -acx, -acy
            # Inside: ex (row - py) - ey (column - px) <= 0.
            if ey > 0.0:
                low = max(low, px + ex * (row - py) / ey)
            elif ey < 0.0:
                high = min(high, px + ex * (row - py) / ey)
            elif ex * (row - py) > 0.0:
                high = -1.0
        first = int(np.ceil(low))
        inverse = a[2] + (first - a[0]) * dx + (row - a[1]) * dy
        for column in range(first, int(np.floor(high)) + 1):
            if inverse > out[row, column]:
                out[row, column] = inverse
            inverse += dx
