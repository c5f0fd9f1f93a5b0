import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


def look(t):
    return t.size(), t.stride(), t.storage_offset(), t.dtype, getattr(t, "names", None)


def version(t):
    return None if t.is_inference() else t._version


tensors__0 = torch.tensor([0.05882353], dtype=torch.float32)
tensors_ = [tensors__0]
sys_ = torch.tensor([0.3529412], dtype=torch.float32)
before = torch.tensor([0.64705884], dtype=torch.float32)
memory_before = memory(sys_)
look_before = look(sys_)
version_before = version(sys_)
try:
    result = torch.ops.x.f.default(tensors_, sys_, before)
except Exception as e:
    print("the call raises:", e)
    if not (memory(sys_) != memory_before or look(sys_) != look_before or version(sys_) != version_before):
        sys.exit(2)
if memory(sys_) != memory_before or look(sys_) != look_before or version(sys_) != version_before:
    print("the fault is there: argument sys was changed")
    sys.exit(1)
print("the fault is not there")
