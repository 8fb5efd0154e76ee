# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Installed ROS packages and their executables, read from the ament index."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from drex_ros.launching.errors import SubstitutionError, listed

INDEX = Path('share', 'ament_index', 'resource_index', 'packages')


def prefixes(environment: Mapping[str, str]) -> list[Path]:
    """Return the install prefixes of `AMENT_PREFIX_PATH`, first wins."""
    return [Path(p) for p in environment.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]


def package_prefix(package: str, environment: Mapping[str, str]) -> Path:
    """Return the prefix that `package` is installed under."""
    for prefix in prefixes(environment):
        if package and (prefix / INDEX / package).is_file():
            return prefix
    searched = os.pathsep.join(map(str, prefixes(environment))) or 'empty'
    raise SubstitutionError(
        f"package '{package}' is not installed (AMENT_PREFIX_PATH is {searched}; "
        'is the workspace built and its setup file sourced?)'
    )


def package_share(package: str, environment: Mapping[str, str]) -> Path:
    """Return the share folder of `package`."""
    return package_prefix(package, environment) / 'share' / package


def executables(package: str, environment: Mapping[str, str]) -> list[str]:
    """Return the names of what `package` offers to run."""
    folder = package_prefix(package, environment) / 'lib' / package
    if not folder.is_dir():
        return []
    return sorted(f.name for f in folder.iterdir() if f.is_file() and os.access(f, os.X_OK))


def package_executable(package: str, executable: str, environment: Mapping[str, str]) -> str:
    """Return the path of `executable` of `package`."""
    folder = package_prefix(package, environment) / 'lib' / package
    found = shutil.which(executable, path=str(folder))
    if found is None:
        raise SubstitutionError(
            f"package '{package}' has no executable '{executable}' "
            f'(it has: {listed(executables(package, environment))})'
        )
    return found


def program(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program that is found on the PATH."""
    found = shutil.which(name, path=environment.get('PATH', os.defpath))
    if found is None:
        raise SubstitutionError(f"program '{name}' is not on the PATH")
    return found
