import ctypes
import os
import signal
import sys

sys.excepthook = lambda *raised: sys.__excepthook__(*raised) or sys.exit(2)

import torch


def memory(t):
    """Returns the bytes of a tensor's storage."""
    return torch.empty(0, dtype=torch.uint8).set_(t.untyped_storage()).tolist()


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


def ends(call, behind, protection):
    """Makes a call as forked does, while all memory of tensors lies beside pages with a protection."""
    if os.uname().machine != "x86_64":
        print("this program knows the functions of x86-64 alone")
        sys.exit(2)

    def guarded():
        kept = guarding(behind, protection)
        call()
        return kept

    return forked(guarded)


def guarding(behind, protection):
    """Lets PyTorch allocate memory that ends where pages with a protection begin, or begins
    where they end, and returns what must not be freed before the process ends.

    It puts functions of Python into a copy of the table of functions of PyTorch's allocator:
    the third makes a DataPtr, which is the address, what frees it and what that is given; the
    one behind is_simple_data_ptr, or in its place before 2.3, is what frees memory."""
    c10, libc, address = ctypes.CDLL("libc10.so"), ctypes.CDLL(None), ctypes.c_void_p
    numbers = ctypes.POINTER(ctypes.c_size_t)
    made = ctypes.CFUNCTYPE(address, address, address, ctypes.c_size_t)
    get, put = c10._ZN3c1015GetCPUAllocatorEv, c10._ZN3c1015SetCPUAllocatorEPNS_9AllocatorEh
    get.restype, put.argtypes, libc.mprotect.argtypes = address, [address, ctypes.c_uint8], [ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
    allocator = get()
    table = (ctypes.c_size_t * 8)(*ctypes.cast(ctypes.cast(allocator, numbers)[0], numbers)[:8])
    theirs, page, guarded = made(table[2]), 4096, 1 << 19

    @made
    def allocate(result, _, n):
        theirs(result, allocator, n + 2 * guarded)
        data = ctypes.cast(result, numbers)
        first, align = -(-data[0] // page) * page, min(n & -n, 16) or 1
        pages = -(-n // page) * page
        if n and behind:
            libc.mprotect(first + pages, guarded, protection)
            data[0] = first + pages - -(-n // align) * align
        elif n:
            libc.mprotect(first, guarded, protection)
            data[0] = first + guarded
        data[1], data[2] = ctypes.cast(leave, address).value, data[0]
        return result

    leave = ctypes.CFUNCTYPE(None, address)(lambda data: None)
    leaves = ctypes.CFUNCTYPE(address, address)(lambda _: ctypes.cast(leave, address).value)
    table[2] = ctypes.cast(allocate, address).value
    table[4 if hasattr(c10, "_ZNK3c109Allocator18is_simple_data_ptrERKNS_7DataPtrE") else 3] = ctypes.cast(leaves, address).value
    mine = (ctypes.c_size_t * 1)(ctypes.addressof(table))
    put(ctypes.addressof(mine), 255)
    return allocate, leave, leaves, table, mine


def replaced(values, by):
    """Returns values with each tensor and device replaced by the result of by."""
    return torch.utils._pytree.tree_map(lambda v: by(v) if isinstance(v, (torch.Tensor, torch.device)) else v, values)


def call():
    self = torch.tensor([0.05882353, 0.47058824], dtype=torch.float32)
    xs_0 = self.view_as(self)
    xs = [xs_0]
    places = {}
    [self, xs] = replaced([self, xs], lambda t: moved(t, places, lambda n: (None, torch.empty(n, dtype=torch.uint8))))
    torch.manual_seed(0)
    torch.ops.x.f.default(self, xs)


seen = {behind: ends(call, behind, 0) for behind in (True, False)}
fault = any(closed == -signal.SIGSEGV != ends(call, behind, 3) for behind, closed in seen.items())
if not fault and 2 in seen.values():
    sys.exit(2)
if fault:
    print("the fault is there: the call accesses memory outside of its tensors")
    sys.exit(1)
print("the fault is not there")
