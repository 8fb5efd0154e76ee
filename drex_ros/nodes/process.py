# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A node as a process: start, signals, exit codes.

Exit codes: 0 after SIGINT, SIGTERM, SIGHUP or a shutdown transition; 2 when the user gave
something wrong (one line on stderr); 1 when the program is wrong (a traceback on stderr).
"""

import contextlib
import re
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING

import rclpy
from rclpy.exceptions import InvalidHandle, InvalidParameterTypeException
from rclpy.executors import SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.logging import get_logger
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args, try_shutdown

from drex_ros.nodes.entities import ReadyCheck
from drex_ros.nodes.parameters import ParameterError

if TYPE_CHECKING:
    from drex_ros.nodes.base import ManagedNode

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A signal this long after the first one interrupts a node that does not come to its end [s].
_PATIENCE = 3.0
# The executor looks for itself after this long without a look [s].
_LOOK = 0.1


class ConfigurationError(RuntimeError):
    """The node cannot be configured or activated as asked; the message is one line."""


class StopRequest:
    """Whether the process has been asked to end. Cheap to read: `stop.requested`."""

    def __init__(self) -> None:
        self.requested = False


class _Forced(BaseException):
    """A late second signal: leave the callback that does not end."""


class _StopSignals(StopRequest):
    """Turns SIGINT, SIGTERM and SIGHUP into a stop request.

    rclpy's own handlers shut the context down at once, so that a node could not say goodbye. A
    Python handler alone runs only when the main thread leaves rcl's wait, so a thread that reads
    the signal wake-up descriptor ends that wait.
    """

    def __init__(self) -> None:
        super().__init__()
        self.wake: Callable[[], None] = lambda: None
        self._first = 0.0
        self._read, self._write = socket.socketpair()
        self._write.setblocking(False)
        signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            # Under nohup SIGHUP is ignored, and that is to stay; a shell in the background
            # ignores SIGINT, which launchers send.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)
        threading.Thread(target=self._watch, name='signals', daemon=True).start()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if not self._first:
            self._first = now
        self.requested = True
        if now - self._first > _PATIENCE:
            raise _Forced(signal.Signals(number).name)

    def _watch(self) -> None:
        while self._read.recv(16):
            self.requested = True
            with contextlib.suppress(InvalidHandle):  # the executor may be gone by now
                self.wake()

    def close(self) -> None:
        """Ignore signals from here on: the process ends, and a late one must not spoil that."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        self.wake = lambda: None


def run(node_class: 'type[ManagedNode]', args: Sequence[str] | None = None) -> int:
    """Run one node until it is asked to stop; returns the exit code of the process.

    To be called once, from the main thread, as the last thing of a process.
    """
    stop = _StopSignals()
    try:
        return _run(node_class, args, stop)
    except (ParameterError, ConfigurationError) as error:
        _say(node_class.NAME, str(error))
        return 2
    except _Forced as signal_name:
        _say(node_class.NAME, f'did not stop within {_PATIENCE:g} s, ended by {signal_name}')
        return 1
    except Exception:
        traceback.print_exc()
        return 1
    finally:
        stop.close()
        try_shutdown()
        with contextlib.suppress(OSError):  # nobody may be reading any more
            sys.stdout.flush()


def _run(node_class: 'type[ManagedNode]', args: Sequence[str] | None, stop: _StopSignals) -> int:
    _start_ros(args)
    if stop.requested:
        return 0
    try:
        node = node_class()
    except (InvalidParameterTypeException, _rclpy.RCLError) as error:
        raise ParameterError(_one_line(error)) from None
    node.stop = stop
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    stop.wake = executor.wake
    try:
        if node.params.autostart:
            node.start()
        _spin(node, executor, stop)
    except (ParameterError, ConfigurationError):
        raise
    except Exception as error:
        node.crash = error
    finally:
        try:
            # Also after a crash, so that hardware stops.
            node.shut_down()
        finally:
            stop.wake = lambda: None
            executor.shutdown()
            node.destroy_node()
    if node.crash is not None:
        raise node.crash
    return 0


def _spin(node: 'ManagedNode', executor: SingleThreadedExecutor, stop: StopRequest) -> None:
    clock = time.perf_counter
    anything_ready = ReadyCheck(node)
    looked = 0.0
    while not stop.requested and node.crash is None and node.state_label != 'finalized':
        if node.has_step and node.is_active:
            serve_at = clock() + node.SERVE_PERIOD
            node.step()
            while clock() < serve_at and not stop.requested:
                node.step()
            soon = time.monotonic() < node.served_until
            if soon or anything_ready() or clock() - looked > _LOOK:
                looked = clock()
                executor.spin_once(timeout_sec=0)
        else:
            executor.spin_once()


def _start_ros(args: Sequence[str] | None) -> None:
    """Start rclpy; what is wrong in the arguments becomes one line."""
    rcl = get_logger('rcl')
    # rcl logs a line of its own without saying what is wrong; the exception says it.
    rcl.set_level(LoggingSeverity.FATAL)
    try:
        rclpy.init(
            args=None if args is None else list(args),
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except _rclpy.UnknownROSArgsError as error:
        raise ParameterError(f'unknown ROS arguments: {_words(error)}') from None
    except _rclpy.RCLError as error:
        raise ParameterError(_one_line(error)) from None
    words = sys.argv[1:] if args is None else list(args)
    if left := remove_ros_args(['node', *words])[1:]:
        raise ParameterError(f"unknown argument '{left[0]}': arguments of ROS follow --ros-args")
    if rcl.get_effective_level() == LoggingSeverity.FATAL:
        rcl.set_level(LoggingSeverity.UNSET)


def _one_line(error: Exception) -> str:
    """An rcl error in the user's words, without the places in rcl's own source."""
    text = ' '.join(str(error).split())
    text = re.sub(r',? at [^ ]+\.(c|cpp|h|hpp):\d+', '', text)
    text = text.removeprefix('failed to initialize rcl: ')
    if match := re.match(r"Couldn't parse params file: '--params-file (.*)'\. Error: (.*)", text):
        file, reason = match.groups()
        if reason.startswith('Error opening YAML file'):
            reason = 'cannot be opened'
        return f"parameter file '{file}': {reason}"
    if match := re.match(r"Couldn't parse parameter override rule: '(.*)'\. Error", text):
        return f"argument '{match[1]}': must be NAME:=VALUE, the value in YAML"
    if match := re.match(r"Couldn't parse remap rule: '(.*)'\. Error", text):
        return f"argument '{match[1]}': must be FROM:=TO, with valid ROS names"
    if match := re.match(r".*parameter '(use_sim_time)' to '(.*)' of type", text):
        return f"parameter '{match[1]}': given {match[2]}, must be true or false"
    return text


def _words(error: Exception) -> str:
    """The arguments that rcl does not know, from the list that it gives as text."""
    return ' '.join(re.findall(r"'([^']*)'", str(error))) or str(error)


def _say(name: str, text: str) -> None:
    print(f'{name}: {text}', file=sys.stderr, flush=True)
