"""The Python that a worker's kernels live in.

It imports PyTorch and the user's modules, once, and says which ops are there that
were not before, and where their kernels are. Then it forks for each worker, and the
child does what that worker asks of libtorch. Where a module has started threads, a
child is a new process, which imports everything again.

The conversation with who started it is in packets, over a socket: see zygote.c.
"""

import ctypes
import faulthandler
import importlib
import inspect
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import traceback

PACKET = 1 << 13  # bytes
MEMORY = 3 << 30  # bytes of address space for kernels, besides what there is at first


def names():
    return set(torch._C._dispatch_get_all_op_names())


def site(function):
    """Returns the file and the line of a function, "" and 0 for one that is not Python's."""
    while hasattr(function, "func"):
        function = function.func
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)


def definer():
    """Returns the file that asked for a definition: not those of torch.library."""
    frame = sys._getframe(2)
    while frame and frame.f_code.co_filename.startswith((ROOT + "library.py", ROOT + "_library" + os.sep)):
        frame = frame.f_back
    return frame.f_code.co_filename if frame else ""


class Registrations:
    """What modules register with torch.library while they are imported."""

    BELOW = ("Meta", "Autograd", "Functionalize", "Python")  # keys of what is not the kernel

    def __init__(self):
        self.definers = {}  # op: file
        self.kernels = {}  # op: (file, line)
        library = torch.library.Library
        define, impl = library.define, library.impl

        def recorded_define(this, schema, *args, **keywords):
            result = define(this, schema, *args, **keywords)
            self.definers[f"{this.ns}::{str(schema).partition('(')[0].strip().rpartition('::')[2]}"] = definer()
            return result

        def recorded_impl(this, name, function, dispatch_key="", **keywords):
            result = impl(this, name, function, dispatch_key, **keywords)
            name = getattr(name, "_name", name)
            if not dispatch_key.startswith(self.BELOW) and callable(function):
                self.kernels[f"{this.ns}::{str(name).rpartition('::')[2]}"] = site(function)
            return result

        library.define, library.impl = recorded_define, recorded_impl

    def own(self, name):
        """Reports whether it was PyTorch that registered an op meanwhile."""
        return self.definers.get(name, "").startswith(ROOT)

    def kernel(self, name):
        try:
            from torch._library.custom_ops import OPDEFS

            return site(OPDEFS[name.partition(".")[0]]._init_fn)
        except (ImportError, KeyError, AttributeError):
            return self.kernels.get(name, ("", 0))


def load(module):
    """Imports a module, also by the name of its package: "flash-attn"."""
    say("load", quoted(module))
    try:
        importlib.import_module(module.replace("-", "_"))
    except BaseException as error:
        say("fault", quoted(explained(error)))
        os._exit(1)


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def explained(error):
    """Returns an exception in a line, with the place in the module where it was raised."""
    text = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<")]
    return f"{text} ({frames[-1].filename}:{frames[-1].lineno})" if frames else text


def say(word, *rest):
    if control:
        control.send("\t".join((word, *rest)).encode("utf-8", "replace")[:PACKET])


def serve(calls, stack):
    """Does what a worker asks, and ends with it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if control:
        control.close()
    os.chdir(folder)
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = used + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))
    faulthandler.enable(stack, all_threads=False)
    shim.oa_serve(calls, stack)
    os._exit(0)


def start(files):
    """Starts a process that serves, and returns what waits for it."""
    if len(os.listdir("/proc/self/task")) > 1:
        again = dict(os.environ, OPASSERT_FILES=",".join(map(str, files)))
        return subprocess.Popen([sys.executable, "-c", source], env=again, pass_fds=files).pid
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        serve(*files)
    return pid


source, folder = os.environ["OPASSERT_HOST"], os.environ["OPASSERT_WORKER"]
files = [int(f) for f in os.environ.pop("OPASSERT_FILES", "").split(",") if f]
control = None if files else socket.socket(fileno=int(os.environ["OPASSERT_CONTROL"]))
load("torch.library")
import torch

try:
    import torch._dynamo  # which the first call of an op in Python would import
except ImportError:
    pass
ROOT = os.path.dirname(torch.__file__) + os.sep
before, registered = names(), Registrations()
for module in os.environ["OPASSERT_MODULES"].split(","):
    load(module)
say("load", quoted(""))
for path in os.environ["OPASSERT_SHIM"].split("\n"):
    shim = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
if files:
    serve(*files)
for op in sorted(names() - before):
    if not registered.own(op):
        file, line = registered.kernel(op)
        say("op", op, file, str(line))
say("ready")
while True:
    packet, files, *_ = socket.recv_fds(control, 1, 2)
    if not packet:
        os._exit(0)
    pid = start(files)
    say("pid", str(pid))
    for file in files:
        os.close(file)
    say("ended", str(os.waitpid(pid, 0)[1]))
