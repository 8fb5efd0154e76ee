# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot as data: joint names and limits, state and command types, its one description."""
