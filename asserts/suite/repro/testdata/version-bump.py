import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


def version(t):
    return None if t.is_inference() else t._version


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
xs_1 = torch.tensor([], dtype=torch.float64)
xs = [self, xs_1]
memory_before = memory(self)
version_before = version(self)
try:
    result = torch.ops.x.f_.default(self, xs)
except Exception as e:
    print("the call raises:", e)
    if not (memory(self) != memory_before and version(self) == version_before):
        sys.exit(2)
if memory(self) != memory_before and version(self) == version_before:
    print("the fault is there: argument self was written, but its version did not change")
    sys.exit(1)
print("the fault is not there")
