"""Triton's kernels, run by its interpreter on the CPU."""

import gc
import inspect
import os
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensor


def interpreted(wrap):
    """Returns a wrap_triton that also accepts the interpreter's kernels, unlike that of PyTorch 2.6."""

    def wrapped(kernel):
        inner = kernel
        while type(inner).__name__ in ("Autotuner", "Heuristics"):
            inner = inner.fn
        return kernel if type(inner).__name__ == "InterpretedFunction" else wrap(kernel)

    return wrapped


class Clockless:
    """A driver that measures no time: an autotuner of Triton 3.2 asks for one while a module is imported."""

    def __init__(self, drivers):
        self.drivers = drivers

    def get_benchmarker(self):
        return None

    def __getattr__(self, name):
        return getattr(self.drivers.default, name)


def unless_fake(run):
    """Returns a launch that runs a kernel, and does nothing on fake tensors, as of traced ops."""

    def ran(this, *args, **keywords):
        if not any(isinstance(value, FakeTensor) for value in (*args, *keywords.values())):
            return run(this, *args, **keywords)

    return ran


def keeping_none(launch):
    """Returns a launch that leaves no argument in a cycle: its objects stay in the youngest generation."""

    def launched(this, *args, **keywords):
        enabled = gc.isenabled()
        gc.disable()
        try:
            launch(this, *args, **keywords)
        finally:
            gc.collect(0)
            if enabled:
                gc.enable()

    return launched


class Builtins:
    """The module inspect, which the interpreter asks at each call for its language's members, to use the builtins."""

    def __init__(self, language):
        self.builtin, self.names = language.core.is_builtin, {}

    def __getattr__(self, name):
        return getattr(inspect, name)

    def getmembers(self, owner):
        if owner not in self.names:
            self.names[owner] = [name for name, member in inspect.getmembers(owner) if self.builtin(member)]
        return [(name, getattr(owner, name)) for name in self.names[owner]]


def prepare_triton():
    """Prepares what modules use of Triton while they are imported."""
    if os.environ.get("TRITON_INTERPRET") == "1" and "triton.runtime.driver" in sys.modules:
        drivers = sys.modules["triton.runtime.driver"].driver
        drivers.set_active(Clockless(drivers))
    if hasattr(torch.library, "wrap_triton"):
        torch.library.wrap_triton = interpreted(torch.library.wrap_triton)


def tame_triton():
    """Makes the interpreter use the first configuration: an autotuner measures them by a GPU's clock."""
    interpreter, autotuner = map(sys.modules.get, ("triton.runtime.interpreter", "triton.runtime.autotuner"))
    if interpreter is None:
        return
    interpreter.GridExecutor.__call__ = unless_fake(keeping_none(interpreter.GridExecutor.__call__))
    for tuned in autotuner.Autotuner, autotuner.Heuristics:
        tuned.run = unless_fake(tuned.run)
    interpreter.inspect = Builtins(interpreter.tl)
    autotuner.Autotuner._bench = lambda *args, **keywords: [0.0]
