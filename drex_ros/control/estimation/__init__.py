# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the world does to the robot, estimated from its joints: torques, forces, mass, slip.

Each part is one compiled function on arrays; `estimator.Estimator` runs them in turn.
"""
