# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a tag on nothing else, drawn by its homography, with the depth of its plane."""

import cv2
import numpy as np

from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.tag_pose import square_corners
from drex_ros.perception.tag_tracker import TagSettings, dictionaries
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.rotations import rotation_matrix

FINER = 4  # drawn this much larger, so that edges fall between pixels as in a real picture
CELL = 20  # pixels of the print for a cell of the tag


def printed_tag(settings: TagSettings) -> tuple[np.ndarray, float]:
    """The tag with a white rim, and by how much that is larger than the tag."""
    dictionary = cv2.aruco.getPredefinedDictionary(dictionaries()[settings.dictionary])
    cells = dictionary.markerSize + 2
    tag = cv2.aruco.generateImageMarker(dictionary, settings.id, cells * CELL)
    return np.pad(tag, CELL, constant_values=255), (cells + 2) / cells


def tag_frame(
    settings: TagSettings,
    camera: CameraModel,
    position: np.ndarray,
    quaternion: np.ndarray,
    *,
    time: float = 0.0,
    noise: float = 2.0,
    depth_noise: float = 0.0,
    generator: np.random.Generator | None = None,
) -> RgbdFrame:
    """What the camera sees of an object at this pose that is nothing but its tag."""
    generator = generator or np.random.default_rng(0)
    tag, larger = printed_tag(settings)
    turn = rotation_matrix(quaternion)
    of_tag = turn @ rotation_matrix(settings.quaternion)
    middle = turn @ settings.position + position
    corners = square_corners(larger * settings.size) @ of_tag.T + middle
    # The picture reaches half a pixel beyond its outermost centres, drawn fine or not.
    seen = (camera.project(corners) + 0.5) * FINER - 0.5
    side = tag.shape[0] - 0.5
    source = np.array(((-0.5, -0.5), (side, -0.5), (side, side), (-0.5, side)))
    warp = cv2.getPerspectiveTransform(source.astype(np.float32), seen.astype(np.float32))
    size = (FINER * camera.width, FINER * camera.height)
    fine = cv2.warpPerspective(
        tag, warp, size, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_CONSTANT, borderValue=128
    )
    grey = cv2.resize(fine, (camera.width, camera.height), interpolation=cv2.INTER_AREA)
    colour = np.repeat(grey[..., None].astype(np.float64), 3, axis=2)
    colour += generator.normal(0.0, noise, colour.shape)
    # Where a ray meets the plane of the tag.
    normal = camera.rotation.T @ of_tag[:, 2]
    depth = (normal @ camera.to_optical(middle)) / (camera.rays() @ normal)
    depth = depth + generator.normal(0.0, depth_noise, depth.shape) if depth_noise else depth
    return RgbdFrame(
        time=time,
        colour=np.clip(np.rint(colour), 0, 255).astype(np.uint8),
        depth=np.where((depth > 0.1) & (depth < 3.0), depth, 0.0).astype(np.float32),
    )
