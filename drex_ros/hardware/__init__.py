# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a robot backend must do, and the backends."""
