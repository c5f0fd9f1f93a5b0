"""Kernels for openreg, PyTorch's example of a device that a package brings."""
import os
import torch
import torch_openreg

torch.ops.load_library(os.environ["DEVICE_OPS"])
torch.openreg.init()  # a driver is up, which a fork could not use
loaded = os.getpid()


def here(x):
    if os.getpid() != loaded:
        raise RuntimeError("the device is not there after a fork")
    return x.clone()


def hops(x):
    torch.accelerator.set_device_index(x.device.index)
    return x.clone()


def stick(op, error):
    """Has each later call of an op raise, as CUDA does after some errors."""

    def raises(*args, **keywords):
        raise error

    aten.impl(op, raises, "PrivateUse1")


def sticks(x):
    """Finds out about a fault on the device late: what is called next raises."""
    if x.dtype == torch.bool:
        stick("_copy_from", RuntimeError("CUDA error: an illegal memory access was encountered"))
    return x.clone()


def loses(x):
    if x.dtype == torch.bool:
        lost = RuntimeError("CUDA error: unspecified launch failure")
        stick("_copy_from", lost)
        raise lost
    return x.clone()


def fills(x):
    if x.dtype == torch.bool:
        stick("empty.memory_format", torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    return x.clone()


def spins(x):
    """Waits for a device that never ends its work."""
    while x.dtype == torch.bool:
        pass
    return x.clone()


library, aten = torch.library.Library("drives", "DEF"), torch.library.Library("aten", "IMPL")
for kernel in (here, hops, sticks, loses, fills, spins):
    library.define(f"{kernel.__name__}(Tensor x) -> Tensor")
    library.impl(kernel.__name__, kernel, "PrivateUse1")
