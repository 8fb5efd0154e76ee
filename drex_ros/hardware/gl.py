# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""OpenGL without a window: EGL where it works, OSMesa otherwise."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib
import os
from typing import Any

KINDS = ('egl', 'osmesa')

_EGL_PLATFORM_DEVICE = 0x313F
_MOST_DEVICES = 16
_NOTHING = (
    'no OpenGL for pictures without a window: install EGL '
    '(apt install libegl1 libegl-mesa0 libgl1-mesa-dri) or OSMesa (apt install libosmesa6)'
)


class RenderingError(RuntimeError):
    """Pictures cannot be made; the message is one readable line."""


def choose_gl() -> str:
    """The kind of OpenGL for pictures without a window: 'egl' or 'osmesa'.

    What MUJOCO_GL says counts if it is one of the two. The choice is written there, because
    MuJoCo loads its OpenGL functions by it; call this before the first context is made.
    """
    given = os.environ.get('MUJOCO_GL', '').lower()
    if given in KINDS:
        return given
    for kind, works in (('egl', egl_works), ('osmesa', osmesa_works)):
        # PyOpenGL loads one platform in a process and keeps it.
        if works() and os.environ.get('PYOPENGL_PLATFORM', kind) == kind:
            os.environ['MUJOCO_GL'] = kind
            return kind
    raise RenderingError(_NOTHING)


def open_context(width: int, height: int) -> Any:
    """An OpenGL context, current on this thread; only this thread may draw with it.

    It has `make_current()` and `free()`. The size [px] is that of OSMesa's own buffer.
    """
    kind = choose_gl()
    try:
        context = importlib.import_module(f'mujoco.{kind}').GLContext(width, height)
        context.make_current()
    # PyOpenGL's failures to load a library are of many kinds, AttributeError among them.
    except Exception as error:
        raise RenderingError(f'MUJOCO_GL is {kind}, which fails: {error}; {_NOTHING}') from error
    return context


def osmesa_works() -> bool:
    """Whether OSMesa's library is there."""
    return _library('OSMesa') is not None


def egl_works() -> bool:
    """Whether EGL has a device that can be opened, a software one included."""
    egl = _library('EGL')
    if egl is None:
        return False
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    query = egl.eglGetProcAddress(b'eglQueryDevicesEXT')
    open_display = egl.eglGetProcAddress(b'eglGetPlatformDisplayEXT')
    if not query or not open_display:
        return False
    devices = (ctypes.c_void_p * _MOST_DEVICES)()
    count = ctypes.c_int(0)
    query_devices = ctypes.CFUNCTYPE(
        ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p
    )(query)
    if not query_devices(_MOST_DEVICES, devices, ctypes.byref(count)):
        return False
    get_display = ctypes.CFUNCTYPE(
        ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p
    )(open_display)
    for device in devices[: count.value]:
        display = ctypes.c_void_p(get_display(_EGL_PLATFORM_DEVICE, device, None))
        # It is left open: a context of this process may be on it already.
        if display.value and egl.eglInitialize(display, None, None):
            return True
    return False


def _library(name: str) -> ctypes.CDLL | None:
    path = ctypes.util.find_library(name)
    try:
        return None if path is None else ctypes.CDLL(path)
    except OSError:
        return None
