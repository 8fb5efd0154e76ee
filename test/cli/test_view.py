# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex view`: real pictures and videos, of its own simulator and of the running stack."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from drex_command import drex_command, run_drex
from ros_harness import NodeProcess, wait_until
from stack_harness import node_command, node_environment

from drex_ros.cli import live
from drex_ros.cli.errors import ViewError
from drex_ros.cli.performance import POSTURES, Performance, posture_at
from drex_ros.cli.view import ViewOptions, show
from drex_ros.cli.window import Window, show_physics
from drex_ros.hardware.scene_file import load_scene
from drex_ros.objects import object_names
from drex_ros.robot.joints import LIMITS, N_JOINTS, check_posture

SMALL = '160x120'


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('DISPLAY', 'WAYLAND_DISPLAY'):
        monkeypatch.delenv(name, raising=False)


def picture(path: Path) -> np.ndarray:
    return cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB).astype(int)


def frames(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as file:
        return [each.to_ndarray(format='rgb24').astype(int) for each in file.decode(video=0)]


def test_a_picture(tmp_path: Path) -> None:
    result = run_drex('view', '-o', 'a.png', '--size', SMALL, '--exposures', '9', cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, '')
    assert result.stdout == 'a.png: a picture, 160x120\n'
    assert [path.name for path in tmp_path.iterdir()] == ['a.png']
    pixels = picture(tmp_path / 'a.png')
    assert pixels.shape == (120, 160, 3)
    grey = pixels.mean(axis=2)
    # Light backdrop, black hand, and much between.
    assert np.median(grey) > 120
    assert (grey < 50).mean() > 0.01
    assert len(np.unique(grey.astype(int))) > 100


def test_options_change_the_picture(tmp_path: Path) -> None:
    seen = {}
    for name, options in {
        'mug': {},
        'none': {'thing': 'none'},
        'home': {'posture': 'home'},
        'left': {'hand': 'left'},
        'sensor': {'camera': 'sensor'},
    }.items():
        show(ViewOptions(output=tmp_path / f'{name}.jpg', size='96x72', exposures=2, **options))
        seen[name] = picture(tmp_path / f'{name}.jpg')
    for name in ('none', 'home', 'left', 'sensor'):
        assert (np.abs(seen[name] - seen['mug']).max(axis=2) > 40).sum() > 10, name
    # The camera of the robot looks down on the table, and sees nothing of the backdrop.
    red, green, blue = seen['sensor'].reshape(-1, 3).mean(axis=0)
    assert red > green > blue + 20


def test_a_video_moves(tmp_path: Path) -> None:
    path = tmp_path / 'a.mp4'
    show(
        ViewOptions(
            output=path, size=SMALL, exposures=1, seconds=0.4, camera='sensor', posture='home'
        )
    )
    assert [each.name for each in tmp_path.iterdir()] == ['a.mp4']
    seen = frames(path)
    assert len(seen) == 10
    assert {each.shape for each in seen} == {(120, 160, 3)}
    show(ViewOptions(output=path, size=SMALL, exposures=2, seconds=0.2))
    seen = frames(path)
    assert len(seen) == 5
    assert np.abs(seen[-1] - seen[0]).max() > 40


def test_ctrl_c_leaves_no_half_of_a_video(
    start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    command = drex_command('view', '-o', 'a.mp4', '--size', '640x480', '--seconds', '10')
    process = start(command, cwd=tmp_path, env=node_environment())
    wait_until(lambda: any(tmp_path.iterdir()), timeout=60.0, what='the video to begin')
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert process.stderr == ['drex view: interrupted by SIGINT']
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ('options', 'said'),
    [
        ({}, 'no display here .* give --output'),
        ({'thing': 'cow'}, "no object 'cow'.*ball.*mug"),
        ({'scene': 'moon'}, "no scene 'moon'; there are: table"),
        ({'hand': 'both'}, "no hand 'both'; there are: right, left"),
        ({'posture': 'yoga'}, "no posture 'yoga'; there are: home, reach, grasp"),
        ({'camera': 'film'}, "no camera 'film'; there are: view, sensor"),
        ({'output': 'a.gif'}, r'a.gif: the name must end with one of .png'),
        ({'output': 'none/a.png'}, 'there is no folder none'),
        ({'size': 'big'}, "--size is 'big', must be like 1280x960"),
        ({'size': '32x9000'}, '--size is 32x9000, each side must be in 64 .. 4096'),
        ({'size': '161x120', 'output': 'a.mp4'}, 'both sides of a video must be even'),
        ({'seconds': float('nan')}, '--seconds is nan, must be in 0.1 .. 600'),
        ({'exposures': 0}, '--exposures is 0, must be in 1 .. 256'),
        ({'live': True, 'thing': 'mug'}, '--object and --posture are those of the running stack'),
    ],
)
def test_what_cannot_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    output = Path(options.pop('output', 'a.png')) if options else None
    with pytest.raises(ViewError, match=said):
        show(ViewOptions(output=output, **options))
    assert not list(tmp_path.iterdir())


def test_an_error_is_one_line(tmp_path: Path) -> None:
    result = run_drex('view', '--object', 'cow', '-o', 'a.png', cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr.startswith("drex view: no object 'cow'")
    assert len(result.stderr.splitlines()) == 1


def test_without_opengl_it_says_what_to_install(tmp_path: Path) -> None:
    result = run_drex(
        'view', '-o', 'a.png', '--size', SMALL, cwd=tmp_path,
        env={'MUJOCO_GL': 'egl', 'PYOPENGL_PLATFORM': 'osmesa'},
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (2, '')
    assert result.stderr.startswith('drex view: ')
    assert 'libegl1' in result.stderr


@pytest.mark.parametrize('thing', ['', 'mug', 'ketchup', 'spray_bottle'])
def test_the_robot_moves_and_leaves_the_object_alone(thing: str) -> None:
    performance = Performance(scene='table', hand='right', thing=thing, posture='home')
    seen = list(performance.play(4.0, 10.0))
    assert len(seen) == 40
    np.testing.assert_allclose([m.time - seen[0].time for m in seen], np.arange(40) / 10)
    goals = [posture_at(POSTURES['home'], m.time - seen[0].time) for m in seen]
    lag = np.abs(np.array([m.joint_position for m in seen]) - goals)
    assert lag.max() < 0.3
    assert np.ptp([m.joint_position for m in seen], axis=0).max() > 0.5
    if thing:
        first, last = seen[0].object_pose, seen[-1].object_pose
        assert first is not None
        assert last is not None
        np.testing.assert_allclose(last, first, atol=1e-3)
    assert thing in ('', *object_names())


def test_postures_are_legal_and_motion_stays_within_limits() -> None:
    for posture in POSTURES.values():
        check_posture(posture)
        for elapsed in np.linspace(0.0, 12.0, 100):
            goal = posture_at(posture, elapsed)
            assert goal.shape == (N_JOINTS,)
            assert np.all(goal >= LIMITS.lower)
            assert np.all(goal <= LIMITS.upper)
        np.testing.assert_allclose(posture_at(posture, 0.0), posture)


class FakeViewer:
    """MuJoCo's viewer where there is no display: closed by its user after some frames."""

    def __init__(self, model: Any, data: Any, **options: Any) -> None:
        import contextlib

        import mujoco

        self.model, self.data = model, data
        self.cam, self.perturb = mujoco.MjvCamera(), mujoco.MjvPerturb()
        self.lock = contextlib.nullcontext
        self.shown: list[np.ndarray] = []
        self.closed = False

    def is_running(self) -> bool:
        return len(self.shown) < 20

    def sync(self) -> None:
        self.shown.append(self.data.qpos.copy())

    def close(self) -> None:
        self.closed = True


def test_the_window_shows_the_physics_until_it_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mujoco import viewer

    monkeypatch.setattr(viewer, 'launch_passive', FakeViewer)
    performance = Performance(scene='table', hand='right', thing='mug', posture='reach')
    window = Window(load_scene(), 'mug', 'right', sensor=True)
    begin = performance.robot.time
    show_physics(window, performance)
    window.close()
    shown = window._viewer.shown
    assert window._viewer.closed
    assert len(shown) == 20
    assert performance.robot.time > begin
    moment = performance.moment()
    np.testing.assert_allclose(shown[-1][:N_JOINTS], POSTURES['reach'], atol=2e-3)
    np.testing.assert_array_equal(shown[-1][N_JOINTS : N_JOINTS + 3], moment.object_pose[:3])


def test_live_pictures_and_videos_of_the_stack(
    start: Callable[..., NodeProcess], tmp_path: Path
) -> None:
    params = {'object': 'can', 'camera_rate': 20.0}
    start(node_command('mock_hardware', params=params), env=node_environment())
    show(ViewOptions(output=tmp_path / 'a.png', size='96x72', exposures=1, live=True))
    show(
        ViewOptions(
            output=tmp_path / 'b.png', size='96x72', exposures=1, thing='can', posture='home'
        )
    )
    difference = np.abs(picture(tmp_path / 'a.png') - picture(tmp_path / 'b.png'))
    assert np.mean(difference) < 1.0
    show(
        ViewOptions(output=tmp_path / 'a.mp4', size='96x72', exposures=1, live=True, seconds=0.25)
    )
    with av.open(str(tmp_path / 'a.mp4')) as file:
        assert file.streams.video[0].average_rate == 20
    assert len(frames(tmp_path / 'a.mp4')) == 6


def test_live_without_a_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, 'PATIENCE', 0.3)
    with pytest.raises(ViewError, match=r'nothing on /mock/scene for 0.3 s: .* drex launch'):
        show(ViewOptions(output=tmp_path / 'a.png', live=True))
    assert not list(tmp_path.iterdir())
