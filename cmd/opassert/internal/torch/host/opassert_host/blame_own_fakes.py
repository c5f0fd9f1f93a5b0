"""The fakes of PyTorch's own ops, which those of libraries call and can't be blamed for."""

import contextlib

import torch
from torch._dynamo.source import ConstantSource
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from .fakes import NAMESPACES, described, fake_mode, held, shaped
from .registrations import registered
from .symbols import dynamic, tracing


class FakeMismatches(TorchDispatchMode):
    """Notes an op of PyTorch whose fake returns other dtypes, sizes or strides than its kernel; symbolic: dimensions."""

    def __init__(self, symbolic=False):
        super().__init__()
        self.symbolic, self.name = symbolic, ""

    def laid_out(self, values):
        tensors = [t for t in held(values) if t is not None]
        return [(t.dtype, t.dim()) if self.symbolic else (t.dtype, t.shape, t.stride()) for t in tensors]

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        mode, kwargs = fake_mode(), kwargs or {}

        def fake(t):
            if self.symbolic:
                return mode.from_tensor(t, source=ConstantSource("t"), symbolic_context=dynamic(t))
            return mode.from_tensor(t, static_shapes=True)

        fakes = tree_map_only(torch.Tensor, fake, (args, kwargs))
        values = function(*args, **kwargs)
        with contextlib.suppress(Exception), tracing(mode) if self.symbolic else mode:  # what it returns depends on contents
            if self.laid_out(function(*fakes[0], **fakes[1])) != self.laid_out(values):
                self.name = function.name()
        return values


def mismatch(function, args, kwargs, answer):
    """Returns why PyTorch's fakes, and not that of an op, are to blame for its results: their kernels return others."""

    def kernel():
        return function.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), *args, **kwargs)

    def arranged(values):
        return shaped([described(t, torch.Tensor) for t in held(values)])

    name, mismatches = function.name(), FakeMismatches()
    if function.namespace in NAMESPACES:
        return ""
    with contextlib.suppress(Exception):
        if registered.fake(name) in (None, registered.kernel(name)):
            with mismatches:
                kernel()
        elif not function._schema.is_mutable:
            beside = arranged(registered.function(name)(*args, **kwargs))
            if beside != shaped([t for r in answer["results"] for t in r]) and beside == arranged(kernel()):
                return "its fake returns what the kernel does if PyTorch's ops that it calls are not replaced by their fakes, which return other sizes or strides"
    return mismatches.name and f"compilers call the kernel as its fake, and it calls {mismatches.name}, whose fake in PyTorch returns other dtypes, sizes or strides than its kernel"


def mismatch_under_symbols(function, args, kwargs):
    """Returns why the fake of an op can't be blamed for other results under symbolic sizes; else ""."""
    mismatches, fake = FakeMismatches(symbolic=True), registered.function(function.name())
    if function.namespace in NAMESPACES or fake is None or function._schema.is_mutable:
        return ""
    with contextlib.suppress(Exception), mismatches:
        fake(*args, **kwargs)
    return mismatches.name and f"the fake calls {mismatches.name}, whose fake in PyTorch returns other dtypes or dimensions under symbolic sizes than its kernel"
