# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a MuJoCo scene as a camera sees them: colour and depth from one drawing.

The depth buffer holds 32-bit floats with zero at infinity, so depth is exact to micrometres.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt

from drex_ros.closing import Closing
from drex_ros.hardware.gl import open_context
from drex_ros.hardware.mujoco_model import JointMap
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import N_JOINTS, Array
from drex_ros.robot.rotations import to_wxyz

NEAR = 0.05
"""Nothing closer than this is drawn [m]."""
FAR = 20.0
"""Nothing farther than this is drawn [m]."""

_MOST_GEOMS = 2000
# Round shapes are drawn as polyhedra; these are 0.03 mm off at a radius of 50 mm.
_SLICES, _STACKS = 96, 64
_OBJECT_JOINT = 'object'
_HIDDEN_GROUP = 5  # not drawn


@dataclass(frozen=True)
class Picture:
    """What the camera sees at one moment. The arrays are the caller's own."""

    rgb: npt.NDArray[np.uint8]
    """Shape (height, width, 3)."""
    depth: npt.NDArray[np.float32]
    """Along the optical axis [m], infinite where nothing is. Shape (height, width)."""


def add_camera(spec: mujoco.MjSpec, camera: CameraModel, name: str = 'camera') -> None:
    """Add a camera to the world of a spec, for viewers.

    They show what it sees when their window has the proportions of the picture.
    """
    x, y, z, w = camera.quaternion
    spec.worldbody.add_camera(
        name=name,
        pos=camera.position,
        # MuJoCo's cameras look along -z with y up: half a turn about x of the optical frame.
        quat=to_wxyz((w, z, -y, -x)),
        resolution=(camera.width, camera.height),
        # Any size will do: only its proportion to the focal length counts.
        sensor_size=(camera.width * 1e-6, camera.height * 1e-6),
        focal_pixel=(camera.fx, camera.fy),
        # MuJoCo's measure goes from the optical axis to the middle, right and down.
        principal_pixel=(
            (camera.width - 1) / 2 - camera.cx,
            (camera.height - 1) / 2 - camera.cy,
        ),
    )


class SceneRenderer(Closing):
    """Draws a scene through a camera, on the thread that made it and on no other.

    The model needs no camera: the picture follows the CameraModel alone. Geoms of groups 0 to 2
    are seen, as in MuJoCo's own viewer.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        camera: CameraModel,
        *,
        shadows: bool = False,
        reflections: bool = False,
        samples: int = 0,
    ) -> None:
        """Open an OpenGL context for a model.

        Args:
            model: what to draw; a copy of it is kept.
            camera: through which camera.
            shadows: draw shadows; slow without a graphics card.
            reflections: draw mirrored surfaces; slow without a graphics card.
            samples: samples a pixel; more than one smooths edges, but mixes depths there.
        """
        self.camera = camera
        self.model = copy.copy(model)
        self.data = mujoco.MjData(self.model)
        visual = self.model.vis
        visual.global_.offwidth, visual.global_.offheight = camera.width, camera.height
        visual.quality.offsamples = samples
        visual.quality.numslices, visual.quality.numstacks = _SLICES, _STACKS
        # What is out of sight can still be seen in a mirror or by its shadow.
        self._culling = not (shadows or reflections)
        self._groups = self.model.geom_group.copy()
        self._sides = _sides(camera)
        self._joints = JointMap(self.model)
        self._object = _free_joint(self.model)
        self._scene = mujoco.MjvScene(self.model, maxgeom=_MOST_GEOMS)
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = reflections
        flags[mujoco.mjtRndFlag.mjRND_HAZE] = False
        self._option = mujoco.MjvOption()
        self._option.sitegroup[:] = 0
        self._free_camera = mujoco.MjvCamera()
        self._perturb = mujoco.MjvPerturb()
        self._viewport = mujoco.MjrRect(0, 0, camera.width, camera.height)
        self._rgb = np.empty((camera.height, camera.width, 3), np.uint8)
        self._depth = np.empty((camera.height, camera.width), np.float32)
        self._gl = open_context(camera.width, camera.height)
        self._context = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR

    @property
    def has_object(self) -> bool:
        """Whether the scene has an object that `pose` places."""
        return self._object is not None

    def pose(self, joint_position: Array, object_pose: Array | None = None) -> None:
        """Move the robot and the object.

        Args:
            joint_position: [rad], shape (23,), in the project's joint order.
            object_pose: position [m] and quaternion x y z w in world, shape (7,); None: as it is.
        """
        if joint_position.shape != (N_JOINTS,) or not np.isfinite(joint_position).all():
            raise ValueError(f'joint positions must be {N_JOINTS} finite numbers')
        self.data.qpos[self._joints.position] = joint_position
        if object_pose is not None and self._object is not None:
            length = float(np.linalg.norm(object_pose[3:]))
            if object_pose.shape != (7,) or not np.isfinite(object_pose).all() or length < 1e-6:
                raise ValueError('object pose must be 7 finite numbers: x y z and a quaternion')
            start = self._object
            self.data.qpos[start : start + 3] = object_pose[:3]
            self.data.qpos[start + 3 : start + 7] = to_wxyz(object_pose[3:]) / length

    def render(self) -> Picture:
        """Draw the scene as it is posed."""
        self._update()
        for eye in self._scene.camera:
            self._aim(eye)
        self._gl.make_current()
        mujoco.mjr_render(self._viewport, self._scene, self._context)
        mujoco.mjr_readPixels(self._rgb, self._depth, self._viewport, self._context)
        # OpenGL's first row is the lowest.
        return Picture(self._rgb[::-1].copy(), _metres(self._depth[::-1]))

    def _update(self) -> None:
        """Bring the scene to what was posed."""
        model, data = self.model, self.data
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
        if self._culling:
            model.geom_group[:] = np.where(self._in_sight(), self._groups, _HIDDEN_GROUP)
        mujoco.mjv_updateScene(
            model,
            data,
            self._option,
            self._perturb,
            self._free_camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )

    def close(self) -> None:
        """Free the OpenGL context."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None

    def _in_sight(self) -> npt.NDArray[np.bool_]:
        """Geoms whose bounding sphere reaches into the picture. Shape (ngeom,)."""
        radius = self.model.geom_rbound
        inside = self.camera.to_optical(self.data.geom_xpos) @ self._sides
        seen = (inside >= -radius[:, None]).all(axis=1) | (radius == 0.0)  # planes have no end
        return np.asarray(seen, dtype=np.bool_)

    def _aim(self, eye: mujoco.MjvGLCamera) -> None:
        """Give an OpenGL camera the pose and the frustum of the CameraModel."""
        camera = self.camera
        rotation = camera.rotation
        eye.pos, eye.forward, eye.up = camera.position, rotation[:, 2], -rotation[:, 1]
        eye.frustum_near, eye.frustum_far = NEAR, FAR
        # The picture ends half a pixel beyond the centres of its outer pixels.
        left, right = camera.cx + 0.5, camera.width - 0.5 - camera.cx
        above, below = camera.cy + 0.5, camera.height - 0.5 - camera.cy
        eye.frustum_center = 0.5 * (right - left) * NEAR / camera.fx
        eye.frustum_width = 0.5 * camera.width * NEAR / camera.fx
        eye.frustum_top = above * NEAR / camera.fy
        eye.frustum_bottom = -below * NEAR / camera.fy


def _sides(camera: CameraModel) -> Array:
    """Inward normals of the four sides of what a camera sees, optical frame. Shape (3, 4)."""
    normals = np.array(
        (
            (camera.fx, 0.0, camera.cx + 0.5),
            (-camera.fx, 0.0, camera.width - 0.5 - camera.cx),
            (0.0, camera.fy, camera.cy + 0.5),
            (0.0, -camera.fy, camera.height - 0.5 - camera.cy),
        )
    )
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals.T


def _metres(buffer: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Depth [m] from a buffer that is 1 at NEAR and 0 at FAR."""
    depth = buffer * np.float32(FAR - NEAR)
    depth += np.float32(NEAR)
    np.divide(np.float32(NEAR * FAR), depth, out=depth)
    depth[buffer == 0.0] = np.inf
    return depth


def _free_joint(model: mujoco.MjModel) -> int | None:
    """Where the object's pose begins in qpos; None when there is no object."""
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, _OBJECT_JOINT)
    return None if number < 0 else int(model.jnt_qposadr[number])
