# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The object library: geometry made by code or read from files, truth from YAML."""

from drex_ros.objects.decomposition import collision_parts
from drex_ros.objects.library import find_object, load_object, object_names
from drex_ros.objects.model import Mesh, ObjectError, ObjectModel, Part, Symmetry

__all__ = [
    'Mesh',
    'ObjectError',
    'ObjectModel',
    'Part',
    'Symmetry',
    'collision_parts',
    'find_object',
    'load_object',
    'object_names',
]
