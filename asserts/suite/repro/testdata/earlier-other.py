import os
import signal
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


def forked(call):
    """Makes a call in a new process; returns its exit status: 2 if it raises, negative for a signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        torch.set_num_threads(1)
        try:
            call()
        except Exception as e:
            print("the call raises:", e, flush=True)
            os._exit(2)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def alone(call, byte):
    """Returns the text of the results of a call in a new process."""
    with open(os.memfd_create("said"), "w+") as said:
        if forked(lambda: print(call(byte), file=said, flush=True)) != 0:
            sys.exit(2)
        said.seek(0)
        return said.read()


def tensors(values):
    """Returns the tensors among values, in order."""
    return [t for t in torch.utils._pytree.tree_flatten(values)[0] if isinstance(t, torch.Tensor)]


def call(byte):
    """Returns whether the call writes illegally, and the bytes that it returns or writes."""
    self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
    if byte == 0xA6:
        self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
        torch.manual_seed(0)
        torch.ops.x.f.default(self, 1)
    else:
        torch.manual_seed(0)
        torch.ops.x.f.default(self, 2)
    self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
    torch.manual_seed(0)
    result = torch.ops.x.f.default(self, 2)
    return [elements(t) for t in tensors([result])]


try:
    seen = [alone(call, byte) for byte in (0x5A, 0x5A, 0xA6, 0xA6, 0x5A)][1:]
except Exception as e:
    print("the call raises:", e)
    sys.exit(2)
if seen[0] == seen[3] != seen[1] == seen[2]:
    print("the fault is there: result depends on the values of an earlier call")
    sys.exit(1)
print("the fault is not there, or no result shows it")
