# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The `drex` command."""

# No postponed annotations here: the typer that Ubuntu has cannot read them.
import importlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn, Optional

import typer

from drex_ros import __version__

# Typer's newest versions raise errors of their own, those that Ubuntu has raise click's.
UsageError: type[Exception] = getattr(typer, 'TyperException', None) or (
    importlib.import_module('click').ClickException
)

app = typer.Typer(
    name='drex',
    help='A Franka arm with an Allegro hand in ROS 2, simulated in MuJoCo.',
    epilog='Each command has its own --help.',
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={'help_option_names': ['-h', '--help']},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f'drex {__version__}')
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option('--version', callback=_version, is_eager=True, help='Show the version.'),
    ] = False,
) -> None:
    """A Franka arm with an Allegro hand in ROS 2, simulated in MuJoCo."""


@app.command()
def launch(
    file: Annotated[
        str,
        typer.Argument(help='A launch file, or the name of one of drex_ros: drex.launch.yaml.'),
    ],
    arguments: Annotated[
        Optional[list[str]],  # noqa: UP045 (Ubuntu's typer knows no `| None`)
        typer.Argument(metavar='NAME:=VALUE', help="Values for the file's arguments."),
    ] = None,
    show_args: Annotated[
        bool, typer.Option('--show-args', '-s', help="Show the file's arguments; start nothing.")
    ] = False,
    native: Annotated[
        bool,
        typer.Option('--native', help='Run the file here even where ros2 launch is installed.'),
    ] = False,
) -> None:
    """Run a ROS 2 YAML launch file, also on a machine without ROS's own launch.

    Ctrl-C stops everything in order. Where ros2 launch is installed, it is given the file.

    The part of the format that is understood without it is in docs/launch.md.
    """
    from drex_ros.launching import LaunchError, run

    try:
        code = run(file, arguments or [], show_args=show_args, native=native or None)
    except LaunchError as error:
        _fail('launch', error)
    raise typer.Exit(code)


@app.command()
def doctor(
    json: Annotated[bool, typer.Option('--json', help='Print the findings as JSON.')] = False,
) -> None:
    """Check this machine: one line for each thing, with the remedy where it is not right."""
    from drex_ros.cli.doctor import report

    raise typer.Exit(report(as_json=json))


@app.command()
def demo(
    verbose: Annotated[
        bool, typer.Option('--verbose', '-v', help="Show the nodes' own output, too.")
    ] = False,
    log: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help='Folder for the log; default: below ~/.ros/log.'),
    ] = None,
) -> None:
    """Bring the stack up in simulation, move the robot through it, and stop it again."""
    from drex_ros.cli.demo import DemoError, run_demo
    from drex_ros.domain import NoFreeDomainError

    try:
        with _interruptible('demo'):
            run_demo(verbose=verbose, log=log)
    except (DemoError, NoFreeDomainError) as error:
        _fail('demo', error, code=1)


@app.command()
def view(
    thing: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            '--object', help="Object of the library or its YAML file; 'none'; default: mug."
        ),
    ] = None,
    scene: Annotated[str, typer.Option(help='Scene of config/scenes, or its file.')] = 'table',
    hand: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='right or left; default: that of the running stack, else right.'),
    ] = None,
    posture: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='home, reach or grasp; default: reach.'),
    ] = None,
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option('--output', '-o', help='Write this .png, .jpg or .mp4; else open a window.'),
    ] = None,
    size: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='Of the picture in pixels, as 1280x960.'),
    ] = None,
    camera: Annotated[
        str, typer.Option(help="view, or sensor: as the robot's camera sees it.")
    ] = 'view',
    seconds: Annotated[float, typer.Option(help='Length of a video, simulated.')] = 4.0,
    exposures: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(help='Drawings a picture is the mean of: fewer are faster.'),
    ] = None,
    live: Annotated[
        bool, typer.Option('--live', help='Show the running stack, from mock/scene.')
    ] = False,
    namespace: Annotated[str, typer.Option(help='Of the running stack, for --live.')] = '',
) -> None:
    """See the robot: in a window, or as a picture or video file.

    A video shows the robot moving under its own controller; with --live, what the stack does.
    """
    from drex_ros.cli.errors import ViewError
    from drex_ros.cli.view import ViewOptions, show

    options = ViewOptions(
        thing, scene, hand, posture, output, size, camera, seconds, exposures, live, namespace
    )
    try:
        with _interruptible('view'):
            show(options)
    except ViewError as error:
        _fail('view', error)


@app.command()
def objects(
    which: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(metavar='OBJECT', help='Name in the library, or a YAML file to check.'),
    ] = None,
    mesh: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help='Write the mesh of the object to this .stl, .obj or .ply file.'),
    ] = None,
    json: Annotated[bool, typer.Option('--json', help='Print the facts as JSON.')] = False,
) -> None:
    """List the object library; or check one object, of the library or of your own."""
    from drex_ros.cli.objects import show_objects

    raise typer.Exit(show_objects(which, mesh, json))


@app.command()
def track(
    bag: Annotated[Path, typer.Option(help='A rosbag2 folder, or an .mcap or .db3 file.')],
    thing: Annotated[
        str, typer.Option('--object', help='Object of the library, or its YAML file.')
    ],
    output: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option('--output', '-o', help='Folder for the results; default: BAG_OBJECT.'),
    ] = None,
    camera_pose: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help='YAML: position, quaternion of the optical frame; default: simulated.'),
    ] = None,
    video: Annotated[bool, typer.Option('--video/--no-video', help='Write overlay.mp4.')] = True,
    namespace: Annotated[str, typer.Option(help='Of the recorded topics.')] = '',
    backend: Annotated[str, typer.Option(help='mesh, or tag.')] = 'mesh',
    tag: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help='YAML: id, size, position, quaternion of the tag, for --backend tag.'),
    ] = None,
) -> None:
    """Track an object in a recorded bag: poses.csv, smoothed.csv and overlay.mp4."""
    from drex_ros.cli.track import TrackError, TrackOptions, run_track

    options = TrackOptions(bag, thing, output, camera_pose, video, namespace, backend, tag)
    try:
        with _interruptible('track'):
            code = run_track(options)
    except TrackError as error:
        _fail('track', error)
    raise typer.Exit(code)


@app.command()
def sequences(
    output: Annotated[
        Path, typer.Option('--output', '-o', help='Folder; each sequence has its own in it.')
    ],
    split: Annotated[
        str, typer.Option(help='tuning, or scored: which nothing may be tuned on.')
    ] = 'tuning',
    objects: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='Objects of the library, between commas; default: all.'),
    ] = None,
    kinds: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(help='slow, fast, spin, occluded, lifted, between commas; default: all.'),
    ] = None,
    events: Annotated[
        bool,
        typer.Option(
            '--events', help='Losses instead: covered, removed, swapped, teleported objects.'
        ),
    ] = False,
) -> None:
    """Write the tracking benchmark: camera sequences of moving objects, with their truth."""
    from drex_ros.cli.sequences import write_sequences
    from drex_ros.evaluation.motion import EvaluationError
    from drex_ros.hardware.gl import RenderingError

    try:
        with _interruptible('sequences'):
            write_sequences(output, split, objects, kinds, loss_events=events)
    except (EvaluationError, RenderingError) as error:
        _fail('sequences', error)


@app.command()
def calibrate(
    method: Annotated[
        str,
        typer.Option(help='robot: robot and table are the target; board: a board on the hand.'),
    ] = 'robot',
    output: Annotated[
        Path, typer.Option('--output', '-o', help='File for the pose of the camera.')
    ] = Path('camera_pose.yaml'),
    postures: Annotated[int, typer.Option(help='How many to look at.')] = 8,
    move: Annotated[
        bool,
        typer.Option('--move', help='Move the robot; the table must be clear up to 15 cm.'),
    ] = False,
    start: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help='Camera pose to begin with; default: that of the scene.'),
    ] = None,
    scene: Annotated[str, typer.Option(help='Scene of config/scenes, or its file.')] = 'table',
    hand: Annotated[str, typer.Option(help='right or left.')] = 'right',
    namespace: Annotated[str, typer.Option(help='Of the running stack.')] = '',
    patience: Annotated[float, typer.Option(help='Seconds to wait for the next posture.')] = 120.0,
    board: Annotated[
        str, typer.Option(help='charuco:COLUMNSxROWS:SQUARE:TAG or tag:NUMBER:SIZE, in mm.')
    ] = 'charuco:7x5:30:22',
) -> None:
    """Find where the camera is, seen from the base of the robot of the running stack.

    Move the robot from posture to posture, or let --move do it. The robot must rest to be seen.
    """
    from drex_ros.cli.calibrate import (
        CalibrateOptions,
        CalibrationError,
        DrexError,
        run_calibrate,
    )

    options = CalibrateOptions(
        method, output, postures, move, start, scene, hand, namespace, patience, board
    )
    try:
        with _interruptible('calibrate'):
            run_calibrate(options)
    except (CalibrationError, DrexError) as error:
        _fail('calibrate', error)


@contextmanager
def _interruptible(command: str) -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a long command in order, as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        yield
    except KeyboardInterrupt as error:
        number = error.args[0] if error.args else signal.SIGINT
        _fail(command, f'interrupted by {number.name}', code=128 + number)


def _interrupt(number: int, frame: object) -> NoReturn:
    """Leave in order, as with Ctrl-C."""
    raise KeyboardInterrupt(signal.Signals(number))


def _fail(command: str, error: object, code: int = 2) -> NoReturn:
    typer.echo(f'drex {command}: {error}', err=True)
    raise typer.Exit(code)


def main() -> NoReturn:
    """Run the command that the words of the command line name; without any, show the help."""
    try:
        sys.exit(app(sys.argv[1:] or ['--help'], prog_name='drex', standalone_mode=False))
    except UsageError as error:
        typer.echo(_usage(error), err=True)
        sys.exit(2)


def _usage(error: Any) -> str:
    """One line about a wrong command line."""
    context = getattr(error, 'ctx', None)
    path = context.command_path if context else 'drex'
    message = error.format_message().partition(' Did you mean')[0].rstrip('.')
    hint = f'try: {path} --help'
    if message.startswith('No such command'):
        names = (each.name or each.callback.__name__ for each in app.registered_commands
                 if each.callback)  # fmt: skip
        hint = f'there are: {", ".join(names)}'
    return f'{path}: {message[:1].lower()}{message[1:]} ({hint})'


if __name__ == '__main__':
    main()
