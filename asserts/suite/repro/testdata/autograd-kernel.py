import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    if isinstance(values, torch.Tensor):
        return [values]
    values = values.values() if isinstance(values, dict) else values
    return [t for v in values for t in tensors(v)] if isinstance(values, (list, tuple, type({}.values()))) else []


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).requires_grad_()
for t in tensors([self]):
    if t.is_floating_point() or t.is_complex():
        t.requires_grad_()
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if not result.requires_grad or result.is_leaf:
    print("the fault is there: result was made from tensors that require grad, and has no gradient")
    sys.exit(1)
print("the fault is not there")
