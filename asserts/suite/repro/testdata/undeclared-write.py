import sys
from math import inf

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


def look(t):
    return t.size(), t.stride(), t.storage_offset(), t.dtype, getattr(t, "names", None)


def version(t):
    return None if t.is_inference() else t._version


self = torch.tensor([0, 1], dtype=torch.uint8)
from_ = torch.tensor([0.3529412, 0.7647059, 0.23529412, 0.64705884, 0.11764706, 0.5294118, 0.9411765, 0.4117647, 0.8235294, 0.29411766, 0.7058824, 0.1764706, 0.5882353, 0.05882353, 0.47058824, 0.88235295], dtype=torch.float32).repeat(63)[:1000].clone()
memory_before = memory(from_)
look_before = look(from_)
version_before = version(from_)
try:
    result = getattr(torch.ops.x, "from").default(self, **{"from": from_}, p=-inf)
except Exception as e:
    print("the call raises:", e)
    if not (memory(from_) != memory_before or look(from_) != look_before or version(from_) != version_before):
        sys.exit(2)
if memory(from_) != memory_before or look(from_) != look_before or version(from_) != version_before:
    print("the fault is there: argument from was changed")
    sys.exit(1)
print("the fault is not there")
