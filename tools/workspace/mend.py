# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mend the CMake files of the ROS wheels.

The generated message packages export the include folders of the machine they were built on
(`/opt/python/cp311-cp311/include/python3.11` and NumPy's below it). They do not exist here, and
CMake refuses to generate with them. Both are pointed at this interpreter's own folders.
"""

from __future__ import annotations

import re
from pathlib import Path

# Count up when the mending changes: environments mended the old way are made anew.
MEND_VERSION = 1

_PYTHON_INCLUDE = re.compile(r'/opt/python/cp\d+-cp\d+t?/include/python\d+\.\d+t?')
_NUMPY_INCLUDE = re.compile(
    r'/opt/python/cp\d+-cp\d+t?/lib/python\d+\.\d+t?/site-packages/numpy/(?:_core|core)/include'
)


def mend_text(text: str, python_include: str, numpy_include: str) -> str:
    """Replace the build machine's folders in the text of one CMake file."""
    text = _NUMPY_INCLUDE.sub(lambda _: numpy_include, text)
    return _PYTHON_INCLUDE.sub(lambda _: python_include, text)


def mend_wheels(prefix: Path, python_include: str, numpy_include: str) -> int:
    """Mend every exported CMake file below `prefix`/share; return how many were changed."""
    changed = 0
    for path in sorted(prefix.glob('share/*/cmake/*.cmake')):
        text = path.read_text()
        mended = mend_text(text, python_include, numpy_include)
        if mended != text:
            path.write_text(mended)
            changed += 1
    return changed
