"""Fakes that make a number of a symbolic size, called with tensors that are not contiguous, and healthy ones."""
import torch


def op(name, kernel, fake):
    torch.library.define("symbolic::" + name, "(Tensor x) -> Tensor")
    torch.library.impl("symbolic::" + name, "CPU")(kernel)
    torch.library.register_fake("symbolic::" + name)(fake)
    return getattr(torch.ops.symbolic, name)


def packed(x):
    return x.clone(memory_format=torch.contiguous_format)


def refusing(x):
    if x.is_contiguous():
        raise ValueError("the kernel is for transposed tensors")
    return x.new_empty(x.shape)


x = torch.ones(4, 6)
op("transposed", packed, lambda x: x.new_empty(int(x.shape[0]), x.shape[1]))(x.t())  # OA011 symbolic::transposed
op("sliced", packed, lambda x: x.new_empty(x.shape[0], len(range(x.shape[1]))))(x[1:, ::2])  # OA011 symbolic::sliced

op("healthy", packed, lambda x: x.new_empty(x.shape))(x.t())
op("of_strides", packed, refusing)(x.t())
