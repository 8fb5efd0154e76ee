# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Compiled functions: what a control cycle has no time to do in Python.

    @kernel
    def add(a, b, out):
        for i in range(a.shape[0]):
            out[i] = a[i] + b[i]

numba compiles a kernel when it is first called and keeps the result. It looks at the file of a
kernel for changes, not at those of the kernels that it calls; so what is kept goes by all that it
may call: the kernels of its own layer and of `robot/`.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from drex_ros.resources import cache_folder

_MARK = b'@kernel\n'
_BASE = 'robot'  # layer whose kernels all others may call
_OLD = 30 * 24 * 3600.0  # [s] after which results that nobody used are removed


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function of numbers and arrays; its result is kept for the next process."""
    before = numba.config.CACHE_DIR
    # Where results are kept is read once, by the decorator; others keep their own place.
    numba.config.CACHE_DIR = before or str(_folder(_layer(function)))
    try:
        # A division by zero gives infinity, as in numpy, which the rules of safety see.
        return numba.njit(cache=True, error_model='numpy')(function)
    finally:
        numba.config.CACHE_DIR = before


def _layer(function: Callable[..., Any]) -> str:
    """The layer of a kernel: the folder below drex_ros that has it; empty for any other place."""
    package, _, rest = function.__module__.partition('.')
    return rest.partition('.')[0] if package == __package__ else ''


@cache
def _folder(layer: str) -> Path:
    """Of the results of a layer's kernels as they are now."""
    package = Path(__file__).parent
    folders = (package / layer, package / _BASE) if layer else (package,)
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted({path for folder in folders for path in folder.rglob('*.py')}):
        text = path.read_bytes()
        if _MARK in text:
            digest.update(text)
    root = cache_folder('kernels')
    folder = root / digest.hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    folder.touch()
    for other in root.iterdir():
        if other.stat().st_mtime < time.time() - _OLD:
            shutil.rmtree(other, ignore_errors=True)
    return folder
