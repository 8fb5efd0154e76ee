# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex track`: bags of both kinds, whole and broken, to poses and a video."""

import csv
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from bag_files import COLOUR, DEPTH, INFO, write_bag
from drex_command import run_drex
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from tag_pictures import tag_frame

from drex_ros.cli.track import TrackError, TrackOptions, track_bag
from drex_ros.cli.track_files import TrackFile
from drex_ros.hardware.depth_noise import StereoNoise
from drex_ros.hardware.rgbd_camera import CameraOptions, RgbdCamera, SceneState
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import load_object
from drex_ros.perception.estimate import TrackStatus
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.tag_tracker import TagSettings
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import HOME, N_JOINTS
from drex_ros.robot.rotations import quaternion_from_vector

CAMERA = CameraModel(
    320, 240, 300.0, 300.0, 159.5, 119.5, np.array((0.5, 0.0, 0.6)), np.array((1.0, 0.0, 0.0, 0.0))
)
TAG = TagSettings(id=7, size=0.06)
TURN = quaternion_from_vector((0.4, 0.0, 0.0))
SPEED = np.array((0.15, 0.0, 0.0))
FRAMES = 12
STEP = 1.0 / 30.0


def place(number: int) -> np.ndarray:
    return np.array((0.47, 0.01, 0.05)) + number * STEP * SPEED


def frames(count: int = FRAMES) -> list[RgbdFrame]:
    return [tag_frame(TAG, CAMERA, place(i), TURN, time=1000.0 + i * STEP) for i in range(count)]


@pytest.fixture(scope='module')
def recorded() -> list[RgbdFrame]:
    return frames()


@pytest.fixture
def tag_options(tmp_path):
    """Options for a bag in tmp_path, with the files that they name."""
    pose = tmp_path / 'camera.yaml'
    pose.write_text('position: [0.5, 0.0, 0.6]\nquaternion: [1.0, 0.0, 0.0, 0.0]\n')
    tag = tmp_path / 'tag.yaml'
    tag.write_text('id: 7\nsize: 0.06\n')

    def options(bag: Path, **more) -> TrackOptions:
        wanted = {'output': tmp_path / 'out', 'video': False, 'backend': 'tag', 'tag': tag}
        return TrackOptions(bag, 'box', camera_pose=pose, **{**wanted, **more})

    return options


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ('storage', 'encodings', 'whole'),
    [
        (StoragePlugin.MCAP, ('rgb8', '16UC1'), True),
        (StoragePlugin.SQLITE3, ('bgr8', '32FC1'), True),
        (StoragePlugin.MCAP, ('rgb8', '32FC1'), False),
        (StoragePlugin.SQLITE3, ('rgb8', '16UC1'), False),
    ],
)
def test_a_bag_becomes_poses(tmp_path, recorded, tag_options, storage, encodings, whole):
    bag = write_bag(tmp_path / 'push', recorded, CAMERA, storage=storage, encodings=encodings)
    path = bag if whole else next(each for each in bag.iterdir() if each.stem == 'push')
    summary = track_bag(tag_options(path))
    assert summary.frames == FRAMES
    assert summary.statuses == {TrackStatus.TRACKING: FRAMES}
    assert summary.damage == ''
    poses = rows(tmp_path / 'out/poses.csv')
    assert len(poses) == FRAMES
    for i, row in enumerate(poses):
        assert float(row['time']) == pytest.approx(1000.0 + i * STEP, abs=1e-6)
        assert (row['status'], row['reason']) == ('tracking', '')
        assert [float(row[key]) for key in 'xyz'] == pytest.approx(place(i), abs=0.003)
    assert float(poses[-1]['vx']) == pytest.approx(0.15, abs=0.05)
    assert abs(
        sum(
            float(poses[-1][key]) * value
            for key, value in zip(('qx', 'qy', 'qz', 'qw'), TURN, strict=True)
        )
    ) == pytest.approx(1.0, abs=1e-3)
    assert 0.0 < float(poses[-1]['sigma_x']) < 0.005
    smoothed = rows(tmp_path / 'out/smoothed.csv')
    assert len(smoothed) == summary.smoothed == FRAMES - 3
    assert [row['time'] for row in smoothed] == [row['time'] for row in poses[:-3]]
    assert sorted(each.name for each in (tmp_path / 'out').iterdir()) == [
        'poses.csv',
        'smoothed.csv',
    ]


def test_the_mesh_tracker_needs_nothing_but_the_bag(tmp_path):
    """A mug on the table of the scene, pushed, with the noise of the simulated camera."""
    mug = load_object('mug')
    camera = RgbdCamera(load_scene(), CameraOptions(stereo=StereoNoise(), colour_noise=2.0))
    seen, poses = [], []
    try:
        for i in range(8):
            pose = np.array((0.5 + 0.1 * i * STEP, 0.0, mug.rest_height, *mug.rest_quaternion))
            still = np.zeros(N_JOINTS)
            state = SceneState(i, 1, 'mug', HOME, still, pose, np.zeros(6))
            picture = camera.take(state)
            seen.append(RgbdFrame(5.0 + i * STEP, picture.rgb, picture.depth))
            poses.append(pose)
    finally:
        camera.close()
    bag = write_bag(tmp_path / 'push', seen, camera.model)
    summary = track_bag(TrackOptions(bag, 'mug', tmp_path / 'out', video=False))
    assert summary.statuses == {TrackStatus.TRACKING: len(seen)}
    for row, pose in zip(rows(tmp_path / 'out/poses.csv'), poses, strict=True):
        assert [float(row[key]) for key in 'xyz'] == pytest.approx(pose[:3], abs=0.003)


def test_the_command_writes_a_video_and_says_how_it_went(tmp_path, recorded, tag_options):
    av = pytest.importorskip('av')
    bag = write_bag(tmp_path / 'push', recorded, CAMERA, namespace='/lab')
    given = tag_options(bag)
    result = run_drex(
        *('track', '--bag', 'push', '--object', 'box', '--namespace', 'lab'),
        *('--backend', 'tag', '--tag', str(given.tag), '--camera-pose', str(given.camera_pose)),
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first.startswith(f'{FRAMES} frames: 100.0% tracking; ')
    assert second == 'written to push_box'
    with av.open(str(tmp_path / 'push_box/overlay.mp4')) as video:
        stream = video.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (320, 240, 30)
        pictures = [each.to_ndarray(format='rgb24') for each in video.decode(stream)]
    assert len(pictures) == FRAMES
    # The words' ground is dark where the picture is grey.
    assert pictures[0][2, 2].mean() < 80 < recorded[0].colour[2, 2].mean()


def test_a_simulated_camera_is_where_the_scene_has_it_and_a_note_says_so(
    tmp_path, recorded, tag_options
):
    bag = write_bag(tmp_path / 'push', recorded, CAMERA)
    options = tag_options(bag)
    summary = track_bag(
        TrackOptions(bag, 'box', tmp_path / 'out', None, False, '', 'tag', options.tag)
    )
    assert summary.notes == [
        'the camera is taken to be where table.yaml has it; else give --camera-pose'
    ]
    assert float(rows(tmp_path / 'out/poses.csv')[0]['x']) != pytest.approx(0.47, abs=0.05)


def test_an_mcap_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path, recorded, tag_options):
    bag = write_bag(tmp_path / 'push', recorded, CAMERA)
    data = (bag / 'push.mcap').read_bytes()
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(data[: len(data) * 6 // 10])
    summary = track_bag(tag_options(cut))
    assert 0 < summary.frames < FRAMES
    assert summary.damage == 'cut.mcap: its end is missing'
    poses = rows(tmp_path / 'out/poses.csv')
    assert len(poses) == summary.frames
    assert [float(poses[-1][key]) for key in 'xyz'] == pytest.approx(
        place(summary.frames - 1), abs=0.003
    )
    # A recorder that was killed leaves no metadata.yaml either.
    folder = tmp_path / 'killed'
    folder.mkdir()
    cut.rename(folder / 'killed_0.mcap')
    assert track_bag(tag_options(folder)).frames == summary.frames


def test_a_compressed_mcap_that_was_cut_off_too(tmp_path, recorded, tag_options):
    class Packed(Writer):
        def open(self):
            self.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
            super().open()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('bag_files.Writer', Packed)
        bag = write_bag(tmp_path / 'push', recorded, CAMERA)
    data = (bag / 'push.mcap').read_bytes()
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(data[:-4000])
    assert 0 < track_bag(tag_options(cut)).frames <= FRAMES


def test_a_database_with_broken_pages_is_read_as_far_as_it_goes(tmp_path, recorded, tag_options):
    bag = write_bag(tmp_path / 'push', recorded, CAMERA, storage=StoragePlugin.SQLITE3)
    data = (bag / 'push.db3').read_bytes()
    cut = tmp_path / 'cut.db3'
    cut.write_bytes(data[: len(data) // 2])
    summary = track_bag(tag_options(cut))
    assert 0 < summary.frames < FRAMES
    assert 'malformed after' in summary.damage


def test_a_message_that_is_nonsense_ends_the_bag_there(tmp_path, recorded, tag_options):
    bag = write_bag(tmp_path / 'push', recorded, CAMERA, storage=StoragePlugin.SQLITE3)
    connection = sqlite3.connect(bag / 'push.db3')
    connection.execute("UPDATE messages SET data = x'0001000000' WHERE id = 24")
    connection.commit()
    connection.close()
    summary = track_bag(tag_options(bag))
    assert summary.frames == 5
    assert 'after 17 messages' in summary.damage


def test_the_command_says_that_a_bag_is_damaged(tmp_path, recorded, tag_options):
    bag = write_bag(tmp_path / 'push', recorded, CAMERA)
    data = (bag / 'push.mcap').read_bytes()
    (tmp_path / 'cut.mcap').write_bytes(data[: len(data) * 6 // 10])
    given = tag_options(bag)
    result = run_drex(
        *('track', '--bag', 'cut.mcap', '--object', 'box', '--no-video', '--backend', 'tag'),
        *('--tag', str(given.tag), '--camera-pose', str(given.camera_pose), '-o', 'out'),
        cwd=tmp_path,
    )
    assert result.returncode == 1
    assert result.stderr.startswith(
        'drex track: cut.mcap is damaged (cut.mcap: its end is missing): '
    )
    count = len(rows(tmp_path / 'out/poses.csv'))
    assert f'{count} frames were read and are written' in result.stderr


def test_what_is_no_bag_is_said(tmp_path, tag_options):
    (tmp_path / 'empty').mkdir()
    (tmp_path / 'zero.mcap').write_bytes(b'')
    (tmp_path / 'text.mcap').write_text('not a bag ' * 100)
    (tmp_path / 'text.db3').write_text('not a bag ' * 100)
    (tmp_path / 'text.txt').write_text('not a bag')
    for name, words in {
        'nowhere': 'nowhere: no such file or folder',
        'empty': 'empty is no bag: it has no .mcap or .db3 file',
        'zero.mcap': 'zero.mcap is no bag that can be read: .*empty',
        'text.mcap': 'text.mcap is no bag that can be read: File magic is invalid',
        'text.db3': 'text.db3 is no bag that can be read: .*not a database',
        'text.txt': 'text.txt is no bag: must be a folder, or end with .mcap or .db3',
    }.items():
        with pytest.raises(TrackError, match=words):
            track_bag(tag_options(tmp_path / name))
    assert not (tmp_path / 'out').exists()


@pytest.mark.parametrize('missing', [COLOUR, DEPTH, INFO])
def test_a_missing_topic_is_said_with_those_that_there_are(
    tmp_path, recorded, tag_options, missing
):
    bag = write_bag(tmp_path / 'push', recorded[:2], CAMERA, without=(missing,))
    with pytest.raises(TrackError) as caught:
        track_bag(tag_options(bag))
    assert f'no messages on /{missing}; there are: /camera' in str(caught.value)
    assert '/joint_states (JointState, 2)' in str(caught.value)
    assert 'try' not in str(caught.value)


def test_topics_of_a_namespace_are_hinted_at(tmp_path, recorded, tag_options):
    bag = write_bag(tmp_path / 'push', recorded[:2], CAMERA, namespace='/lab/left')
    with pytest.raises(TrackError, match=r'; try --namespace lab/left$'):
        track_bag(tag_options(bag))
    bag = write_bag(tmp_path / 'plain', recorded[:2], CAMERA)
    with pytest.raises(TrackError, match=r'; try without --namespace$'):
        track_bag(tag_options(bag, namespace='lab'))


def test_an_empty_bag_is_said(tmp_path, tag_options):
    bag = write_bag(tmp_path / 'push', [], CAMERA)
    with pytest.raises(TrackError, match='push: the bag is empty'):
        track_bag(tag_options(bag))


@pytest.mark.parametrize(
    ('encodings', 'words'),
    [
        (('yuv422', '16UC1'), "colour encoding is 'yuv422', must be one of rgb8, bgr8"),
        (('rgb8', '8UC1'), "depth encoding is '8UC1', must be one of 16UC1"),
        (('rgba8', '16UC1'), 'rgba8 image has 230400 bytes, must have 240 rows of 960 bytes'),
    ],
)
def test_an_unknown_encoding_is_said_and_nothing_is_left(
    tmp_path, recorded, tag_options, encodings, words
):
    bag = write_bag(tmp_path / 'push', recorded[:2], CAMERA, encodings=encodings)
    with pytest.raises(TrackError, match=words):
        track_bag(tag_options(bag))
    assert list((tmp_path / 'out').iterdir()) == []


def test_options_that_cannot_be_are_said(tmp_path, recorded, tag_options):
    bag = write_bag(tmp_path / 'push', recorded[:2], CAMERA)
    with pytest.raises(TrackError, match="no backend 'eye'; there are: mesh, tag"):
        track_bag(tag_options(bag, backend='eye'))
    with pytest.raises(TrackError, match='--backend tag needs --tag FILE'):
        track_bag(tag_options(bag, tag=None))
    with pytest.raises(TrackError, match=r'tag\.yml: not a readable YAML file'):
        track_bag(tag_options(bag, tag=tmp_path / 'tag.yml'))
    with pytest.raises(TrackError, match='is a file, must be a folder'):
        track_bag(tag_options(bag, output=tmp_path / 'tag.yaml'))
    with pytest.raises(TrackError, match="no object 'cat'"):
        track_bag(TrackOptions(bag, 'cat'))
    wrong = tmp_path / 'camera.yaml'
    wrong.write_text('position: [1, 2]\nquaternion: [0, 0, 0, 1]\n')
    with pytest.raises(TrackError, match=r'camera\.yaml: position is \[1, 2\], must be 3 numbers'):
        track_bag(tag_options(bag))


def test_a_track_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / 'poses.csv'
    with pytest.raises(RuntimeError), TrackFile(path):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with TrackFile(path):
        assert not path.exists()
    assert path.read_text().startswith('time,status,reason,x,y,z,qx,qy,qz,qw,vx')
