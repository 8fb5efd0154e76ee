# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex view`: the robot in a window, a picture or a video."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track

from drex_ros.cli.errors import ViewError
from drex_ros.cli.performance import POSTURES, Performance
from drex_ros.cli.window import Window, has_display, show_live, show_physics
from drex_ros.hardware.backend import BackendError
from drex_ros.hardware.gl import RenderingError
from drex_ros.hardware.movie import (
    MOVIE_SUFFIXES,
    MovieError,
    MovieWriter,
    check_output,
    write_picture,
)
from drex_ros.hardware.photographer import Moment, Photographer
from drex_ros.hardware.scene_file import Scene, SceneError, load_scene
from drex_ros.hardware.studio import orbit_camera, resized
from drex_ros.objects import ObjectError, load_object
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.description import DescriptionError

if TYPE_CHECKING:
    from drex_ros.cli.live import LiveScene  # loads ROS

HANDS = ('right', 'left')
CAMERAS = ('view', 'sensor')
NO_OBJECT = 'none'

_SIZES = (64, 4096)  # [px]
_SECONDS = (0.1, 600.0)
_EXPOSURES = (1, 256)
_RATE = 25  # frames a second
_PICTURE, _MOVIE = 32, 3  # exposures
_PICTURE_SIZE, _MOVIE_SIZE = (1280, 960), (960, 720)

_AZIMUTH, _ELEVATION, _DISTANCE = 1.13, 0.35, 2.65  # [rad, rad, m]
_ORBIT = 0.6  # [rad] that the camera goes around in a video


@dataclass(frozen=True)
class ViewOptions:
    """What to show, and how."""

    thing: str | None = None
    """Object of the library, or path of its file; 'none' for none; None: a mug."""
    scene: str = 'table'
    hand: str | None = None
    """right or left; None: that of the running stack, else right."""
    posture: str | None = None
    """One of POSTURES; None: reach."""
    output: Path | None = None
    """Picture or video; None: a window."""
    size: str | None = None
    """Of the picture, as 1280x960; None: as is usual for the kind."""
    camera: str = 'view'
    seconds: float = 4.0
    """Length of a video, simulated."""
    exposures: int | None = None
    """Drawings of which each picture is the mean; None: as is usual for the kind."""
    live: bool = False
    """Show the running stack."""
    namespace: str = ''
    """In which that is."""


def show(options: ViewOptions) -> None:
    """Show it until the window is closed, or write it to a file. Raises ViewError."""
    try:
        _check(options)
        options = replace(options, hand=_hand(options))
        scene = load_scene(options.scene)
        if options.output is None:
            _show_window(options, scene)
        else:
            _write(options, scene, options.output)
    except (
        BackendError,
        DescriptionError,
        MovieError,
        ObjectError,
        RenderingError,
        SceneError,
    ) as error:
        raise ViewError(str(error)) from error


def _check(options: ViewOptions) -> None:
    for name, value, valid in (
        ('hand', options.hand or 'right', HANDS),
        ('camera', options.camera, CAMERAS),
        ('posture', options.posture or 'reach', tuple(POSTURES)),
    ):
        if value not in valid:
            raise ViewError(f'no {name} {value!r}; there are: {", ".join(valid)}')
    low, high = _SECONDS
    if not low <= options.seconds <= high:
        raise ViewError(f'--seconds is {options.seconds:g}, must be in {low:g} .. {high:g}')
    low, high = _EXPOSURES
    if options.exposures is not None and not low <= options.exposures <= high:
        raise ViewError(f'--exposures is {options.exposures}, must be in {low} .. {high}')
    if options.live and (options.thing is not None or options.posture is not None):
        raise ViewError('--object and --posture are those of the running stack with --live')
    if _thing(options):
        load_object(_thing(options))
    if options.output is not None:
        check_output(options.output)
        _size(options, (0, 0))
    elif not has_display():
        raise ViewError('no display here (DISPLAY is not set): give --output picture.png or .mp4')


def _hand(options: ViewOptions) -> str:
    if options.hand is None and options.live:
        with _live(options) as live:
            return live.hand()
    return options.hand or 'right'


def _thing(options: ViewOptions) -> str:
    """Name of the object; empty for none."""
    return '' if options.thing == NO_OBJECT or options.live else options.thing or 'mug'


def _size(options: ViewOptions, usual: tuple[int, int]) -> tuple[int, int]:
    """Width and height [px] that were asked for."""
    if options.size is None:
        return usual
    match = re.fullmatch(r'(\d{1,6})x(\d{1,6})', options.size)
    if match is None:
        raise ViewError(f'--size is {options.size!r}, must be like 1280x960')
    size = (int(match[1]), int(match[2]))
    low, high = _SIZES
    if not all(low <= side <= high for side in size):
        raise ViewError(f'--size is {options.size}, each side must be in {low} .. {high}')
    if _is_movie(options) and (size[0] % 2 or size[1] % 2):
        raise ViewError(f'--size is {options.size}, both sides of a video must be even')
    return size


def _is_movie(options: ViewOptions) -> bool:
    return options.output is not None and options.output.suffix.lower() in MOVIE_SUFFIXES


def _camera(options: ViewOptions, scene: Scene, share: float) -> CameraModel:
    """The camera when a share (0 to 1) of the video is over."""
    usual = _MOVIE_SIZE if _is_movie(options) else _PICTURE_SIZE
    if options.camera == 'sensor':
        camera = scene.camera
        return resized(camera, _size(options, (camera.width, camera.height)))
    # Between the arm and the object, and a little above the table.
    x, y = scene.object_position
    return orbit_camera(
        (0.76 * x, 0.76 * y, 0.08),
        azimuth=_AZIMUTH + _ORBIT * (share - 0.5),
        elevation=_ELEVATION,
        distance=_DISTANCE,
        size=_size(options, usual),
    )


def _show_window(options: ViewOptions, scene: Scene) -> None:
    sensor = options.camera == 'sensor'
    if not options.live:
        performance = _performance(options)
        window = Window(scene, _thing(options), options.hand or 'right', sensor=sensor)
        try:
            show_physics(window, performance)
        finally:
            window.close()
        return
    with _live(options) as live:
        moment: Moment | None = live.next()
        while moment is not None:
            window = Window(scene, moment.thing, options.hand or 'right', sensor=sensor)
            try:
                moment = show_live(window, live, moment)
            finally:
                window.close()


def _write(options: ViewOptions, scene: Scene, output: Path) -> None:
    console = Console(stderr=True)
    with Photographer(scene, options.hand or 'right') as photographer:
        if _is_movie(options):
            moments, rate = _moments(options, console)
            size = _write_movie(options, scene, photographer, moments, rate, output, console)
            what = f'{len(moments) / rate:.1f} s at {rate} frames a second'
        else:
            camera = _camera(options, scene, 0.5)
            with console.status('taking the picture ...'):
                exposures = options.exposures or _PICTURE
                write_picture(output, photographer.take(_moment(options), camera, exposures))
            size, what = (camera.width, camera.height), 'a picture'
    print(f'{output}: {what}, {size[0]}x{size[1]}')


def _write_movie(
    options: ViewOptions,
    scene: Scene,
    photographer: Photographer,
    moments: Sequence[Moment],
    rate: int,
    output: Path,
    console: Console,
) -> tuple[int, int]:
    first = _camera(options, scene, 0.0)
    size = (first.width, first.height)
    with MovieWriter(output, size, rate) as movie:
        for number, moment in enumerate(_progress(moments, 'drawing', console, len(moments))):
            camera = _camera(options, scene, number / max(len(moments) - 1, 1))
            movie.add(photographer.take(moment, camera, options.exposures or _MOVIE))
    return size


def _moment(options: ViewOptions) -> Moment:
    """What a picture shows."""
    if options.live:
        with _live(options) as live:
            return live.next()
    return _performance(options).moment()


def _moments(options: ViewOptions, console: Console) -> tuple[list[Moment], int]:
    """What a video shows, and how many of it a second."""
    if not options.live:
        count = max(round(options.seconds * _RATE), 1)
        played = _performance(options).play(count / _RATE, _RATE)
        return list(_progress(played, 'moving the robot', console, count)), _RATE
    with _live(options) as live, console.status('recording the stack ...'):
        moments = list(live.record(options.seconds))
    steps = np.diff([moment.time for moment in moments])
    # Frames come in whole control cycles, so single steps differ from the period.
    period = float(np.mean(steps)) if len(steps) else 1.0 / _RATE
    return moments, int(np.clip(round(1.0 / max(period, 1e-3)), 1, 60))


def _live(options: ViewOptions) -> LiveScene:
    try:
        from drex_ros.cli.live import LiveScene
    except ImportError as error:
        raise ViewError(f'--live needs ROS ({error}): source its setup.bash first') from None
    return LiveScene(options.namespace)


def _performance(options: ViewOptions) -> Performance:
    return Performance(
        scene=options.scene,
        hand=options.hand or 'right',
        thing=_thing(options),
        posture=options.posture or 'reach',
    )


def _progress(
    moments: Iterable[Moment], what: str, console: Console, count: int
) -> Iterator[Moment]:
    # Where nobody watches, a bar would leave empty lines.
    hidden = not console.is_terminal
    yield from track(moments, what, total=count, console=console, transient=True, disable=hidden)
