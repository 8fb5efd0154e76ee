# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Build of the ament_python package drex_ros; colcon calls this."""

import os
from pathlib import Path

from setuptools import find_packages, setup

NAME = 'drex_ros'
NODES = (
    'mock_hardware',
    'mock_camera',
    'hybrid_impedance_controller',
    'pose_tracker',
    'system_monitor',
)


def shared(folder: str) -> list[tuple[str, list[str]]]:
    """Every file below a folder, to be installed at the same place below share/drex_ros."""
    return [
        (os.path.join('share', NAME, parent), [os.path.join(parent, file) for file in files])
        for parent, _, files in os.walk(folder)
        if files
    ]


setup(
    name=NAME,
    version='0.1.0',
    description='A Franka arm with an Allegro hand in ROS 2, simulated in MuJoCo',
    long_description=Path('README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    maintainer='The drex_ros authors',
    maintainer_email='maintainers@drex-ros.invalid',
    license='Apache-2.0',
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: ['py.typed']},
    python_requires='>=3.11',
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        # colcon puts bin/ of a package on the PATH: `drex` works where the workspace is sourced.
        ('bin', ['bin/drex']),
        *shared('launch'),
        *shared('config'),
        *shared('urdf'),
    ],
    entry_points={
        'console_scripts': [f'{node} = drex_ros.nodes.{node}:main' for node in NODES],
    },
    zip_safe=False,
)
