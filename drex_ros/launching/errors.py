# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a launch file, its arguments or the packages it names."""

from __future__ import annotations

from collections.abc import Iterable


class LaunchError(Exception):
    """A launch that cannot be started; the message is one line for the user."""


class UnsupportedError(LaunchError):
    """A launch file that may be right, but uses what only `ros2 launch` knows."""


class SubstitutionError(Exception):
    """A `$(...)` that cannot be read or has no value; the caller adds file and line."""


class UnsupportedSubstitution(SubstitutionError):
    """A substitution that only `ros2 launch` knows."""


def listed(names: Iterable[str]) -> str:
    """Names for the end of an error message: sorted, comma separated, or `none`."""
    return ', '.join(sorted(names)) or 'none'
