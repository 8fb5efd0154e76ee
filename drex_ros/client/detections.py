# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the tracker answers when it is asked to look for an object."""

from __future__ import annotations

from typing import NamedTuple

from drex_ros.perception.estimate import ObjectEstimate


class DetectResult(NamedTuple):
    """Whether the object was found, and where."""

    found: bool
    score: float
    """0 to 1: how well model and picture agree."""
    message: str
    """In words: found, not there, ambiguous, or why nobody could look."""
    track: ObjectEstimate
    """Where it is; its state is None when it was not found."""
