"""Ops that declare to write an argument, of which some never do, and some not where it is strided.

EXPECTED has these, each with the argument and what is said of it.
"""

import torch

library = torch.library.Library("unwritten", "DEF")
never = dict(nothing="x", many="xs", second="state", rebinds="into", all_but_last="xs", counts="count")
EXPECTED = {f"unwritten::{op}": f"{argument}: none of " for op, argument in never.items()}
lost = dict(copies="sum", flattens="x", positive="x")
dropped = dict(clips_some="x", fills_some="into", clone="into")
EXPECTED |= {f"unwritten::{op}": f"{argument}: the kernel does not change argument {argument}, and writes a copy of it that is never read" for op, argument in dropped.items()}
EXPECTED |= {f"unwritten::{op}": f"{argument}: the kernel writes argument {argument}, but not where it is transposed" for op, argument in lost.items()}

EXPECTED["unwritten::adds_some"] = "n: its n=1 is not in the schema: calls of the op without n are refused"


def op(schema):
    def register(kernel):
        library.define(kernel.__name__ + schema)
        library.impl(kernel.__name__, kernel, "CPU")

    return register


@op("(Tensor(a!) x, Tensor y) -> ()")
def nothing(x, y):
    y + 1


@op("(Tensor x, Tensor(a!) into) -> ()")
def clone(x, into):
    into.clone().fill_(2)


@op("(Tensor(a!)[] xs) -> ()")
def many(xs):
    [x + 1 for x in xs]


@op("(Tensor(a!)[] xs) -> ()")
def all_but_last(xs):
    [x.fill_(2) for x in xs[: max(1, len(xs) - 1)]]


@op("(Tensor(a!) x, Tensor(b!) state) -> ()")
def second(x, state):
    x.zero_()


@op("(Tensor(a!) sum, Tensor x) -> ()")
def copies(sum, x):
    sum.contiguous().add_(x)


@op("(Tensor(a!) x) -> ()")
def flattens(x):
    x.reshape(-1).fill_(3)


@op("(Tensor(a!) x) -> ()")
def positive(x):
    x.reshape(-1).clamp_(min=0)


@op("(Tensor(a!) x) -> ()")
def clips_some(x):
    big = x[x > 0] if not x.is_complex() else x.flatten()[:0]
    big.clamp_(max=0) if big.numel() else x.zero_()


@torch.library.custom_op("unwritten::fills_some", mutates_args=("into",))
def fills_some(x: torch.Tensor, into: torch.Tensor) -> None:
    into.flatten(start_dim=0).view(-1)[:1].clone().zero_() if x.numel() else into.fill_(1)


# Its versions rise all the same.
@torch.library.custom_op("unwritten::rebinds", mutates_args=("into",))
def rebinds(x: torch.Tensor, into: torch.Tensor) -> None:
    into = x.relu()


@op("(Tensor(a!) x, Tensor(b!)? count=None) -> ()")
def counts(x, count=None):
    x.zero_()
    if count is not None:
        count = count + 1


# What is right.
@torch.library.custom_op("unwritten::clips", mutates_args=("x",))
def clips(x: torch.Tensor) -> None:
    x.clamp_(-10, 10)


@op("(Tensor(a!) x) -> ()")
def clips_some_rightly(x):
    if not x.is_complex():
        big = x[x > 1000].clamp_(max=1000)
        x[x > 1000] = big


@op("(Tensor(a!) x, Tensor y) -> ()")
def seldom_writes(x, y):
    scratch = x.clone().zero_()
    if bool((scratch != 0).any()) or y.numel() == 0:
        x.fill_(1)


@op("(Tensor(a!) x) -> ()")
def positive_rightly(x):
    x.clamp_(min=0)


@op("(Tensor(a!) sum) -> ()")
def copies_back(sum):
    sum.copy_(sum.contiguous().fill_(3))


@op("(Tensor(a!) x) -> ()")
def flat_only(x):
    x.view(-1).fill_(3)


@op("(Tensor(a!) x) -> ()")
def writes(x):
    x.zero_()


@op("(Tensor(a!) x, Tensor(b!)? count=None) -> ()")
def counts_rightly(x, count=None):
    x.zero_()
    if count is not None:
        count += 1


@op("(Tensor x, Tensor(a!) found) -> ()")
def finds(x, found):
    if x.numel() > 0 and not x.is_complex() and x.dtype != torch.bool and bool((x < 0).any()):
        found.fill_(1)


@op("(Tensor(a!) x) -> ()")
def adds(x):
    x.add_(1)


@op("(Tensor(a!)[] xs) -> ()")
def last(xs):
    for x in xs[-1:]:
        x.zero_()


@op("(Tensor(a!) x) -> ()")
def seldom(x):
    if tuple(x.shape) != (2, 3):
        raise ValueError("x must be of shape [2, 3]")
    x + 1


@op("(Tensor(a!) x) -> Tensor(a!)")
def fills(x):
    return x.fill_(0)


@op("(Tensor(a!) x, int n) -> ()")
def adds_some(x, n=1):
    x.add_(n)
