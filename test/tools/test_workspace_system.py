# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the set-up tool finds on a machine, mends in ROS's wheels, and says where it lacks."""

import os
from pathlib import Path

import pytest
import system
from mend import mend_text, mend_wheels
from steps import Progress, SetupError

WHEEL_CMAKE = """\
set_target_properties(std_msgs::std_msgs__rosidl_generator_py PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include/std_msgs;\
/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy/_core/include;\
/opt/python/cp311-cp311/include/python3.11"
)
"""


# Mending the wheels


def test_mends_the_folders_of_the_build_machine() -> None:
    mended = mend_text(WHEEL_CMAKE, '/usr/include/python3.11', '/env/numpy/include')
    assert '/opt/python' not in mended
    assert 'include/std_msgs;/env/numpy/include;/usr/include/python3.11"' in mended


@pytest.mark.parametrize(
    'text',
    [
        '',
        'find_package(ament_cmake REQUIRED)\n',
        'set(x "/opt/python/README" "/opt/pythonic/include")\n',
    ],
)
def test_leaves_other_text_alone(text: str) -> None:
    assert mend_text(text, '/a', '/b') == text


def test_mends_each_file_once(tmp_path: Path) -> None:
    folder = tmp_path / 'share/std_msgs/cmake'
    folder.mkdir(parents=True)
    (folder / 'export.cmake').write_text(WHEEL_CMAKE)
    (folder / 'other.cmake').write_text('# nothing\n')
    assert mend_wheels(tmp_path, '/a', '/b') == 1
    assert mend_wheels(tmp_path, '/a', '/b') == 0


# Finding ROS and Python


def prefix_with_rclpy(folder: Path) -> Path:
    package = folder / 'share/rclpy/package.xml'
    package.parent.mkdir(parents=True)
    package.touch()
    return folder


def test_finds_no_ros_where_none_is_sourced(tmp_path: Path) -> None:
    assert system.find_ros({}) is None
    assert system.find_ros({'ROS_DISTRO': 'humble', 'AMENT_PREFIX_PATH': str(tmp_path)}) is None


def test_finds_the_sourced_ros(tmp_path: Path) -> None:
    prefix = prefix_with_rclpy(tmp_path / 'jazzy')
    paths = f'{tmp_path / "overlay"}:{prefix}'
    found = system.find_ros({'ROS_DISTRO': 'jazzy', 'AMENT_PREFIX_PATH': paths})
    assert found == system.Ros('jazzy', prefix)


def test_refuses_another_ros(tmp_path: Path) -> None:
    prefix = prefix_with_rclpy(tmp_path / 'humble')
    with pytest.raises(SetupError, match=r'humble is sourced; drex_ros needs jazzy\. Source'):
        system.find_ros({'ROS_DISTRO': 'humble', 'AMENT_PREFIX_PATH': str(prefix)})


# What the machine lacks


def no_library(name: str) -> bool:
    return False


def test_says_which_packages_rendering_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, '_loads', no_library)
    monkeypatch.setattr(os, 'geteuid', lambda: 1000)
    system.check_rendering(Progress())
    text = capsys.readouterr().err
    assert text.startswith('[setup] !! no off-screen OpenGL (libEGL.so.1) found')
    assert 'sudo apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri' in text


def test_says_which_packages_the_build_needs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, 'geteuid', lambda: 1000)
    monkeypatch.setenv('PATH', str(tmp_path))
    here = system.find_python(system.Ros('jazzy', Path('/')))
    with pytest.raises(SetupError, match=r'missing: a C\+\+ compiler, make\. .* g\+\+ make$'):
        system.check_build_tools(here, Progress())


@pytest.mark.parametrize('name', ['a b', 'a:b', 'a$b', "it's"])
def test_a_folder_that_colcon_cannot_take_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match='in its path, which colcon cannot take'):
        system.check_folder(tmp_path / name)
    system.check_folder(tmp_path)
