# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How well the stack does: generated camera sequences with their truth, and scores."""
