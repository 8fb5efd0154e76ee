# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The set-up tool: its environment is complete or made anew, its errors can be read.

Environments are real ones, made by venv and pip from wheels that the tests write: no network.
"""

import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import environment
import pytest
import system
from ros_harness import NodeProcess, session_processes, wait_until
from steps import Progress

TOOL = Path(environment.__file__).parent
# The wheels of ROS, and so the tool without a ROS, are for this kind of machine.
x86_64_only = pytest.mark.skipif(
    platform.machine() != 'x86_64', reason='ROS 2 from PyPI is for x86_64'
)
# As if no ROS were sourced, whatever the machine of the tests has.
HERE = system.find_python(system.Ros('jazzy', Path('/')))
BARE = {'AMENT_PREFIX_PATH': '', 'ROS_DISTRO': ''}


def write_wheel(folder: Path, name: str, text: str = '') -> Path:
    """Write a wheel with one module."""
    folder.mkdir(exist_ok=True)
    path = folder / f'{name}-1.0-py3-none-any.whl'
    info = f'{name}-1.0.dist-info'
    with zipfile.ZipFile(path, 'w') as wheel:
        wheel.writestr(f'{name}.py', text)
        wheel.writestr(f'{info}/METADATA', f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
        wheel.writestr(
            f'{info}/WHEEL', 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n'
        )
        wheel.writestr(f'{info}/RECORD', '')
    return path


def write_root(root: Path, requirement: str = '') -> Path:
    """Write a workspace whose environment needs two wheels of our own, and the tool itself."""
    wheels = root / 'wheels'
    root.mkdir(exist_ok=True)
    # The mending asks NumPy for its include folder.
    numpy = write_wheel(root / 'wheels', 'numpy', 'def get_include(): return "/numpy/include"\n')
    other = write_wheel(wheels, 'trifle')
    (root / 'requirements').mkdir()
    texts = {'ros.txt': f'{numpy}\n', 'runtime.txt': f'{other}\n{requirement}\n'}
    for name in ('ros.txt', 'build.txt', 'runtime.txt', 'test.txt'):
        (root / 'requirements' / name).write_text(texts.get(name, '# nothing\n'))
    for name in ('lock.txt', 'lock-with-ros.txt'):
        (root / 'requirements' / name).write_text('')
    shutil.copytree(TOOL, root / 'tools/workspace', ignore=shutil.ignore_patterns('__pycache__'))
    return root


@pytest.fixture(scope='module')
def offline() -> Iterator[None]:
    """Keep pip from the network."""
    patch = pytest.MonkeyPatch()
    patch.setenv('PIP_NO_INDEX', '1')
    patch.setenv('PIP_DISABLE_PIP_VERSION_CHECK', '1')
    yield
    patch.undo()


@pytest.fixture(scope='module')
def made(
    tmp_path_factory: pytest.TempPathFactory, offline: None
) -> environment.Environment:
    """An environment that was made by the tool."""
    root = write_root(tmp_path_factory.mktemp('workspace') / 'root')
    env = environment.Environment(root, HERE, None)
    assert not env.is_current()
    env.make(Progress())
    return env


def test_our_own_environment_is_no_ros_of_the_machine(made: environment.Environment) -> None:
    package = made.path / 'share/rclpy/package.xml'
    package.parent.mkdir(parents=True)
    package.touch()
    environ = {'ROS_DISTRO': 'jazzy', 'AMENT_PREFIX_PATH': f'{made.root}/install:{made.path}'}
    assert system.find_ros(environ) is None
    stamp = made.stamp_path.rename(made.root / 'stamp')  # as an interrupted set-up leaves it
    assert system.find_ros(environ) is None
    stamp.rename(made.stamp_path)


def test_takes_the_python_below_an_environment(made: environment.Environment) -> None:
    """The environment that is sourced cannot make itself anew: its Python goes first."""
    code = 'import system; print(system.find_python(system.Ros("jazzy", system.Path("/"))).path)'
    result = subprocess.run(
        [str(made.python), '-c', code],
        cwd=TOOL, env={**os.environ, 'PYTHONPATH': str(TOOL)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    found = Path(result.stdout.strip())
    assert made.path not in found.parents
    assert found.is_file()


# The environment and its stamp


def change_pin(env: environment.Environment) -> None:
    env.constraints().write_text('trifle==2.0\n')


def change_requirement(env: environment.Environment) -> None:
    env.requirements()[-1].write_text('trifle\n')


def delete_stamp(env: environment.Environment) -> None:
    env.stamp_path.unlink()


def cut_stamp(env: environment.Environment) -> None:
    env.stamp_path.write_text(env.stamp_path.read_text()[:50])


def change_stamp_kind(env: environment.Environment) -> None:
    env.stamp_path.write_text('[]')


def remove_package(env: environment.Environment) -> None:
    (env.site_packages / 'trifle-1.0.dist-info').rename(env.root / 'gone')


def remove_python(env: environment.Environment) -> None:
    env.python.rename(env.root / 'gone')


@pytest.mark.parametrize(
    'damage',
    [change_pin, change_requirement, delete_stamp, cut_stamp, change_stamp_kind, remove_package,
     remove_python],
)  # fmt: skip
def test_a_damaged_environment_is_noticed(
    made: environment.Environment, damage: Callable[[environment.Environment], None]
) -> None:
    assert made.is_current()
    kept = [*made.requirements(), made.constraints(), made.stamp_path]
    before = {path: path.read_text() for path in kept}
    damage(made)
    assert not made.is_current()
    for path, text in before.items():
        path.write_text(text)
    if os.path.lexists(made.root / 'gone'):
        moved = {remove_package: made.site_packages / 'trifle-1.0.dist-info',
                 remove_python: made.python}  # fmt: skip
        (made.root / 'gone').rename(moved[damage])
    assert made.is_current()


def test_another_ros_or_python_is_noticed(made: environment.Environment) -> None:
    here = made.interpreter
    ros = system.Ros('jazzy', Path('/opt/ros/jazzy'))
    assert not environment.Environment(made.root, here, ros).is_current()
    newer = system.Interpreter(here.path, (*here.version[:2], here.version[2] + 1))
    assert not environment.Environment(made.root, newer, None).is_current()


def test_a_moved_folder_is_noticed(made: environment.Environment, tmp_path: Path) -> None:
    moved = tmp_path / 'moved'
    shutil.copytree(made.root, moved, symlinks=True)
    assert not environment.Environment(moved, made.interpreter, None).is_current()


def test_an_interrupted_removal_is_noticed(
    made: environment.Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = made.stamp_path.read_text()

    def interrupted(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, 'rmtree', interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.make(Progress())
    assert not made.is_current()
    made.stamp_path.write_text(stamp)


def test_the_script_to_source_leads_into_the_environment(made: environment.Environment) -> None:
    command = '. .venv/setup.bash && python -c "import sys, trifle; print(sys.prefix)" && env'
    result = subprocess.run(
        ['bash', '-c', command],
        cwd=made.root,
        env={**os.environ, 'PYTHONPATH': '/elsewhere'},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = result.stdout.splitlines()
    assert lines[0] == str(made.path)
    assert f'AMENT_PREFIX_PATH={made.path}' in lines
    assert not any(line.startswith('PYTHONPATH=') for line in lines)


# The tool as a process


@pytest.fixture
def hanging_index() -> Iterator[tuple[str, socket.socket]]:
    """A package index that takes connections and never answers: its address and its socket."""
    with socket.create_server(('127.0.0.1', 0)) as server:
        yield f'http://127.0.0.1:{server.getsockname()[1]}/simple', server


@x86_64_only
def test_a_killed_install_is_noticed_and_made_again(
    tmp_path: Path,
    start: Callable[..., NodeProcess],
    hanging_index: tuple[str, socket.socket],
) -> None:
    root = write_root(tmp_path / 'root', 'no-such-package')
    address, server = hanging_index
    command = [sys.executable, root / 'tools/workspace']
    hanging = {**BARE, 'PIP_INDEX_URL': address, 'PIP_NO_INDEX': '0'}
    first = start(command, env=hanging)
    server.settimeout(30.0)
    server.accept()  # pip is in the middle of its work now
    second = start(command, env={**BARE, 'PIP_NO_INDEX': '1'})
    second.wait_for_line('another set-up is running in this folder; waiting for it')
    pip = [pid for pid, line in session_processes().items() if f'{root}/.venv/bin/python' in line]
    assert pip
    first.send_signal(signal.SIGKILL)
    first.wait()
    # Nothing of the first may go on writing into what the second makes.
    wait_until(lambda: not set(pip) & set(session_processes()), what='pip to end')

    assert second.wait() == 1  # pip now answers at once, that there is no such package
    text = '\n'.join(second.stderr)
    assert 'the Python environment is incomplete or out of date: making it anew' in text
    assert 'failed: `' in text
    assert 'No matching distribution found for no-such-package' in text
    assert str(root / 'log/setup/pip.log') in text
    assert 'Traceback' not in text
    assert (root / '.venv').is_dir()
    assert not (root / '.venv/drex-stamp.json').exists()


@x86_64_only
def test_ctrl_c_says_what_the_next_run_does(
    tmp_path: Path, start: Callable[..., NodeProcess]
) -> None:
    root = write_root(tmp_path / 'root')
    tool = start([sys.executable, root / 'tools/workspace'], env=BARE)
    tool.wait_for_line(r'\.\. Python .* environment with ROS 2 Jazzy from PyPI')
    wait_until((root / '.venv').exists, what='the environment to begin')
    os.killpg(tool.pid, signal.SIGINT)  # as a terminal does it
    assert tool.wait() == 130
    assert tool.stderr[-1] == (
        '[setup] failed: interrupted; the next run starts the unfinished step again'
    )
    assert not (root / '.venv/drex-stamp.json').exists()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    root = write_root(tmp_path / 'root')
    (root / '.workspace.lock').mkdir()
    result = subprocess.run(
        [sys.executable, root / 'tools/workspace'],
        env={**os.environ, **BARE}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert str(root / '.workspace.lock') in result.stderr
