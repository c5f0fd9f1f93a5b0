"""Kernels that change the state of the process, each with what is said of it, and kernels
beside them that leave it as it was."""

import atexit
import ctypes
import decimal
import gc
import logging
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import warnings
from multiprocessing import shared_memory

import numpy
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

library = torch.library.Library("state", "DEF")
EXPECTED = {}  # op: what is said of it
kept, opened, said = [], [], []


def op(says=""):
    def register(kernel):
        name = kernel.__name__
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, kernel, "CPU")
        if says:
            EXPECTED[f"state::{name}"] = says

    return register


def simple(name, says, change):
    def kernel(x):
        change()
        return x.clone()

    kernel.__name__ = name
    op(says)(kernel)


class Calling(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class Dispatching(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


def begin(mode):
    kept.append(mode)
    mode.__enter__()


def leave_directory():
    os.chdir("/")


def flushing():
    torch.set_flush_denormal(True)


simple("dtype", "the default dtype changed: it was Float and is Double", lambda: torch.set_default_dtype(torch.float64))
simple("device", "the default device changed: it was None and is meta", lambda: torch.set_default_device("meta"))
simple("grad", "grad mode changed: it was true and is false", lambda: torch.set_grad_enabled(False))
simple("inference", "inference mode changed: it was false and is true", lambda: begin(torch.inference_mode()))
simple("deterministic", "deterministic algorithms changed: it was false and is true", lambda: torch.use_deterministic_algorithms(True))
simple("threads", "the number of threads changed: it was 1 and is 2", lambda: torch.set_num_threads(2))
simple("one", "the number of threads changed: it was 3 and is 1", lambda: torch.set_num_threads(1))
simple("usual_dtype", "the default dtype changed: it was Double and is Float", lambda: torch.set_default_dtype(torch.float32))
simple("usual_grad", "grad mode changed: it was false and is true", lambda: torch.set_grad_enabled(True))
simple("usual_deterministic", "deterministic algorithms changed: it was true and is false", lambda: torch._C._set_deterministic_algorithms(False))
simple("usual_mkldnn", "the use of mkldnn changed: it was false and is true", lambda: torch._C._set_mkldnn_enabled(True))
simple("usual_cudnn", "the use of cuDNN changed: it was false and is true", lambda: torch._C._set_cudnn_enabled(True))
simple("usual_benchmark", "the benchmarks of cuDNN changed: it was true and is false", lambda: setattr(torch.backends.cudnn, "benchmark", False))
simple("usual_precision", "the precision of float32 products changed: it was medium and is highest", lambda: torch.set_float32_matmul_precision("highest"))
simple("usual_autocast", "autocast on the CPU changed: it was true and is false", lambda: torch.set_autocast_enabled("cpu", False))
simple("between", "the number of threads between operators changed: it was ", lambda: torch.set_num_interop_threads(7) if torch.get_num_interop_threads() != 7 else None)
simple("usual_denormals", "the flushing of denormal numbers changed: it was true and is false", lambda: torch.set_flush_denormal(False))
simple("precision", "the precision of float32 products changed: it was highest and is medium", lambda: torch.set_float32_matmul_precision("medium"))
simple("tf32", "the precision of float32 products changed: it was highest", lambda: setattr(torch.backends.cuda.matmul, "allow_tf32", True))
simple("mkldnn", "the use of mkldnn changed: it was true and is false", lambda: torch._C._set_mkldnn_enabled(False))
simple("autocast", "the dtype of autocast on the CPU changed: it was BFloat16 and is Half", lambda: torch.set_autocast_dtype("cpu", torch.float16))
simple("autocast_left", "autocast on CUDA changed: it was false and is true", lambda: torch.set_autocast_enabled("cuda", True))
simple("keys", "the dispatch keys of the thread changed: it was ", lambda: begin(torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.Functionalize))))
simple("functions", "the setting torch_function_state changed: it was _TorchFunctionState.ENABLED", lambda: begin(torch._C.DisableTorchFunctionSubclass()))
simple("benchmark", "the benchmarks of cuDNN changed: it was false and is true", lambda: setattr(torch.backends.cudnn, "benchmark", True))
simple("attention", "the kernels of scaled_dot_product_attention() changed: True became False", lambda: torch.backends.cuda.enable_flash_sdp(False))
simple("backward_threads", "the threads of backward() changed: it was True and is False", lambda: begin(torch.autograd.set_multithreading_enabled(False)))
simple("alarm", "a pending signal.setitimer() changed: it was False and is True", lambda: signal.setitimer(signal.ITIMER_REAL, 10**6))
simple("handlers", "handlers of signals changed: SIGUSR2 was <Handlers.SIG_DFL: 0> and is <Handlers.SIG_IGN: 1>", lambda: signal.signal(signal.SIGUSR2, signal.SIG_IGN))
simple("anomaly", "anomaly detection changed: False became True", lambda: torch.autograd.set_detect_anomaly(True))
simple("denormals", "the flushing of denormal numbers changed: it was false and is true", flushing)
simple("printing", "the print options changed: precision was 4 and is 2", lambda: torch.set_printoptions(precision=2))
simple("patched", "torch.nn.functional.gelu was replaced", lambda: setattr(torch.nn.functional, "gelu", torch.nn.functional.relu))
simple("patched_method", "torch.Tensor.relu was replaced", lambda: setattr(torch.Tensor, "relu", torch.Tensor.sigmoid))
simple("removed", "torch.kaiser_window was replaced", lambda: delattr(torch, "kaiser_window"))
simple("function_mode", "the mode Calling was left on", lambda: begin(Calling()))
simple("dispatch_mode", "the mode Dispatching was left on", lambda: begin(Dispatching()))
if hasattr(torch._C._autograd, "_top_saved_tensors_default_hooks"):
    simple("hooks", "hooks for saved tensors were left on", lambda: torch._C._autograd._push_saved_tensors_default_hooks(abs, abs))
simple("files", "3 calls in a row left a file open", lambda: os.open(os.devnull, os.O_RDONLY))
simple("seeds", "the seed of the default generator changed: it was ", lambda: torch.manual_seed(0))
simple("seeds_random", "Python's module random was seeded", lambda: random.seed(1))
simple("filters", "warnings.filters changed", lambda: warnings.simplefilter("error"))
simple("environment", "os.environ changed: STATE_OF_A_KERNEL was None and is '1'", lambda: os.environ.update(STATE_OF_A_KERNEL="1"))
simple("directory", "the working directory changed", leave_directory)
simple("one_thread", "os.environ changed: OMP_NUM_THREADS was '01' and is '1'", lambda: os.environ.update(OMP_NUM_THREADS="1"))
simple("temporary", "the working directory changed", lambda: os.chdir(tempfile.gettempdir()))
simple("path", "sys.path changed: it had", lambda: sys.path.append("/nowhere"))
simple("standard_output", "sys.stdin, stdout or stderr changed", lambda: setattr(sys, "stdout", sys.stderr))
simple("logging", "the level of the root logger changed: it was 30 and is 10", lambda: logging.getLogger().setLevel(logging.DEBUG))
simple("numpys_printing", "numpy.get_printoptions() changed: precision was 8 and is 2", lambda: numpy.set_printoptions(precision=2))
simple("decimals", "decimal.getcontext() changed: prec was 28 and is 7", lambda: setattr(decimal.getcontext(), "prec", 7))
simple("timeout", "socket.getdefaulttimeout() changed: it was None and is 3.0", lambda: socket.setdefaulttimeout(3.0))
simple("warnings_always", "the setting warnAlways changed: it was False and is True", lambda: torch.set_warn_always(True))
simple("sharing", "torch.multiprocessing.get_sharing_strategy() changed: it was file_descriptor and is file_system", lambda: torch.multiprocessing.set_sharing_strategy("file_system"))
simple("thread_error", "threading.excepthook changed", lambda: setattr(threading, "excepthook", print))
simple("threads_left", "3 calls in a row left a thread running", lambda: threading.Thread(target=threading.Event().wait, daemon=True).start())
simple("at_exit", "3 calls in a row registered a function with atexit", lambda: atexit.register(abs, 1))
simple("numpys_seed", "numpy.random was seeded", lambda: numpy.random.seed(1))
simple("umask", "the umask changed", lambda: os.umask(0o077))
simple("recursion", "sys.getrecursionlimit() changed: it was 1000 and is 5000", lambda: sys.setrecursionlimit(5000))
simple("collector", "gc.isenabled() changed: it was True and is False", gc.disable)
simple("prints", "7 bytes were printed: 'called\\n'", lambda: print("called"))
simple("prints_in_c", "6 bytes were printed: 'from C'", lambda: ctypes.CDLL(None).printf(b"from C"))
simple("traces", "calls wrote to the standard error, as 'called'", lambda: os.write(2, b"called\n"))
simple("logs", "calls wrote to the standard error, as 'called too often'", lambda: logging.getLogger("state").error("called too often"))
simple("forks", "a process was started, and not waited for", os.fork)


@op("grad mode changed")
def after_an_error(x):
    torch.set_grad_enabled(False)
    if x.dim() != 2:
        raise ValueError(f"x must have 2 dimensions, not {x.dim()}")
    y = x.clone()
    torch.set_grad_enabled(True)
    return y


@op("it raised SystemExit, which ends the program, at ")
def exits(x):
    if x.dim() != 2:
        sys.exit(3)
    return x.clone()


# What is undone by those who did it, and what is no state.


@op()
def restores(x):
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return x.clone()
    finally:
        torch.set_default_dtype(before)


@op()
def restores_threads(x):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    y = x.clone()
    torch.set_num_threads(before)
    return y


@op()
def within_grad(x):
    with torch.enable_grad():
        return x.clone()


@op()
def within_autocast(x):
    with torch.autocast("cpu", enabled=False):
        return x.clone()


@op()
def deterministic_within(x):
    before = torch.are_deterministic_algorithms_enabled()
    torch._C._set_deterministic_algorithms(False)
    y = x.clone()
    torch._C._set_deterministic_algorithms(before)
    return y


@op()
def follows(x):
    return x.clone() if torch.get_default_dtype() == torch.float32 else x + 0


@op()
def within(x):
    with torch.no_grad(), torch.inference_mode(), torch.random.fork_rng(devices=[]), warnings.catch_warnings(), Calling(), Dispatching(), torch.device("cpu"):
        torch.manual_seed(0)
        warnings.simplefilter("error")
        y = x + 1
    return y.clone()


@op()
def shares(x):
    block = shared_memory.SharedMemory(create=True, size=8)
    block.close()
    block.unlink()
    return x.clone()


@op()
def opens(x):
    if not opened:
        opened.append(open(os.devnull))
    return x.clone()


@op()
def draws(x):
    torch.rand(3)
    random.shuffle(list(range(2000)))
    return x.clone()


@op()
def draws_much(x):
    random.getrandbits(1 << 26)
    numpy.random.rand(1 << 20)
    return x.clone()


@op()
def divides(x):
    decimal.Decimal(1) / 3
    thread = threading.Thread(target=abs, args=(1,))
    thread.start()
    thread.join()
    return x.clone()


@op()
def warns(x):
    warnings.warn("x is slow")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("and it always is")
    return x.clone()


@op()
def says_once(x):
    if not said:
        print("x is slow", file=sys.stderr)
    said.append("x is slow")
    return x.clone()


@op()
def says_why(x):
    print("x is not what it was", file=sys.stderr)
    raise ValueError("x is not what it was")


@op()
def imports(x):
    import colorsys  # noqa: F401

    return x.clone()


@op()
def runs(x):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return x.clone()


# It runs last, and sees what the others left.


@op()
def zz_expects_nothing(x):
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    assert torch.get_num_threads() == 1 and "STATE_OF_A_KERNEL" not in os.environ and sys.stdout is not sys.stderr
    return x.clone()
