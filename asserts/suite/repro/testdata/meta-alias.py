import contextlib
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def shared(args, results):
    """Returns for each result the arguments and results with the same storage."""
    return [[r.untyped_storage()._cdata == t.untyped_storage()._cdata for t in tensors([args, results])] for r in tensors(results)]


def planned(results):
    """Returns the properties that a compiler uses: sizes, strides and dtypes."""
    return [(tuple(r.size()), r.stride(), r.dtype) for r in tensors(results)]


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
twins = {}


def twin(t):
    if isinstance(t, torch.device):
        return torch.device("meta")
    storage = t.untyped_storage()
    elements = storage.nbytes() // t.element_size()
    base = twins.setdefault(storage._cdata, t.detach().as_strided((elements,), (1,), 0).to("meta"))
    return twins.setdefault(id(t), base.as_strided(t.size(), t.stride(), t.storage_offset()))


mode = contextlib.nullcontext()
args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self, 1)
twins_args, twins_kwargs = replaced((args, kwargs), twin)
try:
    result = torch.ops.aten._f.default(*args, **kwargs)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
try:
    with mode:
        plan = torch.ops.aten._f.default(*twins_args, **twins_kwargs)
except Exception as e:
    print("the fault is there: the call with meta tensors raises:", e)
    sys.exit(1)
if planned(result) != planned(plan) or shared(args, result) != shared(twins_args, plan):
    print("the fault is there: the planned results differ from the returned ones")
    sys.exit(1)
print("the fault is not there")
