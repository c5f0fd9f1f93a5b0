import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch
import torch._subclasses.fake_tensor


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    if isinstance(values, (torch.Tensor, torch.device)):
        return by(values)
    if isinstance(values, dict):
        return {k: replaced(v, by) for k, v in values.items()}
    return type(values)(replaced(v, by) for v in values) if isinstance(values, (list, tuple)) else values


def numbers(results):
    """Returns the numbers among results, in order, and None for other values and unknown numbers."""
    if isinstance(results, (list, tuple)):
        return [n for r in results for n in numbers(r)]
    return [results if isinstance(results, (int, float, complex)) else None]


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
