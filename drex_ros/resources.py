# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where the package's own files are, and where it keeps what is costly to make."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


class ResourceError(RuntimeError):
    """A file of the package is missing; the message is one readable line."""


def share_file(name: str) -> Path:
    """A file or folder of the package (`config/...`, `urdf/...`), in the sources or installed."""
    for folder in _share_folders():
        path = folder / name
        if path.exists():
            return path
    raise ResourceError(f'{name} of drex_ros not found: build and install the package')


def cache_folder(name: str) -> Path:
    """A folder for results that can be made again, below $XDG_CACHE_HOME/drex_ros. Made here."""
    base = os.environ.get('XDG_CACHE_HOME', '')
    # The specification tells to ignore a relative path.
    root = Path(base) if os.path.isabs(base) else Path.home() / '.cache'
    folder = root / 'drex_ros' / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write a .npz file whole or not at all: others may read or write it at the same time."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix='.part')
    try:
        with os.fdopen(handle, 'wb') as file:
            np.savez(file, **arrays)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def ament_prefixes() -> list[Path]:
    """Folders in which ROS packages are installed."""
    return [Path(p) for p in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if p]


@cache
def _share_folders() -> tuple[Path, ...]:
    here = Path(__file__).resolve()
    return (
        here.parents[1],
        *(parent / 'share' / 'drex_ros' for parent in here.parents),
        *(prefix / 'share' / 'drex_ros' for prefix in ament_prefixes()),
    )
