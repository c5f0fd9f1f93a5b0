"""Kernels for $DEVICE: cuda, or else openreg, PyTorch's example of a device that a package brings."""
import os
import torch

DEVICE, KEY = os.environ.get("DEVICE", "openreg"), "CUDA"
if DEVICE == "openreg":
    import torch_openreg

    KEY = "PrivateUse1"
torch.ops.load_library(os.environ["DEVICE_OPS"])
getattr(torch, DEVICE).init()  # a driver is up, which a fork could not use
loaded = os.getpid()

# What is found of each op: the check that it breaks, or the error with which the device is lost.
FAULT, LAUNCH = "an illegal memory access was encountered", "unspecified launch failure"
if DEVICE == "cuda":
    FAULT = LAUNCH = "device-side assert triggered"
EXPECTED = {
    "broken::writes": "OA009",
    "broken::writes_second": "OA009",
    "broken::keeps_version": "OA010",
    "broken::returns_memory": "OA007",
    "broken::returns_other_": "OA006",
    "broken::strides": "OA011",
    "broken::values": "OA011",
    "broken::throws_late": "OA009",
    "broken::strays": "OA011",
    "broken::makes": "OA011",
    "broken::leaves": "OA020",
    "whole::writes": "",
    "whole::returns_view": "",
    "whole::strides": "",
    "whole::values": "",
    "whole::makes": "",
    "drives::here": "",
    "drives::hops": "OA009",
    "drives::sticks": FAULT,
    "drives::loses": LAUNCH,
    "drives::fills": "out of memory",
    "drives::doubles": "",
    "drives::triples": "",
    "drives::slopes": "OA014",
    "drives::cuts": "OA014",
    "drives::passes": "OA014",
    "drives::negates": "OA014",
    "drives::lacks": "OA014",
    "drives::loses_silently": "OA014",
    "drives::has_both": "",
    "aten::erfinv_": "OA006",
    "aten::digamma_": "",
}
if DEVICE == "cuda":
    del EXPECTED["drives::lacks"], EXPECTED["drives::loses_silently"]  # autograd records the ops that their kernels call
    del EXPECTED["broken::leaves"]  # its allocator reuses memory, of which OA020 is not judged
if getattr(torch, DEVICE).device_count() == 1:
    del EXPECTED["broken::strays"], EXPECTED["drives::hops"]  # they go to another device


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


def fault(why):
    """Breaks the device for its process."""
    if DEVICE == "cuda":
        torch.ones(1, device="cuda")[torch.ones(1, dtype=torch.long, device="cuda")]
    else:
        stick("_copy_from", RuntimeError("CUDA error: " + why))


def sticks(x):
    """Finds out about a fault on the device late: what is called next raises."""
    if x.dtype == torch.bool:
        fault(FAULT)
    return x.clone()


def loses(x):
    if x.dtype == torch.bool:
        fault(LAUNCH)
        x.cpu()
    return x.clone()


taken = []


def fills(x):
    if x.dtype == torch.bool and DEVICE == "cuda":
        torch.cuda.set_per_process_memory_fraction(0.02)  # the other workers have theirs
        size = 1 << 26
        while size:
            try:
                taken.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            except torch.OutOfMemoryError:
                size //= 2
    elif x.dtype == torch.bool:
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
    library.impl(kernel.__name__, kernel, KEY)


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
    for key in "CPU", KEY:
        library.impl(name, lambda x: x * 2, key)
    library.impl(name, lambda x, op=op: Doubled.apply(op, x, 2), "AutogradCPU")
    library.impl(name, lambda x, op=op, rule=rule: rule(op, x), "Autograd" + KEY)


def unrecorded(x):
    with torch.no_grad():
        return x * 2


def applied(op):
    class Formula(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return below(op, x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    return Formula.apply


# Where a device has no kernel for autograd, openreg's fallback raises, and with a fallthrough nothing records.
for name, rule in {"lacks": None, "loses_silently": lambda formula: torch.library.fallthrough_kernel, "has_both": lambda formula: formula}.items():
    library.define(f"{name}(Tensor x) -> Tensor")
    formula = applied(getattr(torch.ops.drives, name))
    for key in "CPU", KEY:
        library.impl(name, unrecorded, key)
    library.impl(name, formula, "AutogradCPU")
    if rule:
        library.impl(name, rule(formula), "Autograd" + KEY)


@torch.library.custom_op("drives::triples", mutates_args=())
def triples(x: torch.Tensor) -> torch.Tensor:
    return x * 3


triples.register_fake(lambda x: x * 3)
triples.register_kernel(DEVICE)(lambda x: x * 3)
triples.register_autograd(lambda ctx, gradient: gradient * 3)
