import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def holders(t):
    """Returns the number of references to a tensor, in C++ and in Python."""
    return t._use_count() + sys.getrefcount(t)


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
fresh = torch.empty(0)
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if holders(result) > holders(fresh):
    print("the fault is there: result is not a new tensor")
    sys.exit(1)
print("the fault is not there")
