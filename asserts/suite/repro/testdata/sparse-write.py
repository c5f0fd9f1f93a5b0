import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


def contents(t):
    """Returns the bytes of a sparse tensor's parts."""
    indices = ["indices"] if t.layout is torch.sparse_coo else ["compressed_indices", "plain_indices"]
    return [byte for name in [*indices, "values"] for byte in memory(part(t, name))]


def outline(t):
    return t.size(), t.dtype


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


names = torch.tensor([0.05882353, 0.47058824, 0.88235295, 0.3529412], dtype=torch.float32).reshape((2, 2)).to_sparse_csr()
result_ = torch.tensor([0.3529412, 0.7647059], dtype=torch.float32)
memory_before = contents(names)
look_before = outline(names)
version_before = version(names)
try:
    result = torch.f(names, result_)
except Exception as e:
    print("the call raises:", e)
    if not (contents(names) != memory_before or outline(names) != look_before or version(names) != version_before):
        sys.exit(2)
if contents(names) != memory_before or outline(names) != look_before or version(names) != version_before:
    print("the fault is there: argument names was changed")
    sys.exit(1)
print("the fault is not there")
