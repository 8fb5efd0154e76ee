# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex demo`: shows the real stack, says what failed, and leaves nothing behind."""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from drex_command import drex_command, overlay, run_drex
from ros_harness import NodeProcess, kill_process, session_processes, wait_until
from ros_session import note_segments

PHASES = ['Start', 'Listen', 'Look', 'Move', 'Stop in motion', 'Recover', 'Trip', 'Stop']
Demo = Callable[..., NodeProcess]


@pytest.fixture
def demo(start: Callable[..., NodeProcess], tmp_path: Path) -> Iterator[Demo]:
    """Start a demo; when the test ends, all that it started must be gone."""
    before = set(session_processes())

    def start_demo(**environ: str) -> NodeProcess:
        return start(drex_command('demo', '--log', str(tmp_path)), env=environ, cwd=tmp_path)

    yield start_demo
    # A killed demo is not there to wait for its nodes.
    wait_until(lambda: not set(session_processes()) - before, what='the nodes to end')


def pid_of(name: str) -> int:
    """Wait for a node of the session; its process."""
    found: list[int] = []

    def look() -> bool:
        found[:] = [
            pid for pid, command in session_processes().items() if f'/drex_ros/{name} ' in command
        ]
        return bool(found)

    wait_until(look, what=f'{name} to run')
    return found[0]


def shown(lines: list[str]) -> dict[str, tuple[str, str]]:
    """Mark and text of each phase."""
    found = (re.fullmatch(r'([✓✗]) (.{15}) +[\d.]+ s(?:  (.*))?', line) for line in lines)
    return {line[2].strip(): (line[1], line[3] or '') for line in found if line}


def test_shows_the_stack_and_ends_it(demo: Demo, tmp_path: Path) -> None:
    process = demo()
    process.wait_for_line('✓ Start')
    for pid in session_processes():
        note_segments(pid)  # they must be gone at the end, too
    assert process.wait(60.0) == 0, process.output
    phases = shown(process.stdout)
    assert list(phases) == PHASES
    assert {mark for mark, _ in phases.values()} == {'✓'}
    assert '5 nodes active: mock_hardware, mock_camera, hybrid_imp' in phases['Start'][1]
    assert re.match(r'640 x 480 colour and depth, 30 a simulated second', phases['Look'][1])
    assert "the robot says 'reflex: injected fault'" in phases['Trip'][1]
    assert re.match(r'\d+ robot states a second, [\d.]+ x real time', phases['Listen'][1])
    assert re.match(r'index finger by (9\d|10\d) deg, wrist by 2\d deg', phases['Move'][1])
    assert process.stderr == []
    assert process.stdout[-1] == f'Log: {tmp_path}/stack.log'
    assert not any('\x1b' in line for line in process.stdout)
    log = (tmp_path / 'stack.log').read_text()
    assert log.count('process has finished cleanly') == 5
    assert not set(session_processes())


def test_a_robot_that_dies_is_named(demo: Demo, tmp_path: Path) -> None:
    process = demo()
    process.wait_for_line('✓ Start')
    robot = pid_of('mock_hardware')
    kill_process(robot)
    assert process.wait(60.0) == 1
    phases = shown(process.stdout)
    failed = list(phases)[-1]
    assert phases[failed] == ('✗', '')
    assert failed != 'Start'
    assert process.stderr[0] == f'drex demo: {failed} failed: the stack ended with 137'
    text = '\n'.join(process.stderr)
    assert f'process has died [pid {robot}, exit code -9' in text
    assert process.stderr[-1] == f'The whole log: {tmp_path}/stack.log'
    assert 'Traceback' not in text


def test_a_stack_that_cannot_start_says_why(demo: Demo, tmp_path: Path) -> None:
    share, environ = overlay(tmp_path)
    config = share / 'config/mock_hardware.yaml'
    config.write_text(config.read_text().replace('control_rate: 500.0', 'control_rate: -5.0'))
    process = demo(**environ)
    assert process.wait(60.0) == 1
    assert list(shown(process.stdout)) == ['Start']
    text = '\n'.join(process.stderr)
    assert re.match(r'drex demo: Start failed: the stack ended with [1-9]', text)
    assert 'control_rate' in text
    assert '-5' in text
    assert 'Traceback' not in text


def test_a_launch_file_that_is_wrong_says_why(demo: Demo, tmp_path: Path) -> None:
    share, environ = overlay(tmp_path)
    (share / 'launch/twin.launch.yaml').unlink()
    process = demo(**environ)
    assert process.wait(60.0) == 1
    text = '\n'.join(process.stderr)
    assert text.startswith('drex demo: Start failed: the stack ended with 2\n')
    assert 'drex.launch.yaml:' in text
    assert 'twin.launch.yaml' in text


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / 'file').touch()
    result = run_drex('demo', '--log', str(tmp_path / 'file/below'), cwd=tmp_path)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith('drex demo: cannot write the log: ')
    assert str(tmp_path / 'file') in result.stderr


def test_ctrl_c_ends_all_in_order(demo: Demo, tmp_path: Path) -> None:
    process = demo()
    process.wait_for_line('✓ Start')
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    assert process.stderr == ['drex demo: interrupted by SIGINT']
    assert not session_processes()
    assert (tmp_path / 'stack.log').read_text().count('process has finished cleanly') == 5


def test_an_interrupt_while_it_starts_leaves_nothing(demo: Demo) -> None:
    process = demo()
    pid_of('mock_hardware')
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 143
    assert process.stderr == ['drex demo: interrupted by SIGTERM']
    assert not session_processes()


def test_the_stack_ends_with_a_killed_demo(demo: Demo, tmp_path: Path) -> None:
    process = demo()
    process.wait_for_line('✓ Start')
    pid_of('mock_hardware')
    for pid in session_processes():
        note_segments(pid)  # only the demo itself cannot remove its own
    kill_process(process.pid)
    wait_until(lambda: not session_processes(), what='the nodes to end')
