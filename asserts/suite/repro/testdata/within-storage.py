import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def beyond(t):
    """Reports whether elements of t lie outside its storage."""
    if t.numel() == 0:
        return False
    steps = [(n - 1) * s for n, s in zip(t.size(), t.stride())]
    first = t.storage_offset() + sum(s for s in steps if s < 0)
    last = t.storage_offset() + sum(s for s in steps if s > 0)
    return first < 0 or (last + 1) * t.element_size() > t.untyped_storage().nbytes()


self = torch.inference_mode()(lambda: torch.tensor([0.05882353, 0.47058824], dtype=torch.float32).clone())()
try:
    result = torch.ops.x.f.default(self)
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if beyond(result):
    print("the fault is there: elements of result lie outside its storage")
    sys.exit(1)
print("the fault is not there")
