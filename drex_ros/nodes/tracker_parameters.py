# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of pose_tracker."""

from __future__ import annotations

from functools import partial

from drex_ros.nodes.parameters import Parameter
from drex_ros.perception.depth_image import MILLIMETRE
from drex_ros.perception.external_poses import ExternalSettings
from drex_ros.perception.object_tracker import TrackerSettings
from drex_ros.perception.pairing import TOLERANCE
from drex_ros.robot.description import HANDS, WORLD_LINK

BACKENDS = ('mesh', 'tag', 'external')
"""Ways to find the object."""

_TRACKER = TrackerSettings()
_EXTERNAL = ExternalSettings()

_fixed = partial(Parameter, read_only=True)  # given at start only

TASK = (
    _fixed(
        'object',
        '',
        'object to track at start, of the library or the path of its file; empty: none; '
        'tracker/detect can name another',
    ),
    _fixed(
        'backend',
        'mesh',
        'mesh: by shape and colour; tag: by a marker on it; external: by poses of another tracker',
        choices=BACKENDS,
    ),
    Parameter(
        'detect_timeout',
        2.0,
        'wall time that tracker/detect waits for a new picture when the request says 0',
        's',
        (0.1, 30.0),
    ),
    Parameter(
        'search_period',
        0.2,
        'time of the pictures from one search to the next while the object is not seen; a search '
        'takes about 0.1 s of a core',
        's',
        (0.0, 10.0),
    ),
    _fixed(
        'smoothing_lag',
        _TRACKER.lag,
        'pictures that object/track_smoothed is behind',
        '',
        (0, 30),
    ),
    _fixed(
        'longest_gap',
        _TRACKER.longest_gap,
        'between two pictures; after a longer one the object is looked for anew (mesh)',
        's',
        (0.05, 5.0),
    ),
)

CAMERA = (
    _fixed(
        'camera_pose',
        '',
        'file with the pose of the camera, as drex calibrate writes it; empty: that of `scene`',
    ),
    _fixed('scene', 'table', 'scene of config/scenes, or path of a file like those'),
    _fixed(
        'table_extent',
        [],
        'least x and y, greatest x and y of the table top; empty: that of `scene` where the '
        "camera's pose is the scene's, else no end is known",
        'm',
        (-10.0, 10.0),
        kind='float[]',
    ),
    _fixed(
        'pair_tolerance',
        TOLERANCE,
        'greatest difference of the stamps of colour and depth',
        's',
        (0.0, 0.5),
    ),
    _fixed('depth_unit', MILLIMETRE, 'of whole-number depth images', 'm', (1e-6, 1.0)),
)

ROBOT = (
    _fixed('hand', 'right', 'which Allegro hand', choices=HANDS),
    _fixed(
        'mask_robot',
        True,
        'leave out pixels in which joint_states say that the robot is seen (mesh)',
    ),
)

FRAMES = (
    _fixed('world_frame', WORLD_LINK, "frame of all poses; the arm's base is its origin"),
    _fixed('object_frame', 'object', 'name of the frame of the object on /tf'),
    _fixed('publish_tf', True, 'publish the pose on /tf, where tf2_msgs is installed'),
)

TAG = (
    _fixed(
        'tag_id',
        -1,
        'number of the marker on the object; -1: none; backend mesh starts from it when given',
        '',
        (-1, 100000),
    ),
    _fixed('tag_dictionary', 'apriltag_36h11', 'family of the marker: also 4x4_50, 5x5_100, ...'),
    _fixed('tag_size', 0.04, 'side of its black square', 'm', (0.001, 1.0)),
    _fixed(
        'tag_position',
        [0.0, 0.0, 0.0],
        "of its middle in the object's frame",
        'm',
        (-10.0, 10.0),
        size=3,
    ),
    _fixed(
        'tag_orientation',
        [0.0, 0.0, 0.0, 1.0],
        "of its frame (x right, y up, z out of the print) in the object's: x y z w",
        '',
        (-1.0, 1.0),
        size=4,
    ),
)

EXTERNAL = (
    _fixed('external_topic', 'external/pose', 'where backend external hears poses'),
    _fixed(
        'external_type',
        'PoseStamped',
        'message on it',
        choices=('PoseStamped', 'PoseWithCovarianceStamped'),
    ),
    _fixed(
        'external_frame',
        'camera',
        'its poses are in the frame of the pictures, or in world_frame',
        choices=('camera', 'world'),
    ),
    _fixed(
        'external_position_sigma',
        _EXTERNAL.position_sigma,
        'standard deviation of poses that come without covariance',
        'm',
        (1e-5, 1.0),
    ),
    _fixed(
        'external_rotation_sigma',
        _EXTERNAL.rotation_sigma,
        'the same of their rotation',
        'rad',
        (1e-4, 3.0),
    ),
    _fixed(
        'external_position',
        [0.0, 0.0, 0.0],
        "of the object's frame in that of the other tracker's mesh",
        'm',
        (-10.0, 10.0),
        size=3,
    ),
    _fixed(
        'external_orientation',
        [0.0, 0.0, 0.0, 1.0],
        'the same: x y z w',
        '',
        (-1.0, 1.0),
        size=4,
    ),
    _fixed(
        'external_oldest',
        _EXTERNAL.oldest,
        'a pose that is older than the newest picture by more is refused',
        's',
        (0.01, 60.0),
    ),
)

PARAMETERS = TASK + CAMERA + ROBOT + FRAMES + TAG + EXTERNAL
