import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


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
