import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def look(t):
    return t.size(), t.stride(), t.storage_offset(), t.dtype, getattr(t, "names", None)


self = torch.tensor([0.05882353, 0.47058824, 0.88235295, 0.3529412, 0.7647059, 0.23529412, 0.64705884, 0.11764706, 0.5294118, 0.9411765], dtype=torch.float32).as_strided((2, 3), (5, 1), 0)
look_before = look(self)
try:
    result = torch.ops.x.f_.default(self, torch.int8)
except Exception as e:
    print("the call raises:", e)
    if not (look(self) != look_before):
        sys.exit(2)
if look(self) != look_before:
    print("the fault is there: argument self has other sizes, strides, offset, dtype or names than before")
    sys.exit(1)
print("the fault is not there")
