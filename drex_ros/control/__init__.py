# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Control laws, targets and watchdogs as plain functions on data."""
