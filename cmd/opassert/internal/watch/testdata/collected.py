"""Calls ops of which only Python's collector frees what refers to their tensors, and ops that keep references."""

import gc
import sys

import torch

library = torch.library.Library("collected", "DEF")
kept = []


def op(schema):
    def register(kernel):
        library.define(schema)
        library.impl(schema.partition("(")[0], kernel, "CPU")

    return register


@op("exception(Tensor x) -> Tensor")
def _(x):
    out, last = torch.empty_like(x), None
    try:
        raise RuntimeError("no fast path")
    except RuntimeError as error:
        last = error  # whose traceback holds this frame, and x
    return out.copy_(x) if last else out


@op("storage(Tensor x) -> Tensor")
def _(x):
    out = torch.zeros(x.shape)
    rows = out.view(-1)

    def fill(i):
        rows[i] = x.view(-1)[i]
        return fill(i + 1) if i + 1 < len(rows) else None

    fill(0)
    return out


@op("memory(Tensor x) -> Tensor")
def _(x):
    out = torch.from_numpy(x.numpy().copy())
    itself = [out]
    itself.append(itself)
    return out


@op("keeps(Tensor x) -> Tensor")
def _(x):
    out = x.clone()
    kept.append(out)
    return out


@op("keeps_argument(Tensor x) -> Tensor")
def _(x):
    kept.append(x)
    return x.clone()


@op("keeps_exception(Tensor x) -> Tensor")
def _(x):
    out = x.clone()
    try:
        raise RuntimeError("no fast path")
    except RuntimeError as error:
        kept.append(error)
    return out


ops = torch.ops.collected
if "disabled" in sys.argv:
    gc.disable()
x = torch.ones(3)
for _ in range(20):
    ops.exception(x)
    ops.storage(x)
    ops.memory(x)
ops.keeps(x)  # OA003 collected::keeps
ops.keeps_argument(x)  # OA016 collected::keeps_argument
ops.keeps_exception(x)  # OA003 collected::keeps_exception OA016 collected::keeps_exception
print(len(kept), gc.isenabled())
