"""Operators that are called before any of PyTorch's after their registration, or past the watcher's keys."""
import torch

x, grad = torch.ones(3), torch.ones(3, requires_grad=True)
lib = torch.library.Library("early", "DEF")


def op(name, kernel, key):
    lib.define(name + "(Tensor x) -> Tensor")
    lib.impl(name, kernel, key)
    return getattr(torch.ops.early, name)


op("decomposes", lambda x: x, "CompositeImplicitAutograd")(x)  # OA007 early::decomposes
op("formula", lambda x: x, "AutogradCPU")(grad)  # OA007 early::formula
op("healthy", lambda x: x.clone(), "CompositeImplicitAutograd")(x)

torch.library.Library("early", "IMPL").impl("past", lambda x: x, "CPU")
lib.define("past(Tensor x) -> Tensor")
torch.ops.early.past.default.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), x)
