"""Ops whose kernels are Triton's: those of wrong_triton break their schemas, or have a fake
that is not like the kernel, those of right_triton keep to them."""

import sys

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.library import custom_op, triton_op, wrap_triton

EXPECTED = {
    "wrong_triton::scaled": "OA009",
    "wrong_triton::second": "OA009",
    "wrong_triton::same": "OA007",
    "wrong_triton::longer": "OA011",
}
BLOCK = 16
# An autotuner of Triton 3.2 asks for a GPU where it is made.
TUNES = tuple(map(int, triton.__version__.split(".")[:2])) > (3, 2)
if TUNES:
    EXPECTED["wrong_triton::tuned"] = "OA009"


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def scale_kernel(x, by, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(x + at, tl.load(x + at, mask=mask) * by, mask=mask)


def launch(kernel, x, *rest):
    if x.numel():
        kernel[(triton.cdiv(x.numel(), BLOCK),)](x, *rest, x.numel(), BLOCK)


def flat(*tensors):
    first = tensors[0]
    if not all(t.dtype == torch.float32 and t.shape == first.shape and t.is_contiguous() for t in tensors):
        raise ValueError("expected contiguous tensors of float32 of the same shape")


@triton_op("right_triton::add", mutates_args={})
def add(x: Tensor, y: Tensor) -> Tensor:
    flat(x, y)
    out = torch.empty_like(x)
    launch(wrap_triton(add_kernel), x, y, out)
    return out


@triton_op("right_triton::scale_", mutates_args={"x"})
def scale_(x: Tensor, by: float) -> None:
    flat(x)
    launch(wrap_triton(scale_kernel), x, by)


@custom_op("right_triton::scaled", mutates_args=())
def right_scaled(x: Tensor, by: float) -> Tensor:
    flat(x)
    out = x.clone()
    launch(scale_kernel, out, by)
    return out


@right_scaled.register_fake
def _(x, by):
    return torch.empty_like(x)


@triton_op("wrong_triton::scaled", mutates_args={})
def scaled(x: Tensor, by: float) -> Tensor:
    flat(x)
    launch(wrap_triton(scale_kernel), x, by)
    return x.clone()


@custom_op("wrong_triton::second", mutates_args={"x"})
def second(x: Tensor, y: Tensor) -> None:
    flat(x, y)
    launch(add_kernel, x, y, x)
    launch(scale_kernel, y, 0.5)


@triton_op("wrong_triton::same", mutates_args={})
def same(x: Tensor, y: Tensor) -> Tensor:
    flat(x, y)
    out = torch.empty_like(x)
    launch(wrap_triton(add_kernel), x, y, out)
    return x.view(-1)


@custom_op("wrong_triton::longer", mutates_args=())
def longer(x: Tensor, y: Tensor) -> Tensor:
    flat(x, y)
    out = torch.empty_like(x)
    launch(add_kernel, x, y, out)
    return out


@longer.register_fake
def _(x, y):
    return x.new_empty((x.numel() + 1,))


if TUNES:

    @triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (16, 32)], key=["n"])
    @triton.heuristics({"TWICE": lambda args: args["n"] % 2 == 0})
    @triton.jit
    def tuned_kernel(x, by, n, BLOCK: tl.constexpr, TWICE: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(x + at, tl.load(x + at, mask=mask) * by, mask=mask)

    @triton_op("right_triton::tuned", mutates_args={})
    def right_tuned(x: Tensor, by: float) -> Tensor:
        flat(x)
        out = x.clone()
        wrap_triton(tuned_kernel)[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](out, by, x.numel())
        return out

    @triton_op("wrong_triton::tuned", mutates_args={})
    def tuned(x: Tensor, by: float) -> Tensor:
        flat(x)
        wrap_triton(tuned_kernel)[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, by, x.numel())
        return x.clone()


def main(device):
    """Calls each op once on a device."""
    for namespace in torch.ops.right_triton, torch.ops.wrong_triton:
        for name in "add", "scale_", "scaled", "second", "same", "longer", "tuned":
            if hasattr(namespace, name):
                op = getattr(namespace, name)
                op(*(torch.ones(40, device=device) if "Tensor" in str(a.type) else 2.0 for a in op.default._schema.arguments))


if __name__ == "__main__":
    main(sys.argv[1])
