import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch
import torch._subclasses.fake_tensor


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def numbers(results):
    """Returns the numbers among results, in order, and None for other values and unknown numbers."""
    values = torch.utils._pytree.tree_flatten(results)[0]
    return [v if isinstance(v, (int, float, complex)) else None for v in values]


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
if any(a != b for a, b in zip(numbers(result), numbers(plan)) if None not in (a, b)):
    print("the fault is there: a planned number differs from the returned one")
    sys.exit(1)
print("the fault is not there")
