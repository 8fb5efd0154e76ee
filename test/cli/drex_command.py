# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The installed `drex` command, and copies of the installed package that tests may break."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from drex_ros.launching.packages import package_share

ROOT = Path(__file__).resolve().parents[2]


def drex_command(*arguments: str) -> list[str]:
    """Command line of `drex`: the installed one, else the one of the sources."""
    installed = shutil.which('drex')
    return [*([installed] if installed else [sys.executable, str(ROOT / 'bin/drex')]), *arguments]


def run_drex(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `drex` to its end, as a pipe sees it, 80 columns wide."""
    return subprocess.run(
        drex_command(*arguments),
        cwd=cwd,
        env={**os.environ, 'COLUMNS': '80', **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120.0,
        check=False,
    )


def overlay(folder: Path) -> tuple[Path, dict[str, str]]:
    """Copy the installed package into a prefix that is found first: its share, and variables."""
    installed = package_share('drex_ros', os.environ)
    share = folder / 'prefix/share/drex_ros'
    shutil.copytree(installed, share)
    shutil.copytree(installed.parents[1] / 'lib/drex_ros', folder / 'prefix/lib/drex_ros')
    index = folder / 'prefix/share/ament_index/resource_index/packages/drex_ros'
    index.parent.mkdir(parents=True)
    index.touch()
    path = f'{folder / "prefix"}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}'
    return share, {'AMENT_PREFIX_PATH': path}
