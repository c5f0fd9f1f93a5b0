"""Calls ops of its own, whose fakes raise with how much of torch._dynamo is there, which it imports itself where an argument says so."""

import contextlib
import sys

import torch

library = torch.library.Library("parts", "DEF")


def copies(x):
    if not x.all():
        raise ValueError("a zero")
    return x.clone()


def define(name, fake):
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, copies, "CPU")
    torch.library.register_fake(f"parts::{name}", fake, lib=library)


def tells(x):
    raise ValueError(type(sys.modules["torch._dynamo"]).__name__)


def asks(x):
    import torch._dynamo.guards

    assert torch._dynamo.guards is sys.modules["torch._dynamo.guards"] and torch._dynamo.optimize
    assert torch._dynamo.exc is sys.modules["torch._dynamo.exc"]
    return torch.empty_like(x)


def sized(x):
    return torch.zeros(x.size(0), *x.shape[1:]).new_ones((x.size(dim=0), *x.shape[x.dim() :]), dtype=x.dtype)


def fixes(x):
    if "torch.export._trace" in sys.modules:
        raise ValueError("what messages leave out is imported")
    return torch.empty_like(x) if x.shape[0] == 4 else x.new_empty(4)


fakes = {"right": torch.empty_like, "sized": sized, "fixes": fixes, "before": tells, "asks": asks, "after": tells}
for name, fake in fakes.items():
    define(name, fake)
for name in fakes:
    with contextlib.suppress(ValueError):
        getattr(torch.ops.parts, name)(torch.zeros(4))  # after which the next call of its kind is the first that returns
    getattr(torch.ops.parts, name)(torch.ones(4))
assert "torch._dynamo" not in sys.modules, "nothing is shown"
if sys.argv[1:] == ["imports"]:
    import torch._dynamo  # noqa: F401
