# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Build `drex_interfaces` and `drex_ros` with colcon, each only when its sources have changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from environment import Environment
from steps import Progress, run

# What each package is built from, relative to the root.
SOURCES = {
    'drex_interfaces': ('drex_interfaces',),
    'drex_ros': (
        'drex_ros', 'launch', 'config', 'urdf', 'resource', 'bin',
        'package.xml', 'setup.py', 'setup.cfg',
    ),
}  # fmt: skip
# Layers with functions that are compiled, each with its program `warm_up`.
COMPILED = ('control', 'perception')
TIMES = {'drex_interfaces': 'one to two minutes', 'drex_ros': 'a few seconds'}


class Workspace:
    """The colcon workspace: sources in the root, results in build/ and install/."""

    def __init__(self, root: Path, env: Environment) -> None:
        self.root = root
        self.env = env

    def stamp_path(self, package: str) -> Path:
        return self.root / 'install' / f'.{package}.stamp'

    def wanted(self, package: str) -> dict[str, str]:
        """What the stamp of a package must say: environment, sources, and what it is built on."""
        digest = hashlib.sha256()
        for path in source_files(self.root, SOURCES[package]):
            digest.update(str(path.relative_to(self.root)).encode() + b'\0')
            digest.update(path.read_bytes() + b'\0')
        environment = hashlib.sha256(self.env.stamp_path.read_bytes()).hexdigest()
        return {'sources': digest.hexdigest(), 'environment': environment}

    def is_current(self, package: str) -> bool:
        try:
            stamp = json.loads(self.stamp_path(package).read_text())
        except (OSError, ValueError):
            return False
        if not isinstance(stamp, dict) or not (self.root / 'install/local_setup.bash').is_file():
            return False
        installed = stamp.pop('installed', None)
        return stamp == self.wanted(package) and installed == self._installed(package)

    def _installed(self, package: str) -> str:
        """Digest of the names and sizes of all installed files."""
        digest = hashlib.sha256()
        for path in source_files(self.root / 'install', [package]):
            digest.update(f'{path}\0{path.stat().st_size}\0'.encode())
        return digest.hexdigest()

    def build(self, progress: Progress) -> None:
        """Build what has changed."""
        for package in SOURCES:
            if self.is_current(package):
                continue
            with progress.step(f'colcon build {package}', TIMES[package]):
                self._build(package)

    def compile(self, progress: Progress) -> None:
        """Have compiled what controller and tracker would else compile at their first start."""
        stamp = self.root / 'install/.compiled'
        wanted = self.stamp_path('drex_ros').read_text()
        if stamp.is_file() and stamp.read_text() == wanted:
            return
        programs = ' && '.join(f'python -m drex_ros.{layer}.warm_up' for layer in COMPILED)
        script = f'. "{self.env.path}/setup.bash" && {programs}'
        with progress.step('compile control laws and tracker', 'one to two minutes'):
            run(
                ['bash', '-c', script],
                self.root / 'log/setup/compile.log',
                env=self.env.variables(),
                cwd=self.root / 'install',
            )
        temporary = stamp.with_suffix('.tmp')
        temporary.write_text(wanted)
        temporary.replace(stamp)

    def _build(self, package: str) -> None:
        stamp = self.stamp_path(package)
        wanted = self.wanted(package)
        # CMake caches paths of its environment, setuptools keeps modules whose source is gone.
        if package == 'drex_ros' or not self._same_environment(stamp, wanted):
            shutil.rmtree(self.root / 'build' / package, ignore_errors=True)
        stamp.unlink(missing_ok=True)
        # Files that were deleted from the sources must go from the installation, too.
        shutil.rmtree(self.root / 'install' / package, ignore_errors=True)
        run(
            [
                self.env.python, '-m', 'colcon', 'build',
                '--base-paths', '.', 'drex_interfaces',
                '--packages-select', package,
                '--cmake-args', '-DCMAKE_BUILD_TYPE=Release',
                f'-DPython3_EXECUTABLE={self.env.python}',
            ],
            self.root / f'log/setup/{package}.log',
            env=self.env.variables(),
            cwd=self.root,
        )  # fmt: skip
        temporary = stamp.with_suffix('.tmp')
        temporary.write_text(json.dumps({**wanted, 'installed': self._installed(package)}))
        temporary.replace(stamp)

    @staticmethod
    def _same_environment(stamp: Path, wanted: dict[str, str]) -> bool:
        try:
            return bool(json.loads(stamp.read_text())['environment'] == wanted['environment'])
        except (OSError, ValueError, KeyError, TypeError):
            return False


def source_files(root: Path, names: Iterable[str]) -> list[Path]:
    """All files below the named files and folders, sorted, without Python's caches."""
    found: list[Path] = []
    for name in names:
        top = root / name
        if top.is_file():
            found.append(top)
        for folder, folders, files in os.walk(top):
            folders[:] = [f for f in folders if f != '__pycache__' and not f.endswith('.egg-info')]
            found += [Path(folder) / file for file in files if not file.endswith('.pyc')]
    return sorted(found)
