import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


def covered(t):
    """Returns the positions of a tensor's bytes in its storage."""
    size = t.element_size()
    bytes = torch.zeros(t.untyped_storage().nbytes(), dtype=torch.bool)
    strides = (*(s * size for s in t.stride()), 1)
    bytes.as_strided((*t.size(), size), strides, t.storage_offset() * size).fill_(True)
    return bytes.tolist()


def beside(before, t):
    """Reports whether bytes changed that are not elements of t."""
    return any(old != new and not element for old, new, element in zip(before, memory(t), covered(t)))


self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
out = torch.tensor([0.3529412, 1.0, 0.23529412, 2.0, 0.11764706, 3.0, 0.9411765], dtype=torch.float32).as_strided((3,), (2,), 1)
memory_before = memory(out)
try:
    result = torch.f(self, out=out)
except Exception as e:
    print("the call raises:", e)
    if not (beside(memory_before, out)):
        sys.exit(2)
if beside(memory_before, out):
    print("the fault is there: bytes of the storage of argument out changed that are not elements of argument out")
    sys.exit(1)
print("the fault is not there")
