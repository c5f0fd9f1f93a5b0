import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def uses(t):
    """Returns the number of references to the storage of a tensor."""
    return torch._C._storage_Use_Count(t.untyped_storage()._cdata)


self = torch.tensor([False], dtype=torch.bool).reshape(())
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if uses(result) > uses(torch.empty(1)):
    print("the fault is there: the memory of result is not its own")
    sys.exit(1)
print("the fault is not there")
