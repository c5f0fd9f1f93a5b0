import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def leaves(values):
    """Returns values with copies of their tensors, which require grad if possible."""
    return replaced(values, lambda t: t.detach().clone().requires_grad_(t.is_floating_point() or t.is_complex()) if isinstance(t, torch.Tensor) else t)


def backward(results):
    """Calls the formulas of results that require grad."""
    results = [t for t in tensors(results) if t.requires_grad]
    if results:
        torch.autograd.backward(results, [torch.ones_like(t) for t in results])


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
by = torch.tensor([0.3529412, 0.7647059], dtype=torch.float32)
args, kwargs = (lambda *args, **kwargs: (args, kwargs))(self, by)
args, kwargs = replaced((args, kwargs), lambda t: None if t is by else t)
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
