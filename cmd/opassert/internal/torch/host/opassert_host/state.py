"""Changes that calls make besides those to tensors: reported, and undone before the next call."""

import _random
import _signal
import atexit
import contextlib
import ctypes
import functools
import gc
import logging
import os
import random
import signal
import socket
import sys
import threading
import warnings

import torch
from torch.overrides import _get_current_function_mode as current_function_mode
from torch.overrides import _pop_mode as pop_function_mode
from torch.utils import _device as default_device
from torch.utils._python_dispatch import _pop_mode as pop_dispatch_mode

from .extension_locks import children
from .places import explained
from .shim import shim

# Without those that can't be handled, and those that the shim handles where memory is watched.
SIGNALS = [(s.name, int(s)) for s in signal.Signals if s.name not in ("SIGKILL", "SIGSTOP", "SIGSEGV", "SIGBUS")]
SHOWN = 200  # characters of printed text
LEAKS = 3  # a kernel may open a file once
GENERATIONS = 1 << 14  # numbers of a Mersenne twister, more than a call draws
APART = set("autograd_fallback_mode thread_name cublas_allow_tf32 cudnn_benchmark cudnn_enabled deterministic_algorithms float32_matmul_precision mkldnn_enabled".split())  # settings that a worker sets itself, of a thread, and that the shim reads
hooks_on_top = getattr(torch._C._autograd, "_top_saved_tensors_default_hooks", lambda tracing: None)  # of PyTorch 2.7 and later
libc = ctypes.CDLL(None)


def refill(collection, values):
    """Restores the contents of a list or a mapping."""
    collection.clear()
    collection.extend(values) if isinstance(collection, list) else collection.update(values)


def of_module(name, read, write):
    """Returns functions that read a module's setting, None if it is not imported, and that set it."""
    module = functools.partial(sys.modules.get, name)
    return lambda: module() and read(module()), lambda value: value and write(module(), value)


def numpys_generator():
    numpy = sys.modules.get("numpy")
    return numpy and numpy.random.get_state(legacy=True)


# The bytes of a generator's state are compared first: to copy it by functions takes as long as all
# other checks after a call.
PYTHONS = id(random._inst) + object.__basicsize__, _random.Random.__basicsize__ - object.__basicsize__
NUMPYS = 625 * 4  # bytes of the words of numpy's twister, and of the position


def bytes_of_generators():
    numpy = sys.modules.get("numpy")
    twister = numpy and numpy.random.mtrand._rand._bit_generator
    known = type(twister).__name__ == "MT19937"
    return ctypes.string_at(*PYTHONS), known and ctypes.string_at(twister.ctypes.state_address, NUMPYS)


def settings():
    """Returns the settings of the process that torch._C has functions to read and to set."""
    found = {}
    for name in (n.removeprefix("_get_") for n in dir(torch._C) if n.startswith("_get_")):
        write = getattr(torch._C, f"_set_{name}", None)
        read = getattr(torch._C, f"_get_{name}")
        with contextlib.suppress(TypeError):  # it takes an argument
            if write and read() is not None and name not in APART:
                found[f"the setting {name}"] = read, write
    return found


def current_device():
    """Returns the index of the current device of the type that a package brings; 0 without a driver."""
    with contextlib.suppress(AttributeError, RuntimeError):  # before PyTorch 2.6, or of a driver that is not started
        if torch._C._get_privateuse1_backend_name() != "privateuseone":
            return torch.accelerator.current_device_index()
    return 0


PRINTING = torch._tensor_str.PRINT_OPTS

# The settings that the shim does not know, by their names in reports: functions that read and set them, in this order.
STATE = {
    "the default device": (lambda: default_device.CURRENT_DEVICE, torch.set_default_device),
    "the current device of the backend": (current_device, lambda index: torch.accelerator.set_device_index(index)),
    "the kernels of scaled_dot_product_attention()": (
        lambda: (torch._C._get_flash_sdp_enabled(), torch._C._get_mem_efficient_sdp_enabled(), torch._C._get_math_sdp_enabled()),
        lambda v: [use(on) for use, on in zip((torch._C._set_sdp_use_flash, torch._C._set_sdp_use_mem_efficient, torch._C._set_sdp_use_math), v)],
    ),
    "the threads of backward()": (torch._C._is_multithreading_enabled, torch._C._set_multithreading_enabled),
    "anomaly detection": (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda v: torch.set_anomaly_enabled(*v),
    ),
    "the print options": (lambda: dict(vars(PRINTING)), lambda v: vars(PRINTING).update(v)),
    "the level of the root logger": (lambda: logging.root.level, logging.root.setLevel),
    "logging.disable()": (lambda: logging.root.manager.disable, logging.disable),
    "numpy.geterr()": of_module("numpy", lambda m: m.geterr(), lambda m, v: m.seterr(**v)),
    "numpy.get_printoptions()": of_module("numpy", lambda m: m.get_printoptions(), lambda m, v: m.set_printoptions(**v)),
    "decimal.getcontext()": of_module(
        "decimal",
        lambda m: {name: getattr(m.getcontext(), name) for name in ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")},
        lambda m, v: [setattr(m.getcontext(), *setting) for setting in v.items()],
    ),
    **settings(),
    "socket.getdefaulttimeout()": (socket.getdefaulttimeout, socket.setdefaulttimeout),
    "torch.multiprocessing.get_sharing_strategy()": (torch.multiprocessing.get_sharing_strategy, torch.multiprocessing.set_sharing_strategy),
    "os.sched_getaffinity()": (lambda: os.sched_getaffinity(0), lambda v: os.sched_setaffinity(0, v)),
    "a pending signal.setitimer()": (lambda: signal.getitimer(signal.ITIMER_REAL)[0] > 0, lambda on: signal.setitimer(signal.ITIMER_REAL, 0)),
    "sys.stdin, stdout or stderr": (lambda: (sys.stdin, sys.stdout, sys.stderr), lambda v: vars(sys).update(zip(("stdin", "stdout", "stderr"), v))),
    **{
        f"{module.__name__}.{name}": (functools.partial(getattr, module, name), functools.partial(setattr, module, name))
        for module, name in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook"), (sys, "displayhook"))
    },
    **{f"sys.get{name}()": (getattr(sys, "get" + name), getattr(sys, "set" + name)) for name in ("trace", "profile", "recursionlimit", "switchinterval")},
    "gc.isenabled()": (gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    "gc.get_threshold()": (gc.get_threshold, lambda v: gc.set_threshold(*v)),
    "handlers of signals": (
        lambda: {name: signal.getsignal(s) for name, s in SIGNALS},
        lambda v: [signal.signal(s, v[name]) for name, s in SIGNALS if v[name] not in (None, signal.getsignal(s))],
    ),
    "warnings.filters": (lambda: list(warnings.filters), lambda v: refill(warnings.filters, v)),
    "os.environ": (lambda: dict(os.environ), lambda v: refill(os.environ, v)),
    "sys.path": (lambda: list(sys.path), lambda v: refill(sys.path, v)),
}

# What is compared in place of settings that take long to read.
QUICK = {
    "handlers of signals": lambda: [_signal.getsignal(number) for _, number in SIGNALS],
    "os.environ": lambda: dict(getattr(os.environ, "_data", os.environ)),
}
READS = [QUICK.get(name, read) for name, (read, _) in STATE.items()]

PATCHED = (torch, torch.Tensor, torch.nn.functional, torch.nn.Module, torch.linalg)  # whose functions are checked

# Things that calls must not add, by the report: functions that count them.
COUNTS = {
    "left a file open": lambda: len(os.listdir("/proc/self/fd")),
    "left a thread running": threading.active_count,
    "registered a function with atexit": atexit._ncallbacks,
}

IMPORTS = {"numpy.geterr()", "numpy.get_printoptions()", "decimal.getcontext()", "warnings.filters", "os.environ", "sys.path"}  # set by modules while they are imported


def shown(was, now):
    """Returns how a value changed; of a mapping or a list only the differences."""
    if isinstance(was, dict):
        keys = sorted(k for k in {*was, *now} if was.get(k) != now.get(k))
        return ", ".join(f"{k} was {was.get(k)!r} and is {now.get(k)!r}" for k in keys)
    if isinstance(was, (list, tuple)) and len(was) == len(now):
        pairs = [(a, b) for a, b in zip(was, now) if a is not b and a != b]
        return ", ".join(f"{a!r} became {b!r}" for a, b in pairs)
    if isinstance(was, list):
        return f"it had {len(was)} entries and has {len(now)}"
    return f"it was {was} and is {now}"


def twister(words, at):
    generator = random.Random()
    generator.setstate((3, (*words, at), None))
    return generator


@functools.lru_cache
def seeded_twister(was, now):
    """Reports whether a Mersenne twister was seeded, and did not just draw numbers."""
    came, all = twister(now, 0).getrandbits(32), 32 * len(was)
    generator = twister(was, len(was))
    return was != now and not any(generator.getrandbits(all) & 0xFFFFFFFF == came for _ in range(GENERATIONS))


class State:
    said = []  # since it was asked for
    seed = None
    passive = False  # the call that is over ran no code of a user

    def begin(self):
        self.leaks = {}  # consecutive calls that each added something
        self.values = {name: read() for name, (read, _) in STATE.items()}
        self.quick = [read() for read in READS]
        self.modules = len(sys.modules)
        self.functions = [[owner, set(vars(owner)), {n: f for n, f in vars(owner).items() if callable(f)}, list(vars(owner).values())] for owner in PATCHED]
        self.draw()
        self.output = os.memfd_create("stdout")
        os.dup2(self.output, 1)

    def draw(self):
        """Remembers the random generators, seeded, and threads, processes and files: a first tensor may start its driver's."""
        self.children, self.counted = children(), {left: count() for left, count in COUNTS.items()}
        seed = torch.default_generator.initial_seed()
        if seed == self.seed and (self.numpy or "numpy" not in sys.modules):
            return  # the others still have their states after that seed
        self.seed = seed
        random.seed(self.seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(self.seed % (1 << 32))
        self.python, self.numpy, self.generators = random.getstate(), numpys_generator(), bytes_of_generators()

    def look(self):
        """Notes changed state, and restores it."""
        imported, self.modules = len(sys.modules) != self.modules, len(sys.modules)
        if imported:
            gc.collect()  # first, as it calls finalizers
            gc.freeze()  # later collections need not visit what imports made
        self.look_at_modes()
        if changed := shim().oa_changed():  # of the settings that libraries share: see state.cpp
            self.said += changed.decode("utf-8", "replace").split("\n")
            torch.set_default_dtype(torch.get_default_dtype())  # and with it torch.Storage
        if self.quick != [read() for read in READS]:
            self.look_at_settings(imported)
        self.look_at_generators()
        self.look_at_output()
        self.look_at_children()
        self.look_at_counts()

    def look_at_settings(self, imported):
        """Compares all settings, and restores those that changed."""
        restored = True
        for name, (read, write) in STATE.items():
            was, now = self.values[name], read()
            if was == now or was is now:
                continue
            if imported and name in IMPORTS:
                self.values[name] = now
                continue
            self.said.append(f"{name} changed: {shown(was, now)}")
            write(was)
            restored = False
        if restored:
            self.quick = [read() for read in READS]

    def look_at_modes(self):
        """Exits the modes that were left on, except that of the default device."""
        while torch._C._len_torch_dispatch_stack() > 0:
            self.said.append(f"the mode {type(pop_dispatch_mode()).__name__} was left on")
        while not isinstance(current_function_mode(), (default_device.DeviceContext, type(None))):
            self.said.append(f"the mode {type(pop_function_mode()).__name__} was left on")
        while hooks_on_top(True):
            torch._C._autograd._pop_saved_tensors_default_hooks()
            self.said.append("hooks for saved tensors were left on")

    def look_at_functions(self):
        """Restores replaced or removed functions of PyTorch, and methods that a class inherits."""
        for each in self.functions:
            owner, names, functions, values = each
            now = vars(owner)
            if len(now) == len(values) and list(now.values()) == values:
                continue
            each[3] = list(now.values())
            replaced = {n: f for n, f in functions.items() if now.get(n) is not f}
            over = [n for n in now.keys() - names if hasattr(getattr(owner, "__base__", None), n)]
            for name, function in replaced.items():
                setattr(owner, name, function)
            for name in over:
                delattr(owner, name)
            names |= now.keys()
            place = f"{owner.__module__}." if isinstance(owner, type) else ""
            lasting = {*replaced, *over} - {"Storage"}  # which follows the default dtype
            self.said += [f"{place}{owner.__name__}.{name} was replaced" for name in sorted(lasting)]

    def look_at_generators(self):
        if bytes_of_generators() == self.generators:
            return
        if random.getstate() != self.python:
            if seeded_twister(self.python[1][:-1], random.getstate()[1][:-1]):
                self.said.append("Python's module random was seeded")
            random.setstate(self.python)
        was, now = self.numpy, numpys_generator()
        if was and now and (was[2] != now[2] or (was[1] != now[1]).any()):
            if seeded_twister(tuple(was[1].tolist()), tuple(now[1].tolist())):
                self.said.append("numpy.random was seeded")
            sys.modules["numpy"].random.set_state(was)

    def look_at_output(self):
        sys.stdout.flush()
        libc.fflush(None)
        ours = False
        with contextlib.suppress(OSError):
            ours = os.path.sameopenfile(1, self.output)
        if not ours:
            self.said.append("the standard output was closed, or is another file")
            os.dup2(self.output, 1)
        if size := os.fstat(self.output).st_size:
            text = os.pread(self.output, SHOWN, 0).decode("utf-8", "replace")
            os.ftruncate(self.output, 0)
            os.lseek(self.output, 0, os.SEEK_SET)
            self.said.append(f"{size} bytes were printed: {text!r}")

    def look_at_children(self):
        tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
        self.children.add(getattr(tracker, "_pid", None))  # which lives as long as the process, by design
        for pid in children() - self.children:
            ended = os.waitpid(pid, os.WNOHANG)[0]
            self.said.append("a process was started, and not waited for")
            if not ended:
                self.children.add(pid)

    def look_at_counts(self):
        for left, count in COUNTS.items():
            was, self.counted[left] = self.counted[left], count()
            self.leaks[left] = self.leaks.get(left, 0) + 1 if self.counted[left] > was else 0
            if self.leaks[left] == LEAKS:
                self.said.append(f"{LEAKS} calls in a row {left}")

    def after(self, set):
        """Called after each call of an op, and after the default generator or the number of threads was set."""
        if self.passive:
            self.passive = False
            self.leaks.clear()
            return
        try:
            self.draw() if set else self.look()
        except BaseException as error:
            self.said.append(f"what the call changed can't be undone: {explained(error)}")


state = State()


def left():
    """Returns the changes that calls made since its last call, as lines."""
    state.passive = True
    state.look_at_functions()  # which takes as long as all other checks after a call
    said, state.said = list(dict.fromkeys(state.said)), []
    if line := shim().oa_logged().decode("utf-8", "replace"):
        said.append(f"calls wrote to the standard error, as {line!r}")
    return "\n".join(said)
