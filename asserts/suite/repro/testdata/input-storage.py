import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def storage_of(t):
    """Returns the address of a tensor's StorageImpl, and an owner of it: a functional tensor with a shared storage can't be resized."""
    if torch._is_functional_tensor(t):
        return (getattr(torch._C, "_storage_address", None) or torch._C._storage_id)(t), None
    return t.untyped_storage()._cdata, t.untyped_storage()


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
storage_before = storage_of(self)
try:
    result = torch.ops.x.f_.default(self)
except Exception as e:
    print("the call raises:", e)
    if not (storage_of(self)[0] != storage_before[0]):
        sys.exit(2)
if storage_of(self)[0] != storage_before[0]:
    print("the fault is there: argument self has another storage than before")
    sys.exit(1)
print("the fault is not there")
