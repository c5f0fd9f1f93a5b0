"""PyTorch's OpInfo database, from its wheel: what each op returns for each sample.

One test for each op and dtype. Nothing is asserted: the results, down to the
bits, and the exceptions are the property "seen", for the gate to compare.
"""

import ctypes
import warnings
import zlib

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.autograd_function_db import autograd_function_db
from torch.testing._internal.custom_op_db import custom_op_db
from torch.testing._internal.hop_db import hop_db
from torch.utils._pytree import tree_flatten, tree_map

warnings.simplefilter("ignore")
torch.set_num_threads(1)


def content(t):
    """What a tensor's elements are, in whatever they are kept."""
    t = t.detach()
    if t.is_nested:
        return [describe(part) for part in t.unbind()]
    if t.layout == torch.sparse_coo:
        return describe([t._indices(), t._values()])
    if t.layout in (torch.sparse_csr, torch.sparse_bsr):
        return describe([t.crow_indices(), t.col_indices(), t.values()])
    if t.layout in (torch.sparse_csc, torch.sparse_bsc):
        return describe([t.ccol_indices(), t.row_indices(), t.values()])
    if t.is_quantized:
        return describe(t.int_repr())
    if t.device.type != "cpu" or t.layout != torch.strided:
        return None
    t = t.resolve_conj().resolve_neg().contiguous()
    return zlib.crc32(ctypes.string_at(t.data_ptr(), t.numel() * t.element_size()))


def describe(x):
    """All that a program can see of a result, as something JSON can hold."""
    if isinstance(x, torch.Tensor):
        seen = [str(x.dtype), list(map(str, x.shape)), x._version, x._is_view(), x.is_leaf, str(x.grad_fn and x.grad_fn.name())]
        if x.layout == torch.strided and not x.is_nested:
            seen += [list(x.stride()), x.storage_offset()]
        return seen + [content(x)]
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [describe(e) for e in x]]
    if isinstance(x, dict):
        return {str(k): describe(v) for k, v in x.items()}
    return repr(x)


def attempt(call):
    torch.manual_seed(0)
    try:
        return describe(call())
    except Exception as e:
        return "%s: %s" % (type(e).__name__, e)


def gradients(results, inputs):
    ends = [t for t in tree_flatten(results)[0] if isinstance(t, torch.Tensor) and t.requires_grad]
    leaves = [t for t in tree_flatten(inputs)[0] if isinstance(t, torch.Tensor) and t.requires_grad]
    if not ends or not leaves:
        return None
    return torch.autograd.grad(ends, leaves, [torch.ones_like(e) for e in ends], allow_unused=True)


def twin(x):
    return tree_map(lambda t: t.detach().clone() if isinstance(t, torch.Tensor) else t, x)


def ways(op, sample):
    """The ways in which a program may call an op, with the sample's arguments."""
    def forward():
        return op(sample.input, *sample.args, **sample.kwargs)

    def backward():
        return gradients(forward(), [sample.input, sample.args, sample.kwargs])

    def inplace():
        return op.inplace_variant(twin(sample.input), *twin(sample.args), **twin(sample.kwargs))

    def out():
        results = op(twin(sample.input), *twin(sample.args), **twin(sample.kwargs))
        return op(twin(sample.input), *twin(sample.args), **twin(sample.kwargs), out=tree_map(torch.empty_like, results))

    yield "forward", forward
    if op.supports_autograd:
        yield "backward", backward
    if op.inplace_variant is not None and not sample.broadcasts_input:
        yield "in-place", inplace
    if op.supports_out:
        yield "out=", out


CASES = [
    (group, op, dtype)
    for group, database in (("op", op_db), ("custom", custom_op_db), ("function", autograd_function_db), ("hop", hop_db))
    for op in database
    for dtype in sorted(op.supported_dtypes("cpu"), key=str)
]


def identifier(case):
    group, op, dtype = case
    return "%s-%s-%s" % (group, op.name + ("." + op.variant_test_name if op.variant_test_name else ""), str(dtype)[6:])


@pytest.mark.parametrize("case", CASES, ids=identifier)
def test_samples(case, record_property):
    _, op, dtype = case
    torch.manual_seed(0)
    differentiable = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    try:
        samples = list(op.sample_inputs("cpu", dtype, requires_grad=differentiable))
    except Exception as e:
        record_property("seen", ["samples", "%s: %s" % (type(e).__name__, e)])
        return
    for number, sample in enumerate(samples):
        for way, call in ways(op, sample):
            record_property("seen", ["%d %s" % (number, way), attempt(call)])
        record_property("seen", ["%d arguments" % number, attempt(lambda: [sample.input, sample.args, sample.kwargs])])


@pytest.mark.parametrize("op", op_db, ids=lambda op: op.name + ("." + op.variant_test_name if op.variant_test_name else ""))
def test_errors(op, record_property):
    if op.error_inputs_func is None:
        return
    torch.manual_seed(0)
    for number, error in enumerate(op.error_inputs("cpu")):
        sample = error.sample_input
        record_property("seen", [str(number), attempt(lambda: op(sample.input, *sample.args, **sample.kwargs))])
