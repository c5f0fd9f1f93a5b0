import ctypes
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


def elements(t):
    """Returns the bytes of a tensor's elements."""
    if torch._is_functional_tensor(t):
        t = torch._from_functional_tensor(t)
    if t.layout is torch._mkldnn:
        t = t.to_dense()
    if t.layout is not torch.strided:
        return contents(t)
    t = t.detach().int_repr() if t.is_quantized else t.detach().resolve_conj().resolve_neg()
    return t.contiguous().clone().reshape(-1).view(torch.uint8).tolist()


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


fill = getattr(ctypes.CDLL(None), "mallopt", print)  # of glibc
def call(byte):
    """Returns whether the call writes illegally, and the bytes that it returns or writes."""
    fill(-6, byte)  # M_PERTURB: the contents of memory once freed, and until written
    self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
    torch.manual_seed(0)
    result = torch.ops.x.two.default(self)
    return [elements(t) for t in tensors([result[1]])]


try:
    seen = [call(byte) for byte in (0x5A, 0x5A, 0xA6, 0xA6, 0x5A)][1:]
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if seen[0] == seen[3] != seen[1] == seen[2]:
    print("the fault is there: result[1] depends on the contents of its memory before the call")
    sys.exit(1)
print("the fault is not there, or no result shows it")
