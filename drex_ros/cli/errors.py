# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of commands that are made of several modules."""


class ViewError(RuntimeError):
    """What was asked for cannot be shown; the message is one readable line."""
