import sys

import torch


def uses(t):
    """Returns how many hold the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).requires_grad_()
before = self._use_count(), uses(self)
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
del result
if (self._use_count(), uses(self)) > before:
    print("the fault is there: somebody holds self once the call is over")
    sys.exit(1)
print("the fault is not there")
