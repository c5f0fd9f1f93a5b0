import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch
import torch._subclasses.fake_tensor


def tensors(values):
    """Returns the tensors among values, in order."""
    if isinstance(values, torch.Tensor):
        return [values]
    values = values.values() if isinstance(values, dict) else values
    return [t for v in values for t in tensors(v)] if isinstance(values, (list, tuple, type({}.values()))) else []


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    if isinstance(values, (torch.Tensor, torch.device)):
        return by(values)
    if isinstance(values, dict):
        return {k: replaced(v, by) for k, v in values.items()}
    return type(values)(replaced(v, by) for v in values) if isinstance(values, (list, tuple)) else values


def shared(args, results):
    """Returns for each result the arguments and results with the same storage."""
    return [[r.untyped_storage()._cdata == t.untyped_storage()._cdata for t in tensors([args, results])] for r in tensors(results)]


def planned(results):
    """Returns the properties that a compiler uses: sizes, strides and dtypes."""
    return [(tuple(r.size()), r.stride(), r.dtype) for r in tensors(results)]


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
mode = torch._subclasses.fake_tensor.FakeTensorMode()


def twin(t):
    return t if isinstance(t, torch.device) else mode.from_tensor(t)


args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self)
twins_args, twins_kwargs = replaced((args, kwargs), twin)
try:
    result = torch.ops.x.f.default(*args, **kwargs)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
try:
    with mode:
        plan = torch.ops.x.f.default(*twins_args, **twins_kwargs)
except Exception as e:
    print("the fault is there: the call with fake tensors raises:", e)
    sys.exit(1)
if planned(result) != planned(plan) or shared(args, result) != shared(twins_args, plan):
    print("the fault is there: the planned results differ from the returned ones")
    sys.exit(1)
print("the fault is not there")
