# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex launch`: run a ROS 2 YAML launch file, with or without ROS 2's own launch system."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from drex_ros.launching.actions import plan
from drex_ros.launching.arguments import (
    check_known,
    declared_arguments,
    format_arguments,
    parse_arguments,
)
from drex_ros.launching.errors import LaunchError, SubstitutionError, UnsupportedError, listed
from drex_ros.launching.output import Output
from drex_ros.launching.packages import package_share
from drex_ros.launching.plan import TIMEOUTS, Plan
from drex_ros.launching.supervisor import Supervisor

PACKAGE = 'drex_ros'
ENDINGS = ('.launch.yaml', '.launch.yml')


def run(
    file: str | Path,
    arguments: Sequence[str] = (),
    *,
    show_args: bool = False,
    native: bool | None = None,
) -> int:
    """Run a launch file to its end and return its exit code.

    Args:
        file: a path, or the name of a launch file of drex_ros.
        arguments: `name:=value` for the file's arguments.
        show_args: print the file's arguments and start nothing.
        native: True never hands over to `ros2 launch`; None asks `should_hand_over`.

    Must be called in the main thread, because it handles signals. LaunchError, with one line
    for the user, is raised before anything has started.
    """
    path = resolve_launch_file(file)
    given = parse_arguments(arguments)
    handing_over = not native and should_hand_over()
    with tempfile.TemporaryDirectory(prefix='drex_launch_', ignore_cleanup_errors=True) as folder:
        try:
            declared = declared_arguments(path, given)
            known = {argument.name for argument in declared}
            if show_args:
                check_known(given, known, path)
                print(format_arguments(declared))
                return 0
            result = plan(path, given, Path(folder))
            check_known(given, known | result.declared, path)
        except UnsupportedError:
            if not handing_over:
                raise
        if not handing_over:
            return _supervise(result, Path(folder))
    hand_over(path, given, show_args=show_args)


def _supervise(result: Plan, folder: Path) -> int:
    output = Output()
    try:
        for level, name, message in result.messages:
            output.say(level, name, message)
        if result.shutdown is not None:
            output.say('INFO', 'launch', f'shutdown: {result.shutdown}')
            return 0
        return Supervisor(result, output, folder).run()
    finally:
        output.close()


def resolve_launch_file(name: str | Path) -> Path:
    """Return the launch file at a path, or the one of that name that drex_ros has installed.

    The ending `.launch.yaml` of an installed one may be left out.
    """
    path = Path(name)
    if path.is_file():
        return Path(os.path.abspath(path))
    installed = launch_files()
    if path.name == str(name):
        for candidate in (path.name, *(path.name + ending for ending in ENDINGS)):
            if candidate in installed:
                return installed[candidate]
    raise LaunchError(f"there is no launch file '{name}' (drex_ros has: {listed(installed)})")


def launch_files(package: str = PACKAGE) -> dict[str, Path]:
    """Return the launch files that a package has installed, by file name."""
    try:
        folder = package_share(package, os.environ) / 'launch'
    except SubstitutionError:
        return {}
    return {f.name: f for f in sorted(folder.glob('*')) if f.name.endswith(ENDINGS)}


def should_hand_over() -> bool:
    """Say whether ROS 2's own launch is here and `DREX_LAUNCH_NATIVE` does not forbid it."""
    if os.environ.get('DREX_LAUNCH_NATIVE', '') not in ('', '0'):
        return False
    return shutil.which('ros2') is not None and all(
        importlib.util.find_spec(name) for name in ('launch', 'launch_ros', 'launch_yaml')
    )


def hand_over(path: Path, arguments: Mapping[str, str], *, show_args: bool = False) -> NoReturn:
    """Become `ros2 launch`, with our times for the way down unless others are given."""
    words = [f'{name}:={value}' for name, value in {**TIMEOUTS, **arguments}.items()]
    sys.stdout.flush()
    options = ['--show-args'] if show_args else []
    os.execvp('ros2', ['ros2', 'launch', *options, str(path), *words])
