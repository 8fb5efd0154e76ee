# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m drex_ros.launching FILE [name:=value ...]`, what `drex launch` does."""

from __future__ import annotations

import argparse
import sys

from drex_ros.launching import LaunchError, run


def main() -> int:
    """Run a launch file and return its exit code."""
    parser = argparse.ArgumentParser(prog='python -m drex_ros.launching')
    parser.add_argument('file', help='a launch file, or the name of one of drex_ros')
    parser.add_argument('arguments', nargs='*', metavar='name:=value')
    parser.add_argument('-s', '--show-args', action='store_true', help="show the file's arguments")
    parser.add_argument('--native', action='store_true', help='never hand over to ros2 launch')
    options = parser.parse_args()
    try:
        return run(
            options.file,
            options.arguments,
            show_args=options.show_args,
            native=options.native or None,
        )
    except LaunchError as error:
        print(f'drex launch: {error}', file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # before anything has started
        return 130


if __name__ == '__main__':
    sys.exit(main())
