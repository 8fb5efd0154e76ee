# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The differentiable twin: a simulator of one push, and what it tells about the object."""
