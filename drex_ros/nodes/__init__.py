# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS nodes, one a file: parameters, topics, quality of service and lifecycle; no maths."""

import signal
import sys
import threading

# A node process that is interrupted while it still imports has nothing to tidy up: it ends
# without a traceback. `run` takes the signals over.
if '--ros-args' in sys.argv and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
