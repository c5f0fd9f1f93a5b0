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


def part(t, name):
    rows = t.layout in (torch.sparse_csr, torch.sparse_bsr)
    return {
        "scales": lambda: t.q_per_channel_scales(),
        "zero_points": lambda: t.q_per_channel_zero_points(),
        "indices": lambda: t._indices(),
        "values": lambda: t._values() if t.layout is torch.sparse_coo else t.values(),
        "compressed_indices": lambda: t.crow_indices() if rows else t.ccol_indices(),
        "plain_indices": lambda: t.col_indices() if rows else t.row_indices(),
        "sizes": lambda: t._nested_tensor_size(),
        "strides": lambda: t._nested_tensor_strides(),
        "value": lambda: torch._from_functional_tensor(t),
    }[name]()


y = torch.tensor([0.05882353, 0.47058824, 0.88235295, 0.3529412], dtype=torch.float32).reshape((2, 2))
xs_0 = y.view_as(y)
xs_1 = torch.tensor([0.64705884, 0.11764706, 0.5294118, 0.9411765], dtype=torch.float32).reshape((2, 2)).to_sparse()
xs = [xs_0, xs_1]
memory_before = memory(part(xs[1], "values"))
look_before = look(part(xs[1], "values"))
version_before = version(part(xs[1], "values"))
try:
    result = torch.ops.x.f.default(y, xs)
except Exception as e:
    print("the call raises:", e)
    if not (memory(part(xs[1], "values")) != memory_before or look(part(xs[1], "values")) != look_before or version(part(xs[1], "values")) != version_before):
        sys.exit(2)
if memory(part(xs[1], "values")) != memory_before or look(part(xs[1], "values")) != look_before or version(part(xs[1], "values")) != version_before:
    print("the fault is there: argument xs.parts.1.values was changed")
    sys.exit(1)
print("the fault is not there")
