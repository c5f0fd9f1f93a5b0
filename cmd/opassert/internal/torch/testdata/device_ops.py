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


class Doubled(torch.autograd.Function):
    """Calls an op below autograd; slope is the factor of its gradient."""

    @staticmethod
    def forward(ctx, op, x, slope):
        ctx.slope = slope
        with torch._C._AutoDispatchBelowAutograd():
            return op(x)

    @staticmethod
    def backward(ctx, gradient):
        return None, gradient * ctx.slope, None


def below(op, x):
    with torch._C._AutoDispatchBelowAutograd():
        return op(x)


def negative(op, x):
    x.copy_(x.cpu().abs())
    return Doubled.apply(op, x, 2)


# Kernels for autograd on the device, beside a right one on the CPU.
for name, rule in {
    "doubles": lambda op, x: Doubled.apply(op, x, 2),
    "slopes": lambda op, x: Doubled.apply(op, x, 3),
    "cuts": below,
    "passes": lambda op, x: Doubled.apply(op, x, 2) if x.requires_grad else x,
    "negates": lambda op, x: below(op, x) if x.requires_grad else negative(op, x),
}.items():
    library.define(f"{name}(Tensor x) -> Tensor")
    op = getattr(torch.ops.drives, name)
    for key in "CPU", "PrivateUse1":
        library.impl(name, lambda x: x * 2, key)
    library.impl(name, lambda x, op=op: Doubled.apply(op, x, 2), "AutogradCPU")
    library.impl(name, lambda x, op=op, rule=rule: rule(op, x), "AutogradPrivateUse1")


@torch.library.custom_op("drives::triples", mutates_args=())
def triples(x: torch.Tensor) -> torch.Tensor:
    return x * 3


triples.register_fake(lambda x: x * 3)
triples.register_kernel("openreg")(lambda x: x * 3)
triples.register_autograd(lambda ctx, gradient: gradient * 3)
