# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the machine itself must offer: a Python, perhaps a ROS, a compiler, libraries to render."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from steps import Progress, SetupError, run

SUPPORTED_PYTHON = ((3, 11), (3, 13))
RENDERING_PACKAGES = ('libegl1', 'libegl-mesa0', 'libgl1-mesa-dri')


@dataclass(frozen=True)
class Ros:
    """A sourced ROS 2 installation."""

    distro: str
    prefix: Path


@dataclass(frozen=True)
class Interpreter:
    """The Python that the environment is made with."""

    path: Path
    version: tuple[int, int, int]


def find_ros(environ: dict[str, str] | None = None) -> Ros | None:
    """Return the sourced ROS 2 Jazzy, or None when no ROS is sourced."""
    environ = dict(os.environ) if environ is None else environ
    distro = environ.get('ROS_DISTRO', '')
    prefixes = [Path(p) for p in environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]
    rclpy = next((p for p in prefixes if (p / 'share/rclpy/package.xml').is_file()), None)
    # A virtual environment, such as ours sourced in this shell, is no ROS of the machine's. Not
    # told by our stamp: a half-made environment has none.
    if rclpy is None or (rclpy / 'pyvenv.cfg').is_file():
        return None
    if distro and distro != 'jazzy':
        raise SetupError(
            f'ROS 2 {distro} is sourced; drex_ros needs jazzy. Source /opt/ros/jazzy/setup.bash, '
            'or open a shell with no ROS sourced to use the one from PyPI.'
        )
    return Ros('jazzy', rclpy)


def check_folder(root: Path) -> None:
    """Refuse a folder whose name colcon's scripts and search paths cannot take."""
    bad = sorted({character for character in str(root) if character in ' \t\n:;"\'$`\\*?'})
    if bad:
        named = ', '.join('a space' if character == ' ' else repr(character) for character in bad)
        raise SetupError(
            f'the folder {str(root)!r} has {named} in its path, which colcon cannot take. '
            'Move or clone the repository to another folder.'
        )


def find_python(ros: Ros | None) -> Interpreter:
    """Return the interpreter to use: this one where it fits, else a newer or older one in PATH."""
    if sys.platform != 'linux' or (ros is None and platform.machine() != 'x86_64'):
        raise SetupError(
            f'ROS 2 from PyPI exists for Linux on x86_64; this is {sys.platform} on '
            f'{platform.machine()}. Install and source ROS 2 Jazzy instead.'
        )
    # Where .venv is sourced, this is the Python in it, which goes when .venv is made anew.
    base = str(getattr(sys, '_base_executable', '') or sys.executable)
    here = Interpreter(Path(base), sys.version_info[:3])
    if ros is not None or SUPPORTED_PYTHON[0] <= here.version[:2] <= SUPPORTED_PYTHON[1]:
        return here
    for minor in (12, 11, 13):
        path = shutil.which(f'python3.{minor}')
        version = _version(path) if path else None
        if path and version:
            return Interpreter(Path(path), version)
    raise SetupError(
        f'Python {platform.python_version()} found; ROS 2 Jazzy from PyPI needs '
        '3.11 to 3.13. Install one, or name it: make PYTHON=/path/to/python3.12 ...'
    )


def _version(python: str) -> tuple[int, int, int] | None:
    """Version of an interpreter, or None when it does not start (pyenv's shims may not)."""
    code = 'import sys; print(*sys.version_info[:3])'
    result = subprocess.run([python, '-c', code], capture_output=True, text=True, check=False)
    numbers = result.stdout.split()
    if result.returncode != 0 or len(numbers) != 3:
        return None
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def check_build_tools(interpreter: Interpreter, progress: Progress) -> None:
    """Check compiler, Python's headers and venv; install what is missing when we are root."""
    minor = f'python{interpreter.version[0]}.{interpreter.version[1]}'
    missing: dict[str, str] = {}
    if not any(shutil.which(name) for name in ('c++', 'g++', 'clang++')):
        missing['a C++ compiler'] = 'g++'
    if not shutil.which('make'):
        missing['make'] = 'make'
    probe = (
        'import ensurepip, os, sysconfig, venv;'
        'print(os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")))'
    )
    result = subprocess.run(
        [str(interpreter.path), '-c', probe], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        missing['the venv module of Python'] = f'{minor}-venv'
    elif result.stdout.strip() != 'True':
        missing["Python's headers (Python.h)"] = f'{minor}-dev'
    if missing and not _apt_install(list(missing.values()), progress):
        raise SetupError(
            f'missing: {", ".join(missing)}. Install with: '
            f'sudo apt-get install {" ".join(missing.values())}'
        )


def rendering_available() -> bool:
    """Tell whether an off-screen OpenGL library can be loaded."""
    return any(_loads(name) for name in ('libEGL.so.1', 'libOSMesa.so.8', 'libOSMesa.so.6'))


def check_rendering(progress: Progress) -> None:
    """Look for off-screen OpenGL; install it as root, else say how. Only cameras need it."""
    if rendering_available() or _apt_install(RENDERING_PACKAGES, progress):
        return
    progress.warn(
        'no off-screen OpenGL (libEGL.so.1) found: simulated cameras will not work. '
        f'Install with: sudo apt-get install {" ".join(RENDERING_PACKAGES)}'
    )


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _apt_install(packages: list[str] | tuple[str, ...], progress: Progress) -> bool:
    """Install Debian packages when we are root and apt is here; tell whether it worked."""
    if os.geteuid() != 0 or not shutil.which('apt-get'):
        return False
    log = Path(__file__).resolve().parents[2] / 'log/setup/apt.log'
    environ = {**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'}
    try:
        with progress.step(f'system packages: {" ".join(packages)}'):
            run(['apt-get', 'update'], log, env=environ)
            install = ['apt-get', 'install', '-y', '--no-install-recommends', *packages]
            run(install, log, env=environ)
    except SetupError as error:
        progress.warn(f'apt-get could not install {" ".join(packages)}: {error}')
        return False
    return True
