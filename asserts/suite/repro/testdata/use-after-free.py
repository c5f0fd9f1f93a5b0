import ctypes
import os
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


def moved(t, places, allocate):
    """Returns a tensor like t whose storage is moved to memory that allocate returns."""
    if not isinstance(t, torch.Tensor) or t.layout is not torch.strided or t.is_quantized or t.is_nested or t._is_zerotensor():
        return t
    if torch._is_functional_tensor(t):
        return torch._to_functional_tensor(moved(torch._from_functional_tensor(t), places, allocate))
    storage = t.untyped_storage()
    if storage._cdata not in places:
        places[storage._cdata] = room, flat = allocate(storage.nbytes())
        flat[: storage.nbytes()] = torch.tensor(memory(t), dtype=torch.uint8)
    to = torch.empty(0, dtype=t.dtype).set_(places[storage._cdata][1].untyped_storage(), t.storage_offset(), t.size(), t.stride())
    to = torch._conj(to) if t.is_conj() else torch._neg_view(to) if t.is_neg() else to
    return to.requires_grad_(t.requires_grad)


def walled(n, byte):
    """Returns memory, and a tensor of n bytes, at least one, in the middle of it."""
    room = bytearray([byte]) * (4096 + max(n, 1) + 4096)
    return room, torch.frombuffer(room, dtype=torch.uint8, offset=4096, count=max(n, 1))


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


if "tcache" not in os.environ.get("GLIBC_TUNABLES", ""):
    os.environ["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0"
    os.execv(sys.executable, [sys.executable, *sys.argv])
fill = getattr(ctypes.CDLL(None), "mallopt", print)  # of glibc
rooms = []  # of the arguments of earlier calls


def call(byte):
    """Returns whether the call writes illegally, and the bytes that it returns or writes."""
    fill(-6, byte)  # M_PERTURB: the contents of memory once freed, and until written
    for room, _ in rooms:
        room[:] = bytes([byte]) * len(room)
    self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
    walls = {}
    [self] = replaced([self], lambda t: moved(t, walls, lambda n: walled(n, byte)))
    torch.manual_seed(0)
    result = torch.ops.x.f.default(self)
    strays = any(set(room) != {byte} for room, _ in rooms)
    rooms.extend(walls.values())
    return strays, [elements(t) for t in tensors([result])]


try:
    seen = [call(byte) for byte in (0x5A, 0x5A, 0xA6, 0xA6, 0x5A)][1:]
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if any(strays for strays, _ in seen) or seen[0] == seen[3] != seen[1] == seen[2]:
    print("the fault is there: freed memory is written, or the results depend on it")
    sys.exit(1)
print("the fault is not there, or no result shows it")
