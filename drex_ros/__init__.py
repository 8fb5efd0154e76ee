# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A Franka arm with an Allegro hand in ROS 2, simulated in MuJoCo."""

__version__ = '0.1.0'
