# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Weigh an object by pushing it, then grasp it with the right force."""

__version__ = '0.1.0'
