# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Where the object is: camera pictures to poses with covariance. No ROS."""
