import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


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


def leaves(values):
    """Returns values with copies of their tensors, which require grad if possible."""
    return replaced(values, lambda t: t.detach().clone().requires_grad_(t.is_floating_point() or t.is_complex()) if isinstance(t, torch.Tensor) else t)


def backward(results):
    """Calls the formulas of results that require grad."""
    results = [t for t in tensors(results) if t.requires_grad]
    if results:
        torch.autograd.backward(results, [torch.ones_like(t) for t in results])


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self)
try:
    torch.ops.x.f.default(*args, **kwargs)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
args, kwargs = leaves((args, kwargs))
try:
    backward(torch.ops.x.f.default(*args, **kwargs))
except Exception as e:
    print("the fault is there: where arguments require grad it raises:", e)
    sys.exit(1)
print("the fault is not there")
