"""The Python of a worker's kernels.

It imports PyTorch and the user's modules, once, and lists the ops that they add, and the places of their kernels. Then it forks for each worker, and the child serves that worker's requests to libtorch. If a module has started threads, a child is a new process, which imports everything again.

It talks to its parent in packets, over a socket: see host.c.
"""

from . import load  # first: see there

# isort: split
import ctypes
import faulthandler
import functools
import gc
import os
import resource
import signal
import socket
import subprocess
import sys
import types

import torch

from . import conditions, fake_calls, formulas, lost_writes, texts
from .extension_locks import children, end_children, note_locks
from .registrations import registered
from .shim import shim
from .state import left, state
from .symbols import warm
from .triton import tame_triton

# The functions that workers call, as ops.
REQUESTS = {
    "asked(str message) -> str": conditions.asked,
    "lost_writes(int[] request, str op) -> str": lost_writes.lost_writes_of,
    "fake(int[] request, str op) -> str": fake_calls.fake,
    "left() -> str": left,
    "own_rules(int[] request, str op) -> str": functools.partial(formulas.rules, all=False),
    "registration(str op) -> str": texts.registration,
    "rules(int[] request, str op) -> str": formulas.rules,
}
LENT = torch.library.Library("opassert_host", "DEF")
MEMORY = 3 << 30  # bytes of address space for kernels, besides those used at first


def serve(calls, stack):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if load.control:
        load.control.close()
    os.chdir(os.environ["OPASSERT_WORKER"])
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    faulthandler.enable(stack, all_threads=False)
    state.begin()
    shim().oa_serve(calls, stack, ctypes.CFUNCTYPE(None, ctypes.c_int)(state.after), ctypes.CFUNCTYPE(None)(gc.collect))
    os._exit(0)


def driven():
    """Reports whether a driver is started, which a fork could not use."""
    devices = [each for each in vars(torch).values() if each is not torch.cpu and "is_initialized" in getattr(each, "__dict__", ())]
    return any(device.is_initialized() for device in devices)


def start(files):
    if len(os.listdir("/proc/self/task")) > 1 or driven():
        again = dict(os.environ, OPASSERT_FILES=",".join(map(str, files)))
        return subprocess.Popen([sys.executable, "-c", os.environ["OPASSERT_HOST"]], env=again, pass_fds=files).pid
    load.flush()
    pid = os.fork()
    if pid == 0:
        serve(*files)
    return pid


def import_modules():
    """Imports the user's modules, and returns a function that lists the ops that they add."""
    methods_before = len(torch._C._jit_get_custom_class_schemas())
    added = registered.imported(load.load)
    tame_triton()
    load.begin("")
    gc.freeze()  # so that it visits only new objects, and does not write to the pages that forks share
    shim().oa_methods(ctypes.c_int64(methods_before))
    return added


def loaded():
    """Returns the files of all that is imported, and of libraries."""
    files = {vars(module).get("__file__") for module in list(sys.modules.values()) if isinstance(module, types.ModuleType)}
    with open("/proc/self/maps", errors="replace") as maps:
        files.update(line[line.find("/") :].strip() for line in maps)
    return sorted(file for file in files if isinstance(file, str) and os.path.isabs(file))


def main():
    note_locks()
    warm()  # so that the first call of a fake takes no longer
    for schema, function in REQUESTS.items():
        LENT.define(schema)
        LENT.impl(schema.partition("(")[0], function, "CompositeImplicitAutograd")
    added = import_modules()
    if load.files:
        serve(*load.files)
    for op in added():
        file, line = registered.kernel(op)
        load.say("op", op, file, str(line))
    for file in loaded():
        load.say("op", "", file, "0")
    ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: processes that workers leave are ended here
    load.say("ready")
    while True:
        packet, files, *_ = socket.recv_fds(load.control, 1, 2)
        if not packet:
            os._exit(0)
        resident = children()
        pid = start(files)
        load.say("pid", str(pid))
        for file in files:
            os.close(file)
        status = os.waitpid(pid, 0)[1]
        end_children(resident)
        load.say("ended", str(status))
