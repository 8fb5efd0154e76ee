# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Running launches: real processes that end, are killed, ignore signals and come back."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
from launch_workspace import Workspace, is_running, wait_until

from drex_ros.launching.actions import plan
from drex_ros.launching.running import LEFTOVER_SIGNALS, LEFTOVER_TIMEOUT

TWO = """\
launch:
- node: {pkg: demo_pkg, exec: sleeper, exec_name: needed, on_exit: shutdown}
- node: {pkg: demo_pkg, exec: sleeper, exec_name: other}
"""


def node(executable: str, **fields: object) -> str:
    """Return a launch file with one node."""
    extra = ''.join(f', {name}: {value}' for name, value in fields.items())
    return f'launch:\n- node: {{pkg: demo_pkg, exec: {executable}{extra}}}\n'


def test_killing_a_required_process_ends_the_rest(workspace: Workspace) -> None:
    launch = workspace.start(TWO)
    (needed,), (other,) = launch.pids('needed-1'), launch.pids('other-2')
    os.kill(needed, signal.SIGKILL)
    assert launch.exit_code() == 128 + signal.SIGKILL
    assert not is_running(other)
    assert f'[ERROR] [needed-1]: process has died [pid {needed}, exit code -9' in launch.text


def test_killing_another_process_leaves_the_rest_running(workspace: Workspace) -> None:
    launch = workspace.start(TWO)
    (needed,), (other,) = launch.pids('needed-1'), launch.pids('other-2')
    os.kill(other, signal.SIGKILL)
    launch.wait_for(r'\[other-2\]: process has died')
    assert is_running(needed)
    launch.signal(signal.SIGINT)
    assert launch.exit_code() == 1  # one has failed before the end was asked for


@pytest.mark.parametrize('code', [0, 3])
def test_the_exit_code_is_that_of_the_required_process(workspace: Workspace, code: int) -> None:
    launch = workspace.start(
        node('quitter', args=f"'{code}'", on_exit='shutdown')
        + '- node: {pkg: demo_pkg, exec: sleeper}\n'
    )
    assert launch.exit_code() == code


def test_a_failed_process_is_remembered_until_all_have_ended(workspace: Workspace) -> None:
    launch = workspace.start(
        node('quitter', args="'4'") + "- node: {pkg: demo_pkg, exec: quitter, args: '0'}\n"
    )
    assert launch.exit_code() == 1
    assert 'process has finished cleanly' in launch.text


def test_nothing_to_start_is_no_failure(workspace: Workspace) -> None:
    assert workspace.start('launch: []\n').exit_code() == 0


def test_the_shutdown_action_starts_nothing(workspace: Workspace) -> None:
    launch = workspace.start(node('sleeper') + '- shutdown: {reason: not today}\n')
    assert launch.exit_code() == 0
    assert 'not today' in launch.text
    assert 'started' not in launch.text


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stop_signals_end_all_in_reverse_order(
    workspace: Workspace, number: signal.Signals
) -> None:
    launch = workspace.start(TWO)
    pids = launch.pids('needed-1') + launch.pids('other-2')
    launch.signal(number)
    assert launch.exit_code() == 0
    assert not any(map(is_running, pids))
    assert re.findall(r'\[([\w-]+)\]: sending SIGINT', launch.text) == ['other-2', 'needed-1']


def test_a_respawned_process_comes_back_after_a_kill(workspace: Workspace) -> None:
    launch = workspace.start(node('sleeper', respawn="'true'"))
    (first,) = launch.pids('sleeper-1')
    os.kill(first, signal.SIGKILL)
    second = launch.pids('sleeper-1', count=2)[1]
    assert second != first
    assert is_running(second)
    launch.signal(signal.SIGINT)
    assert launch.exit_code() == 0
    assert not is_running(second)


def test_respawn_stops_after_its_retries(workspace: Workspace) -> None:
    launch = workspace.start(node('quitter', args="'5'", respawn="'true'", respawn_max_retries=2))
    assert launch.exit_code() == 1
    assert len(launch.pids('quitter-1')) == 3


def test_a_stop_cancels_a_waiting_respawn(workspace: Workspace) -> None:
    launch = workspace.start(node('quitter', args="'5'", respawn="'true'", respawn_delay=3600.0))
    launch.wait_for('process has died')
    launch.signal(signal.SIGINT)
    assert launch.exit_code() == 0
    assert len(launch.pids('quitter-1')) == 1


def test_on_exit_shutdown_is_stronger_than_respawn(workspace: Workspace) -> None:
    launch = workspace.start(node('quitter', args="'6'", respawn="'true'", on_exit='shutdown'))
    assert launch.exit_code() == 6
    assert len(launch.pids('quitter-1')) == 1


def test_signals_become_stronger_until_one_works(workspace: Workspace) -> None:
    launch = workspace.start(
        node('stubborn', output='screen', sigterm_timeout=0.3, sigkill_timeout=0.3)
    )
    (pid,) = launch.pids('stubborn-1')
    launch.wait_for(r'\[stubborn-1\] ready')
    launch.signal(signal.SIGINT)
    assert launch.exit_code() == 0
    assert re.findall(r'sending (SIG\w+)', launch.text) == ['SIGINT', 'SIGTERM', 'SIGKILL']
    assert not is_running(pid)


def test_the_default_way_down_takes_less_than_ten_seconds(workspace: Workspace) -> None:
    file = workspace.write('a.launch.yaml', node('sleeper'))
    (process,) = plan(file, {}, workspace.folder, workspace.environment).processes
    leftovers = len(LEFTOVER_SIGNALS) * LEFTOVER_TIMEOUT
    assert process.sigterm_timeout + process.sigkill_timeout + leftovers < 10.0


def test_timeouts_from_the_command_line(workspace: Workspace) -> None:
    launch = workspace.start(
        node('stubborn', output='screen'), 'sigterm_timeout:=0.2', 'sigkill_timeout:=0.2'
    )
    launch.wait_for(r'\[stubborn-1\] ready')
    launch.signal(signal.SIGTERM)
    assert launch.exit_code() == 0
    assert 'still running 0.2 s after SIGTERM' in launch.text


def test_a_second_and_third_signal_hurry(workspace: Workspace) -> None:
    launch = workspace.start(
        node('stubborn', output='screen', sigterm_timeout=3600.0, sigkill_timeout=3600.0)
    )
    launch.wait_for(r'\[stubborn-1\] ready')
    for count in (1, 2, 3):
        launch.signal(signal.SIGINT)
        launch.wait_for(r'sending SIG', count)
    assert launch.exit_code() == 0


def test_what_a_process_has_started_ends_with_it(workspace: Workspace) -> None:
    launch = workspace.start(node('parent', output='screen', on_exit='shutdown'))
    (pid,) = launch.pids('parent-1')
    grandchild = int(launch.wait_for(r'\[parent-1\] child (\d+)')[0])
    os.kill(pid, signal.SIGKILL)
    assert launch.exit_code() == 128 + signal.SIGKILL
    assert not is_running(grandchild)


def test_nothing_survives_a_kill_of_the_launch_itself(workspace: Workspace) -> None:
    launch = workspace.start(
        node('parent', output='screen', param='[{name: a, value: 1}]')
        + '- node: {pkg: demo_pkg, exec: stubborn}\n'
    )
    grandchild = int(launch.wait_for(r'\[parent-1\] child (\d+)')[0])
    pids = [*launch.pids('parent-1'), *launch.pids('stubborn-2'), grandchild]
    assert any(workspace.folder.glob('tmp/drex_launch_*'))
    launch.signal(signal.SIGKILL)
    launch.exit_code()
    wait_until(
        lambda: (
            not any(map(is_running, pids)) and not any(workspace.folder.glob('tmp/drex_launch_*'))
        )
    )
    assert not any(map(is_running, pids))
    assert not any(workspace.folder.glob('tmp/drex_launch_*'))


@pytest.mark.parametrize(
    ('output', 'on_screen', 'in_log'),
    [
        ('screen', ['stdout', 'stderr'], []),
        ('both', ['stdout', 'stderr'], ['stdout', 'stderr']),
        ('log', ['stderr'], ['stdout', 'stderr']),
    ],
)
def test_output_goes_where_it_should(
    workspace: Workspace, output: str, on_screen: list[str], in_log: list[str]
) -> None:
    launch = workspace.start(node('speaker', output=output))
    assert launch.exit_code() == 0
    (log,) = (workspace.folder / 'log').glob('*drex-launch*.log')
    for text, expected in ((launch.text, on_screen), (log.read_text(), in_log)):
        shown = re.findall(r'\[speaker-1\] to (\w+)', text)
        assert sorted(shown) == sorted(expected)
    assert ('[speaker-1] unfinished\n' in launch.text) == (output != 'log')
    assert '\x1b' not in launch.text


def test_the_launch_ends_when_nobody_reads_its_output(workspace: Workspace) -> None:
    loop = 'while echo hello; do sleep 0.05; done'
    file = workspace.write(
        'chatty.launch.yaml',
        f"""launch:
- executable: {{cmd: sh -c '{loop}', output: screen}}
""",
    )
    process = subprocess.Popen(
        [sys.executable, '-m', 'drex_ros.launching', str(file)],
        env=workspace.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    with process.stderr:
        assert process.wait(30) == 128 + signal.SIGPIPE
        assert process.stderr.read() == b''


def test_an_executable_that_cannot_run_is_a_failed_process(workspace: Workspace) -> None:
    launch = workspace.start(node('unstartable', on_exit='shutdown'))
    assert launch.exit_code() == 127
    assert '[ERROR] [unstartable-1]: cannot be started' in launch.text
    assert 'started.launch.yaml:2' in launch.text
