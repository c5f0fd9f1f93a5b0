import sys

import torch


def memory(t):
    """Returns a copy of the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).clone()


def look(t):
    return t.size(), t.stride(), t.storage_offset(), t.dtype, getattr(t, "names", None)


def version(t):
    return None if t.is_inference() else t._version


tensors__0 = torch.tensor([0.05882353], dtype=torch.float32)
tensors_ = [tensors__0]
sys_ = torch.tensor([0.3529412], dtype=torch.float32)
before_ = torch.tensor([0.64705884], dtype=torch.float32)
before = memory(sys_), look(sys_), version(sys_)
try:
    result = torch.ops.x.f.default(tensors_, sys_, before_)
except Exception as e:
    print("the call raises:", e)
    if not (not torch.equal(before[0], memory(sys_)) or before[1:] != (look(sys_), version(sys_))):
        sys.exit(2)
if not torch.equal(before[0], memory(sys_)) or before[1:] != (look(sys_), version(sys_)):
    print("the fault is there: sys_ was changed")
    sys.exit(1)
print("the fault is not there")
