# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the process that nobody uses any more."""

from __future__ import annotations

import ctypes


def give_back() -> None:
    """Give freed memory back to the system.

    A model of the robot with its meshes takes 100 MB. After many changes of the object glibc
    would keep several of them for later; other C libraries have no such call and need none.
    """
    trim = getattr(ctypes.CDLL(None), 'malloc_trim', None)
    if trim is not None:
        trim(0)
