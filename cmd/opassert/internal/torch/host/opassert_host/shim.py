"""The shim of libtorch in this process, and the calls that a worker requests: see shim.h and remote.h."""

import contextlib
import ctypes
import functools
import os

import torch
from torch.utils._python_dispatch import TorchDispatchMode


@functools.cache
def shim():
    """Loads the shim, the last of the libraries of OPASSERT_SHIM."""
    for path in os.environ["OPASSERT_SHIM"].split("\n"):
        loaded = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    loaded.oa_logged.restype = loaded.oa_changed.restype = ctypes.c_char_p
    return loaded


class Captured(Exception):
    """Ends a call once its arguments are known."""


class Capture(TorchDispatchMode):
    """Replaces the first op that is called."""

    call = None

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.call = function, args, kwargs or {}
        raise Captured


def captured(request):
    """Returns the op that a request of OA_FN_call calls, its arguments by position, and those by name."""
    words, reply = (ctypes.c_int64 * len(request))(*request), (ctypes.c_int64 * 1024)()
    cross = ctypes.PyDLL(shim()._name).oa_cross  # which raises the exceptions raised inside
    cross.argtypes = [ctypes.c_int64] * 3 + [ctypes.c_void_p, ctypes.c_int64] * 3
    with Capture() as capture, contextlib.suppress(Captured):
        cross(4, 0, 0, words, len(request), None, 0, reply, len(reply))  # 4 is OA_FN_call
    return capture.call


def captured_whole(request, op):
    """Returns the call of a request like captured(), also if the op decomposes before a mode sees it."""
    call = captured(request)
    if call is None or call[0].name() == op:
        return call

    namespace, _, name = op.partition("::")
    library = torch._C._dispatch_library("IMPL", namespace, "CPU")
    library.impl(name, "CPU", lambda *args, **kwargs: None, False)  # with which it does not decompose
    call = captured(request)
    del library
    return call
