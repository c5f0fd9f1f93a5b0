"""Calls each operator of places.cpp on one sort of tensor, each twice, and keeps what they return."""
import sys
import torch
from torch.utils._pytree import tree_map

library, sort = sys.argv[1:]
torch.ops.load_library(library)


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        unwrap = lambda x: x.inner if isinstance(x, cls) else x
        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return tree_map(lambda x: cls(x) if isinstance(x, torch.Tensor) else x, out)


class Direct(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with torch._C._DisableTorchDispatch() if hasattr(torch._C, "_DisableTorchDispatch") else torch.utils._mode_utils.no_dispatch():
            return func(*args, **(kwargs or {}))


def from_numpy():
    import numpy
    return torch.from_numpy(numpy.ones(5, dtype=numpy.float32))[1:]


def fake(dynamic):
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.symbolic_shapes import ShapeEnv
    mode = FakeTensorMode(shape_env=ShapeEnv() if dynamic else None)
    return mode.from_tensor(torch.ones(5))


def inference():
    with torch.inference_mode():
        return torch.ones(5)[1:]


def nested():
    with torch.inference_mode():  # PyTorch calls no operator of others for nested tensors that may require grad
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


sorts = {
    "strided": lambda: torch.ones(5)[1:],
    "numpy": from_numpy,
    "grad": lambda: torch.ones(5)[1:].requires_grad_(),
    "undefined": lambda: None,
    "coo": lambda: torch.eye(2).to_sparse(),
    "csr": lambda: torch.eye(2).to_sparse_csr(),
    "mkldnn": lambda: torch.ones(2, 2).to_mkldnn(),
    "nested": nested,
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(5), 0.1, 0, torch.quint8)[1:],
    "direct": lambda: torch.ones(5)[1:].as_subclass(Direct),
    "wrapper": lambda: Wrapper(torch.ones(5)[1:]),
    "functional": lambda: torch._to_functional_tensor(torch.ones(5)[1:]),
    "meta": lambda: torch.ones(5, device="meta")[1:],
    "device": lambda: torch.ops.place.on_device_of_(None),
    "inference": inference,
    "fake": lambda: fake(False),
    "symbolic": lambda: fake(True),
}


def value(schema, t):
    arg = schema.arguments[0]
    kind = str(arg.real_type) if hasattr(arg, "real_type") else str(arg.type)
    if kind.startswith("Dict"):
        return {"a": t, "b": t}
    if kind.startswith("Tuple"):
        return (t, t)
    if kind.startswith("List[List"):
        return [[t, t]]
    return [t, t] if kind.startswith("List") else t


kept = []


def call(name):
    op = getattr(torch.ops.place, name).default
    for _ in range(2):
        t = sorts[sort]()
        try:
            v = value(op._schema, t)
            kept.append(op(x=v) if op._schema.arguments[0].kwarg_only else op(v))
            print("called", name)
        except Exception as e:
            print("raised", name, type(e).__name__, str(e).split("\n")[0][:150])


names = sorted(n[len("place::"):] for n in torch._C._dispatch_get_all_op_names() if n.startswith("place::OA"))
for name in names:
    call(name)
