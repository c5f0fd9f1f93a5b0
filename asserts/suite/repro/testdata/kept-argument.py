import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def holders(t):
    """Returns the number of references to a tensor, in C++ and in Python."""
    return t._use_count() + sys.getrefcount(t)


def uses(t):
    """Returns the number of references to the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).requires_grad_()
holders_before = holders(self)
uses_before = uses(self)
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
del result
if holders(self) > holders_before or uses(self) > uses_before:
    print("the fault is there: argument self is still referenced after the call")
    sys.exit(1)
print("the fault is not there")
