# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`drex doctor`: is this machine fit for the stack, and what to do where it is not."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.text import Text

MIN_PYTHON = (3, 11)
MIN_FREE_DISK = 2.0  # [GB] what environment and build take
MAX_DOMAIN = 232  # beyond it the ports of DDS end
MIN_FREE_SHM = 64.0  # [MB] Fast DDS makes half a MB for each participant, more for images
REBUILD = 'make setup (with ROS installed: colcon build --base-paths . drex_interfaces)'


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str
    level: str
    """'ok', 'warn' (the stack runs, something is missing) or 'fail'."""
    detail: str
    remedy: str = ''


Check = Callable[[], Finding]


def check_python() -> Finding:
    """Version of the interpreter."""
    version = platform.python_version()
    if sys.version_info[:2] < MIN_PYTHON:
        return Finding('Python', 'fail', f'{version} is too old', 'use Python 3.11 or newer')
    return Finding('Python', 'ok', f'{version}, {sys.executable}')


def check_ros() -> Finding:
    """Is rclpy there, and which?"""
    # In a process of its own: a wrong RMW_IMPLEMENTATION ends the one that imports it.
    result = _python('import rclpy; print(rclpy.__file__)')
    if result.returncode != 0:
        return Finding('ROS 2', 'fail', f'rclpy does not import: {_last_line(result.stderr)}',
                       'source .venv/setup.bash or /opt/ros/jazzy/setup.bash; if that is done, '
                       'check RMW_IMPLEMENTATION')
    folder = Path(result.stdout.split('\n')[0]).parent
    distro = os.environ.get('ROS_DISTRO', 'no ROS_DISTRO')
    kind = 'wheels' if Path(sys.prefix) in folder.parents else 'installed'
    if distro != 'jazzy':
        return Finding('ROS 2', 'warn', f'{distro}, {kind}', 'drex_ros is made for jazzy')
    return Finding('ROS 2', 'ok', f'{distro}, {kind}, {folder}')


_ROUND_TRIP = """
import os, sys, time
import rclpy
from std_msgs.msg import String
from drex_ros.domain import Domain
domain = Domain()
os.environ.update(domain.variables)
rclpy.init()
node = rclpy.create_node('drex_doctor')
heard = []
node.create_subscription(String, 'drex_doctor', heard.append, 10)
publisher = node.create_publisher(String, 'drex_doctor', 10)
end = time.monotonic() + 10.0
while not heard and time.monotonic() < end:
    publisher.publish(String(data='hello'))
    rclpy.spin_once(node, timeout_sec=0.1)
print(rclpy.get_rmw_implementation_identifier())
rclpy.shutdown()
sys.exit(0 if heard else 1)
"""


def check_dds() -> Finding:
    """Does a message really arrive?"""
    result = _python(_ROUND_TRIP)
    lines = result.stdout.split()
    if result.returncode == 0 and lines:
        return Finding('DDS', 'ok', f'{lines[-1]}: a message arrives')
    remedy = 'check the firewall for UDP on lo, and RMW_IMPLEMENTATION'
    if 'logging' in result.stderr:
        remedy = 'set HOME or ROS_LOG_DIR to a folder that can be written'
    return Finding('DDS', 'fail', f'no message arrives: {_last_line(result.stderr)}', remedy)


def check_domain() -> Finding:
    """Is ROS_DOMAIN_ID a domain?"""
    given = os.environ.get('ROS_DOMAIN_ID', '')
    if given and not (given.isdigit() and int(given) <= MAX_DOMAIN):
        return Finding('ROS domain', 'fail', f'ROS_DOMAIN_ID is {given!r}',
                       f'set it to a number from 0 to {MAX_DOMAIN}, best below 102')
    return Finding('ROS domain', 'ok', given or '0')


def check_shared_memory() -> Finding:
    """Room in /dev/shm, and files that dead processes left there."""
    folder = Path('/dev/shm')
    if not os.access(folder, os.W_OK):
        return Finding('Shared memory', 'warn', '/dev/shm is not writable: DDS falls back to UDP',
                       'mount a tmpfs at /dev/shm')
    free = shutil.disk_usage(folder).free / 1e6
    left = len(list(folder.glob('fastrtps_*')))
    detail = f'{free:.0f} MB free in /dev/shm, {left} files of Fast DDS'
    if free < MIN_FREE_SHM:
        return Finding('Shared memory', 'warn', detail,
                       'end all ROS programs, then rm /dev/shm/fastrtps_* /dev/shm/sem.fastrtps_*')
    return Finding('Shared memory', 'ok', detail)


_RENDER = """
import mujoco
model = mujoco.MjModel.from_xml_string(
    '<mujoco><worldbody><light pos="0 0 3"/><geom size=".1" rgba="1 0 0 1"/></worldbody></mujoco>')
renderer = mujoco.Renderer(model, 48, 64)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderer.update_scene(data)
picture = renderer.render()
assert picture.max() > 0, 'the picture is black'
"""


def check_rendering() -> Finding:
    """Can MuJoCo draw without a screen?"""
    tried = []
    for backend in ('egl', 'osmesa'):
        result = _python(_RENDER, MUJOCO_GL=backend)
        if result.returncode == 0:
            return Finding('Rendering', 'ok', f'off-screen with {backend}')
        tried.append(f'{backend}: {_last_line(result.stderr)}')
    return Finding('Rendering', 'warn', f'simulated cameras will not work ({"; ".join(tried)})',
                   'sudo apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri')


# Module and the package that brings it.
_LIBRARIES = {
    'av': 'av', 'coacd': 'coacd', 'collada': 'pycollada', 'cv2': 'opencv-python-headless',
    'manifold3d': 'manifold3d', 'mujoco': 'mujoco', 'pinocchio': 'pin', 'trimesh': 'trimesh',
    'xacro': 'xacro',
}  # fmt: skip


def check_libraries() -> Finding:
    """Are the libraries there that the robot's parts load when they need them?"""
    missing = [package for name, package in _LIBRARIES.items() if find_spec(name) is None]
    if missing:
        return Finding('Libraries', 'fail', f'missing: {", ".join(missing)}',
                       f'make setup, or pip install {" ".join(missing)}')
    return Finding('Libraries', 'ok', ', '.join(_LIBRARIES))


def check_robot() -> Finding:
    """Can the robot be built from its description?"""
    result = _python('from drex_ros.hardware.mujoco_model import robot_spec\n'
                     'print(robot_spec(0.001).compile().nv)')
    if result.returncode != 0:
        return Finding('Robot', 'fail', _last_line(result.stderr),
                       'pip install example-robot-data, or set ROBOT_DATA to its folder')
    return Finding('Robot', 'ok', f'builds in MuJoCo with {result.stdout.strip()} joints')


def check_compiler() -> Finding:
    """A C++ compiler, to build the interfaces."""
    found = next((path for name in ('c++', 'g++', 'clang++') if (path := shutil.which(name))), '')
    if not found:
        return Finding('Compiler', 'warn', 'none: the interfaces cannot be built',
                       'sudo apt-get install g++')
    result = subprocess.run([found, '--version'], capture_output=True, text=True, check=False)
    return Finding('Compiler', 'ok', result.stdout.split('\n')[0])


def check_interfaces() -> Finding:
    """Are the messages built, and do they load?"""
    # Without rclpy, so that what is wrong with ROS itself does not show here, too.
    code = ('from drex_interfaces.msg import RobotState\n'
            'RobotState.__class__.__import_type_support__()\n'
            'assert RobotState.__class__._TYPE_SUPPORT is not None, "no type support"')
    result = _python(code)
    if result.returncode != 0:
        return Finding('Interfaces', 'fail', f'drex_interfaces: {_last_line(result.stderr)}',
                       REBUILD)
    return Finding('Interfaces', 'ok', 'drex_interfaces is built and loads')


def check_package() -> Finding:
    """Is drex_ros installed where launch files look for it?"""
    from drex_ros.launching import launch_files

    files = launch_files()
    if not files:
        return Finding('Package', 'fail', 'drex_ros is not in AMENT_PREFIX_PATH',
                       f'{REBUILD}, then source .venv/setup.bash or install/setup.bash')
    return Finding('Package', 'ok', f'drex_ros with {len(files)} launch files')


def check_disk() -> Finding:
    """Free space where we are."""
    try:
        free = shutil.disk_usage('.').free / 1e9
    except OSError as error:
        return Finding('Disk', 'warn', f'this folder cannot be read: {error.strerror}', 'cd')
    if free < MIN_FREE_DISK:
        return Finding('Disk', 'warn', f'{free:.1f} GB free', f'free {MIN_FREE_DISK:g} GB')
    return Finding('Disk', 'ok', f'{free:.0f} GB free')


CHECKS: tuple[Check, ...] = (
    check_python, check_ros, check_domain, check_dds, check_shared_memory, check_rendering,
    check_libraries, check_robot, check_compiler, check_interfaces, check_package, check_disk,
)  # fmt: skip


def report(*, as_json: bool = False) -> int:
    """Run every check and show it; returns 1 when one failed."""
    console = Console(highlight=False)
    findings = []
    for check in CHECKS:
        finding = check()
        findings.append(finding)
        if not as_json:
            colour = {'ok': 'green', 'warn': 'yellow', 'fail': 'red'}[finding.level]
            line = Text.assemble((f'{finding.level:<4}', colour), f' {finding.name:<14}')
            line.append(finding.detail)
            if finding.remedy:
                line.append('\n     ').append('remedy:', 'bold').append(f' {finding.remedy}')
            console.print(line, soft_wrap=True)
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=1))
    return int(any(finding.level == 'fail' for finding in findings))


def _python(code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own: some of it may hang or crash."""
    try:
        return subprocess.run(
            [sys.executable, '-c', code], capture_output=True, text=True, check=False,
            timeout=60.0, env={**os.environ, **environ},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], 1, '', 'no answer within 60 s')


def _last_line(text: str) -> str:
    line = (text.strip().splitlines() or ['no message'])[-1]
    return re.sub(r'^\[\w+\] \[[\d.]+\] \[\w+\]: ', '', line)  # without level, time and logger

