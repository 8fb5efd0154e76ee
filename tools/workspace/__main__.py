# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Make the workspace ready: Python environment, ROS 2, interfaces, package.

Called by every `make` target before it does its own work. Needs nothing but the standard library,
does nothing when everything is in place (about 0.2 s), and never leaves a half-made environment
that a later run would trust: each step writes its stamp last.
"""

from __future__ import annotations

import argparse
import fcntl
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import system
from steps import Progress, SetupError

import build

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def exclusive(root: Path, progress: Progress) -> Iterator[None]:
    """Keep a second `make` in the same folder waiting until this one has finished its set-up."""
    with (root / '.workspace.lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.note('another set-up is running in this folder; waiting for it')
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prepare(root: Path, progress: Progress) -> None:
    """Bring environment and build up to date."""
    system.check_folder(root)
    ros = system.find_ros()
    interpreter = system.find_python(ros)
    env = environment.Environment(root, interpreter, ros)
    if not env.is_current():
        system.check_build_tools(interpreter, progress)
        env.make(progress)
    system.check_rendering(progress)
    workspace = build.Workspace(root, env)
    workspace.build(progress)
    workspace.compile(progress)


def main() -> int:
    parser = argparse.ArgumentParser(prog='make setup', description=__doc__)
    parser.add_argument('--quiet', action='store_true', help='say nothing when nothing is done')
    parser.add_argument(
        '--lock', action='store_true', help='only write requirements/lock.txt from what .venv has'
    )
    arguments = parser.parse_args()
    progress = Progress()
    start = time.monotonic()
    try:
        with exclusive(ROOT, progress):
            if arguments.lock:
                environment.write_lock(ROOT, progress)
                return 0
            prepare(ROOT, progress)
    except SetupError as error:
        progress.failed(str(error))
        return 1
    except OSError as error:
        progress.failed(f'{error} (is the disk full, or was this folder made by another user?)')
        return 1
    except KeyboardInterrupt:
        progress.failed('interrupted; the next run starts the unfinished step again')
        return 130
    if progress.steps or not arguments.quiet:
        progress.note(f'workspace ready ({time.monotonic() - start:.1f} s)')
    return 0


if __name__ == '__main__':
    sys.exit(main())
