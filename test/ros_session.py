# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A test session: a ROS domain of its own, and what it would leave behind.

Nothing may be left behind: every process of a session carries a mark in its environment, by which
`left_processes` finds it (and its children) again, and shared-memory files are told by the
processes that had them mapped.
"""

import contextlib
import fcntl
import gc
import os
import re
import signal
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from drex_ros.domain import Domain
from drex_ros.resources import cache_folder

MARK = 'DREX_TEST_SESSION'
SHM = Path('/dev/shm')
# Generous, because a loaded two-core machine starts a node in seconds.
TIMEOUT = 30.0
# Shared-memory files that processes of this session had mapped.
_SEEN: set[str] = set()
# Those of processes that a test killed, and that could not remove them.
_KILLED: set[str] = set()


def session_environment(domain: Domain, folder: Path) -> dict[str, str | None]:
    """Environment of a test session; None means that the variable must not be set."""
    # Compiled kernels go by the content of their sources: no other version's are among them.
    kernels = folder / 'cache/drex_ros/kernels'
    kernels.parent.mkdir(parents=True)
    kernels.symlink_to(cache_folder('kernels'))
    return {
        **domain.variables,
        'ROS_LOCALHOST_ONLY': None,
        'ROS_STATIC_PEERS': None,
        'ROS_NAMESPACE': None,
        'ROS_LOG_DIR': str(folder / 'ros_log'),
        # What another version left in the user's cache must not decide a test.
        'XDG_CACHE_HOME': str(folder / 'cache'),
        'DREX_OBJECTS': None,
        'RCUTILS_COLORIZED_OUTPUT': '0',
        'PYTHONUNBUFFERED': '1',
        MARK: uuid.uuid4().hex,
    }


# Processes and shared memory of the session


def session_processes() -> dict[int, str]:
    """Living processes that this session started, directly or not: pid and command line."""
    mark = f'{MARK}={os.environ[MARK]}'.encode()
    found = {}
    for folder in Path('/proc').iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark in (folder / 'environ').read_bytes().split(b'\0'):
                command = (folder / 'cmdline').read_bytes().replace(b'\0', b' ').decode()
                found[int(folder.name)] = command.strip()
        except OSError:  # it ended meanwhile, or it belongs to someone else
            continue
    return found


def mapped_segments(pid: int) -> set[str]:
    """Names of the Fast DDS shared-memory files that a process has mapped."""
    try:
        maps = (Path('/proc') / str(pid) / 'maps').read_text()
    except OSError:
        return set()
    return set(re.findall(r'/dev/shm/(fastrtps_\w+)', maps))


def note_segments(pid: int) -> None:
    """Remember the shared memory of a process, to find it again when the process is dead."""
    _SEEN.update(mapped_segments(pid))


def remove_orphaned_segments(names: set[str]) -> None:
    """Remove shared-memory files that no living process uses any more."""
    used: set[str] = set()
    for folder in Path('/proc').iterdir():
        if folder.name.isdigit():
            used |= mapped_segments(int(folder.name))
    for name in names - used:
        with contextlib.ExitStack() as stack:
            # Users of a file lock its `_el` companion; one may have come since we looked.
            try:
                lock = stack.enter_context((SHM / f'{name}_el').open())
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except FileNotFoundError:
                pass
            except BlockingIOError:
                continue
            for file in (name, f'{name}_el', f'sem.{name}_mutex'):
                (SHM / file).unlink(missing_ok=True)


def kill_process(pid: int) -> None:
    """SIGKILL a process of the session."""
    note_killed(pid)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not _is_running(pid), what=f'process {pid} to be gone')


def note_killed(pid: int) -> None:
    """Remember the shared memory of a process that is about to be killed by the test."""
    _KILLED.update(mapped_segments(pid))


def remove_killed_segments() -> None:
    """Remove what killed processes left; after the test, when nobody opens the files any more."""
    remove_orphaned_segments(_KILLED)
    _KILLED.intersection_update(_segment_files())


def _is_running(pid: int) -> bool:
    try:
        state = (Path('/proc') / str(pid) / 'stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state != 'Z'


def wait_until(
    predicate: Callable[[], object], timeout: float = TIMEOUT, what: str = 'a condition'
) -> None:
    """Wait until `predicate()` is true; AssertionError after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not predicate():
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {timeout:g} s for {what}')
        time.sleep(0.01)


class Leftovers:
    """Finds what a test session leaves behind."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._before = _segment_files()

    def look(self) -> None:
        """Note the shared memory of the session's processes; called after each test."""
        for pid in session_processes():
            note_segments(pid)

    def collect(self) -> list[str]:
        """What is left: processes (they are killed) and shared-memory files (removed)."""
        # A ROS context of the test's own process lets go of its files when Python frees it.
        gc.collect()
        self.look()
        left = [f'process {pid}: {command}' for pid, command in session_processes().items()]
        for pid in session_processes():
            kill_process(pid)
        ours = {name for name in _segment_files() - self._before if self._is_ours(name)}
        # What a failed test keeps alive here goes with this process.
        ours -= mapped_segments(os.getpid())
        left += [f'file /dev/shm/{name}' for name in sorted(ours)]
        # Ports that all domains share are no fault of ours, but the last one out removes them.
        remove_orphaned_segments(ours | _SEEN)
        return left

    def _is_ours(self, name: str) -> bool:
        port = re.fullmatch(r'fastrtps_port(\d+)', name)
        if port is None:
            return name in _SEEN
        # Every domain has 250 ports of its own, from 7400 on; those below belong to all.
        return (int(port[1]) - 7400) // 250 == self._domain.number


def _segment_files() -> set[str]:
    return {path.name for path in SHM.glob('fastrtps_*') if not path.name.endswith('_el')}


def process_group(leader: int) -> list[int]:
    """Living members of a process group."""
    members = []
    for folder in Path('/proc').iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / 'stat').read_text().rpartition(')')[2].split()
            except OSError:
                continue
            if fields[0] != 'Z' and int(fields[2]) == leader:
                members.append(int(folder.name))
    return members
