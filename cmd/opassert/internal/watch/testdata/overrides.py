"""Overrides kernels of PyTorch's ops, for the CPU or for the device that is named."""
import importlib
import sys

import torch

KEY, DEVICE = "CPU", "cpu"
if len(sys.argv) > 1:
    KEY, DEVICE = "PrivateUse1", sys.argv[1]
    importlib.import_module("torch_" + DEVICE)


def tensor():
    return torch.arange(12.0).reshape(3, 4).to(DEVICE)


torch.ceil(tensor())  # PyTorch's kernel: asked about before it is overridden
library = torch.library.Library("aten", "IMPL")


def kernel(name):
    return lambda function: library.impl(name, function, KEY)


@kernel("ceil")
def writes(x):
    x.add_(1)
    return torch.sign(x)


@kernel("floor")
def throws_late(x):
    x.add_(1)
    raise RuntimeError("too late")


@kernel("fill_.Scalar")
def returns_other_(x, value):
    return x.copy_(torch.tensor(value)).clone()


@kernel("fmod_.Scalar")
def loses(x, other):
    torch.remainder(x, other)
    return x


@kernel("mm")
def transposes(x, y):
    return (x.unsqueeze(2) * y.unsqueeze(0)).sum(1).t().contiguous().t()


@kernel("maximum")
def is_healthy(x, y):
    return torch.where(x > y, x, y)


@kernel("trunc_")
def is_healthy_(x):
    return x.copy_(x.cpu().long())


for _ in range(2):
    torch.ceil(tensor())  # OA009
    torch.full((3, 4), 2.0, device=DEVICE)  # OA006, in a kernel of PyTorch's
    try:
        torch.floor(tensor())  # OA009
    except RuntimeError:
        pass
    torch.maximum(tensor(), tensor())
    tensor().trunc_()
    if DEVICE != "cpu":
        tensor().fmod_(3)
        torch.mm(tensor(), tensor().t())
if DEVICE == "cpu":
    library._destroy()
    torch.ceil(tensor())
