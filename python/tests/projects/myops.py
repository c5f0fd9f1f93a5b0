"""An op that is right, one that writes its argument and returns it, and a fake that is wrong."""

import torch

library = torch.library.Library("myops", "DEF")
library.define("good(Tensor x) -> Tensor")
library.impl("good", lambda x: x + 1, "CompositeExplicitAutograd")
library.define("scale(Tensor x, float f) -> Tensor")
library.impl("scale", lambda x, f: x.mul_(f), "CompositeExplicitAutograd")


@torch.library.custom_op("myops::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    return x[: x.shape[0] // 2].clone()


@half.register_fake
def _(x):
    return torch.empty_like(x)


def bad():
    torch.ops.myops.scale(torch.ones(3), 2.0)
